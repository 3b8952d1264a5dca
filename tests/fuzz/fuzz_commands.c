/* SPDX-License-Identifier: MIT
 *
 * fuzz_commands.c: every reading command of the tool, including analyses and exports, on arbitrary
 * bytes. The first byte selects one of the command lines below, or a command with options from its
 * table, chosen by a hash of the input.
 */
#define main probity_main
#include "cli/main.c"
#undef main

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/command_lines.h"
#include "fuzz/target.h"

/* The input's path replaces TRACE. */
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
    {"export", "--format", "openmetrics", "TRACE"},
};

/* These commands only read, so they get any of their options. */
static const struct cli_command *const readers[] = {
    &cli_command_csv,    &cli_command_log,    &cli_command_report, &cli_command_info,
    &cli_command_check,  &cli_command_tree,   &cli_command_threads, &cli_command_blocks,
    &cli_command_hist,   &cli_command_diff,   &cli_command_export, &cli_command_list,
    &cli_command_model,  &cli_command_timeline, &cli_command_view,
};

enum { LINES = sizeof lines / sizeof *lines, READERS = sizeof readers / sizeof *readers };

const int target_ways = LINES + READERS;

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
    optind = 0; /* GNU extension: restart */
    int status = run(count, arguments);
    if (status != CLI_OK && status != CLI_FAILURE && status != CLI_DAMAGED)
        abort();
    clearerr(stdout);
}

/* Options may be mutually exclusive; comparisons have one more status. */
static void run_reader(const struct cli_command *command, const uint8_t *data, size_t size,
                       char *path)
{
    char *arguments[LINE_ARGUMENTS_MAX];
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * UINT64_C(1099511628211);
    int count = command_line_make(command, hash, path, arguments);
    if (getenv("FUZZ_SAY") != NULL) {
        for (int i = 0; i < count; i++)
            fprintf(stderr, "%s%c", arguments[i], i + 1 < count ? ' ' : '\n');
    }
    optind = 0;
    int status = run(count, arguments);
    if (status < CLI_OK || status > 4)
        abort();
    clearerr(stdout);
}

static int open_trace(char path[32])
{
    int file = memfd_create("trace", 0);

    if (file < 0)
        abort();
    snprintf(path, 32, "/proc/self/fd/%d", file);
    opterr = 0;
    return file;
}

/* Discards the output of commands, but not of the fuzzer and the sanitizers. Done for each command,
 * because `csv` closes standard output, so that the first write of a later command would fail. */
static void discard_output(void)
{
    static int nowhere = -1;

    if (nowhere < 0)
        nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0 || dup2(nowhere, 1) < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[TARGET_BYTES_MAX];
    static char path[32];
    static int file = -1;

    if (size < 2 || size > TARGET_BYTES_MAX)
        return 0;
    if (file < 0)
        file = open_trace(path);
    memcpy(bytes, data + 1, size - 1);
    if (data[0] < TARGET_FIX_BELOW && size > 17)
        target_fix_checksums(bytes, size - 1);
    write_whole(file, bytes, size - 1);
    discard_output();
    int way = data[0] % TARGET_FIX_BELOW % target_ways;
    if (way < LINES)
        run_line(lines[way], path);
    else
        run_reader(readers[way - LINES], data, size, path);
    return 0;
}
