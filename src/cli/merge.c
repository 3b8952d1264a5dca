/* SPDX-License-Identifier: MIT
 *
 * merge.c: `probity merge` writes a bundle. Examines each trace once, then copies it if it is still
 * the same file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/place.h"
#include "cli/companion.h"
#include "cli/option.h"
#include "print/text.h"
#include "reader/bundle.h"
#include "reader/file.h"
#include "reader/sched.h"

#define ME (&cli_command_merge)

struct merge_call {
    const char *out;
    int force;
    struct input *inputs; /* as many as members, in the same order */
    struct probity_bundle_member *members;
    size_t count;
    int is_damaged;
};

/* Source of a member, and what identifies the file. */
struct input {
    char *path, *name; /* malloc'ed; name: the name in the bundle */
    struct cli_place place;
    uint64_t bytes, records;
    uint8_t session[16];
};

/* ---- Names -------------------------------------------------------------------------------------
 */

static int is_taken(const struct merge_call *call, const char *name)
{
    for (size_t i = 0; i < call->count; i++) {
        if (strcmp(call->inputs[i].name, name) == 0)
            return 1;
    }
    return 0;
}

/* Returns the base name, without control characters and shortened so that all suffixes fit.
 * malloc'ed. */
static char *base_name(const char *path)
{
    enum { KEPT_MAX = 224 };
    const char *slash = strrchr(path, '/');
    char *name = strdup(slash != NULL ? slash + 1 : path);

    if (name != NULL && strlen(name) > KEPT_MAX)
        name[probity_text_whole(name, KEPT_MAX)] = '\0';
    for (char *at = name; at != NULL && *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '_';
    }
    return name;
}

/* Returns the base name of a trace, with the smallest number that makes it unique. malloc'ed. */
static char *name_of(const struct merge_call *call, const char *path)
{
    char *base = base_name(path), *name = base;

    for (unsigned number = 2; name != NULL && is_taken(call, name); number++) {
        if (name != base)
            free(name);
        if (asprintf(&name, "%s~%u", base, number) < 0)
            name = NULL;
    }
    if (name != base)
        free(base);
    return name;
}

/* ---- Inputs ------------------------------------------------------------------------------------
 */

static int fail_memory(void)
{
    return cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
}

/* Takes ownership of input->name. */
static int add(struct merge_call *call, const char *path, unsigned kind, struct input *input)
{
    if (call->count == PROBITY_BUNDLE_MEMBERS_MAX) {
        free(input->name);
        return cli_fail(ME, "a bundle has at most %d members", PROBITY_BUNDLE_MEMBERS_MAX);
    }
    input->path = strdup(path);
    if (input->path == NULL || input->name == NULL) {
        free(input->path);
        free(input->name);
        return fail_memory();
    }
    call->inputs[call->count] = *input;
    call->members[call->count++] = (struct probity_bundle_member){
        .bytes = input->bytes, .kind = kind, .name = input->name};
    return CLI_OK;
}

static int add_states(struct merge_call *call, const char *trace, const char *name)
{
    struct probity_range range, states;
    struct input input = {.path = NULL};
    int status = CLI_OK;

    if (probity_range_open(trace, &range) != 0)
        return CLI_OK;
    if (cli_companion_open(trace, PROBITY_SCHED_SUFFIX, &range, &states) == 0) {
        char *path = cli_companion_name(trace, PROBITY_SCHED_SUFFIX);
        int64_t size = probity_range_size(&states);
        input.name = cli_companion_name(name, PROBITY_SCHED_SUFFIX);
        input.bytes = size > 0 ? (uint64_t)size : 0;
        if (path != NULL && cli_place_of(path, &input.place)) {
            status = add(call, path, PROBITY_BUNDLE_SCHED, &input);
        } else {
            free(input.name);
            status = cli_fail_trace(ME, trace, PROBITY_ERROR_READ, errno);
        }
        free(path);
        close(states.file);
    }
    close(range.file);
    return status;
}

/* A copy would be counted twice. */
static const struct input *find_same(const struct merge_call *call, const struct input *input)
{
    for (size_t i = 0; i < call->count; i++) {
        const struct input *other = &call->inputs[i];
        if (memcmp(&other->place, &input->place, sizeof input->place) == 0 ||
            (memcmp(other->session, input->session, sizeof input->session) == 0 &&
             other->bytes == input->bytes && other->records == input->records))
            return other;
    }
    return NULL;
}

static int add_trace(struct merge_call *call, const char *path,
                     const struct probity_trace_facts *facts)
{
    struct input input = {.bytes = facts->file_bytes, .records = facts->records};

    if (facts->state == PROBITY_TRACE_LIVE)
        return cli_fail(ME, "'%s' is still being recorded; end its program first", path);
    if (facts->state == PROBITY_TRACE_KILLED)
        return cli_fail(ME, "'%s' was left by a killed program; run `probity recover` first", path);
    memcpy(input.session, facts->info.session, sizeof input.session);
    if (!cli_place_of(path, &input.place))
        return cli_fail_trace(ME, path, PROBITY_ERROR_OPEN, errno);
    const struct input *same = find_same(call, &input);
    if (same != NULL)
        return cli_fail(ME, "'%s' is the same trace as '%s'", path, same->path);
    input.name = name_of(call, path);
    int status = add(call, path, PROBITY_BUNDLE_TRACE, &input);
    return status == CLI_OK ? add_states(call, path, input.name) : status;
}

static int take_trace(struct merge_call *call, char **path)
{
    struct probity_reader_options options = {0};
    struct probity_reader *reader;
    int status = cli_open_reader(ME, path, 1, &options, &reader);

    if (status != CLI_OK)
        return status;
    status = add_trace(call, *path, probity_reader_facts(reader, 0));
    cli_progress_end();
    if (status == CLI_OK && cli_judge_traces(ME, reader) != CLI_OK)
        call->is_damaged = 1;
    probity_reader_close(reader);
    return status;
}

/* ---- Output ------------------------------------------------------------------------------------
 */

/* Returns 0, or PROBITY_ERROR_WRITE with errno set. */
static int put(int file, const uint8_t *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t got = write(file, bytes + done, count - done);
        if (got < 0 && errno != EINTR)
            return PROBITY_ERROR_WRITE;
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

/* Copies a member and the padding after it. */
static int copy_range(int file, const struct probity_range *range,
                      const struct probity_bundle_member *member)
{
    uint8_t bytes[64 << 10];
    uint64_t padding = probity_bundle_end(member) - member->offset - member->bytes;
    int error = 0;

    for (uint64_t at = 0; error == 0 && at < member->bytes;) {
        uint64_t left = member->bytes - at;
        size_t wanted = left < sizeof bytes ? (size_t)left : sizeof bytes;
        ssize_t got = probity_range_read(range, bytes, wanted, at);
        if (got >= 0 && (size_t)got < wanted)
            errno = ESTALE;
        error = got != (ssize_t)wanted ? PROBITY_ERROR_READ : put(file, bytes, wanted);
        at += wanted;
    }
    memset(bytes, 0, (size_t)padding);
    return error == 0 ? put(file, bytes, (size_t)padding) : error;
}

static int copy_member(int file, const struct input *input,
                       const struct probity_bundle_member *member)
{
    struct probity_range range;
    struct stat status;
    int error = probity_range_open(input->path, &range);

    if (error != 0)
        return error;
    if (fstat(range.file, &status) != 0 || status.st_dev != input->place.device ||
        status.st_ino != input->place.inode || range.base != input->place.base ||
        probity_range_size(&range) != (int64_t)input->bytes) {
        errno = ESTALE; /* the file was replaced, or has grown */
        error = PROBITY_ERROR_READ;
    } else {
        error = copy_range(file, &range, member);
    }
    int error_number = errno;
    close(range.file);
    errno = error_number;
    return error;
}

static int write_bundle(const struct merge_call *call, int file)
{
    const char *out = call->out != NULL ? call->out : "-";
    size_t bytes;
    uint8_t *head = probity_bundle_layout(call->members, call->count, &bytes);

    if (head == NULL)
        return fail_memory();
    int error = put(file, head, bytes);
    free(head);
    for (size_t i = 0; error == 0 && i < call->count; i++) {
        error = copy_member(file, &call->inputs[i], &call->members[i]);
        if (error != 0 && error != PROBITY_ERROR_WRITE)
            return cli_fail_trace(ME, call->inputs[i].path, error, errno);
    }
    return error == 0 ? CLI_OK : cli_fail_trace(ME, out, error, errno);
}

/* ---- The command -------------------------------------------------------------------------------
 */

static int merge(struct merge_call *call, char **paths, size_t count)
{
    struct cli_output output;
    int status = cli_output_is_apart(ME, call->out, paths, count);

    for (size_t i = 0; status == CLI_OK && i < count; i++)
        status = take_trace(call, &paths[i]);
    if (status == CLI_OK)
        status = cli_output_open(ME, call->out, call->force, &output);
    if (status != CLI_OK)
        return status;
    status = write_bundle(call, output.descriptor);
    int closed = cli_output_close(ME, &output, status == CLI_OK);
    status = status == CLI_OK ? closed : status;
    return status == CLI_OK && call->is_damaged ? CLI_DAMAGED : status;
}

static int run_on(void *context, char **paths, size_t count)
{
    struct merge_call *call = context;
    int status = CLI_FAILURE;

    call->inputs = calloc(PROBITY_BUNDLE_MEMBERS_MAX, sizeof *call->inputs);
    call->members = calloc(PROBITY_BUNDLE_MEMBERS_MAX, sizeof *call->members);
    if (call->inputs == NULL || call->members == NULL)
        fail_memory();
    else
        status = merge(call, paths, count);
    for (size_t i = 0; i < call->count; i++) {
        free(call->inputs[i].path);
        free(call->inputs[i].name);
    }
    free(call->inputs);
    free(call->members);
    return status;
}

static int run(int argc, char **argv)
{
    struct merge_call call = {.out = NULL};
    int status = cli_options_take(ME, &call, argc, argv);

    if (status == CLI_OK && call.out == NULL && isatty(STDOUT_FILENO))
        status = cli_fail_usage(ME, "standard output is a terminal; name a file with -o");
    if (status == CLI_OK)
        status = cli_on_traces(ME, argv + optind, (size_t)(argc - optind), run_on, &call);
    return status < 0 ? CLI_OK : status;
}

static const struct cli_option options[] = {
    CLI_OUTPUT_ROWS(struct merge_call, out, force),
    CLI_QUIET_ROW, CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_merge = {
    .name = "merge",
    .run = run,
    .summary = "Combine traces of processes and hosts in one file",
    .usage = "[OPTION]... TRACE...",
    .help =
        "Writes a bundle: one file with the traces, unchanged and in this order, and the thread "
        "states recorded with them. Commands that are given a bundle answer as if they were given "
        "its traces; BUNDLE/NAME is one of them. A bundle among the traces is replaced by its "
        "members. The trace of a running program cannot be part of a bundle, nor that of a killed "
        "program before `probity recover`.",
    .options = options,
};
