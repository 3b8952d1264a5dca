/* SPDX-License-Identifier: MIT
 *
 * fuzz_commands.c: every reading command of the tool on arbitrary bytes, by the door that users
 * enter: analyses, exports and all. The first byte chooses the command line.
 */
#define main probity_main
#include "cli/main.c"
#undef main

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/door.h"

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

enum { LINES = sizeof lines / sizeof *lines };

const int door_ways = LINES;

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
    static uint8_t bytes[DOOR_BYTES_MAX];
    static char path[32];
    static int file = -1;

    if (size < 2 || size > DOOR_BYTES_MAX)
        return 0;
    if (file < 0)
        file = open_trace(path);
    memcpy(bytes, data + 1, size - 1);
    if (data[0] < DOOR_MEND_BELOW && size > 17)
        door_mend(bytes, size - 1);
    write_whole(file, bytes, size - 1);
    run_line(lines[data[0] % DOOR_MEND_BELOW % LINES], path);
    return 0;
}
