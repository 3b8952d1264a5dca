/* SPDX-License-Identifier: MIT
 *
 * index.c: `probity index` makes indexes; commands that read a range use them.
 */
#include "cli/index.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/companion.h"
#include "cli/index_waits.h"
#include "cli/option.h"
#include "reader/file.h"
#include "reader/index.h"

/* Reading smaller traces takes no noticeable time. */
#define IN_MEMORY_MIN (INT64_C(64) << 20)

/* ---- Using indexes -----------------------------------------------------------------------------
 */

static const char suffix[] = ".index";

static int make_in_memory(const struct cli_command *command, const struct probity_range *trace,
                          uint64_t every_bytes, int without_waits)
{
    const struct probity_index_options options = {
        .without_waits = without_waits, .every_bytes = every_bytes, .progress = cli_progress,
        .progress_context = (void *)(uintptr_t)command};
    int file = memfd_create("probity-index", MFD_CLOEXEC);

    cli_progress_pass();
    if (file < 0 || probity_index_build(trace, file, &options) == 0)
        return file;
    close(file);
    return -1;
}

/* Bundles have no indexes, so TRACE.index is a file. */
static int open_file(const char *path, const struct probity_range *trace)
{
    struct probity_range index = {.file = -1};

    if (!probity_range_is_member(trace) && cli_companion_open(path, suffix, trace, &index) == 0)
        return index.file;
    return -1;
}

static int open_any(const struct cli_command *command, const char *path,
                    const struct probity_range *trace, int attempt, int without_waits)
{
    if (attempt == 0)
        return open_file(path, trace);
    return probity_range_size(trace) >= IN_MEMORY_MIN
               ? make_in_memory(command, trace, 0, without_waits)
               : -1;
}

static int open_index(void *command, const char *path, const struct probity_range *trace,
                      int attempt)
{
    return open_any(command, path, trace, attempt, 0);
}

static int open_without_waits(void *command, const char *path, const struct probity_range *trace,
                              int attempt)
{
    return open_any(command, path, trace, attempt, 1);
}

int cli_index_open_always(void *command, const char *path, const struct probity_range *trace,
                          int attempt)
{
    return attempt == 0 ? open_file(path, trace)
                        : make_in_memory(command, trace, CLI_INDEX_WINDOWS_BYTES, 0);
}

void cli_index_use(const struct cli_command *command, const struct cli_range *range,
                   int without_waits, struct probity_reader_options *options)
{
    if (range->from == NULL && range->to == NULL)
        return;
    options->open_index = without_waits ? open_without_waits : open_index;
    options->index_context = (void *)(uintptr_t)command;
}

static int open_shared(void *context, const char *path, const struct probity_range *trace,
                       int attempt)
{
    const struct probity_reader *first = context;

    (void)trace;
    for (size_t i = 0; attempt == 0 && i < probity_reader_traces(first); i++) {
        int file = probity_reader_index(first, i);
        if (file >= 0 && strcmp(probity_reader_facts(first, i)->path, path) == 0)
            return fcntl(file, F_DUPFD_CLOEXEC, 0);
    }
    return -1;
}

void cli_index_share(const struct probity_reader *first, struct probity_reader_options *options)
{
    options->open_index = open_shared;
    options->index_context = (void *)(uintptr_t)first;
}

void cli_index_use_always(const struct cli_command *command,
                          struct probity_reader_options *options)
{
    options->open_index = cli_index_open_always;
    options->index_context = (void *)(uintptr_t)command;
}

/* ---- The command -------------------------------------------------------------------------------
 */

struct index_call {
    size_t every_kib;
    int force;
};

#define ME (&cli_command_index)

static int fail_build(const char *path, const char *name, int error, int error_number)
{
    if (error == PROBITY_ERROR_DAMAGED)
        return cli_fail(ME, "'%s' cannot have an index: it is not closed, is damaged, or has late "
                            "records or FN_ENTRY calls", path);
    return cli_fail_trace(ME, error == PROBITY_ERROR_WRITE ? name : path, error, error_number);
}

/* In a trace with waits, a second pass through all threads follows them. */
static int write_index(const struct index_call *call, const char *path,
                       const struct probity_range *trace, int file)
{
    struct probity_index_marks marks = {.items = NULL};
    const struct probity_index_options options = {
        .marks = &marks, .every_bytes = call->every_kib << 10, .progress = cli_progress,
        .progress_context = (void *)(uintptr_t)ME};
    const struct probity_reader_options reading = {.progress = cli_progress,
                                                   .progress_context = (void *)(uintptr_t)ME};
    int error = probity_index_build(trace, file, &options);

    if (error == 0 && marks.sum.contents & PROBITY_INDEX_HAS_WAITS)
        cli_progress_pass();
    if (error == 0)
        error = cli_index_add_waits(file, path, trace, &marks, &reading);
    free(marks.items);
    return error;
}

static int make_file(const struct index_call *call, const char *path, const char *name)
{
    struct cli_output output;
    struct probity_range trace;
    int error = probity_range_open(path, &trace);

    if (error != 0)
        return cli_fail_trace(ME, path, error, errno);
    int status = cli_output_open(ME, name, call->force, &output);
    if (status == CLI_OK) {
        error = write_index(call, path, &trace, output.descriptor);
        int error_number = errno;
        cli_progress_end();
        if (error != 0)
            status = fail_build(path, name, error, error_number);
        int closed = cli_output_close(ME, &output, status == CLI_OK);
        status = status == CLI_OK ? closed : status;
    }
    close(trace.file);
    return status;
}

static int run_on(void *context, char **paths, size_t count)
{
    int status = CLI_OK;

    for (size_t i = 0; i < count; i++) {
        char *name = cli_companion_name(paths[i], suffix);
        int one = name != NULL ? make_file(context, paths[i], name)
                               : cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
        free(name);
        status = one != CLI_OK ? one : status;
    }
    return status;
}

static int run(int argc, char **argv)
{
    struct index_call call = {0};
    int status = cli_options_take(ME, &call, argc, argv);

    if (status == CLI_OK)
        status = cli_on_traces(ME, argv + optind, (size_t)(argc - optind), run_on, &call);
    return status < 0 ? CLI_OK : status;
}

static const struct cli_option options[] = {
    {.name = "every", .value = "KIB", .brief = "distance between marks",
     .help = "add a mark every KIB KiB of the trace (default: 1024)",
     CLI_NUMBER(struct index_call, every_kib, 1, 1 << 20)},
    {.name = "force", .letter = 'f', .help = "overwrite an existing index",
     CLI_FLAG(struct index_call, force)},
    CLI_QUIET_ROW, CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_index = {
    .name = "index",
    .run = run,
    .summary = "Make an index for fast access to a time range",
    .usage = "[OPTION]... TRACE...",
    .help =
        "Reads each trace once and writes TRACE.index next to it: marks at which reading can "
        "start, with the state of all threads there. Commands that are given a time range use it "
        "if it matches the trace; their output is the same as without it, unless the trace was "
        "damaged later. For a trace of 64 MiB or more without an index, they make one in memory. "
        "Only a closed trace can have an index.",
    .options = options,
};
