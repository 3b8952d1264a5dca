/* SPDX-License-Identifier: MIT
 *
 * fuzz_commands.c: every reading command of the tool on arbitrary bytes, by the door that users
 * enter. Built by `make fuzz` with clang's libFuzzer and sanitizers, or without them for one input
 * after the other.
 *
 * An input is one byte that chooses the command line, and a trace. Checksums and serials of the
 * trace's blocks are made right first: a fuzzer cannot guess them, and what lies behind them is
 * what is to be tried. A first byte of 128 and more leaves them as they are.
 */
#define main probity_main
#include "cli/main.c"
#undef main

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "format/block.h"

/* TRACE stands for the input. */
static const char *const lines[][8] = {
    {"csv", "TRACE"},
    {"csv", "--columns", "thread,name,role,correlation,object,tick", "TRACE"},
    {"log", "TRACE"},
    {"log", "--probes", "--time", "wall", "TRACE"},
    {"report", "--wide", "TRACE"},
    {"report", "--json", "TRACE"},
    {"info", "TRACE"},
    {"info", "--json", "TRACE"},
    {"check", "TRACE"},
    {"tree", "TRACE"},
    {"tree", "--folded", "TRACE"},
    {"tree", "--callers", "*", "--json", "TRACE"},
    {"threads", "TRACE"},
    {"blocks", "TRACE"},
    {"blocks", "--json", "TRACE"},
    {"blocks", "--by", "correlation", "TRACE"},
    {"model", "TRACE"},
    {"model", "--dot", "TRACE"},
    {"model", "--text", "TRACE"},
    {"diff", "TRACE", "--", "TRACE"},
    {"csv", "TRACE", "TRACE"},
    {"report", "--corrected", "--csv", "TRACE"},
    {"blocks", "--from", "1", "--slowest", "3", "TRACE"},
    {"hist", "*", "TRACE"},
    {"hist", "--json", "*", "TRACE"},
    {"list", "TRACE"},
    {"list", "--json", "TRACE"},
    {"timeline", "TRACE"},
    {"view", "-o", "-", "TRACE"},
    {"export", "--format", "chrome", "TRACE"},
    {"export", "--format", "speedscope", "TRACE"},
    {"export", "--format", "callgrind", "TRACE"},
    {"export", "--format", "graphviz", "TRACE"},
    {"export", "--format", "perfetto", "TRACE"},
    {"export", "--format", "pprof", "TRACE"},
    {"export", "--format", "otlp", "TRACE"},
    {"export", "--format", "otlp-json", "TRACE"},
};

enum { LINES = sizeof lines / sizeof *lines, TRACE_BYTES_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mend_blocks(uint8_t *bytes, size_t size)
{
    uint64_t serial = 0;
    size_t at = 16;

    while (size - at >= PROBITY_BLOCK_HEADER_BYTES && size >= at) {
        uint8_t *head = bytes + at;
        size_t left = size - at - PROBITY_BLOCK_HEADER_BYTES;
        uint32_t length = probity_get_u32(head + 4);
        if (length > left) /* the last one: whatever there is */
            length = (uint32_t)left;
        memcpy(head, "PBLK", 4);
        probity_put_u32(head + 4, length);
        probity_put_u32(head + 8, 0);
        probity_put_u64(head + 16, serial++);
        probity_put_u32(head + 8, probity_checksum(0, head, PROBITY_BLOCK_HEADER_BYTES + length));
        at += PROBITY_BLOCK_HEADER_BYTES + length;
    }
}

static void write_whole(int file, const uint8_t *bytes, size_t size)
{
    if (ftruncate(file, 0) != 0 || pwrite(file, bytes, size, 0) != (ssize_t)size)
        abort();
}

static void run_line(const char *const *line, char *path)
{
    char *arguments[10] = {(char *)(uintptr_t)"probity"};
    int count = 1;

    for (int i = 0; i < 8 && line[i] != NULL; i++)
        arguments[count++] =
            strcmp(line[i], "TRACE") == 0 ? path : (char *)(uintptr_t)line[i];
    optind = 0; /* of GNU's: begin anew */
    int status = run(count, arguments);
    if (status != CLI_OK && status != CLI_FAILURE && status != CLI_DAMAGED)
        abort();
    clearerr(stdout);
}

/* What the commands print goes nowhere; what the fuzzer and the sanitizers say goes on. */
static int open_trace(char path[32])
{
    int file = memfd_create("trace", 0), nowhere = open("/dev/null", O_WRONLY);

    if (file < 0 || nowhere < 0 || dup2(nowhere, 1) < 0)
        abort();
    close(nowhere);
    snprintf(path, 32, "/proc/self/fd/%d", file);
    opterr = 0;
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[TRACE_BYTES_MAX];
    static char path[32];
    static int file = -1;

    if (size < 2 || size > TRACE_BYTES_MAX)
        return 0;
    if (file < 0)
        file = open_trace(path);
    memcpy(bytes, data + 1, size - 1);
    if (data[0] < 128 && size > 17)
        mend_blocks(bytes, size - 1);
    write_whole(file, bytes, size - 1);
    run_line(lines[data[0] % 128 % LINES], path);
    return 0;
}

#ifndef PROBITY_FUZZER
/* Without a fuzzer: COUNT FILE...: each trace by each command line, then COUNT times one of them
 * with some bytes changed, always the same. */
static uint8_t input[TRACE_BYTES_MAX];

static size_t load(const char *name)
{
    FILE *stream = fopen(name, "rb");
    size_t size = stream != NULL ? fread(input + 1, 1, sizeof input - 1, stream) : 0;

    if (size == 0) {
        perror(name);
        exit(CLI_FAILURE);
    }
    fclose(stream);
    return size + 1;
}

static uint64_t chance(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void change(uint64_t *state, size_t *size)
{
    static const uint8_t edges[] = {0, 1, 127, 128, 255};

    for (uint64_t i = chance(state) % 4; i < 4; i++) {
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
        return CLI_USAGE;
    int said = dup(2);
    dup2(silent, 2); /* what the commands say of damage */
    for (int i = 2; i < argc; i++) {
        size_t size = load(argv[i]);
        for (int line = 0; line < LINES; line++) {
            input[0] = (uint8_t)line;
            LLVMFuzzerTestOneInput(input, size);
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        size_t size = load(argv[2 + chance(&state) % (uint64_t)(argc - 2)]);
        change(&state, &size);
        input[0] = (uint8_t)(chance(&state) % LINES + (chance(&state) % 8 == 0 ? 128 : 0));
        LLVMFuzzerTestOneInput(input, size);
    }
    dup2(said, 2);
    fprintf(stderr, "%d traces by %d command lines, and %llu changed ones\n", argc - 2, LINES,
            (unsigned long long)count);
    return 0;
}
#endif
