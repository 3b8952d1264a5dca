/* SPDX-License-Identifier: MIT
 *
 * writer.c: sleeps until a quarter of the chunks is full or a timeout expires, then makes a pass.
 * Never changes state of the program; if the trace cannot be written, sets live->failed, and
 * recording ends.
 */
#include "writer/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/os_confine.h"
#include "base/os.h"
#include "base/ticks.h"
#include "base/own_threads.h"
#include "base/thread_count.h"
#include "probity_scope.h"
#include "spool/control.h"
#include "spool/segment.h"
#include "writer/dumps.h"
#include "writer/pass.h"
#include "writer/profile.h"
#include "writer/ring.h"

enum {
    TICK_NS = 200000000,      /* interval for draining open chunks and advancing the watermark */
    IDLE_NS = 1000000000,     /* interval if there were no records */
    JUDGE_FIRST_NS = 2000000,  /* interval if the cost of recording is evaluated; doubled */
    JUDGE_NS = 100000000,      /* up to this */
    JUDGE_SOON_NS = 10000000,  /* after a decision, which may not be sufficient; doubled */
    LOOK_NS = 100000000,      /* interval while conditions are compared with records */
    FOLLOWED_NS = 100000000,  /* interval while a reader follows, so that records are shown soon */
    SETTLE_TRIES = 200,       /* at the end: wait for probes in progress, */
    SETTLE_NS = 500000        /* this long each time */
};

/* Sanitizers write reports to the standard descriptors; without a sanitizer, this thread closes
 * even those, as the program may have done. */
#if defined(__has_feature)
#define IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif
enum { FIRST_OWN_DESCRIPTOR = IS_SANITIZED ? 3 : 0 };

/* Opens a file, but not as a standard descriptor, which this thread's table lacks: libc's messages
 * would be written to the file. */
static int open_high(const char *path, int flags)
{
    enum { FIRST = 3 };
    int low = open(path, flags | O_CLOEXEC | O_NOFOLLOW);
    int high = low >= 0 && low < FIRST ? fcntl(low, F_DUPFD_CLOEXEC, FIRST) : low;

    if (high != low)
        close(low);
    return high;
}

/* Takes the draining lock. It belongs to the open file: a lock of the process would be released
 * when this thread closes any descriptor of the spool, as it does after reading its trace. No child
 * inherits the table. */
static void lock_spool(struct probity_writer *writer, int *ret_descriptor)
{
    int descriptor = open_high(writer->spool_path, O_RDWR);

    probity_assert(writer->spool_path != NULL);
    if (descriptor >= 0)
        probity_segment_lock(descriptor, PROBITY_SPOOL_LOCK_DRAINER);
    *ret_descriptor = descriptor;
}

static int open_trace(struct probity_writer *writer, struct probity_append *ret_append)
{
    /* Dumps read declarations from the file. */
    int descriptor = open_high(writer->trace_path, writer->dumps != NULL ? O_RDWR : O_WRONLY);
    struct stat status;

    probity_assert(writer->trace_bytes > 0);
    ret_append->descriptor = descriptor;
    ret_append->committed = ret_append->bytes_min = writer->trace_bytes;
    if (descriptor < 0 || fstat(descriptor, &status) != 0 ||
        status.st_dev != writer->trace_device || status.st_ino != writer->trace_inode)
        return PROBITY_ERROR_OPEN;
    ret_append->has_links = status.st_nlink > 0;
    return 0;
}

static int is_followed(const struct probity_live *live)
{
    uint64_t until_ns = __atomic_load_n(&live->header->followed_ns, __ATOMIC_RELAXED);

    return until_ns != 0 && probity_clock_read(live->clock, CLOCK_MONOTONIC) < until_ns;
}

/* Sleeps until there is something to do. Returns 1 if a full pass is due, because of its interval
 * or because a reader has begun to follow. */
static int sleep_until_work(struct probity_writer *writer, uint64_t *next_all, int64_t interval_ns)
{
    struct probity_live *live = writer->live;
    uint64_t rate = probity_live_rate(live), now = probity_clock_ticks(live->clock);
    const uint32_t *wake = &live->header->wake;
    uint32_t seen = __atomic_load_n(wake, __ATOMIC_ACQUIRE);
    uint32_t enough = probity_live_chunks_to_wake(live);
    uint64_t due = writer->dumps != NULL ? writer->dumps->calls->due(writer->dumps) : UINT64_MAX;
    uint64_t until = due < *next_all ? due : *next_all;

    if (__atomic_load_n(&live->pool.full_chunks, __ATOMIC_RELAXED) < enough &&
        (int64_t)(until - now) > 0 &&
        (writer->dumps == NULL || !probity_dumps_are_asked(writer->dumps)) &&
        __atomic_load_n(&writer->flush_asked, __ATOMIC_ACQUIRE) == writer->flush_done &&
        !__atomic_load_n(&live->pool.extend_asked, __ATOMIC_ACQUIRE) &&
        !__atomic_load_n(&writer->end_reason, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&writer->sleeps, 1, __ATOMIC_SEQ_CST);
        probity_os_wait_shared(wake, seen, (int64_t)probity_ns_of_ticks(until - now, rate));
        __atomic_store_n(&writer->sleeps, 0, __ATOMIC_SEQ_CST);
        now = probity_clock_ticks(live->clock);
    }
    int has_begun = interval_ns > FOLLOWED_NS && is_followed(live);
    if ((int64_t)(*next_all - now) > 0 && !has_begun)
        return 0;
    *next_all = now + probity_ticks_of_ns(has_begun ? FOLLOWED_NS : interval_ns, rate);
    return 1;
}

static void give_up_all(struct probity_live *live)
{
    __atomic_store_n(&live->header->complete_from, probity_clock_ticks(live->clock),
                     __ATOMIC_RELEASE);
}

static int pass_once(struct probity_writer *writer, struct probity_pass *pass, int all)
{
    uint32_t asked = __atomic_load_n(&writer->flush_asked, __ATOMIC_ACQUIRE);
    int is_flush = asked != writer->flush_done, result = 0;

    probity_assert(probity_pass_is_valid(pass));
    /* Records that a flush writes to the trace leave the ring, and count as discarded.
     * complete_from is therefore set before the flush, for dumps made during it, and again after
     * it, for everything that it has written. */
    if (writer->live->mode == PROBITY_MODE_RING && is_flush)
        give_up_all(writer->live);
    if (writer->live->mode == PROBITY_MODE_RING && !is_flush)
        result = probity_ring_forget(pass);
    else if (all || is_flush)
        result = probity_pass_all(pass, 0);
    else
        result = probity_pass_full(pass);
    if (result == 0 && is_flush)
        result = probity_profile_write(pass);
    if (writer->live->mode == PROBITY_MODE_RING && is_flush)
        give_up_all(writer->live);
    if (result == 0 && all && writer->judge_cost != NULL)
        result = writer->judge_cost(writer->owner, pass, 0);
    if (result != 0) {
        writer->result = result;
        probity_live_fail(writer->live, pass->append.error);
    }
    if (is_flush) {
        __atomic_store_n(&writer->flush_done, asked, __ATOMIC_RELEASE);
        probity_os_wake(&writer->flush_done, INT32_MAX);
    }
    return result;
}

/* Returns whether no thread is still storing into reserved words. All are quiesced by now. */
static int is_settled(struct probity_live *live)
{
    for (uint32_t i = 0; i < live->slots; i++) {
        struct probity_thread_state *slot = &live->slot[i];
        if (!__atomic_load_n(&slot->in_use, __ATOMIC_ACQUIRE) || slot->chunk == PROBITY_POOL_NONE)
            continue;
        struct probity_chunk_header *header = probity_pool_header(&live->pool, slot->chunk);
        uint64_t start = (uint64_t)probity_pool_words(&live->pool, slot->chunk);
        uint64_t used = (__atomic_load_n(&slot->hot.cursor, __ATOMIC_ACQUIRE) - start) / 8;
        uint64_t *words = (uint64_t *)start;
        uint32_t end = used < live->pool.chunk_words ? (uint32_t)used : live->pool.chunk_words;
        probity_assert(end <= live->pool.chunk_words);
        for (uint32_t at = header->drained; at < end; at++) {
            uint64_t word = __atomic_load_n(&words[at], __ATOMIC_ACQUIRE);
            int is_long = (word & PROBITY_WORD_CODE_MASK) < PROBITY_WORD_CODE_FIRST;
            if (word == 0 || (is_long && (word & 15) == PROBITY_WORD_PENDING))
                return 0;
            if (is_long && (word >> 4 & 255) > 0)
                at += (uint32_t)(word >> 4 & 255) - 1;
        }
    }
    return 1;
}

static int write_cost(struct probity_pass *pass, const struct probity_cost *cost)
{
    uint8_t *payload = probity_pass_room(pass);

    probity_assert(cost->rows > 0 && cost->rows <= PROBITY_COST_ROWS_MAX);
    return payload != NULL ? probity_pass_block(pass, PROBITY_BLOCK_COST,
                                                probity_cost_put(payload, cost))
                           : PROBITY_ERROR_WRITE;
}

/* Writes sites that libraries loaded later have added to the list. */
static int write_sites(struct probity_pass *pass, const struct probity_sites_part *part)
{
    int result = 0;

    for (; result == 0 && part != NULL; part = __atomic_load_n(&part->next, __ATOMIC_ACQUIRE)) {
        uint8_t *payload = probity_pass_room(pass);
        if (payload == NULL)
            return PROBITY_ERROR_WRITE;
        memcpy(payload, part->block + PROBITY_BLOCK_HEADER_BYTES, part->payload_bytes);
        result = probity_pass_block(pass, PROBITY_BLOCK_SITES, part->payload_bytes);
    }
    return result;
}

/* Takes the windows of new notices, before any chunk is discarded, then writes those that are
 * due. */
static void serve_dumps(struct probity_writer *writer, struct probity_pass *pass, int all)
{
    if (writer->dumps == NULL || !writer->dumps->is_on)
        return;
    writer->dumps->calls->take(writer->dumps, pass, all);
    if (all || writer->dumps->calls->due(writer->dumps) <= probity_clock_ticks(writer->live->clock))
        writer->dumps->calls->write(writer->dumps, pass, all);
}

static int end_trace(struct probity_writer *writer, struct probity_pass *pass)
{
    uint32_t never = 0;

    probity_assert(writer->end_reason != 0);
    for (int i = 0; i < SETTLE_TRIES && !is_settled(writer->live); i++)
        probity_os_wait(&never, 0, SETTLE_NS);
    /* Treats all chunks as full, so that records after a hole that no probe will fill are not
     * lost. */
    for (uint32_t i = 0; i < writer->live->slots; i++) {
        struct probity_thread_state *slot = &writer->live->slot[i];
        if (__atomic_load_n(&slot->in_use, __ATOMIC_ACQUIRE) && slot->chunk != PROBITY_POOL_NONE)
            probity_live_chunk_release(writer->live, slot);
    }
    serve_dumps(writer, pass, 1);
    int result = probity_pass_all(pass, 1);
    if (result == 0 && writer->judge_cost != NULL)
        result = writer->judge_cost(writer->owner, pass, 1);
    if (result == 0)
        result = probity_profile_write(pass);
    if (result == 0 && writer->cost != NULL && writer->cost->rows > 0)
        result = write_cost(pass, writer->cost);
    if (result == 0)
        result = write_sites(pass, writer->sites);
    if (result == 0)
        result = probity_pass_end(pass, writer->end_reason);
    if (result != 0)
        probity_live_fail(writer->live, pass->append.error);
    return result;
}

/* Replies to `probity level`, and records when the levels changed. The tick is older than the
 * change, so that records with the new levels come after it. */
static int answer_request(struct probity_writer *writer, struct probity_pass *pass)
{
    struct probity_live *live = writer->live;
    uint32_t serial;
    int functions, parameters, result = 0;

    if (writer->change_levels == NULL ||
        !probity_control_pending(live->header, &serial, &functions, &parameters))
        return 0;
    uint64_t tick = probity_clock_ticks(live->clock);
    uint32_t levels = writer->change_levels(functions, parameters);
    if (functions >= 0 || parameters >= 0)
        result = probity_pass_levels(pass, tick, levels, "", writer->thread_numbers);
    probity_control_answer(live->header, serial);
    if (result != 0) {
        writer->result = result;
        probity_live_fail(live, pass->append.error);
    }
    return result;
}

/* Replies to `probity level --set` in the same way. */
static int answer_change(struct probity_writer *writer, struct probity_pass *pass)
{
    struct probity_live *live = writer->live;
    static const char unlinked[] = "settings: the program lacks this code (link it with "
                                   "-Wl,-u,probity_snapshot)";
    char text[PROBITY_SPOOL_CHANGE_TEXT], why[PROBITY_SPOOL_CHANGE_TEXT] = "";
    uint32_t serial;
    int result = 0;

    if (!probity_control_change_pending(live->header, &serial, text))
        return 0;
    uint64_t tick = probity_clock_ticks(live->clock);
    int refused = PROBITY_ERROR_ARGUMENT;
    if (writer->change_settings != NULL)
        refused = writer->change_settings(writer->owner, text, why, sizeof why);
    else
        memcpy(why, unlinked, sizeof unlinked);
    if (refused == 0)
        writer->write_changes(writer->owner, pass, tick);
    if (refused == 0)
        result = probity_pass_levels(pass, tick,
                                     __atomic_load_n(&live->header->levels, __ATOMIC_RELAXED),
                                     text, writer->thread_numbers);
    probity_control_change_answer(live->header, serial, refused, why);
    if (result != 0) {
        writer->result = result;
        probity_live_fail(live, pass->append.error);
    }
    return result;
}

/* Ends the recording if `probity detach` has requested it. A thread waiting for a flush is served
 * first. Returns whether the recording has ended. */
static int end_on_request(struct probity_writer *writer, struct probity_pass *pass)
{
    const struct probity_live *live = writer->live;

    if (writer->end_asked == NULL ||
        !__atomic_load_n(&live->header->end_asked, __ATOMIC_ACQUIRE))
        return 0;
    if (__atomic_load_n(&writer->flush_asked, __ATOMIC_ACQUIRE) != writer->flush_done &&
        pass_once(writer, pass, 1) != 0)
        return 0;
    writer->end_asked(writer->owner);
    return writer->is_close_reported; /* or another thread ends it, and joins this thread */
}

static void notify_owner(struct probity_writer *writer, int is_closed)
{
    if (writer->grown != NULL && !writer->is_close_reported)
        writer->grown(writer->owner, is_closed);
    writer->is_close_reported |= is_closed;
}

/* Returns whether only our threads are left; if so, ends the recording. The process ends with its
 * last thread, so neither this thread nor another one of ours may keep it alive. Usually the last
 * thread to exit calls exit(), which stops the writer; but not if threads exited with the system
 * call, or if libc counts this thread too (base/thread_count.h). */
static int is_left_alone(struct probity_writer *writer)
{
    if (!probity_own_threads_are_alone(writer->own_threads, &writer->threads))
        return 0;
    if (writer->left_alone != NULL)
        writer->left_alone(writer->owner);
    return 1;
}

/* Publishes the extent of the trace for readers, and determines when to check again. */
static int64_t next_interval(struct probity_writer *writer, const struct probity_pass *pass,
                             int64_t before_ns, int is_idle)
{
    __atomic_store_n(&writer->live->header->watermark, pass->watermark, __ATOMIC_RELEASE);
    if (is_followed(writer->live) && writer->judge_cost == NULL)
        return FOLLOWED_NS;
    if (pass->looked > 0)
        return LOOK_NS;
    if (writer->judge_cost != NULL && writer->judge_soon)
        return JUDGE_SOON_NS;
    if (writer->judge_cost != NULL)
        return before_ns < JUDGE_NS / 2 ? 2 * before_ns : JUDGE_NS;
    return is_idle ? IDLE_NS : TICK_NS;
}

/* Adds chunks, up to as many as there are: a long recording soon has enough, and a short one does
 * not take much more memory. Does so in steps small enough not to delay draining. Returns whether
 * this was requested. */
static int extend_pool(struct probity_writer *writer)
{
    enum { AT_ONCE_MAX = 16 };
    struct probity_pool *pool = &writer->live->pool;
    uint32_t more = __atomic_load_n(&pool->present, __ATOMIC_RELAXED);

    if (!__atomic_exchange_n(&pool->extend_asked, 0, __ATOMIC_ACQ_REL))
        return 0;
    for (more = more < AT_ONCE_MAX ? more : AT_ONCE_MAX; more > 0; more--) {
        probity_assert(more <= AT_ONCE_MAX);
        if (__atomic_load_n(&writer->end_reason, __ATOMIC_RELAXED) ||
            probity_pool_extend(pool) != 0)
            break;
    }
    return 1;
}

/* Returns whether full chunks must be drained before the next whole pass. */
static int is_draining_due(const struct probity_writer *writer)
{
    const struct probity_live *live = writer->live;

    return __atomic_load_n(&live->pool.full_chunks, __ATOMIC_RELAXED) >=
               probity_live_chunks_to_wake(live) ||
           __atomic_load_n(&live->pool.waiters, __ATOMIC_SEQ_CST) != 0 ||
           __atomic_load_n(&writer->flush_asked, __ATOMIC_ACQUIRE) != writer->flush_done;
}

static void run(struct probity_writer *writer, struct probity_pass *pass)
{
    uint64_t next_all = probity_clock_ticks(writer->live->clock);
    int64_t interval_ns = writer->judge_cost != NULL ? JUDGE_FIRST_NS : TICK_NS;
    int is_first = 1;

    probity_assert(writer->pass == pass);
    while (!__atomic_load_n(&writer->end_reason, __ATOMIC_ACQUIRE)) {
        uint64_t committed = pass->append.committed;
        int all = sleep_until_work(writer, &next_all, interval_ns);
        uint64_t synced = pass->synced_bytes;
        int was_extended = extend_pool(writer);
        if (answer_request(writer, pass) != 0 || answer_change(writer, pass) != 0)
            return;
        if (end_on_request(writer, pass))
            return;
        serve_dumps(writer, pass, 0);
        if (all && writer->publish_limits != NULL)
            writer->publish_limits(writer->owner);
        if (was_extended && !all && !is_draining_due(writer))
            continue; /* there was no other reason to wake up */
        if (pass_once(writer, pass, all) != 0)
            return;
        if (all)
            interval_ns = next_interval(writer, pass, interval_ns,
                                        pass->append.committed == committed);
        /* Not after the previous interval, which may be long. */
        if (all && writer->judge_soon)
            next_all = probity_clock_ticks(writer->live->clock) +
                       probity_ticks_of_ns(interval_ns, probity_live_rate(writer->live));
        /* After the first SYNC, even if there was nothing new: records too new for the last
         * watermark are now old enough. */
        if (pass->synced_bytes != synced || (all && synced != writer->trace_bytes))
            notify_owner(writer, 0);
        /* Not the first time, since examining the threads would take longer than everything
         * else. */
        if (all && !is_first && pass->append.committed == committed && is_left_alone(writer))
            return;
        is_first &= !all;
    }
    writer->result = end_trace(writer, pass);
}

/* Call once all files are open. Not with sanitizers, which open files and create threads. Not if
 * the program has a seccomp filter: it applies to this thread, too, and might kill the program
 * because of the system calls made here. */
static void confine(const struct probity_writer *writer, struct probity_pass *pass)
{
    if (IS_SANITIZED || prctl(PR_GET_SECCOMP) != 0)
        return;
    pass->may_yield = 1;
    probity_os_short_turns();
    probity_confine_rights(writer->has_files);
    if (writer->is_filtered)
        probity_confine_calls();
}

/* Opens the files, runs until the end, and closes the files. `state` shows when they are open. */
static int serve(struct probity_writer *writer, int is_here)
{
    struct probity_pass pass = {0};
    int result = open_trace(writer, &pass.append);

    writer->spool = -1;
    if (result == 0 && !is_here)
        lock_spool(writer, &writer->spool);
    if (result == 0)
        result = probity_pass_init(&pass, writer->live);
    pass.block_serial = writer->trace_blocks;
    pass.tally = writer->tally;
    if (writer->dumps != NULL)
        writer->dumps->calls->open(writer->dumps);
    writer->result = result;
    if (result == 0) {
        if (is_here) {
            writer->result = end_trace(writer, &pass);
        } else {
            confine(writer, &pass);
            __atomic_store_n(&writer->state, PROBITY_WRITER_RUNS, __ATOMIC_RELEASE);
            probity_os_wake(&writer->state, INT32_MAX);
            if (writer->begun != NULL)
                writer->begun(writer->owner);
            writer->pass = &pass;
            run(writer, &pass);
            writer->pass = NULL;
        }
        notify_owner(writer, 1);
        probity_pass_release(&pass);
    }
    if (writer->dumps != NULL)
        writer->dumps->calls->close(writer->dumps);
    if (pass.append.descriptor >= 0)
        close(pass.append.descriptor);
    if (writer->spool >= 0)
        close(writer->spool);
    return writer->result;
}

/* Switches to a separate descriptor table with only the files that this thread needs. */
static int own_descriptors(const struct probity_writer *writer)
{
    if (!writer->keeps_stderr)
        return probity_os_own_descriptors(FIRST_OWN_DESCRIPTOR);
    int result = probity_os_own_descriptors(STDERR_FILENO + 1);
    for (int i = 0; result == 0 && i < STDERR_FILENO && !IS_SANITIZED; i++) {
        if (i != STDOUT_FILENO || !writer->keeps_stdout)
            close(i);
    }
    return result;
}

/* Returns only when this thread is being joined: libc must not decrement its thread count for a
 * thread that it does not count, except briefly, while another thread can correct it. */
static void wait_for_join(struct probity_writer *writer)
{
    if (!writer->is_uncounted)
        return;
    do
        probity_os_wait(&writer->may_return, 0, IDLE_NS);
    while (!__atomic_load_n(&writer->may_return, __ATOMIC_ACQUIRE) &&
           !probity_own_threads_are_alone(writer->own_threads, &writer->threads));
    probity_thread_count_return(writer->thread_count);
}

static void join(struct probity_writer *writer)
{
    __atomic_store_n(&writer->may_return, 1, __ATOMIC_RELEASE);
    probity_os_wake(&writer->may_return, INT32_MAX);
    pthread_join(writer->thread, NULL);
    if (writer->is_uncounted)
        probity_thread_count_joined(writer->thread_count);
}

static void *thread_main(void *argument)
{
    struct probity_writer *writer = argument;

    probity_os_unwatched_begin();
    probity_thread_inside = 1;
    prctl(PR_SET_NAME, "probity-writer");
    writer->is_uncounted = probity_thread_count_leave(writer->thread_count);
    probity_own_threads_begin(writer->own_threads);
    /* In a shared table, the writer would write to whichever file the program opens after closing
     * our descriptor. */
    writer->threads = (struct probity_os_threads){-1};
    if (own_descriptors(writer) == 0) {
        probity_os_threads_open(&writer->threads);
        serve(writer, 0);
    } else {
        writer->result = PROBITY_ERROR_SYSTEM;
    }
    __atomic_store_n(&writer->state, PROBITY_WRITER_ENDED, __ATOMIC_RELEASE);
    probity_os_wake(&writer->state, INT32_MAX);
    /* A thread that waits for a flush gets the error from `result`. */
    __atomic_store_n(&writer->flush_done, writer->flush_asked, __ATOMIC_RELEASE);
    probity_os_wake(&writer->flush_done, INT32_MAX);
    wait_for_join(writer);
    probity_own_threads_end(writer->own_threads);
    probity_os_threads_close(&writer->threads);
    probity_os_unwatched_end();
    return NULL;
}

int probity_writer_start(struct probity_writer *writer)
{
    pthread_attr_t attributes;
    sigset_t all, before;

    probity_assert(writer->live != NULL && writer->thread_numbers != NULL);
    __atomic_store_n(&writer->state, PROBITY_WRITER_STARTING, __ATOMIC_RELEASE);
    writer->result = 0;
    writer->may_return = 0;
    writer->is_uncounted = 0;
    /* Uses libc's functions, which do not block the signals that libc itself sends to all threads
     * (setuid). */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    /* Does not inherit the real-time priority of a thread that happens to fill the first chunk. */
    pthread_attr_init(&attributes);
    /* Only if needed: with it, libc delays the new thread, which takes two more context
     * switches. */
    if (sched_getscheduler(0) != SCHED_OTHER)
        pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    int error = pthread_create(&writer->thread, &attributes, thread_main, writer);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        __atomic_store_n(&writer->state, PROBITY_WRITER_NONE, __ATOMIC_RELEASE);
        return PROBITY_ERROR_SYSTEM;
    }
    while (__atomic_load_n(&writer->state, __ATOMIC_ACQUIRE) == PROBITY_WRITER_STARTING)
        probity_os_wait(&writer->state, PROBITY_WRITER_STARTING, -1);
    if (writer->result == 0)
        return 0;
    join(writer);
    __atomic_store_n(&writer->state, PROBITY_WRITER_NONE, __ATOMIC_RELEASE);
    return writer->result;
}

void probity_writer_notify(struct probity_writer *writer)
{
    uint32_t *wake = &writer->live->header->wake;

    __atomic_add_fetch(wake, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&writer->sleeps, __ATOMIC_SEQ_CST) != 0)
        probity_os_wake_shared(wake, 1);
}

void probity_writer_extend(struct probity_writer *writer)
{
    uint32_t *asked = &writer->live->pool.extend_asked;

    if (__atomic_load_n(&writer->state, __ATOMIC_ACQUIRE) == PROBITY_WRITER_RUNS &&
        __atomic_exchange_n(asked, 1, __ATOMIC_ACQ_REL) == 0)
        probity_writer_notify(writer);
}

int probity_writer_flush(struct probity_writer *writer)
{
    uint32_t mine = __atomic_add_fetch(&writer->flush_asked, 1, __ATOMIC_SEQ_CST);

    probity_writer_notify(writer);
    for (;;) {
        uint32_t done = __atomic_load_n(&writer->flush_done, __ATOMIC_ACQUIRE);
        if ((int32_t)(done - mine) >= 0)
            return writer->result;
        if (__atomic_load_n(&writer->state, __ATOMIC_ACQUIRE) == PROBITY_WRITER_ENDED)
            return writer->result;
        if (PROBITY_OS_THREADS_ARE_GONE())
            return PROBITY_ERROR_STATE;
        probity_os_wait(&writer->flush_done, done, 100000000);
    }
}

int probity_writer_stop(struct probity_writer *writer, uint32_t reason)
{
    probity_assert(reason != 0);
    __atomic_store_n(&writer->end_reason, reason, __ATOMIC_SEQ_CST);
    if (pthread_equal(pthread_self(), writer->thread)) {
        if (writer->pass != NULL)
            writer->result = end_trace(writer, writer->pass);
        notify_owner(writer, 1);
        writer->must_be_reaped = 1; /* before the next recording can begin */
        return writer->result;
    }
    probity_writer_notify(writer);
    join(writer);
    return writer->result;
}

void probity_writer_reap(struct probity_writer *writer)
{
    if (!writer->must_be_reaped)
        return;
    join(writer);
    writer->must_be_reaped = 0;
}

int probity_writer_is_lost(struct probity_writer *writer)
{
    uint32_t state = __atomic_load_n(&writer->state, __ATOMIC_ACQUIRE);

    if ((state != PROBITY_WRITER_RUNS && state != PROBITY_WRITER_STARTING) ||
        !PROBITY_OS_THREADS_ARE_GONE())
        return 0;
    if (state == PROBITY_WRITER_RUNS && writer->spool >= 0)
        close(writer->spool); /* and with it the draining lock */
    writer->spool = -1;
    return 1;
}

int probity_writer_run_here(struct probity_writer *writer, uint32_t reason)
{
    probity_assert(reason != 0);
    writer->end_reason = reason;
    return serve(writer, 1);
}
