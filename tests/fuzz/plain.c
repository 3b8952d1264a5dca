/* SPDX-License-Identifier: MIT
 *
 * plain.c: a door without a fuzzer: COUNT FILE...: each file once (a trace NAME.probity in each
 * way), then COUNT times one of them with some bytes changed, always the same.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/door.h"

static uint8_t input[DOOR_BYTES_MAX];

static int is_trace(const char *name)
{
    const char *dot = strrchr(name, '.');

    return door_ways > 0 && dot != NULL && strcmp(dot, ".probity") == 0;
}

/* Behind the byte that chooses the way, where there is one. */
static size_t load(const char *name)
{
    int file = open(name, O_RDONLY), before = is_trace(name);
    ssize_t size = file >= 0 ? read(file, input + before, sizeof input - 1) : -1;

    if (size < 0) {
        perror(name);
        exit(1);
    }
    close(file);
    return (size_t)size + (size_t)before;
}

static uint64_t chance(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void change(uint64_t *state, size_t *size)
{
    static const uint8_t edges[] = {0, 1, 127, 128, 255};

    for (uint64_t i = chance(state) % 4; i < 4 && *size > 1; i++) {
        uint8_t *at = &input[1 + chance(state) % (*size - 1)];
        switch (chance(state) % 4) {
        case 0: *at ^= (uint8_t)(1 << chance(state) % 8); break;
        case 1: *at = edges[chance(state) % sizeof edges]; break;
        case 2: *at = (uint8_t)chance(state); break;
        default: *size = chance(state) % 8 == 0 ? (size_t)(at - input) + 1 : *size;
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t state = 1, count = argc > 2 ? strtoull(argv[1], NULL, 0) : 0;
    int silent = open("/dev/null", O_WRONLY);

    if (argc < 3)
        return 2;
    int said = dup(2);
    dup2(silent, 2); /* what commands say of damage */
    for (int i = 2; i < argc; i++) {
        size_t size = load(argv[i]);
        int ways = is_trace(argv[i]) ? door_ways : 1;
        for (int way = 0; way < ways; way++) {
            input[0] = ways > 1 ? (uint8_t)way : input[0];
            LLVMFuzzerTestOneInput(input, size);
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        const char *name = argv[2 + chance(&state) % (uint64_t)(argc - 2)];
        size_t size = load(name);
        change(&state, &size);
        uint8_t way = (uint8_t)(chance(&state) % DOOR_MEND_BELOW);
        if (is_trace(name))
            input[0] = chance(&state) % 8 == 0 ? way | DOOR_MEND_BELOW : way;
        LLVMFuzzerTestOneInput(input, size);
    }
    dup2(said, 2);
    fprintf(stderr, "%d files in %d ways, and %llu changed ones\n", argc - 2, door_ways,
            (unsigned long long)count);
    return 0;
}
