/* SPDX-License-Identifier: MIT
 *
 * hello.c: the program of README: two probes around some work, and a named one.
 */
#include <probity.h>
#include <unistd.h>

int main(void)
{
    for (int i = 0; i < 3; i++) {
        PROBITY_PROBE(1);
        usleep(1000);
        PROBITY_PROBE(2);
    }
    PROBITY_PROBE_NAMED("done");
    return 0;
}
