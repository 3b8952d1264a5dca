/* SPDX-License-Identifier: MIT
 *
 * session.c: starts and ends a recording. Every step that can fail precedes the first store by a
 * probe, and is undone if a later step fails: the program then continues without recording, after
 * one line on stderr.
 */
#include "runtime/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/called.h"
#include "base/os.h"
#include "base/ticks.h"
#include "runtime/budget.h"
#include "runtime/child.h"
#include "runtime/cost.h"
#include "runtime/external.h"
#include "runtime/levels.h"
#include "runtime/outputs.h"
#include "runtime/profile.h"
#include "runtime/session_messages.h"
#include "runtime/sites.h"
#include "runtime/spool_file.h"
#include "runtime/thread.h"
#include "runtime/trace_file.h"
#include "runtime/trigger_calls.h"
#include "runtime/wake.h"
#include "spool/control.h"
#include "spool/segment.h"

enum {
    FIRST_TRIES = 20,        /* readings for the first anchor, on which all times depend */
    CALIBRATE_NS = 100000,   /* minimum time for a first estimate of the rate */
    ANCHOR_NS = 100000000,
    MOVE_NS = 500000000, /* half of the writer's wait (HOLE_WAIT_NS in src/writer/pass.c) */
    MEASURE_NS = 10000000,
    COST_AGE_NS = 100000000 /* how long a cost measurement remains valid */
};

/* Survives a fork: the settings with which a child forked while recording continues. */
static struct probity_settings inherited[2]; /* the other one may be incomplete */
static uint32_t inherited_now;
static int inherited_records;
static int inherited_stop; /* probity_stop() applies to children too */

/* Returns the cost of reading the CPU clock, without which the budget is meaningless. */
static uint64_t cpu_clock_cost(uint32_t clock)
{
    enum { TRIES = 7 };
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        uint64_t first = probity_clock_ticks(clock);
        probity_clock_read(clock, CLOCK_THREAD_CPUTIME_ID);
        uint64_t cost = probity_clock_ticks(clock) - first;
        least = cost < least ? cost : least;
    }
    return least;
}

static void header_fill(struct probity_session *session, struct probity_spool_header *ret_header)
{
    probity_assert(probity_chunk_words_is_valid(session->settings.chunk_words));
    probity_assert(session->settings.segment_chunks > 0);
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

/* Creates spool and pool and sets the rate. The preceding steps take about as long as a first
 * estimate of the rate needs; live.c soon refines it. */
static int live_make(struct probity_session *session)
{
    struct probity_live *live = &session->live;
    struct probity_spool_header header;
    struct probity_clock_moment moment;
    void *segment;

    probity_assert(live->header == NULL && live->pool.segments == 0);
    header_fill(session, &header);
    int result = probity_spool_file_make(session, &header, &segment);
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
    return probity_pool_add(&live->pool, segment, session->present_chunks);
}

/* Computes all times of the gap rule, in ticks. */
static void rules_make(struct probity_session *session)
{
    uint64_t rate = session->live.header->rate;
    uint64_t gap_ns = session->settings.cpu_gap_ns;

    probity_assert(session->live.header != NULL);
    /* Without CPU time, a gap matters only if the 40 bits of a word's tick would be ambiguous. */
    session->gap_ticks = session->settings.cpu_time ? probity_ticks_of_ns((int64_t)gap_ns, rate)
                                                    : UINT64_C(1) << 38;
    session->cpu_cost_ticks = cpu_clock_cost(session->live.clock);
    /* The limit of a gap, but at least the duration of a reading. */
    session->reading_ticks_max = session->gap_ticks > 2 * session->cpu_cost_ticks
                                     ? session->gap_ticks
                                     : 2 * session->cpu_cost_ticks;
    probity_assert(session->reading_ticks_max >= session->gap_ticks);
    session->move_ticks_max = probity_ticks_of_ns(MOVE_NS, rate);
    session->measure_ticks_max = probity_ticks_of_ns(MEASURE_NS, rate);
    probity_budget_share_readings(session);
    session->live.ring_ticks = probity_ticks_of_ns((int64_t)session->settings.ring_ns, rate);
    session->live.anchor_ticks_min = probity_ticks_of_ns(ANCHOR_NS, rate);
    probity_assert(session->budget <= 65536);
}

/* Afterwards, no probe or scope takes the slow path. */
void probity_session_switch_off(void)
{
    __atomic_store_n(&probity_active, 0, __ATOMIC_SEQ_CST);
    probity_levels_end();
}

void probity_session_give_up(void)
{
    probity_session_switch_off();
    probity_session_complain("recording", probity_error_text(PROBITY_ERROR_MEMORY));
}

static void undo(struct probity_session *session, int descriptor)
{
    probity_assert(session->state != PROBITY_SESSION_RECORDING);
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
    memset(&session->live.pool, 0, offsetof(struct probity_pool, segment));
    probity_session_switch_off();
    __atomic_store_n(&session->state, PROBITY_SESSION_ENDED, __ATOMIC_RELEASE);
}

/* Ends the recording here, because no other thread is left to end it. */
static void left_alone(void *owner)
{
    probity_session_stop(owner, PROBITY_END_EXIT);
}

/* Ends the recording for `probity detach`. Restores the program's code before the tool sees the
 * end. */
static void end_asked(void *owner)
{
    const struct probity_session *session = owner;

    if (probity_wake_sleep() != 0)
        __atomic_store_n(&session->live.header->end_asked,
                         PROBITY_CONTROL_END_PARTLY | (uint32_t)errno << 8, __ATOMIC_RELEASE);
    probity_session_stop(owner, PROBITY_END_STOPPED);
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
    probity_budget_begin(session);
    session->writer.thread_numbers = &session->threads;
    session->writer.owner = session;
    session->writer.left_alone = left_alone;
    session->writer.end_asked = end_asked;
    session->writer.begun = probity_wake_begun;
    session->writer.is_filtered = session->settings.writing == PROBITY_WRITING_CONFINED;
    session->writer.has_files = session->csv_path[0] != 0 || session->settings.log[0] != 0 ||
                                session->settings.summary[0] != 0 ||
                                session->settings.has_dumps;
    session->writer.thread_count = probity_session_thread_count;
    session->writer.own_threads = &probity_session_own_threads;
    probity_outputs_prepare(session, is_child);
    if (probity_external_is(session))
        probity_external_begin(session);
    session->failure_reported = 0;
}

static int files_make(struct probity_session *session, int is_child, int *ret_descriptor)
{
    uint64_t trace_bytes = 0, trace_blocks = 0;
    struct stat trace = {0};
    int result = probity_trace_file_make(session, is_child, ret_descriptor);

    if (result != 0)
        return result;
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
    session->live.header->trace_device = trace.st_dev;
    session->live.header->trace_inode = trace.st_ino;
    probity_segment_describe(session->live.header, probity_trace_file_program(),
                             session->trace_path);
    /* Named only once the trace contains the name. */
    result = probity_segment_name(session->unnamed_spool, session->spool_path,
                                  session->live.header, session->present_chunks);
    session->unnamed_spool = -1;
    if (result != 0)
        probity_session_complain(session->spool_path, probity_error_text(result));
    else if (probity_trace_file_mark_start(session, *ret_descriptor, &trace_bytes,
                                           &trace_blocks) != 0) {
        result = PROBITY_ERROR_WRITE;
        probity_session_complain(session->trace_path, probity_error_text(result));
    }
    session->live.header->committed = trace_bytes;
    writer_prepare(session, is_child, &trace, trace_bytes, trace_blocks);
    return result == 0 && probity_trigger_is_linked()
               ? probity_trigger_calls.begin(session, is_child)
               : result;
}

/* Makes a random id; if the kernel has no random bytes yet, one that is at least unique within a
 * boot. */
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
    struct probity_thread_state *slot = live->slot;

    probity_assert(session->state != PROBITY_SESSION_RECORDING);
    probity_writer_reap(&session->writer);
    memset(live, 0, offsetof(struct probity_live, pool.segment));
    live->slot = slot;
    live->slots = slots;
    probity_settings_copy(&session->settings, settings);
    session->settings.cpu_time = settings->cpu_time && probity_clock_has_cpu();
    session->unnamed_spool = -1;
    session->autostarted = 0;
    session->threads = 0;
    session->declarations = PROBITY_DECLARATIONS_NONE;
    session->is_spool_left = 0;
    session->segment_backoff = session->writer_backoff = (struct probity_backoff){0, 0};
    __atomic_store_n(&session->announced_only, (uint32_t)settings->threads_announced,
                     __ATOMIC_RELAXED);
    session->profile.is_untimed = 0;
    __atomic_store_n(&session->number, session->number + 1, __ATOMIC_RELAXED);
    live->pid = (uint32_t)getpid();
    live->clock = probity_clock_choose(settings->refuse_counter, settings->is_ordered);
    probity_clock_moment(live->clock, 0, FIRST_TRIES, &live->first);
    session_name(session);
    if (!is_main)
        probity_sites_find(0); /* this may be a signal handler */
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
    probity_assert(live->header != NULL && live->pool.segments == 1);
    live->header->state = PROBITY_SPOOL_RECORDING;
    probity_settings_copy(&inherited[inherited_now], settings);
    probity_settings_keep_directory(&inherited[inherited_now]);
    inherited_records = 1;
    inherited_stop = 0;
    /* Delays the end of the recording until the writer has been started. */
    __atomic_add_fetch(&session->busy, 1, __ATOMIC_SEQ_CST);
    /* In profile mode, only scopes are recorded. */
    __atomic_store_n(&probity_active, !settings->profile, __ATOMIC_RELEASE);
    __atomic_store_n(&session->state, PROBITY_SESSION_RECORDING, __ATOMIC_SEQ_CST);
    if (probity_calls_recording != NULL)
        probity_calls_recording();
    if (is_main)
        probity_session_need_writer(session); /* threads try again */
    probity_session_leave(session);
    return 0;
}

struct probity_settings *probity_session_inherit_begin(void)
{
    struct probity_settings *settings = &inherited[inherited_now ^ 1];

    probity_settings_copy(settings, &inherited[inherited_now]);
    return settings;
}

/* Release: a child that another thread forks at any moment sees complete settings. */
void probity_session_inherit_end(void)
{
    __atomic_store_n(&inherited_now, inherited_now ^ 1, __ATOMIC_RELEASE);
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
                   ? probity_session_start(session, &inherited[inherited_now], is_main)
                   : PROBITY_ERROR_STATE; /* the parent has to start it */
    if (inherited_stop) {
        probity_session_switch_off();
        __atomic_store_n(&session->state, PROBITY_SESSION_ENDED, __ATOMIC_RELEASE);
        return PROBITY_ERROR_STATE;
    }
    if (probity_settings_read(NULL, settings, &what) != 0) {
        probity_settings_complain(what);
    } else if (settings->is_asked_for) {
        return probity_session_start(session, settings, is_main);
    }
    __atomic_store_n(&session->state, PROBITY_SESSION_ENDED, __ATOMIC_RELEASE);
    probity_session_switch_off();
    return PROBITY_ERROR_STATE;
}

static int grow(struct probity_session *session)
{
    struct probity_pool *pool = &session->live.pool;
    struct probity_spool_header header;
    uint32_t number = pool->segments, present;
    char *path = session->scratch[0];
    void *segment;
    int unnamed;

    probity_assert(number > 0);
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
    result = probity_segment_make(path, &header, &segment, &unnamed, &present);
    if (result != 0)
        return result;
    probity_assert(present > 0 && present <= header.chunks);
    result = probity_segment_name(unnamed, path, segment, present);
    /* The segment is counted before any thread can store into it. */
    __atomic_store_n(&session->live.header->segments, number + 1, __ATOMIC_RELEASE);
    probity_child_note(segment, bytes);
    if (result == 0)
        result = probity_pool_add(pool, segment, present);
    if (result != 0) {
        __atomic_store_n(&session->live.header->segments, number, __ATOMIC_RELEASE);
        unlink(path);
        munmap(segment, bytes);
    }
    return result;
}

int probity_session_grow(struct probity_session *session)
{
    if (probity_backoff_skip(&session->segment_backoff))
        return PROBITY_ERROR_STATE;
    int result = grow(session);
    probity_backoff_update(&session->segment_backoff, result);
    return result;
}

int probity_session_need_writer(struct probity_session *session)
{
    if (__atomic_load_n(&session->writer.state, __ATOMIC_ACQUIRE) != PROBITY_WRITER_NONE)
        return 0;
    if (probity_external_is(session) || probity_session_is_foreign(session))
        return PROBITY_ERROR_STATE;
    if (!PROBITY_OS_MAY_START_THREAD()) {
        __atomic_store_n(&session->is_writer_late, 1, __ATOMIC_RELAXED);
        return PROBITY_ERROR_STATE;
    }
    if (probity_backoff_skip(&session->writer_backoff))
        return PROBITY_ERROR_STATE;
    int result = probity_writer_start(&session->writer);
    probity_backoff_update(&session->writer_backoff, result);
    return result;
}

/* Returns whether another thread is in a slow path of the last recording. The caller itself may be
 * in one, if a signal handler exits. */
static int is_anyone_busy(struct probity_session *session)
{
    const struct probity_thread_state *own = probity_thread_slot();
    struct probity_live *live = &session->live;

    probity_assert(__atomic_load_n(&live->slots, __ATOMIC_RELAXED) <= PROBITY_LIMIT_THREADS);
    if (__atomic_load_n(&session->busy, __ATOMIC_SEQ_CST) != 0)
        return 1;
    for (uint32_t i = 0; i < __atomic_load_n(&live->slots, __ATOMIC_ACQUIRE); i++) {
        struct probity_thread_state *slot = &live->slot[i];
        if (slot != own && __atomic_load_n(&slot->in_use, __ATOMIC_ACQUIRE) &&
            __atomic_load_n(&slot->busy, __ATOMIC_ACQUIRE) != 0)
            return 1;
    }
    return 0;
}

/* Waits until no other thread is in a slow path, about as many milliseconds as there are tries.
 * Returns whether any still is. */
static int is_anyone_late(struct probity_session *session, int tries)
{
    enum { LEAVE_NS = 1000000 };
    uint32_t never = 0;

    for (; tries > 0 && is_anyone_busy(session) && !PROBITY_OS_THREADS_ARE_GONE(); tries--)
        probity_os_wait(&never, 0, LEAVE_NS);
    return tries == 0;
}

/* How long the end of a recording waits for threads in slow paths. What such a thread records later
 * is lost. The end of the program is not delayed for long. */
enum { LEAVE_MS = 5000, LEAVE_AT_EXIT_MS = 1000, LEAVE_AT_START_MS = 10 };

/* Threads that merely find that nothing is recorded are in the slow path, too, but briefly. */
int probity_session_is_late(struct probity_session *session)
{
    return session->is_late && is_anyone_late(session, LEAVE_AT_START_MS);
}

/* Ensures that each thread has passed a full barrier or, if the kernel refuses one, has had time
 * for its processor to empty its store buffer. */
static void pass_barrier(void)
{
    enum { LONG_NS = 10000000 };
    uint32_t never = 0;

    if (probity_os_barrier() != 0)
        probity_os_wait(&never, 0, LONG_NS);
}

/* Ensures that no thread reserves words, because none finds a valid bit. Threads in a slow path
 * must leave it first, because they may set theirs; the barrier makes every earlier reservation
 * visible. */
static void quiesce_threads(struct probity_session *session, int tries)
{
    struct probity_live *live = &session->live;

    probity_session_switch_off();
    __atomic_add_fetch(&live->pool.freed, 1, __ATOMIC_SEQ_CST);
    probity_os_wake(&live->pool.freed, INT32_MAX);
    pass_barrier();
    session->is_late = is_anyone_late(session, tries);
    for (uint32_t i = 0; i < __atomic_load_n(&live->slots, __ATOMIC_ACQUIRE); i++)
        __atomic_store_n(&live->slot[i].hot.valid_bit, 0, __ATOMIC_SEQ_CST);
    probity_profile_end(session);
    pass_barrier();
}

/* Returns whether the trace is gone: without it, the spool can be neither found nor read. */
static int is_trace_gone(const struct probity_session *session)
{
    return session->live.header->failed && session->live.header->failed_errno == ENOENT;
}

/* Handles a failed writer: the rest stays in the spool for `probity recover`, and probes are off.
 * Reports this once. */
static int has_failed(struct probity_session *session)
{
    if (!__atomic_load_n(&session->live.failed, __ATOMIC_RELAXED))
        return 0;
    probity_session_switch_off();
    if (__atomic_exchange_n(&session->failure_reported, 1, __ATOMIC_RELAXED) == 0)
        probity_session_complain(session->trace_path,
                                 is_trace_gone(session)
                                     ? "removed or truncated"
                                 : session->live.header->failed
                                     ? "write failed (run 'probity recover' on it)"
                                     : "not completed (run 'probity recover' on it)");
    return 1;
}

static void report_dumps(struct probity_session *session)
{
    if (session->dumps.is_on)
        probity_trigger_calls.report(session);
}

struct probity_session *probity_session_enter(void)
{
    struct probity_session *session = probity_session_get();

    if (session == NULL) {
        if (inherited_records)
            probity_session_give_up();
        return NULL;
    }
    uint32_t state = __atomic_load_n(&session->state, __ATOMIC_ACQUIRE);
    if (state == PROBITY_SESSION_ENDED ||
        (state == PROBITY_SESSION_NONE && probity_wake_is_pending())) {
        if (__atomic_load_n(&probity_active, __ATOMIC_RELAXED))
            probity_wake_take(session);
    } else if (state == PROBITY_SESSION_NONE) {
        probity_os_lock(&session->lock);
        probity_session_start_if_asked(session, 0);
        probity_os_unlock(&session->lock);
    }
    /* Sequentially consistent, as in quiesce_threads: either stop sees `busy`, or this thread sees
     * that recording has stopped. */
    __atomic_add_fetch(&session->busy, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&session->state, __ATOMIC_SEQ_CST) == PROBITY_SESSION_RECORDING &&
        !has_failed(session)) {
        report_dumps(session);
        return session;
    }
    probity_session_leave(session);
    return NULL;
}

void probity_session_leave(struct probity_session *session)
{
    __atomic_sub_fetch(&session->busy, 1, __ATOMIC_SEQ_CST);
}

/* Call when the trace is complete, or is left to another process (is_left): removes the spool's
 * files and memory. The addresses stay reserved: a thread that was preempted inside a probe may
 * still store there, and one in a slow path, for which quiesce_threads() does not wait
 * indefinitely, may still read the list of chunks. */
static void spool_remove(struct probity_session *session, int is_left)
{
    struct probity_pool *pool = &session->live.pool;
    size_t bytes = probity_spool_segment_bytes(pool->chunks_per_segment, pool->chunk_words);

    probity_assert(pool->segments > 0 && pool->segments <= PROBITY_LIMIT_SEGMENTS);
    if (!is_left)
        __atomic_store_n(&session->live.header->state, PROBITY_SPOOL_CLOSED, __ATOMIC_RELEASE);
    for (uint32_t i = pool->segments; i-- > 0;) {
        if (!is_left && probity_segment_path(session->spool_path, i, session->scratch[0],
                                 sizeof session->scratch[0]) == 0 &&
            unlink(session->scratch[0]) != 0 && errno != ENOENT)
            session->is_spool_left = 1;
        mmap(pool->segment[i].at, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        madvise(pool->segment[i].chunk,
                pool->chunks_per_segment * sizeof *pool->segment[i].chunk, MADV_DONTNEED);
    }
    probity_child_forget();
}

/* No thread has a chunk at the beginning of the next recording. */
static __attribute__((noinline)) void forget_chunks(struct probity_session *session)
{
    for (uint32_t i = 0; i < session->live.slots; i++)
        __atomic_store_n(&session->live.slot[i].chunk, PROBITY_POOL_NONE, __ATOMIC_RELAXED);
}

/* Ends a recording that no thread of this process writes. If another process closes the trace, that
 * also makes the CSV file. */
static int trace_leave(struct probity_session *session, uint32_t reason)
{
    int result = probity_external_end(session, reason);

    probity_assert(session->state == PROBITY_SESSION_ENDING);
    forget_chunks(session);
    if (result != 0)
        session->csv_path[0] = 0;
    if (result != 0 && result != PROBITY_ERROR_STATE) {
        __atomic_store_n(&session->live.failed, 1, __ATOMIC_RELAXED);
        has_failed(session);
    }
    spool_remove(session, result != 0);
    probity_trace_file_release(session);
    return result == PROBITY_ERROR_STATE ? 0 : result;
}

/* Handles a writer thread whose state is unknown: the trace is completed as after a kill. */
static int is_writer_lost(struct probity_session *session)
{
    if (!probity_writer_is_lost(&session->writer))
        return 0;
    if (PROBITY_OS_THREADS_ARE_GONE())
        report_dumps(session);
    if (probity_hooks() == NULL)
        probity_hooks_find(session->no_hooks);
    return 1;
}

static int trace_end(struct probity_session *session, uint32_t reason)
{
    if (probity_external_is(session) || is_writer_lost(session))
        return trace_leave(session, reason);
    int result = __atomic_load_n(&session->writer.state, __ATOMIC_ACQUIRE) == PROBITY_WRITER_NONE
                     ? probity_writer_run_here(&session->writer, reason)
                     : probity_writer_stop(&session->writer, reason);

    probity_assert(__atomic_load_n(&session->state, __ATOMIC_RELAXED) == PROBITY_SESSION_ENDING);
    report_dumps(session);
    forget_chunks(session);
    if (result != 0) {
        /* This also stops probes if no file could be opened. */
        __atomic_store_n(&session->live.failed, 1, __ATOMIC_RELAXED);
        if (!session->live.header->failed && probity_trace_file_is_removed(session))
            probity_live_fail(&session->live, ENOENT);
        has_failed(session);
    }
    if (result == 0 || is_trace_gone(session))
        spool_remove(session, 0);
    probity_trace_file_release(session);
    return result;
}

/* The cost of a call changes with the CPU's frequency. A measurement remains valid for a while, so
 * that a short program does not pay for two. */
static int is_cost_due(const struct probity_session *session)
{
    const struct probity_live *live = &session->live;
    uint64_t age = probity_clock_ticks(live->clock) - live->first.ticks;

    probity_assert(session->live.header != NULL);
    return session->settings.cost == PROBITY_SETTINGS_COST_BOTH ||
           (session->settings.cost == PROBITY_SETTINGS_COST_LONG &&
            age >= probity_ticks_of_ns(COST_AGE_NS, probity_live_rate(live)));
}

int probity_session_stop(struct probity_session *session, uint32_t reason)
{
    uint32_t expected = PROBITY_SESSION_RECORDING;

    probity_assert(reason != 0);
    if (!__atomic_compare_exchange_n(&session->state, &expected, PROBITY_SESSION_ENDING, 0,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return PROBITY_ERROR_STATE;
    inherited_records = 0;
    inherited_stop = 1;
    if (is_cost_due(session)) {
        probity_cost_measure(session, PROBITY_COST_END, &session->cost);
        session->writer.cost = &session->cost;
    }
    quiesce_threads(session, reason == PROBITY_END_EXIT ? LEAVE_AT_EXIT_MS : LEAVE_MS);
    probity_sites_find(1);
    session->writer.sites = probity_sites_next(session->sites);
    int result = trace_end(session, reason);
    if (result == 0)
        result = probity_outputs_make(session);
    __atomic_store_n(&session->state, PROBITY_SESSION_ENDED, __ATOMIC_RELEASE);
    return result;
}

void probity_session_discard_autostart(struct probity_session *session)
{
    uint32_t expected = PROBITY_SESSION_RECORDING;

    if (!session->autostarted ||
        probity_session_has_declared(session) != PROBITY_DECLARATIONS_NONE ||
        !__atomic_compare_exchange_n(&session->state, &expected, PROBITY_SESSION_ENDING, 0,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return;
    quiesce_threads(session, LEAVE_AT_EXIT_MS);
    if (trace_end(session, PROBITY_END_STOPPED) == 0 &&
        probity_session_has_declared(session) == PROBITY_DECLARATIONS_NONE)
        probity_trace_file_remove(session);
    __atomic_store_n(&session->state, PROBITY_SESSION_ENDED, __ATOMIC_RELEASE);
}
