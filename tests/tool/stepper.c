/* SPDX-License-Identifier: MIT
 *
 * stepper.c: single-steps a child through its probes and examines every instruction.
 *
 *     stepper look SCENARIO
 *         reads the child's spool after each instruction, as a reader of a dead spool would:
 *         each finished hit must be in it once, the one in progress may be, and no other
 *     stepper signal SCENARIO STRIDE HITS [MILLISECONDS]
 *         interrupts the probes at every STRIDE-th of the instructions that they execute, with a
 *         signal whose handler makes HITS hits (and then takes MILLISECONDS), and finally checks
 *         that the trace has all of them
 *     stepper fork SCENARIO STRIDE
 *         same as above with a handler that forks: the child returns into the probe, makes one
 *         more hit, and stops recording
 *     stepper sleep SCENARIO STRIDE
 *         same as above with a handler that sleeps for 3 ms; leaves the trace, and
 *         `expected`: for each hit, the thread, and its CPU time before and after
 *     stepper slow SCENARIO
 *         preempts the child after each instruction; leaves the same files as sleep
 *
 * All run in the working directory, with PROBITY_SPOOL_DIR set. The library is linked in, but only
 * the child uses it. x86-64.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "format/block.h"
#include "format/stream.h"
#include "programs/hits.h"
#include "format/profile.h"
#include "spool/cells.h"
#include "spool/drain.h"
#include "tool/stepper_scopes.h"

enum { PROBES = 4, IDS_MAX = 1 << 20, STEPS_MAX = 2000000, NEAR_END = 2, PLACES_MAX = 1 << 14,
       FILL_TRIES = 4000, SLEEP_MS = 3, SLEEP_HITS_MAX = 1 << 18 };

/* The handler's hits, and their index in the counts. */
enum { HANDLER_STREAM = 8, HANDLER_PLACE = IDS_MAX / 2 };

/* Shared by parent and child. The child counts what it has begun and finished. */
struct shared {
    uint64_t begun, finished; /* number of ids, or of records of scopes */
    uint64_t scopes;
    uint64_t handled;         /* hits made by the handler */
    uint64_t forked, died;    /* children of the handler, and those that did not end normally */
    uint32_t phase;           /* 0 preparing, 1 in the probes, 2 after them */
    uint32_t rounds, round;
};

/* For each hit, if the handler sleeps, in ns of the thread's CPU time. Shared, too. */
static struct around {
    uint64_t before, behind;
} *around_hits;

struct scenario {
    const char *name;
    int is_first;    /* the thread's very first probe */
    int near_end;    /* words left in the chunk; 0: many */
    int wide;
    enum scopes_kind scopes; /* scopes instead of hits, in the handler, too */
    struct probity_options options;
};

#define SMALL .chunk_records = 512, .spool_records = 8192
#define MANY .chunk_records = 512, .spool_records = 65536
#define ALWAYS_GAP .cpu_gap_ns = 200, .cpu_budget_permille = 1000
static const struct scenario scenarios[] = {
    {"fast", 0, 0, 0, SCOPES_NONE, {.cpu_time = PROBITY_OFF, SMALL}},
    {"gap", 0, 0, 0, SCOPES_NONE, {ALWAYS_GAP, SMALL}},
    {"change", 0, NEAR_END, 0, SCOPES_NONE, {.cpu_time = PROBITY_OFF, SMALL}},
    {"gap_change", 0, NEAR_END + 1, 0, SCOPES_NONE, {ALWAYS_GAP, SMALL}},
    {"wide", 0, 0, 1, SCOPES_NONE, {.cpu_time = PROBITY_OFF, SMALL}},
    {"wide_change", 0, NEAR_END + 1, 1, SCOPES_NONE, {.cpu_time = PROBITY_OFF, SMALL}},
    {"wide_gap_change", 0, NEAR_END + 2, 1, SCOPES_NONE, {ALWAYS_GAP, SMALL}},
    {"first", 1, 0, 0, SCOPES_NONE, {ALWAYS_GAP, SMALL}},
    {"plain", 0, 0, 0, SCOPES_PLAIN, {.cpu_time = PROBITY_OFF, MANY}},
    {"plain_gap_change", 0, NEAR_END + 1, 0, SCOPES_PLAIN, {ALWAYS_GAP, MANY}},
    {"params", 0, 0, 0, SCOPES_PARAMETERS, {.cpu_time = PROBITY_OFF, MANY}},
    {"params_gap", 0, 0, 0, SCOPES_PARAMETERS, {ALWAYS_GAP, MANY}},
    {"params_change", 0, NEAR_END + 2, 0, SCOPES_PARAMETERS, {.cpu_time = PROBITY_OFF, MANY}},
    {"params_gap_change", 0, NEAR_END + 3, 0, SCOPES_PARAMETERS, {ALWAYS_GAP, MANY}},
    {"text", 0, 0, 0, SCOPES_TEXT, {.cpu_time = PROBITY_OFF, MANY}},
    {"text_gap_change", 0, NEAR_END + 14, 0, SCOPES_TEXT, {ALWAYS_GAP, MANY}},
    {"message", 0, 0, 0, SCOPES_MESSAGE, {.cpu_time = PROBITY_OFF, MANY}},
    {"message_gap_change", 0, NEAR_END + 2, 0, SCOPES_MESSAGE, {ALWAYS_GAP, MANY}},
    {"checkpoint", 0, 0, 0, SCOPES_CHECKPOINT, {.cpu_time = PROBITY_OFF, MANY}},
    {"checkpoint_change", 0, NEAR_END + 3, 0, SCOPES_CHECKPOINT, {.cpu_time = PROBITY_OFF, MANY}},
    {"checkpoint_gap", 0, 0, 0, SCOPES_CHECKPOINT, {ALWAYS_GAP, MANY}},
    {"pause_gap_change", 0, NEAR_END, 0, SCOPES_PAUSE, {ALWAYS_GAP, MANY}},
    {"typed", 0, 0, 0, SCOPES_TYPED, {.cpu_time = PROBITY_OFF, MANY}},
    {"typed_gap_change", 0, NEAR_END + 2, 0, SCOPES_TYPED, {ALWAYS_GAP, MANY}},
    {"typed_first", 1, 0, 0, SCOPES_TYPED, {ALWAYS_GAP, MANY}},
    {"params_first", 1, 0, 0, SCOPES_PARAMETERS, {ALWAYS_GAP, MANY}},
    {"profile", 0, 0, 0, SCOPES_PROFILE, {.cpu_time = PROBITY_OFF, MANY}},
    {"profile_gap", 0, 0, 0, SCOPES_PROFILE, {ALWAYS_GAP, MANY}},
    {"hooked", 0, 0, 0, SCOPES_HOOKED, {.cpu_time = PROBITY_OFF, MANY}},
    {"hooked_gap_change", 0, NEAR_END + 1, 0, SCOPES_HOOKED, {ALWAYS_GAP, MANY}},
    {"fentry", 0, 0, 0, SCOPES_FENTRY, {.cpu_time = PROBITY_OFF, MANY}},
    {"fentry_gap_change", 0, NEAR_END + 1, 0, SCOPES_FENTRY, {ALWAYS_GAP, MANY}},
    {"profile_first", 1, 0, 0, SCOPES_PROFILE, {ALWAYS_GAP, MANY}},
};

static struct shared *shared;
static uint64_t handler_hits = 3, handler_ms;
static int handler_scopes, handler_forks, handler_sleeps;
static uint64_t handler_calls; /* how many were found in profile mode */

static void need(int condition, const char *what)
{
    if (condition)
        return;
    perror(what);
    exit(99);
}

static void fail(const char *what, uint64_t a, uint64_t b)
{
    printf("FAILED: %s: %llu, %llu\n", what, (unsigned long long)a, (unsigned long long)b);
    exit(1);
}

/* ---- The child ------------------------------------------------------------------------------- */

static uint32_t id_of(const struct scenario *scenario, uint64_t number)
{
    return (scenario->wide ? 1u << 31 : 0) | (uint32_t)number;
}

static void one_begins(void)
{
    __atomic_store_n(&shared->begun, shared->begun + 1, __ATOMIC_SEQ_CST);
}

static void one_ends(void)
{
    __atomic_store_n(&shared->finished, shared->finished + 1, __ATOMIC_SEQ_CST);
}

static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void make_one(const struct scenario *scenario)
{
    if (scenario->scopes != SCOPES_NONE) {
        scopes_run(scenario->scopes, (uint32_t)shared->scopes++, one_begins, one_ends);
        return;
    }
    uint32_t id = id_of(scenario, shared->begun);
    struct around unused;
    struct around *around =
        handler_sleeps ? &around_hits[shared->begun % SLEEP_HITS_MAX] : &unused;
    around->before = handler_sleeps ? cpu_ns() : 0;
    one_begins();
    PROBITY_PROBE(id);
    one_ends();
    around->behind = handler_sleeps ? cpu_ns() : 0;
}

static volatile int is_forked;

/* From here on, the child has its own counts. */
static void fork_here(void)
{
    struct shared before = *shared;
    int status = 0;
    pid_t child = fork();

    need(child >= 0, "fork");
    if (child > 0) {
        need(waitpid(child, &status, 0) == child, "waitpid");
        shared->forked++;
        shared->died += status != 0;
        return;
    }
    need(mmap(shared, sizeof *shared, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == shared, "mmap");
    *shared = before;
    is_forked = 1;
}

/* Called in a child that has returned from the handler and the interrupted probe. */
static void end_forked(const struct scenario *scenario)
{
    char path[64];

    make_one(scenario);
    need(probity_stop() == 0, "stop of a child");
    snprintf(path, sizeof path, "trace.%d", (int)getpid());
    need(unlink(path) == 0, path);
    _exit(0);
}

static void on_signal(int number)
{
    (void)number;
    if (handler_forks)
        fork_here();
    for (uint64_t i = 0; i < handler_hits; i++) {
        if (handler_scopes)
            scopes_handle((uint32_t)shared->handled++);
        else
            PROBITY_PROBE(hits_id(HANDLER_STREAM, shared->handled++));
    }
    if (handler_ms > 0)
        usleep((useconds_t)handler_ms * 1000);
}

/* Probes until the thread's chunk has this number of words left. If hits alone never lead there, a
 * name of random length, four to six words, shifts them. */
static void fill_chunk(const struct scenario *scenario)
{
    static const char name[] = "a name of several words";
    uint32_t shift_every = scenario->scopes != SCOPES_NONE || handler_sleeps ? 7 : 100;

    for (uint32_t tries = 0; tries < FILL_TRIES; tries++) {
        uint64_t bytes = probity_thread_self != NULL ? probity_thread_self->valid_bit : 0;
        uint64_t left = bytes != 0 ? bytes - (probity_thread_self->cursor & (bytes - 1)) : 0;
        uint64_t wanted = 8 * (uint64_t)scenario->near_end;
        int is_any = scenario->scopes != SCOPES_NONE || handler_sleeps;
        if (left > 0 && left <= wanted && (left + 8 >= wanted || is_any))
            return;
        if (tries % shift_every == shift_every - 1)
            probity_thread_set_name(name + (tries * 2654435761u >> 20) % 3 * 8);
        make_one(scenario);
    }
    need(0, "the end of a chunk was not come to");
}

static void run_child(const struct scenario *scenario, int is_ring)
{
    struct probity_options options = scenario->options;

    options.mode = is_ring ? PROBITY_MODE_RING : PROBITY_MODE_BLOCK;
    options.out = "trace";
    options.profile = scenario->scopes == SCOPES_PROFILE;
    handler_scopes = scenario->scopes != SCOPES_NONE;
    need(probity_start(&options) == 0, "start");
    signal(SIGUSR1, on_signal);
    do {
        if (!scenario->is_first)
            make_one(scenario);
        if (scenario->near_end > 0)
            fill_chunk(scenario);
        __atomic_store_n(&shared->phase, 1, __ATOMIC_SEQ_CST);
        raise(SIGSTOP);
        for (int i = 0; i < PROBES && !is_forked; i++)
            make_one(scenario);
        __atomic_store_n(&shared->phase, 2, __ATOMIC_SEQ_CST);
        if (is_forked)
            end_forked(scenario);
        raise(SIGSTOP);
    } while (++shared->round < shared->rounds);
    if (!is_ring)
        need(probity_stop() == 0, "stop");
    _exit(0);
}

static pid_t start_child(const struct scenario *scenario, int is_ring)
{
    pid_t child = fork();

    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    need(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0, "PTRACE_TRACEME");
    run_child(scenario, is_ring);
    return 0;
}

/* ---- The parent ------------------------------------------------------------------------------ */

/* Continues the child to its next stop. Returns the signal that stopped it, or 0 if it ended. */
static int go_on(pid_t child, enum __ptrace_request how, int signal_number)
{
    int status;

    need(ptrace(how, child, NULL, (void *)(intptr_t)signal_number) == 0, "ptrace");
    need(waitpid(child, &status, 0) == child, "waitpid");
    if (WIFEXITED(status)) {
        if (WEXITSTATUS(status) != 0)
            fail("the child's exit status", 0, (uint64_t)WEXITSTATUS(status));
        return 0;
    }
    if (!WIFSTOPPED(status))
        fail("the child died of signal", 0, (uint64_t)WTERMSIG(status));
    return WSTOPSIG(status);
}

static void wait_for_phase(pid_t child, uint32_t phase)
{
    int signal_number;

    while ((signal_number = go_on(child, PTRACE_CONT, 0)) != SIGSTOP) {
        if (signal_number != SIGTRAP && signal_number != SIGUSR1)
            fail("unexpected stop by signal", SIGSTOP, (uint64_t)signal_number);
    }
    if (shared->phase != phase)
        fail("phase", phase, shared->phase);
}

/* The child's segment 0, as found in the directory. */
static void *map_spool(void)
{
    const char *directory = getenv("PROBITY_SPOOL_DIR");
    DIR *list = opendir(directory);
    struct dirent *entry;
    struct stat status;
    int file = -1;

    need(list != NULL, "PROBITY_SPOOL_DIR");
    while ((entry = readdir(list)) != NULL) {
        if (strstr(entry->d_name, ".0") != NULL)
            file = openat(dirfd(list), entry->d_name, O_RDONLY);
    }
    closedir(list);
    need(file >= 0 && fstat(file, &status) == 0, "segment 0");
    void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0);
    need(map != MAP_FAILED, "mmap");
    close(file);
    return map;
}

static uint8_t seen[IDS_MAX];
static uint32_t scope_hits[4]; /* of scopes_number() */

/* Returns the record's index in `seen`, or -1 if it does not count. */
static int64_t place_of(const struct scenario *scenario, const struct probity_record *record,
                        uint64_t limit)
{
    if (scenario->scopes != SCOPES_NONE) {
        int64_t number = scopes_number(scenario->scopes, record, scope_hits);
        if (number == -2 || (number < SCOPES_HANDLER && number >= (int64_t)limit))
            fail("invented or torn record", record->kind, (uint64_t)number);
        return number >= SCOPES_HANDLER ? number - SCOPES_HANDLER + HANDLER_PLACE : number;
    }
    if (record->kind != PROBITY_EVENT_HIT)
        return -1;
    uint64_t id = record->code / 2, number = id & 0x7fffffff;
    if (id >> HITS_SEQUENCE_BITS == HANDLER_STREAM)
        return HANDLER_PLACE + (int64_t)(id & HITS_SEQUENCE_MASK);
    if ((id >> 31 != 0) != (scenario->wide != 0) || number >= limit)
        fail("invented hit", limit, id);
    return (int64_t)number;
}

/* Counts the hits of a DATA block. Returns how many of them belong to the scenario. */
static uint64_t count_block(const uint8_t *block, const struct scenario *scenario, uint64_t limit)
{
    const uint8_t *payload = block + PROBITY_BLOCK_HEADER_BYTES;
    struct probity_block_header header;
    struct probity_data data;
    struct probity_unpacker unpacker;
    struct probity_record record;
    uint64_t own = 0;
    int got;

    if (probity_block_header_get(block, &header) != 0 || !probity_block_is_whole(block, &header) ||
        probity_data_get(payload, header.payload_bytes, &data) != 0)
        fail("a block is not whole", 0, 0);
    probity_unpacker_init(&unpacker, payload + PROBITY_DATA_FIXED_BYTES,
                          header.payload_bytes - PROBITY_DATA_FIXED_BYTES, data.first_tick);
    while ((got = probity_unpack(&unpacker, &record)) > 0) {
        int64_t place = place_of(scenario, &record, limit);
        if (place < 0)
            continue;
        own += place < HANDLER_PLACE;
        if (place >= IDS_MAX || seen[place]++ != 0)
            fail("hit found twice", (uint64_t)place, 0);
    }
    if (got < 0)
        fail("a stream is damaged", 0, 0);
    return own;
}

static const uint8_t *drain(void *segment, uint32_t chunk)
{
    static struct probity_drain_entry entries[PROBITY_CHUNK_WORDS_MAX];
    static uint8_t block[1 << 20];
    struct probity_spool_header *spool = segment;
    struct probity_drain_scratch scratch = {entries, PROBITY_CHUNK_WORDS_MAX};
    const struct probity_chunk_header *header = probity_spool_chunk(segment, chunk);
    struct probity_drain_output output;
    struct probity_drain_input input = {
        .words = probity_spool_words(segment, spool->chunks, spool->chunk_words, chunk),
        .end = header->state == PROBITY_CHUNK_FULL ? header->used : spool->chunk_words,
        .thread = header->thread,
        .tid = header->tid,
        .chunk = header->serial,
        .base_tick = header->base_tick,
        .cpu_ns = header->cpu_ns,
        .rate = spool->rate,
        .cpu_known = header->flags & PROBITY_CHUNK_CPU_KNOWN};

    if (header->state != PROBITY_CHUNK_OPEN && header->state != PROBITY_CHUNK_FULL)
        return NULL;
    probity_drain_chunk(&input, &scratch, 1, block, &output);
    return output.records > 0 ? block : NULL;
}

/* Counts a row of the profile. The handler's function is usually declared second. */
static uint64_t count_row(const struct probity_profile_row *row, int is_over)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < PROBITY_PROFILE_BUCKETS; i++)
        sum += row->histogram[i];
    if (sum > row->calls || sum + !is_over < row->calls)
        fail("calls, and in the histogram", row->calls, sum);
    if (row->untimed != 0 || row->unwound != 0 || row->self > row->total + !is_over * row->max)
        fail("self and total time", row->self, row->total);
    if (row->site != 0)
        handler_calls += row->calls;
    return row->site == 0 ? row->calls : 0;
}

/* Counts the calls that the spool's cells contain now. */
static void look_at_cells(const struct probity_spool_header *spool, void *segment)
{
    uint64_t begun = shared->begun, finished = shared->finished, found = 0;
    struct probity_profile_row row;
    struct probity_cells cells;

    for (uint32_t chunk = 0; chunk < spool->chunks; chunk++) {
        if (!probity_cells_get(probity_spool_chunk(segment, chunk),
                               probity_spool_words(segment, spool->chunks, spool->chunk_words,
                                                   chunk),
                               spool->chunk_words, &cells))
            continue;
        for (uint32_t i = 0; i < cells.count; i++) {
            probity_cells_row(&cells, i, &row);
            found += count_row(&row, 0);
        }
    }
    if (found < finished || found > begun)
        fail("calls counted between finished and begun", finished, found);
}

/* Checks what a reader must find now: all finished hits, and at most one more. */
static void look(void *segment, const struct scenario *scenario)
{
    uint64_t begun = shared->begun, finished = shared->finished, found = 0;
    struct probity_spool_header *spool = segment;

    if (scenario->scopes == SCOPES_PROFILE) {
        look_at_cells(spool, segment);
        return;
    }
    memset(scope_hits, 0, sizeof scope_hits);
    memset(seen, 0, begun < IDS_MAX ? begun + 1 : IDS_MAX);
    for (uint32_t chunk = 0; chunk < spool->chunks; chunk++) {
        const uint8_t *block = drain(segment, chunk);
        if (block != NULL)
            found += count_block(block, scenario, begun);
    }
    if (found < finished || found > begun)
        fail("hits found between finished and begun", finished, found);
    for (uint64_t i = 0; i < finished; i++) {
        if (!seen[i])
            fail("a finished hit is missing", i, finished);
    }
}

static int look_at_every_instruction(const struct scenario *scenario)
{
    pid_t child = start_child(scenario, 1);
    uint64_t steps = 0;
    int status;

    shared->rounds = 1;
    need(waitpid(child, &status, 0) == child && WIFSTOPPED(status), "first stop");
    void *segment = map_spool();
    do {
        int signal_number = go_on(child, PTRACE_SINGLESTEP, 0);
        if (signal_number != SIGTRAP && signal_number != SIGSTOP)
            fail("stop by signal", SIGTRAP, (uint64_t)signal_number);
        look(segment, scenario);
    } while (shared->phase == 1 && ++steps < STEPS_MAX);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    printf("%s: looked %llu times\n", scenario->name, (unsigned long long)steps);
    return shared->phase != 2;
}

/* ---- Signals --------------------------------------------------------------------------------- */

/* Counts a PROFILE block. */
static uint64_t count_profile(const uint8_t *payload, size_t bytes)
{
    const uint8_t *at = payload + PROBITY_PROFILE_FIXED_BYTES;
    struct probity_profile_part part;
    struct probity_profile_row row;
    uint64_t own = 0;

    if (probity_profile_part_get(payload, bytes, &part) != 0)
        fail("a profile is damaged", 0, 0);
    for (uint32_t i = 0; i < part.rows; i++) {
        at = probity_profile_row_get(at, payload + bytes, &row);
        if (at == NULL)
            fail("a row is damaged", i, part.rows);
        own += count_row(&row, 1);
    }
    return own;
}

/* Counts all blocks of the closed trace. */
static uint64_t count_trace(const struct scenario *scenario)
{
    struct stat status;
    int file = open("trace", O_RDONLY);

    need(file >= 0 && fstat(file, &status) == 0, "trace");
    const uint8_t *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    need(bytes != MAP_FAILED, "mmap");
    close(file);
    uint64_t own = 0;
    for (off_t at = PROBITY_FILE_HEADER_BYTES; at < status.st_size;) {
        struct probity_block_header header;
        if (probity_block_header_get(bytes + at, &header) != 0)
            fail("block header", (uint64_t)at, 0);
        if (header.type == PROBITY_BLOCK_DATA && scenario->scopes != SCOPES_PROFILE)
            own += count_block(bytes + at, scenario, shared->begun);
        if (header.type == PROBITY_BLOCK_PROFILE)
            own += count_profile(bytes + at + PROBITY_BLOCK_HEADER_BYTES, header.payload_bytes);
        at += PROBITY_BLOCK_HEADER_BYTES + (off_t)header.payload_bytes;
    }
    munmap((void *)(uintptr_t)bytes, (size_t)status.st_size);
    return own;
}

static void check_trace(const struct scenario *scenario)
{
    memset(seen, 0, sizeof seen);
    memset(scope_hits, 0, sizeof scope_hits);
    handler_calls = 0;
    uint64_t own = count_trace(scenario), handled = handler_calls;
    uint64_t records = scenario->scopes != SCOPES_NONE ? 2 : 1;

    for (uint64_t i = 0; i < shared->handled * records; i++)
        handled += seen[HANDLER_PLACE + i];
    if (scenario->scopes == SCOPES_PROFILE)
        records = 1;
    /* If the handler ran before the first scope was declared, its function comes first. */
    if (scenario->is_first && scenario->scopes == SCOPES_PROFILE && own == shared->handled) {
        own = handled;
        handled = shared->handled;
    }
    if (own != shared->finished)
        fail("hits made and found", shared->finished, own);
    if (handled != shared->handled * records)
        fail("hits of the handler made and found", shared->handled * records, handled);
    if (!handler_sleeps)
        unlink("trace");
}

/* Returns the addresses of all instructions that the probes execute, without repeats. */
static uint64_t places[PLACES_MAX], place_count;

static uint64_t register_of(pid_t child, size_t offset)
{
    return (uint64_t)ptrace(PTRACE_PEEKUSER, child, offset, NULL);
}

static void add_place(uint64_t place)
{
    static uint8_t is_known[1 << 16];
    uint64_t slot = place * UINT64_C(0x9e3779b97f4a7c15) >> 48;

    /* The slot contains a different address: look for this one. */
    for (uint64_t i = 0; is_known[slot] && i < place_count; i++) {
        if (places[i] == place)
            return;
    }
    is_known[slot] = 1;
    if (place_count < PLACES_MAX)
        places[place_count++] = place;
}

/* Uses a hardware breakpoint, because it leaves the code unchanged. */
static void set_breakpoint(pid_t child, uint64_t place)
{
    size_t address = offsetof(struct user, u_debugreg[0]);
    size_t control = offsetof(struct user, u_debugreg[7]);

    need(ptrace(PTRACE_POKEUSER, child, address, place) == 0, "breakpoint");
    need(ptrace(PTRACE_POKEUSER, child, control, place != 0) == 0, "breakpoint");
}

/* On some virtual machines, hardware breakpoints can be set but never stop anything. The child is
 * then single-stepped to each place, which takes about 30 us per instruction, so that long paths
 * are visited in fewer places. (int3 would also stop the writer thread, which is not traced.)
 */
enum { STEPS_TO_PLACES = 25000 };
static int has_no_breakpoints, is_slow;

static void write_expected(pid_t child)
{
    FILE *file = fopen("expected", "w");

    need(file != NULL, "expected");
    if (shared->begun > SLEEP_HITS_MAX)
        fail("hits that have a place", SLEEP_HITS_MAX, shared->begun);
    for (uint64_t i = 0; i < shared->begun; i++)
        fprintf(file, "%d %llu %llu\n", (int)child, (unsigned long long)around_hits[i].before,
                (unsigned long long)around_hits[i].behind);
    need(fclose(file) == 0, "expected");
}

/* Leaves the trace in place. */
static void step_through(const struct scenario *scenario)
{
    int status, signal_number;

    /* In the second round, nothing is interrupted, so readings reveal the errors of the first. */
    shared->rounds = is_slow ? 2 : 1;
    pid_t child = start_child(scenario, 0);
    need(waitpid(child, &status, 0) == child && WIFSTOPPED(status), "first stop");
    while (shared->phase == 1) {
        add_place(register_of(child, offsetof(struct user, regs.rip)));
        go_on(child, PTRACE_SINGLESTEP, 0);
    }
    /* The child is sure to reach its _exit(). */
    set_breakpoint(child, (uint64_t)(uintptr_t)_exit);
    has_no_breakpoints = 1;
    while ((signal_number = go_on(child, PTRACE_CONT, 0)) != 0) {
        if (signal_number != SIGTRAP)
            continue;
        has_no_breakpoints = 0;
        set_breakpoint(child, 0);
    }
    check_trace(scenario);
    if (handler_sleeps)
        write_expected(child);
}

/* Returns the stride that stays within STEPS_TO_PLACES; the average place is half the path away. */
static uint64_t stepped_stride(uint64_t stride)
{
    uint64_t least = place_count * place_count / 2 / STEPS_TO_PLACES + 1;

    return stride > least ? stride : least;
}

/* Single-steps. Returns SIGTRAP at the place, or the signal that stopped the child after the
 * probes. */
static int step_to(pid_t child, uint64_t place)
{
    while (shared->phase == 1) {
        int signal_number = go_on(child, PTRACE_SINGLESTEP, 0);
        if (signal_number != SIGTRAP)
            return signal_number;
        if (register_of(child, offsetof(struct user, regs.rip)) == place)
            return SIGTRAP;
    }
    return go_on(child, PTRACE_CONT, 0);
}

static int run_to(pid_t child, uint64_t place)
{
    if (has_no_breakpoints)
        return step_to(child, place);
    set_breakpoint(child, place);
    int signal_number = go_on(child, PTRACE_CONT, 0);
    set_breakpoint(child, 0);
    return signal_number;
}

/* One round: to the place, the signal, and on to the end of the probes. Returns 0 if they do not
 * reach the place. */
static int interrupt_at(pid_t child, uint64_t place)
{
    int signal_number = run_to(child, place), is_hit = signal_number == SIGTRAP;

    if (is_hit) {
        if (register_of(child, offsetof(struct user, regs.rip)) != place)
            fail("place of the stop", place, register_of(child, offsetof(struct user, regs.rip)));
        signal_number = go_on(child, PTRACE_CONT, SIGUSR1);
        /* A blocked signal is delivered once it is unblocked, and then stops the child again. */
        while (signal_number == SIGUSR1 || signal_number == SIGCHLD)
            signal_number = go_on(child, PTRACE_CONT, signal_number);
    }
    if (shared->phase != 2 || signal_number != SIGSTOP)
        fail("stop behind the probes", (uint64_t)signal_number, shared->phase);
    return is_hit;
}

static int has_room(void)
{
    return 2 * (shared->handled + handler_hits) < HITS_SEQUENCE_MASK &&
           shared->begun + 2 * FILL_TRIES + 1000 < HANDLER_PLACE;
}

/* One child for many places, or one for each place if the very first probe is interrupted. */
static void interrupt_every(const struct scenario *scenario, uint64_t stride)
{
    uint64_t hits = 0, missed = 0, forked = 0, first = 0;
    int status;

    step_through(scenario);
    unlink("trace");
    /* Single-stepping also takes the processor away, so times and the CPU clock cannot be
     * compared. */
    if (handler_sleeps && has_no_breakpoints) {
        puts("this machine has no hardware breakpoints");
        exit(77);
    }
    if (has_no_breakpoints) {
        stride = stepped_stride(stride);
        first = stride / 2 + 1; /* the very first is where the child stopped */
    }
    for (uint64_t i = first; i < place_count;) {
        memset(shared, 0, sizeof *shared);
        shared->rounds = scenario->is_first ? 1 : UINT32_MAX;
        pid_t child = start_child(scenario, 0);
        need(waitpid(child, &status, 0) == child && WIFSTOPPED(status), "first stop");
        for (;;) {
            int is_hit = interrupt_at(child, places[i]);
            hits += (uint64_t)is_hit;
            missed += (uint64_t)!is_hit;
            i += stride;
            if (i >= place_count || scenario->is_first || !has_room())
                break;
            wait_for_phase(child, 1);
        }
        shared->rounds = 0;
        while (go_on(child, PTRACE_CONT, 0) != 0)
            ;
        check_trace(scenario);
        if (handler_sleeps)
            write_expected(child);
        forked += shared->forked;
        if (shared->died > 0)
            fail("children of the handler that died", shared->forked, shared->died);
    }
    if (handler_forks && forked < hits)
        fail("places come to, and children", hits, forked);
    printf("%s: %llu instructions; interrupted at %llu, by %llu hits each; %llu not come to\n",
           scenario->name, (unsigned long long)place_count, (unsigned long long)hits,
           (unsigned long long)handler_hits, (unsigned long long)missed);
    if (hits == 0 || hits < missed)
        fail("places come to", hits, missed);
}

static void *make_shared(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    need(at != MAP_FAILED, "mmap");
    return at;
}

int main(int argc, char **argv)
{
    cpu_set_t one;

    need(argc > 2, "arguments");
    /* On a single core, stopping and continuing need not wake up another core. */
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    shared = make_shared(sizeof *shared);
    around_hits = make_shared(SLEEP_HITS_MAX * sizeof *around_hits);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        if (strcmp(scenarios[i].name, argv[2]) != 0)
            continue;
        if (strcmp(argv[1], "look") == 0)
            return look_at_every_instruction(&scenarios[i]);
        handler_forks = strcmp(argv[1], "fork") == 0;
        is_slow = strcmp(argv[1], "slow") == 0;
        handler_sleeps = is_slow || strcmp(argv[1], "sleep") == 0;
        if (is_slow) {
            step_through(&scenarios[i]);
            return 0;
        }
        handler_hits = hits_argument(argc, argv, 4, handler_forks || handler_sleeps ? 0 : 3);
        handler_ms = hits_argument(argc, argv, 5, handler_sleeps ? SLEEP_MS : 0);
        interrupt_every(&scenarios[i], hits_argument(argc, argv, 3, 1));
        return 0;
    }
    return 2;
}
