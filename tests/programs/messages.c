/* SPDX-License-Identifier: MIT
 *
 * messages.c: makes the hits that its standard input requests. Each line is "ROLE ID COUNT", with
 * ROLE begin, end, send, receive, get:send or get:receive; for each, it prints a line.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "probity_typed.h"

static int record(const char *role, uint64_t id)
{
    if (strcmp(role, "begin") == 0)
        PROBITY_REQUEST_BEGIN("request", id);
    else if (strcmp(role, "end") == 0)
        PROBITY_REQUEST_END("request", id);
    else if (strcmp(role, "send") == 0)
        PROBITY_SEND("db", id);
    else if (strcmp(role, "receive") == 0)
        PROBITY_RECEIVE("db", id);
    else if (strcmp(role, "get:send") == 0)
        PROBITY_SEND("db:get", id);
    else if (strcmp(role, "get:receive") == 0)
        PROBITY_RECEIVE("db:get", id);
    else
        return -1;
    return 0;
}

int main(void)
{
    char role[32];
    uint64_t id, count;

    while (scanf("%31s %" SCNu64 " %" SCNu64, role, &id, &count) == 3) {
        for (; count > 0; count--) {
            if (record(role, id) != 0)
                return 1;
        }
        puts("done");
        fflush(stdout);
    }
    return 0;
}
