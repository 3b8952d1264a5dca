/* SPDX-License-Identifier: MIT
 *
 * fuzz_index.c: the commands that read a range of time, with an index of the trace: one as `probity
 * index` creates it, which must not change their output; or one with changed fields and corrected
 * checksums, with which they may print anything, but must not crash or hang. Half of the traces
 * have thread states, which the index lists; with a changed index, these may be changed, too. Few
 * inputs are traces that can have an index, so the first such traces are kept and used in turn.
 */
#define main probity_main
#include "cli/main.c"
#undef main

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/index_waits.h"
#include "fuzz/command_lines.h"
#include "fuzz/target.h"
#include "reader/index.h"
#include "reader/reader.h"
#include "sched/traces.h"

static const struct cli_command *const readers[] = {
    &cli_command_report, &cli_command_tree, &cli_command_hist, &cli_command_blocks,
    &cli_command_csv,    &cli_command_log,  &cli_command_list, &cli_command_threads,
    &cli_command_model,  &cli_command_waits, &cli_command_path, &cli_command_why,
};

enum { READERS = sizeof readers / sizeof *readers, KEPT = 8, OUTPUT_MAX = 1 << 20 };

const int target_ways = READERS;

static char pattern[] = "*", of_functions[] = "--function=*";

static struct place {
    char directory[64], trace[80], index[88], sched[88];
    int output; /* replaces standard output */
    uint8_t *kept[KEPT];
    size_t kept_bytes[KEPT];
} place;

static void demand(int holds)
{
    if (!holds)
        abort();
}

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void place_remove(void)
{
    unlink(place.trace);
    unlink(place.index);
    unlink(place.sched);
    rmdir(place.directory);
}

static void place_make(void)
{
    target_directory_name(place.directory, sizeof place.directory, "index");
    demand(mkdir(place.directory, 0700) == 0);
    snprintf(place.trace, sizeof place.trace, "%s/t", place.directory);
    snprintf(place.index, sizeof place.index, "%s.index", place.trace);
    snprintf(place.sched, sizeof place.sched, "%s.sched", place.trace);
    atexit(place_remove);
    place.output = memfd_create("output", 0);
    demand(place.output > 2);
    opterr = 0;
}

static void write_file(const char *name, const uint8_t *bytes, size_t size)
{
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    demand(file >= 0 && write(file, bytes, size) == (ssize_t)size && close(file) == 0);
}

/* ---- Thread states -----------------------------------------------------------------------------
 */

enum { THREADS_MAX = 8, STATES_MAX = 40 };

struct thread {
    uint32_t number, tid;
    uint64_t first_tick, last_tick;
};

/* Leaves out threads after the first THREADS_MAX. */
static void note_thread(struct thread *threads, size_t *count, const struct probity_data *data)
{
    size_t i = 0;

    while (i < *count && threads[i].number != data->thread)
        i++;
    if (i == THREADS_MAX)
        return;
    if (i == *count)
        threads[(*count)++] = (struct thread){data->thread, data->tid, data->first_tick, 0};
    if (data->first_tick < threads[i].first_tick)
        threads[i].first_tick = data->first_tick;
    if (data->last_tick > threads[i].last_tick)
        threads[i].last_tick = data->last_tick;
}

/* Returns the number of threads. */
static size_t find_threads(const uint8_t *trace, size_t size, struct thread *threads)
{
    struct probity_block_header header;
    struct probity_data data;
    size_t count = 0, at = PROBITY_FILE_HEADER_BYTES;

    while (size - at >= PROBITY_BLOCK_HEADER_BYTES &&
           probity_block_header_get(trace + at, &header) == 0) {
        at += PROBITY_BLOCK_HEADER_BYTES;
        if (header.payload_bytes > size - at)
            break;
        if (header.type == PROBITY_BLOCK_DATA &&
            probity_data_get(trace + at, header.payload_bytes, &data) == 0)
            note_thread(threads, &count, &data);
        at += header.payload_bytes;
    }
    return count;
}

/* Writes any states from the begin of a thread to its end, in blocks of any length. */
static void put_states(struct probity_sched_blocks *blocks, const struct thread *threads,
                       size_t count, const struct thread *thread, uint64_t *state)
{
    struct probity_sched_stream stream = {.bytes = NULL};
    uint64_t tick = thread->first_tick, length = thread->last_tick - tick;

    for (uint64_t left = draw(state) % STATES_MAX; left > 0; left--) {
        const struct probity_state_event event = {
            .state = (uint32_t)(draw(state) % (PROBITY_STATE_ENDED + 1)),
            .cpu = (uint32_t)(draw(state) % 4), .waker = threads[draw(state) % count].tid};
        stream.thread = thread->number;
        stream.tid = thread->tid;
        demand(probity_sched_blocks_put(blocks, &stream, tick, &event) == 0);
        uint64_t step = draw(state) % (length / 8 + 2);
        if (step > thread->last_tick - tick)
            break;
        tick += step;
        if (draw(state) % 4 == 0)
            demand(probity_sched_blocks_end(blocks, &stream) == 0);
    }
    demand(probity_sched_blocks_end(blocks, &stream) == 0);
}

/* Creates TRACE.sched, or removes it. */
static void states_make(const uint8_t *bytes, size_t size, uint64_t *state)
{
    const size_t info_at = PROBITY_FILE_HEADER_BYTES + PROBITY_BLOCK_HEADER_BYTES;
    struct probity_sched_trace trace = {.path = place.trace};
    struct probity_sched_info info = {.flags = draw(state) % 2 != 0 ? PROBITY_SCHED_WAKINGS : 0};
    struct thread threads[THREADS_MAX];
    size_t count = size > info_at + sizeof trace.session ? find_threads(bytes, size, threads) : 0;

    unlink(place.sched);
    if (count == 0 || draw(state) % 2 == 0)
        return;
    struct probity_sched_blocks blocks = {.file = memfd_create("states", MFD_CLOEXEC)};
    demand(blocks.file >= 0);
    memcpy(trace.session, bytes + info_at, sizeof trace.session);
    info.first_tick = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        if (threads[i].last_tick < threads[i].first_tick)
            threads[i].last_tick = threads[i].first_tick;
        put_states(&blocks, threads, count, &threads[i], state);
        if (threads[i].first_tick < info.first_tick)
            info.first_tick = threads[i].first_tick;
        if (threads[i].last_tick > info.last_tick)
            info.last_tick = threads[i].last_tick;
    }
    demand(probity_sched_trace_write(&trace, 0, &blocks, &info) == 0);
    probity_sched_blocks_release(&blocks);
}

/* ---- The trace and its index -------------------------------------------------------------------
 */

/* Creates the index of the trace. Returns whether it can have one. */
static int index_make(uint64_t every_bytes)
{
    struct probity_index_marks marks = {.items = NULL};
    const struct probity_index_options options = {.marks = &marks, .every_bytes = every_bytes};
    const struct probity_reader_options reading = {.progress = NULL};
    int trace = open(place.trace, O_RDONLY);
    int index = open(place.index, O_RDWR | O_CREAT | O_TRUNC, 0600);

    demand(trace >= 0 && index >= 0);
    const struct probity_range range = probity_range_whole(trace);
    int error = probity_index_build(&range, index, &options);
    if (error == 0)
        error = cli_index_add_waits(index, place.trace, &range, &marks, &reading);
    free(marks.items);
    close(trace);
    close(index);
    return error == 0;
}

/* Longer traces have more marks, so they are kept. */
static void keep(const uint8_t *bytes, size_t size)
{
    size_t at = 0;

    for (size_t i = 1; i < KEPT; i++)
        at = place.kept_bytes[i] < place.kept_bytes[at] ? i : at;
    uint8_t *copy = size > place.kept_bytes[at] ? malloc(size) : NULL;
    if (copy == NULL)
        return;
    memcpy(copy, bytes, size);
    free(place.kept[at]);
    place.kept[at] = copy;
    place.kept_bytes[at] = size;
}

/* Creates a trace from this input, or uses one that was kept. */
static int trace_make(uint8_t *bytes, size_t size, uint64_t *state)
{
    uint64_t every_bytes = 1 + draw(state) % 2000;

    write_file(place.trace, bytes, size);
    states_make(bytes, size, state);
    if (index_make(every_bytes)) {
        keep(bytes, size);
        return 1;
    }
    uint64_t chosen = draw(state) % KEPT;
    if (place.kept[chosen] == NULL)
        return 0;
    write_file(place.trace, place.kept[chosen], place.kept_bytes[chosen]);
    states_make(place.kept[chosen], place.kept_bytes[chosen], state);
    return index_make(every_bytes);
}

/* An index, or TRACE.sched, which has the same framing. */
static void file_change(const char *name, uint64_t *state)
{
    static uint8_t bytes[TARGET_BYTES_MAX];
    int file = open(name, O_RDONLY);
    ssize_t got = file >= 0 ? read(file, bytes, sizeof bytes) : 0;
    size_t size = got > 0 ? (size_t)got : 0;

    if (file < 0)
        return;
    close(file);
    for (uint64_t changes = draw(state) % 4; changes < 4; changes++)
        size = target_mutate_field(bytes, size, sizeof bytes, (unsigned)(draw(state) % 8),
                                   draw(state));
    target_fix_checksums(bytes, size);
    write_file(name, bytes, size);
}

/* A range of time; half of the lines have further options, which may set a different range. */
static int line_make(const struct cli_command *command, uint64_t *state,
                     char *ret_arguments[LINE_ARGUMENTS_MAX + 1])
{
    static char since[32], until[32];
    char *line[LINE_ARGUMENTS_MAX];
    unsigned from = (unsigned)(draw(state) % 1000), to = from + 1;
    int count = 0, made = command_line_make(command, draw(state), place.trace, line);

    to += (unsigned)(draw(state) % (1001 - from));
    snprintf(since, sizeof since, "--since=%u.%u%%", from / 10, from % 10);
    snprintf(until, sizeof until, "--until=%u.%u%%", to / 10, to % 10);
    ret_arguments[count++] = line[0];
    ret_arguments[count++] = line[1];
    ret_arguments[count++] = since;
    ret_arguments[count++] = until;
    if (draw(state) % 2 == 0) {
        int is_of_calls = command == &cli_command_path || command == &cli_command_why;
        if (strstr(command->usage, "NAME") != NULL)
            ret_arguments[count++] = pattern;
        /* These read less if bits of the index state that calls match and that there are no waits;
         * without functions, if they also state that no request begins. */
        if (is_of_calls && draw(state) % 2 == 0)
            ret_arguments[count++] = of_functions;
        ret_arguments[count++] = place.trace;
    } else {
        for (int i = 2; i < made && count < LINE_ARGUMENTS_MAX; i++)
            ret_arguments[count++] = line[i];
    }
    ret_arguments[count] = NULL;
    return count;
}

/* Returns the size of the output in bytes, at most OUTPUT_MAX. */
static size_t command_run(char **arguments, int count, uint8_t *ret_output)
{
    /* `csv` closes it. */
    demand(dup2(place.output, 1) == 1);
    demand(ftruncate(place.output, 0) == 0 && lseek(place.output, 0, SEEK_SET) == 0);
    optind = 0;
    /* getopt_long() permutes them. */
    char *copy[LINE_ARGUMENTS_MAX + 1];
    memcpy(copy, arguments, ((size_t)count + 1) * sizeof *copy);
    int status = run(count, copy);
    demand(status >= CLI_OK && status <= CLI_DAMAGED);
    fflush(stdout);
    clearerr(stdout);
    ssize_t got = pread(place.output, ret_output, OUTPUT_MAX, 0);
    demand(got >= 0);
    return (size_t)got;
}

static void ignore_fault(void *context, uint64_t offset, const char *text)
{
    (void)context;
    (void)offset;
    (void)text;
}

/* Returns whether `probity check` finds nothing: only then does an index guarantee the same
 * output. */
static int trace_is_good(void)
{
    const struct probity_check_listener listener = {.report = ignore_fault};
    struct probity_check_result result;

    return probity_check_file(place.trace, &listener, &result) == 0 && result.faults == 0;
}

static void compare_without_index(char **arguments, int count, const uint8_t *with, size_t bytes)
{
    static uint8_t without[OUTPUT_MAX];

    demand(unlink(place.index) == 0);
    size_t expected = command_run(arguments, count, without);
    if (expected == bytes && memcmp(with, without, bytes) == 0)
        return;
    for (int i = 0; i < count; i++)
        fprintf(stderr, "%s%c", arguments[i], i + 1 < count ? ' ' : '\n');
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[TARGET_BYTES_MAX], output[OUTPUT_MAX];
    char *arguments[LINE_ARGUMENTS_MAX + 1];
    uint64_t state = UINT64_C(14695981039346656037);

    if (size < 2 || size > TARGET_BYTES_MAX)
        return 0;
    if (place.directory[0] == '\0')
        place_make();
    for (size_t i = 0; i < size; i++)
        state = (state ^ data[i]) * UINT64_C(1099511628211);
    memcpy(bytes, data + 1, size - 1);
    if (data[0] < TARGET_FIX_BELOW && size > 17)
        target_fix_checksums(bytes, size - 1);
    if (!trace_make(bytes, size - 1, &state))
        return 0;
    int is_changed = draw(&state) % 4 != 0;
    if (is_changed)
        file_change(place.index, &state);
    if (is_changed && draw(&state) % 4 == 0)
        file_change(place.sched, &state);
    int count = line_make(readers[data[0] % TARGET_FIX_BELOW % READERS], &state, arguments);
    size_t found = command_run(arguments, count, output);
    if (!is_changed && trace_is_good())
        compare_without_index(arguments, count, output, found);
    return 0;
}
