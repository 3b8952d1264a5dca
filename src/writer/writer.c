/* SPDX-License-Identifier: MIT
 *
 * writer.c: sleeps until a quarter of the chunks is full or a time is up, then makes a pass. It
 * never touches what the program owns; when the trace cannot be written it says so in live->failed
 * and recording ends.
 */
#include "writer/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/scale.h"
#include "spool/control.h"
#include "writer/pass.h"
#include "writer/profile.h"

enum {
    TICK_NS = 200000000,      /* open chunks are drained, and the watermark moves, so often */
    IDLE_NS = 1000000000,     /* nothing came: look less often */
    FOLLOWED_NS = 100000000,  /* somebody reads along: what comes is to be seen soon */
    SETTLE_TRIES = 200,       /* at the end: wait for probes that are at work, */
    SETTLE_NS = 500000        /* so long each time */
};

/* A sanitizer reports on the standard descriptors; else not even those are kept open behind the
 * program's back. */
#if defined(__has_feature)
#define IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif
enum { FIRST_OWN_DESCRIPTOR = IS_SANITIZED ? 3 : 0 };

/* Not one of the standard three, which the table of this thread lacks: a message of libc's would go
 * into the file. */
static int open_high(const char *path, int flags)
{
    enum { FIRST = 3 };
    int low = open(path, flags | O_CLOEXEC | O_NOFOLLOW);
    int high = low >= 0 && low < FIRST ? fcntl(low, F_DUPFD_CLOEXEC, FIRST) : low;

    if (high != low)
        close(low);
    return high;
}

/* The lock is the open file's, not the table's: that goes with any descriptor of the spool that
 * this thread closes, as it does when it has read its own trace. No child inherits the table. */
static void lock_spool(struct probity_writer *writer, int *ret_descriptor)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int descriptor = open_high(writer->spool_path, O_RDWR);

    if (descriptor >= 0 && fcntl(descriptor, F_OFD_SETLK, &whole) == 0)
        __atomic_store_n(&writer->live->header->locked, 1, __ATOMIC_RELEASE);
    *ret_descriptor = descriptor;
}

static int open_trace(struct probity_writer *writer, struct probity_append *ret_append)
{
    int descriptor = open_high(writer->trace_path, O_WRONLY);
    struct stat status;

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
    struct timespec now;

    return until_ns != 0 && clock_gettime(CLOCK_MONOTONIC, &now) == 0 &&
           (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec < until_ns;
}

/* The thread is idle until there is something to do. Returns 1 where a whole pass is due: at its
 * time, or since somebody has begun to read along. */
static int sleep_until_work(struct probity_writer *writer, uint64_t *next_all, int64_t interval_ns)
{
    struct probity_live *live = writer->live;
    uint64_t rate = probity_live_rate(live), now = probity_clock_ticks(live->clock);
    const uint32_t *wake = &live->header->wake;
    uint32_t seen = __atomic_load_n(wake, __ATOMIC_ACQUIRE);
    uint32_t enough = probity_live_chunks_to_wake(live);

    if (__atomic_load_n(&live->pool.full_chunks, __ATOMIC_RELAXED) < enough &&
        (int64_t)(*next_all - now) > 0 &&
        __atomic_load_n(&writer->flush_asked, __ATOMIC_ACQUIRE) == writer->flush_done &&
        !__atomic_load_n(&writer->end_reason, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&writer->sleeps, 1, __ATOMIC_SEQ_CST);
        probity_os_wait_shared(wake, seen, (int64_t)probity_ns_of_ticks(*next_all - now, rate));
        __atomic_store_n(&writer->sleeps, 0, __ATOMIC_SEQ_CST);
        now = probity_clock_ticks(live->clock);
    }
    int has_begun = interval_ns > FOLLOWED_NS && is_followed(live);
    if ((int64_t)(*next_all - now) > 0 && !has_begun)
        return 0;
    *next_all = now + probity_ticks_of_ns(has_begun ? FOLLOWED_NS : interval_ns, rate);
    return 1;
}

static int pass_once(struct probity_writer *writer, struct probity_pass *pass, int all)
{
    uint32_t asked = __atomic_load_n(&writer->flush_asked, __ATOMIC_ACQUIRE);
    int is_flush = asked != writer->flush_done, result = 0;

    if (writer->live->mode == PROBITY_MODE_RING && !is_flush)
        result = probity_pass_forget(pass);
    else if (all || is_flush)
        result = probity_pass_all(pass, 0);
    else
        result = probity_pass_full(pass);
    if (result == 0 && is_flush)
        result = probity_profile_write(pass);
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

/* Whether a thread still stores into what it has reserved. All are shut out by now. */
static int is_settled(struct probity_live *live)
{
    for (uint32_t i = 0; i < live->slots; i++) {
        struct probity_slot *slot = &live->slot[i];
        if (!__atomic_load_n(&slot->in_use, __ATOMIC_ACQUIRE) || slot->chunk == PROBITY_POOL_NONE)
            continue;
        struct probity_chunk_header *header = probity_pool_header(&live->pool, slot->chunk);
        uint64_t start = (uint64_t)probity_pool_words(&live->pool, slot->chunk);
        uint64_t used = (__atomic_load_n(&slot->hot.cursor, __ATOMIC_ACQUIRE) - start) / 8;
        uint64_t *words = (uint64_t *)start;
        uint32_t end = used < live->pool.chunk_words ? (uint32_t)used : live->pool.chunk_words;
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

    return payload != NULL ? probity_pass_block(pass, PROBITY_BLOCK_COST,
                                                probity_cost_put(payload, cost))
                           : PROBITY_ERROR_WRITE;
}

/* What libraries that were loaded later have added to the list. */
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

static int end_trace(struct probity_writer *writer, struct probity_pass *pass)
{
    uint32_t never = 0;

    for (int i = 0; i < SETTLE_TRIES && !is_settled(writer->live); i++)
        probity_os_wait(&never, 0, SETTLE_NS);
    /* All are full now: so a hole that no probe will fill ends nothing but itself. */
    for (uint32_t i = 0; i < writer->live->slots; i++) {
        struct probity_slot *slot = &writer->live->slot[i];
        if (__atomic_load_n(&slot->in_use, __ATOMIC_ACQUIRE) && slot->chunk != PROBITY_POOL_NONE)
            probity_live_chunk_release(writer->live, slot);
    }
    int result = probity_pass_all(pass, 1);
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

/* Answers `probity level`, and writes when the levels changed. The tick is older than the change:
 * what is recorded under the new levels comes behind it. */
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
        result = probity_pass_levels(pass, tick, levels, writer->thread_numbers);
    probity_control_answer(live->header, serial);
    if (result != 0) {
        writer->result = result;
        probity_live_fail(live, pass->append.error);
    }
    return result;
}

static void tell_owner(struct probity_writer *writer, int is_closed)
{
    if (writer->grown != NULL)
        writer->grown(writer->owner, is_closed);
}

/* Tells readers how far the trace goes, and decides when to look again. */
static int64_t next_interval(struct probity_writer *writer, const struct probity_pass *pass,
                             int is_idle)
{
    __atomic_store_n(&writer->live->header->watermark, pass->watermark, __ATOMIC_RELEASE);
    if (is_followed(writer->live))
        return FOLLOWED_NS;
    return is_idle ? IDLE_NS : TICK_NS;
}

static void run(struct probity_writer *writer, struct probity_pass *pass)
{
    uint64_t next_all = probity_clock_ticks(writer->live->clock);
    int64_t interval_ns = TICK_NS;

    while (!__atomic_load_n(&writer->end_reason, __ATOMIC_ACQUIRE)) {
        uint64_t committed = pass->append.committed;
        int all = sleep_until_work(writer, &next_all, interval_ns);
        uint64_t synced = pass->synced_bytes;
        if (answer_request(writer, pass) != 0 || pass_once(writer, pass, all) != 0)
            return;
        if (all)
            interval_ns = next_interval(writer, pass, pass->append.committed == committed);
        /* Behind the first SYNC also when nothing came: what was too new for the last watermark is
         * old enough now. */
        if (pass->synced_bytes != synced || (all && synced != writer->trace_bytes))
            tell_owner(writer, 0);
    }
    writer->result = end_trace(writer, pass);
}

/* Opens, runs until the end, closes. Says through `state` when the files are held. */
static int serve(struct probity_writer *writer, int is_here)
{
    struct probity_pass pass = {0};
    int spool = -1, result = open_trace(writer, &pass.append);

    if (result == 0 && !is_here)
        lock_spool(writer, &spool);
    if (result == 0)
        result = probity_pass_init(&pass, writer->live);
    pass.block_serial = writer->trace_blocks;
    writer->result = result;
    if (result == 0) {
        if (is_here) {
            writer->result = end_trace(writer, &pass);
        } else {
            __atomic_store_n(&writer->state, PROBITY_WRITER_RUNS, __ATOMIC_RELEASE);
            probity_os_wake(&writer->state, INT32_MAX);
            run(writer, &pass);
        }
        tell_owner(writer, 1);
        probity_pass_release(&pass);
    }
    if (pass.append.descriptor >= 0)
        close(pass.append.descriptor);
    if (spool >= 0)
        close(spool);
    return writer->result;
}

/* A table of its own, with nothing in it but what this thread writes to. */
static int own_descriptors(int keeps_stderr)
{
    if (!keeps_stderr)
        return probity_os_own_descriptors(FIRST_OWN_DESCRIPTOR);
    int result = probity_os_own_descriptors(STDERR_FILENO + 1);
    for (int i = 0; result == 0 && i < STDERR_FILENO && !IS_SANITIZED; i++)
        close(i);
    return result;
}

static void *thread_main(void *argument)
{
    struct probity_writer *writer = argument;

    prctl(PR_SET_NAME, "probity-writer");
    /* In a shared table, what the program opens after closing our number would be written into. */
    if (own_descriptors(writer->keeps_stderr) == 0)
        serve(writer, 0);
    else
        writer->result = PROBITY_ERROR_SYSTEM;
    __atomic_store_n(&writer->state, PROBITY_WRITER_ENDED, __ATOMIC_RELEASE);
    probity_os_wake(&writer->state, INT32_MAX);
    /* Whoever waits for a flush learns from result. */
    __atomic_store_n(&writer->flush_done, writer->flush_asked, __ATOMIC_RELEASE);
    probity_os_wake(&writer->flush_done, INT32_MAX);
    return NULL;
}

int probity_writer_start(struct probity_writer *writer)
{
    pthread_attr_t attributes;
    sigset_t all, before;

    __atomic_store_n(&writer->state, PROBITY_WRITER_STARTING, __ATOMIC_RELEASE);
    writer->result = 0;
    /* By libc's means, which leave out the signals by which libc itself speaks to all threads
     * (setuid). */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    /* Not with the real-time priority of a thread that happens to fill the first chunk. */
    pthread_attr_init(&attributes);
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
    pthread_join(writer->thread, NULL);
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
        probity_os_wait(&writer->flush_done, done, 100000000);
    }
}

int probity_writer_stop(struct probity_writer *writer, uint32_t reason)
{
    __atomic_store_n(&writer->end_reason, reason, __ATOMIC_SEQ_CST);
    probity_writer_notify(writer);
    pthread_join(writer->thread, NULL);
    return writer->result;
}

int probity_writer_run_here(struct probity_writer *writer, uint32_t reason)
{
    writer->end_reason = reason;
    return serve(writer, 1);
}
