/* SPDX-License-Identifier: MIT
 *
 * remote.c server FILE | client FILE N: N requests over a loopback socket, each with a
 * traceparent header. The server listens on any free port, writes its number to FILE, and ends when
 * the connection is closed. Both sides record what they send and receive.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probity_correlation.h"
#include "probity_typed.h"

static int fail(const char *what)
{
    perror(what);
    return 1;
}

/* Whole headers, with the terminating byte. Returns 0 at the end of the connection. */
static int take(int connection, char header[PROBITY_CORRELATION_TEXT_BYTES])
{
    return recv(connection, header, PROBITY_CORRELATION_TEXT_BYTES, MSG_WAITALL) ==
           PROBITY_CORRELATION_TEXT_BYTES;
}

static int pass(int connection, const char *header)
{
    return send(connection, header, PROBITY_CORRELATION_TEXT_BYTES, 0) ==
           PROBITY_CORRELATION_TEXT_BYTES;
}

static int write_port(int listener, const char *path)
{
    struct sockaddr_in address;
    socklen_t bytes = sizeof address;
    char temporary[512];

    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "we");
    if (file == NULL || getsockname(listener, (struct sockaddr *)&address, &bytes) != 0)
        return -1;
    fprintf(file, "%d\n", ntohs(address.sin_port));
    return fclose(file) == 0 ? rename(temporary, path) : -1;
}

static int serve(const char *path)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    char header[PROBITY_CORRELATION_TEXT_BYTES];
    uint64_t id;

    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 1) != 0 || write_port(listener, path) != 0)
        return fail("listen");
    int connection = accept(listener, NULL, NULL);
    while (take(connection, header) && probity_correlation_from_text(header, &id) == 0) {
        PROBITY_RECEIVE("call", id);
        PROBITY_REQUEST_BEGIN("serve", id);
        PROBITY_REQUEST_END("serve", id);
        PROBITY_SEND("reply", id);
        if (!pass(connection, header))
            return fail("reply");
    }
    close(connection);
    close(listener);
    return 0;
}

static int ask(const char *path, unsigned long requests)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int connection = socket(AF_INET, SOCK_STREAM, 0), port = 0;
    char header[PROBITY_CORRELATION_TEXT_BYTES];
    FILE *file = fopen(path, "re");

    if (file == NULL || fscanf(file, "%d", &port) != 1)
        return fail(path);
    fclose(file);
    address.sin_port = htons((uint16_t)port);
    if (connect(connection, (struct sockaddr *)&address, sizeof address) != 0)
        return fail("connect");
    for (unsigned long i = 0; i < requests; i++) {
        uint64_t id = UINT64_C(0xabcd000000000000) + i;
        PROBITY_REQUEST_BEGIN("request", id);
        probity_correlation_to_text(id, header);
        PROBITY_SEND("call", id);
        if (!pass(connection, header) || !take(connection, header))
            return fail("call");
        PROBITY_RECEIVE("reply", id);
        PROBITY_REQUEST_END("request", id);
    }
    close(connection);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "server") == 0)
        return serve(argv[2]);
    return argc == 4 ? ask(argv[2], strtoul(argv[3], NULL, 0)) : 2;
}
