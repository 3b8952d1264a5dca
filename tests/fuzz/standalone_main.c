/* SPDX-License-Identifier: MIT
 *
 * standalone_main.c: runs a target without a fuzzer, as COUNT FILE...: each file once (a trace
 * NAME.probity in every way), then COUNT times one of the files, with some bytes or fields changed
 * reproducibly.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/target.h"

enum { FILES_MAX = 1024 };

static uint8_t input[TARGET_BYTES_MAX];

static int is_trace(const char *name)
{
    const char *dot = strrchr(name, '.');

    return target_ways > 0 && dot != NULL && strcmp(dot, ".probity") == 0;
}

/* Loads a file after the byte that selects the way, if any. */
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

/* Changes only fields, so that the rest of the trace stays valid. */
static size_t change_fields(uint64_t *state, size_t size, unsigned kind)
{
    for (uint64_t i = chance(state) % 4; i < 4; i++)
        size = 1 + target_mutate_field(input + 1, size - 1, sizeof input - 1, kind, chance(state));
    return size;
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

/* Returns a file with blocks of this kind, if possible, so that each kind gets its share of
 * mutations even if few traces have it. */
static const char *choose(char **names, int count, unsigned kind, uint64_t *state)
{
    static unsigned char kinds[FILES_MAX];
    int first = (int)(chance(state) % (uint64_t)count);

    if (target_ways == 0 || count > FILES_MAX)
        return names[first];
    for (int i = 0; i < count && kinds[count - 1] == 0; i++) {
        size_t size = load(names[i]);
        kinds[i] = (unsigned char)(is_trace(names[i]) && size > 1
                                       ? target_kinds(input + 1, size - 1) | 1
                                       : 1);
    }
    for (int i = 0; i < count; i++) {
        int at = (first + i) % count;
        if ((kinds[at] & 1u << kind) != 0)
            return names[at];
    }
    return names[first];
}

int main(int argc, char **argv)
{
    uint64_t state = 1, count = argc > 2 ? strtoull(argv[1], NULL, 0) : 0;
    int silent = open("/dev/null", O_WRONLY);

    if (argc < 3)
        return 2;
    int said = dup(2);
    dup2(silent, 2); /* messages of commands about damage */
    for (int i = 2; i < argc; i++) {
        size_t size = load(argv[i]);
        int ways = is_trace(argv[i]) ? target_ways : 1;
        for (int way = 0; way < ways; way++) {
            input[0] = ways > 1 ? (uint8_t)way : input[0];
            LLVMFuzzerTestOneInput(input, size);
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        unsigned kind = (unsigned)(chance(&state) % TARGET_KINDS);
        const char *name = choose(argv + 2, argc - 2, kind, &state);
        size_t size = load(name);
        if (is_trace(name) && chance(&state) % 4 != 0)
            size = change_fields(&state, size, kind);
        else
            change(&state, &size);
        uint8_t way = (uint8_t)(chance(&state) % TARGET_FIX_BELOW);
        if (is_trace(name))
            input[0] = chance(&state) % 8 == 0 ? way | TARGET_FIX_BELOW : way;
        LLVMFuzzerTestOneInput(input, size);
    }
    dup2(said, 2);
    fprintf(stderr, "%d files in %d ways, and %llu changed ones\n", argc - 2, target_ways,
            (unsigned long long)count);
    return 0;
}
