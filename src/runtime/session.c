/* SPDX-License-Identifier: MIT
 *
 * session.c: starts and ends a recording. Every step that can fail comes before the first probe may
 * store, and is undone when a later one fails: the program then goes on without recording, after
 * one line on stderr.
 */
#include "runtime/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "base/scale.h"
#include "runtime/child.h"
#include "runtime/cost.h"
#include "runtime/levels.h"
#include "runtime/sites.h"
#include "runtime/thread.h"
#include "runtime/trace_file.h"
#include "spool/segment.h"

enum {
    FIRST_TRIES = 20,        /* readings for an anchor that all else rests on */
    CALIBRATE_NS = 1000000,  /* what a first estimate of the rate needs, at least */
    ANCHOR_NS = 100000000,
    MOVE_NS = 500000000, /* half of what the writer waits (HOLE_WAIT_NS in src/writer/pass.c) */
    MEASURE_NS = 10000000
};

probity_session_closed *probity_session_when_closed;
probity_session_log *probity_session_print_log;
probity_session_summary *probity_session_print_summary;
void *probity_session_open_logs;

/* The mapping. A forked child inherits the address, and finds zeroes there. */
static struct probity_session *session_at;

/* Survives a fork: what the child of a recording process goes on with. */
static struct probity_settings inherited;
static int inherited_records;
static int inherited_stop; /* probity_stop() holds for children too */

void probity_session_complain(const char *what, const char *why)
{
    static uint32_t is_told;
    char line[512];
    int before = errno;

    if (__atomic_exchange_n(&is_told, 1, __ATOMIC_RELAXED) != 0)
        return;
    int length = snprintf(line, sizeof line, "probity: %s: %s; not recording\n", what, why);
    if (length > 0)
        probity_os_say(line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
    errno = before;
}

void probity_session_complain_of_setting(const char *name)
{
    const char *value = strncmp(name, "PROBITY_", 8) == 0 ? getenv(name) : NULL;
    char what[256];

    snprintf(what, sizeof what, "%s%s%.*s", name, value != NULL ? "=" : "", 160,
             value != NULL ? value : "");
    probity_session_complain(what, "not understood or out of range (see man 3 probity)");
}

enum {
    HEAD_BYTES = (sizeof(struct probity_session) + 4095) & ~4095u,
    MAPPING_BYTES = HEAD_BYTES + PROBITY_LIMIT_THREADS * sizeof(struct probity_slot)
};

struct probity_session *probity_session_get(void)
{
    struct probity_session *old = __atomic_load_n(&session_at, __ATOMIC_ACQUIRE);

    if (old != NULL && __atomic_load_n(&old->is_made, __ATOMIC_ACQUIRE))
        return old;
    char *at = mmap(NULL, MAPPING_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    if (madvise(at, MAPPING_BYTES, MADV_WIPEONFORK) != 0) {
        munmap(at, MAPPING_BYTES);
        return NULL;
    }
    struct probity_session *session = (struct probity_session *)at;
    session->live.slot = (struct probity_slot *)(at + HEAD_BYTES);
    session->is_made = 1;
    /* A wiped mapping is left alone: threads of the child still point into it, and must go on to
     * find zeroes. */
    if (__atomic_compare_exchange_n(&session_at, &old, session, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return session;
    munmap(at, MAPPING_BYTES);
    return old;
}

void probity_session_disown(struct probity_session *session)
{
    struct probity_session *expected = session;

    madvise(session, MAPPING_BYTES, MADV_KEEPONFORK);
    __atomic_compare_exchange_n(&session_at, &expected, NULL, 0, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
}

struct probity_session *probity_session_recording(void)
{
    struct probity_session *session = __atomic_load_n(&session_at, __ATOMIC_ACQUIRE);

    return session != NULL && session->is_made &&
                   __atomic_load_n(&session->state, __ATOMIC_ACQUIRE) == PROBITY_SESSION_RECORDING
               ? session
               : NULL;
}

/* The price of reading the CPU clock, without which the budget means nothing. */
static uint64_t cpu_clock_cost(uint32_t clock)
{
    enum { TRIES = 7 };
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        struct timespec unused;
        uint64_t first = probity_clock_ticks(clock);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &unused);
        uint64_t cost = probity_clock_ticks(clock) - first;
        least = cost < least ? cost : least;
    }
    return least;
}

static void header_fill(struct probity_session *session, struct probity_spool_header *ret_header)
{
    memset(ret_header, 0, sizeof *ret_header);
    memcpy(ret_header->magic, PROBITY_SPOOL_MAGIC, sizeof ret_header->magic);
    ret_header->version = PROBITY_SPOOL_VERSION;
    memcpy(ret_header->session, session->id, 16);
    probity_os_boot_id(ret_header->boot);
    ret_header->pid = session->live.pid;
    ret_header->chunk_words = session->settings.chunk_words;
    ret_header->process_start = probity_os_process_start(session->live.pid);
    ret_header->chunks = session->settings.segment_chunks;
    ret_header->segments = 1;
}

/* "DIRECTORY/[.probity-]SESSION.0" */
static void spool_name(struct probity_session *session, const char *directory, const char *prefix)
{
    char *at = session->spool_path;
    size_t room = sizeof session->spool_path;
    int length = snprintf(at, room - 40, "%s/%s", directory, prefix);

    if (length < 0 || (size_t)length >= room - 40)
        length = 0; /* too long: the open fails */
    for (int i = 0; i < 16; i++)
        length += snprintf(at + length, room - (size_t)length, "%02x", session->id[i]);
    snprintf(at + length, room - (size_t)length, ".0");
}

/* The path is written into the trace, to be found from any directory. */
static const char *absolute(struct probity_session *session, const char *path)
{
    char *at = session->scratch[2];
    size_t room = sizeof session->scratch[2];

    if (path[0] == 0 || path[0] == '/' || getcwd(at, room) == NULL)
        return path;
    size_t length = strlen(at);
    int added = snprintf(at + length, room - length, "/%s", path);
    return added > 0 && (size_t)added < room - length ? at : path;
}

static int spool_make(struct probity_session *session, const struct probity_spool_header *header,
                      void **ret_segment)
{
    const char *wanted = absolute(session, session->settings.spool_directory);
    int result = probity_segment_directory(wanted[0] != 0 ? wanted : NULL, session->scratch[0],
                                           sizeof session->scratch[0]);

    spool_name(session, session->scratch[0], "");
    if (result == 0)
        result = probity_segment_make(session->spool_path, header, ret_segment,
                                      &session->unnamed_spool);
    if (result == 0 || wanted[0] != 0)
        return result;
    /* No usable tmpfs: beside the trace. */
    snprintf(session->scratch[0], sizeof session->scratch[0], "%s", session->trace_path);
    char *slash = strrchr(session->scratch[0], '/');
    if (slash == NULL)
        return result;
    *slash = 0;
    spool_name(session, session->scratch[0], ".probity-");
    return probity_segment_make(session->spool_path, header, ret_segment, &session->unnamed_spool);
}

/* Clock, spool, pool. The pages' own making takes about the time that a first estimate of the rate
 * needs. */
static int live_make(struct probity_session *session)
{
    struct probity_live *live = &session->live;
    struct probity_spool_header header;
    struct probity_clock_moment moment;
    void *segment;

    header_fill(session, &header);
    probity_clock_moment(live->clock, 0, FIRST_TRIES, &live->first);
    int result = spool_make(session, &header, &segment);
    if (result != 0)
        return result;
    do
        probity_clock_moment(live->clock, 0, FIRST_TRIES, &moment);
    while (moment.raw_ns - live->first.raw_ns < CALIBRATE_NS);
    live->header = segment;
    live->header->rate = probity_clock_rate(&live->first, &moment);
    live->first.width_ns = (uint32_t)probity_ns_of_ticks(live->first.width_ns, live->header->rate);
    live->anchor_tick = live->first.ticks;
    live->pool.chunks_per_segment = header.chunks;
    live->pool.chunk_words = header.chunk_words;
    live->mode = (uint32_t)session->settings.mode;
    probity_child_note(segment, probity_spool_segment_bytes(header.chunks, header.chunk_words));
    return probity_pool_add(&live->pool, segment);
}

/* All times of the gap rule, in ticks. */
static void rules_make(struct probity_session *session)
{
    uint64_t rate = session->live.header->rate;
    uint64_t gap_ns = session->settings.cpu_gap_ns;

    /* Without CPU time a gap matters only where a word's 40 bits of tick could be misread. */
    session->gap_ticks = session->settings.cpu_time ? probity_ticks_of_ns((int64_t)gap_ns, rate)
                                                    : UINT64_C(1) << 38;
    session->cpu_cost_ticks = cpu_clock_cost(session->live.clock);
    /* A gap, but no less than a reading takes. */
    session->reading_ticks_max = session->gap_ticks > 2 * session->cpu_cost_ticks
                                     ? session->gap_ticks
                                     : 2 * session->cpu_cost_ticks;
    session->move_ticks_max = probity_ticks_of_ns(MOVE_NS, rate);
    session->measure_ticks_max = probity_ticks_of_ns(MEASURE_NS, rate);
    session->budget = session->settings.cpu_budget_permille * 65536 / 1000;
    session->live.anchor_ticks_min = probity_ticks_of_ns(ANCHOR_NS, rate);
    session->writer_threshold = probity_live_chunks_to_wake(&session->live);
}

/* From here on no probe and no scope takes the slow path. */
static void switch_off(void)
{
    __atomic_store_n(&probity_active, 0, __ATOMIC_SEQ_CST);
    probity_levels_end();
}

void probity_session_give_up(void)
{
    switch_off();
    probity_session_complain("recording", probity_error_text(PROBITY_ERROR_MEMORY));
}

static void undo(struct probity_session *session, int descriptor)
{
    if (descriptor >= 0) {
        close(descriptor);
        unlink(session->trace_path);
    }
    if (session->unnamed_spool >= 0)
        close(session->unnamed_spool);
    session->unnamed_spool = -1;
    if (session->live.header != NULL) {
        unlink(session->spool_path);
        munmap(session->live.header, probity_spool_segment_bytes(session->settings.segment_chunks,
                                                                 session->settings.chunk_words));
        session->live.header = NULL;
    }
    probity_child_forget();
    memset(&session->live.pool, 0, sizeof session->live.pool);
    switch_off();
    __atomic_store_n(&session->state, PROBITY_SESSION_ENDED, __ATOMIC_RELEASE);
}

static void trace_grown(void *owner, int is_closed)
{
    probity_session_print_log(owner, is_closed);
}

static void log_prepare(struct probity_session *session, int is_child)
{
    const char *wanted = session->settings.log, *summary = session->settings.summary;

    session->log = NULL;
    session->log_is_over = session->log_is_whole = 0;
    if (probity_trace_file_expand(session, summary, is_child, session->summary_path) != 0)
        session->summary_path[0] = 0;
    if (wanted[0] == 0 || probity_session_print_log == NULL)
        return;
    session->writer.owner = session;
    session->writer.grown = trace_grown;
    session->writer.keeps_stderr = 1; /* for the log, or for what is wrong with it */
    if (probity_trace_file_expand(session, wanted, is_child, session->log_path) != 0)
        session->log_path[0] = 0;
}

static void writer_prepare(struct probity_session *session, int is_child, const struct stat *trace,
                           uint64_t trace_bytes, uint64_t trace_blocks)
{
    memset(&session->writer, 0, sizeof session->writer);
    session->writer.live = &session->live;
    session->writer.trace_path = session->trace_path;
    session->writer.spool_path = session->spool_path;
    session->writer.trace_device = trace->st_dev;
    session->writer.trace_inode = trace->st_ino;
    session->writer.trace_bytes = trace_bytes;
    session->writer.trace_blocks = trace_blocks;
    session->writer.change_levels = probity_levels_change;
    session->writer.thread_numbers = &session->threads;
    log_prepare(session, is_child);
    session->failure_is_told = 0;
}

static int files_make(struct probity_session *session, int is_child, int *ret_descriptor)
{
    uint64_t trace_bytes = 0, trace_blocks = 0;
    struct stat trace = {0};
    int result = probity_trace_file_make(session, is_child, ret_descriptor);

    if (result != 0) {
        probity_session_complain(session->scratch[0], result == PROBITY_ERROR_OPEN
                                                          ? strerror(errno)
                                                          : probity_error_text(result));
        return result;
    }
    result = live_make(session);
    if (result != 0) {
        probity_session_complain(session->spool_path, probity_error_text(result));
        return result;
    }
    rules_make(session);
    probity_levels_set_mode(session->settings.profile);
    probity_cost_begin(session, is_child, &session->cost);
    result = probity_trace_file_begin(session, *ret_descriptor, &trace_bytes, &trace_blocks);
    if (result == 0 && fstat(*ret_descriptor, &trace) != 0)
        result = PROBITY_ERROR_OPEN;
    if (result != 0) {
        probity_session_complain(session->trace_path, probity_error_text(result));
        return result;
    }
    /* Not before the trace tells it. */
    result = probity_segment_name(session->unnamed_spool, session->spool_path,
                                  session->live.header);
    session->unnamed_spool = -1;
    if (result != 0)
        probity_session_complain(session->spool_path, probity_error_text(result));
    session->live.header->committed = trace_bytes;
    writer_prepare(session, is_child, &trace, trace_bytes, trace_blocks);
    return result;
}

/* Random; where the kernel has none yet, at least never the same twice in a boot. */
static void session_name(struct probity_session *session)
{
    uint64_t word[2] = {probity_clock_ticks(session->live.clock),
                        (uint64_t)session->live.pid << 32 | session->number};

    if (probity_os_random(session->id, sizeof session->id) != 0)
        memcpy(session->id, word, sizeof word);
}

int probity_session_start(struct probity_session *session, const struct probity_settings *settings,
                          int is_main)
{
    struct probity_live *live = &session->live;
    int descriptor = -1, is_child = inherited_records && !is_main;
    uint32_t slots = live->slots;
    struct probity_slot *slot = live->slot;

    memset(live, 0, sizeof *live);
    live->slot = slot;
    live->slots = slots;
    session->settings = *settings;
    session->unnamed_spool = -1;
    session->is_by_environment = 0;
    session->threads = 0;
    session->is_declared = session->is_spool_left = 0;
    session->segment_refusal = session->writer_refusal = (struct probity_refusal){0, 0};
    __atomic_store_n(&session->announced_only, (uint32_t)settings->threads_announced,
                     __ATOMIC_RELAXED);
    session->profile.is_untimed = 0;
    __atomic_store_n(&session->number, session->number + 1, __ATOMIC_RELAXED);
    live->pid = (uint32_t)getpid();
    live->clock = probity_clock_choose(settings->refuse_counter);
    session_name(session);
    if (!is_main)
        probity_sites_find(0); /* maybe in a signal handler */
    int result = files_make(session, is_child, &descriptor);
    if (result != 0) {
        undo(session, descriptor);
        return result;
    }
    probity_trace_file_hold(session, descriptor);
    close(descriptor);
    probity_os_barrier_ready();
    probity_os_image_find(&session->image);
    probity_levels_begin(session);
    live->header->state = PROBITY_SPOOL_RECORDING;
    inherited = *settings;
    probity_settings_keep_folder(&inherited);
    inherited_records = 1;
    inherited_stop = 0;
    __atomic_add_fetch(&session->busy, 1, __ATOMIC_SEQ_CST); /* an end waits for the writer */
    /* In profile mode, scopes only. */
    __atomic_store_n(&probity_active, !settings->profile, __ATOMIC_RELEASE);
    __atomic_store_n(&session->state, PROBITY_SESSION_RECORDING, __ATOMIC_SEQ_CST);
    if (is_main)
        probity_session_need_writer(session); /* else tried again when the first chunk is full */
    probity_session_leave(session);
    return 0;
}

int probity_session_start_if_asked(struct probity_session *session, int is_main)
{
    struct probity_settings *settings = &session->wanted;
    const char *what;

    uint32_t state = __atomic_load_n(&session->state, __ATOMIC_ACQUIRE);

    if (state != PROBITY_SESSION_NONE)
        return state == PROBITY_SESSION_RECORDING ? 0 : PROBITY_ERROR_STATE;
    if (inherited_records)
        return is_main || !probity_os_is_in_parents_memory()
                   ? probity_session_start(session, &inherited, is_main)
                   : PROBITY_ERROR_STATE; /* the parent's, who has not probed yet, to start */
    if (inherited_stop) {
        switch_off();
        __atomic_store_n(&session->state, PROBITY_SESSION_ENDED, __ATOMIC_RELEASE);
        return PROBITY_ERROR_STATE;
    }
    if (probity_settings_read(NULL, settings, &what) != 0) {
        probity_session_complain_of_setting(what);
    } else if (settings->is_asked_for) {
        return probity_session_start(session, settings, is_main);
    }
    __atomic_store_n(&session->state, PROBITY_SESSION_ENDED, __ATOMIC_RELEASE);
    switch_off();
    return PROBITY_ERROR_STATE;
}

/* Whether this wish is passed over. */
static int is_passed_over(struct probity_refusal *refusal)
{
    return refusal->wishes > 0 && refusal->wishes-- > 0;
}

static void learn_result(struct probity_refusal *refusal, int result)
{
    enum { MAX = 1024 };
    uint32_t next = refusal->next;

    refusal->wishes = result != 0 ? next : 0;
    refusal->next = result == 0 ? 0 : next == 0 ? 1 : next < MAX ? 2 * next : MAX;
}

static int grow(struct probity_session *session)
{
    struct probity_pool *pool = &session->live.pool;
    struct probity_spool_header header;
    uint32_t number = pool->segments;
    char *path = session->scratch[0];
    void *segment;
    int unnamed;

    if (number >= session->settings.segments_max)
        return PROBITY_ERROR_LIMIT;
    int result =
        probity_segment_path(session->spool_path, number, path, sizeof session->scratch[0]);
    if (result != 0)
        return result;
    header_fill(session, &header);
    header.segment = number;
    header.state = PROBITY_SPOOL_RECORDING;
    size_t bytes = probity_spool_segment_bytes(header.chunks, header.chunk_words);
    result = probity_segment_make(path, &header, &segment, &unnamed);
    if (result != 0)
        return result;
    result = probity_segment_name(unnamed, path, segment);
    /* Told before any thread can store into it. */
    __atomic_store_n(&session->live.header->segments, number + 1, __ATOMIC_RELEASE);
    probity_child_note(segment, bytes);
    if (result == 0)
        result = probity_pool_add(pool, segment);
    if (result != 0) {
        __atomic_store_n(&session->live.header->segments, number, __ATOMIC_RELEASE);
        unlink(path);
        munmap(segment, bytes);
    }
    return result;
}

int probity_session_grow(struct probity_session *session)
{
    if (is_passed_over(&session->segment_refusal))
        return PROBITY_ERROR_STATE;
    int result = grow(session);
    learn_result(&session->segment_refusal, result);
    return result;
}

int probity_session_need_writer(struct probity_session *session)
{
    if (__atomic_load_n(&session->writer.state, __ATOMIC_ACQUIRE) != PROBITY_WRITER_NONE)
        return 0;
    if (probity_session_is_foreign(session) || is_passed_over(&session->writer_refusal))
        return PROBITY_ERROR_STATE;
    int result = probity_writer_start(&session->writer);
    learn_result(&session->writer_refusal, result);
    return result;
}

/* Whether another thread is in a slow path of this recording. The caller may be in one itself,
 * where a signal handler exits. */
static int is_anyone_busy(struct probity_session *session)
{
    const struct probity_slot *own = probity_thread_slot();
    struct probity_live *live = &session->live;

    if (__atomic_load_n(&session->busy, __ATOMIC_SEQ_CST) != 0)
        return 1;
    for (uint32_t i = 0; i < __atomic_load_n(&live->slots, __ATOMIC_ACQUIRE); i++) {
        struct probity_slot *slot = &live->slot[i];
        if (slot != own && __atomic_load_n(&slot->in_use, __ATOMIC_ACQUIRE) &&
            __atomic_load_n(&slot->busy, __ATOMIC_ACQUIRE) != 0)
            return 1;
    }
    return 0;
}

/* Each thread has passed a full barrier, or, where the kernel refuses one, had the time in which
 * any processor empties its store buffer. */
static void pass_barrier(void)
{
    enum { LONG_NS = 10000000 };
    uint32_t never = 0;

    if (probity_os_barrier() != 0)
        probity_os_wait(&never, 0, LONG_NS);
}

/* From here on no thread reserves: each finds no valid bit. First those in a slow path leave it,
 * since they may set theirs; the barrier makes every reservation made before visible. */
static void shut_out(struct probity_session *session)
{
    enum { LEAVE_TRIES = 1000, LEAVE_NS = 1000000 };
    struct probity_live *live = &session->live;
    uint32_t never = 0;

    switch_off();
    __atomic_add_fetch(&live->pool.freed, 1, __ATOMIC_SEQ_CST);
    probity_os_wake(&live->pool.freed, INT32_MAX);
    pass_barrier();
    for (int i = 0; i < LEAVE_TRIES && is_anyone_busy(session); i++)
        probity_os_wait(&never, 0, LEAVE_NS);
    for (uint32_t i = 0; i < __atomic_load_n(&live->slots, __ATOMIC_ACQUIRE); i++)
        __atomic_store_n(&live->slot[i].hot.valid_bit, 0, __ATOMIC_SEQ_CST);
    probity_profile_end(session);
    pass_barrier();
}

/* Without the trace nobody finds the spool, nor can read it. */
static int is_trace_gone(const struct probity_session *session)
{
    return session->live.header->failed && session->live.header->failed_errno == ENOENT;
}

/* The writer gave up: what is in the spool stays there for `probity recover`; probes are off. Says
 * so once. */
static int has_failed(struct probity_session *session)
{
    if (!__atomic_load_n(&session->live.failed, __ATOMIC_RELAXED))
        return 0;
    switch_off();
    if (__atomic_exchange_n(&session->failure_is_told, 1, __ATOMIC_RELAXED) == 0)
        probity_session_complain(session->trace_path,
                                 is_trace_gone(session)
                                     ? "it was removed or emptied"
                                     : "cannot be written further (run 'probity recover' on it)");
    return 1;
}

struct probity_session *probity_session_enter(void)
{
    struct probity_session *session = probity_session_get();

    if (session == NULL) {
        if (inherited_records)
            probity_session_give_up();
        return NULL;
    }
    if (__atomic_load_n(&session->state, __ATOMIC_ACQUIRE) == PROBITY_SESSION_NONE) {
        probity_os_lock(&session->lock);
        probity_session_start_if_asked(session, 0);
        probity_os_unlock(&session->lock);
    }
    /* Sequentially consistent, as in shut_out: either stop sees us busy, or we see it stopped. */
    __atomic_add_fetch(&session->busy, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&session->state, __ATOMIC_SEQ_CST) == PROBITY_SESSION_RECORDING &&
        !has_failed(session))
        return session;
    probity_session_leave(session);
    return NULL;
}

void probity_session_leave(struct probity_session *session)
{
    __atomic_sub_fetch(&session->busy, 1, __ATOMIC_SEQ_CST);
}

/* The trace holds everything: the spool's files go, and their memory. Their addresses stay, because
 * a thread that was preempted inside a probe may still store there. */
static void spool_remove(struct probity_session *session)
{
    struct probity_pool *pool = &session->live.pool;
    size_t bytes = probity_spool_segment_bytes(pool->chunks_per_segment, pool->chunk_words);

    __atomic_store_n(&session->live.header->state, PROBITY_SPOOL_CLOSED, __ATOMIC_RELEASE);
    for (uint32_t i = pool->segments; i-- > 0;) {
        if (probity_segment_path(session->spool_path, i, session->scratch[0],
                                 sizeof session->scratch[0]) == 0 &&
            unlink(session->scratch[0]) != 0 && errno != ENOENT)
            session->is_spool_left = 1;
        mmap(pool->segment[i].at, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        munmap(pool->segment[i].chunk, pool->chunks_per_segment * sizeof *pool->segment[i].chunk);
    }
    probity_child_forget();
}

static int trace_end(struct probity_session *session, uint32_t reason)
{
    int result = __atomic_load_n(&session->writer.state, __ATOMIC_ACQUIRE) == PROBITY_WRITER_NONE
                     ? probity_writer_run_here(&session->writer, reason)
                     : probity_writer_stop(&session->writer, reason);

    for (uint32_t i = 0; i < session->live.slots; i++)
        __atomic_store_n(&session->live.slot[i].chunk, PROBITY_POOL_NONE, __ATOMIC_RELAXED);
    if (result != 0) {
        /* Also where no file opened. */
        __atomic_store_n(&session->live.failed, 1, __ATOMIC_RELAXED);
        if (!session->live.header->failed && probity_trace_file_is_removed(session))
            probity_live_fail(&session->live, ENOENT);
        has_failed(session);
    }
    if (result == 0 || is_trace_gone(session))
        spool_remove(session);
    probity_trace_file_let_go(session);
    return result;
}

/* Where it was made for something else that is whole now. Not without its spool, which nobody would
 * find: `probity recover` removes what it can of both. */
static void trace_remove(const struct probity_session *session)
{
    if (!session->is_spool_left)
        unlink(session->trace_path);
}

/* A trace that was made only to be printed goes when that is done. */
static void texts_end(struct probity_session *session)
{
    const struct probity_settings *settings = &session->settings;
    int is_whole = settings->log[0] == 0 || session->log_is_whole;

    if (settings->summary[0] != 0 && probity_session_print_summary != NULL)
        is_whole &= probity_session_print_summary(session) == 0;
    if (settings->is_for_text && is_whole)
        trace_remove(session);
}

int probity_session_stop(struct probity_session *session, uint32_t reason)
{
    uint32_t expected = PROBITY_SESSION_RECORDING;

    if (!__atomic_compare_exchange_n(&session->state, &expected, PROBITY_SESSION_ENDING, 0,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return PROBITY_ERROR_STATE;
    inherited_records = 0;
    inherited_stop = 1;
    if (session->settings.cost) {
        probity_cost_measure(session, PROBITY_COST_END, &session->cost);
        session->writer.cost = &session->cost;
    }
    shut_out(session);
    probity_sites_find(1);
    session->writer.sites = probity_sites_next(session->sites);
    int result = trace_end(session, reason);
    if (result == 0)
        texts_end(session);
    if (result == 0 && session->csv_path[0] != 0 && probity_session_when_closed != NULL) {
        result = probity_session_when_closed(session->trace_path, session->csv_path);
        if (result == 0)
            trace_remove(session);
    }
    __atomic_store_n(&session->state, PROBITY_SESSION_ENDED, __ATOMIC_RELEASE);
    return result;
}

void probity_session_make_way(struct probity_session *session)
{
    uint32_t expected = PROBITY_SESSION_RECORDING;

    if (!session->is_by_environment ||
        __atomic_load_n(&session->is_declared, __ATOMIC_ACQUIRE) ||
        !__atomic_compare_exchange_n(&session->state, &expected, PROBITY_SESSION_ENDING, 0,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return;
    shut_out(session);
    if (trace_end(session, PROBITY_END_STOPPED) == 0 && !session->is_declared)
        trace_remove(session);
    __atomic_store_n(&session->state, PROBITY_SESSION_ENDED, __ATOMIC_RELEASE);
}
