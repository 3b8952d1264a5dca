/* SPDX-License-Identifier: MIT
 *
 * external.c: recording in a program whose spool is drained by another process. That process is
 * trusted only to free full chunks.
 */
#include "runtime/external.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/os.h"
#include "base/ticks.h"
#include "format/stream.h"

enum { DRAINER_NS = 2000000000, LOOK_AGAIN_NS = 10000000 };

void probity_external_begin(struct probity_session *session)
{
    struct probity_spool_header *header = session->live.header;

    probity_assert(header != NULL);
    header->writer = PROBITY_SPOOL_WRITER_EXTERNAL;
    session->beat_seen = session->freed_seen = 0;
    session->beat_tick = probity_clock_ticks(session->live.clock);
    session->writer.sleeps = 1; /* the drainer may be sleeping: each notification wakes it */
}

/* Returns whether a full chunk of a ring may be dropped: it has no holes, and no later record
 * depends on it. */
static int may_forget(struct probity_pool *pool, uint32_t chunk)
{
    const uint64_t *words = probity_pool_words(pool, chunk);
    uint32_t used = probity_pool_header(pool, chunk)->used;

    probity_assert(used <= pool->chunk_words);
    if (probity_pool_private(pool, chunk)->is_held)
        return 0;
    for (uint32_t at = 0; at < used;) {
        uint64_t word = __atomic_load_n(&words[at], __ATOMIC_ACQUIRE);
        uint32_t code = word & PROBITY_WORD_CODE_MASK, kind = code & 15, length = code >> 4 & 255;
        if (word == 0 || (code < PROBITY_WORD_CODE_FIRST && kind == PROBITY_WORD_PENDING))
            return 0;
        if (code < PROBITY_WORD_CODE_FIRST && kind == PROBITY_WORD_EVENT &&
            probity_event_declares(words[at + 2] & 0xffff)) {
            probity_pool_private(pool, chunk)->is_held = 1; /* not checked again */
            return 0;
        }
        at += code < PROBITY_WORD_CODE_FIRST && length > 0 ? length : 1;
    }
    return 1;
}

uint32_t probity_external_reclaim(struct probity_session *session)
{
    struct probity_pool *pool = &session->live.pool;

    if (session->live.mode == PROBITY_MODE_RING)
        return (uint32_t)probity_pool_forget(pool, may_forget);
    /* Loaded before the check, so that a chunk freed after it ends the wait below immediately.
     * Acquire: pairs with the drainer, which increments the count after freeing. */
    uint32_t freed = __atomic_load_n(&session->live.header->freed, __ATOMIC_ACQUIRE);
    if (freed == session->freed_seen)
        return 0;
    __atomic_store_n(&session->freed_seen, freed, __ATOMIC_RELAXED);
    return probity_pool_reclaim(pool);
}

int probity_external_has_drainer(struct probity_session *session)
{
    uint32_t beat = __atomic_load_n(&session->live.header->beat, __ATOMIC_RELAXED);
    uint64_t now = probity_clock_ticks(session->live.clock);

    if (beat != __atomic_load_n(&session->beat_seen, __ATOMIC_RELAXED)) {
        __atomic_store_n(&session->beat_seen, beat, __ATOMIC_RELAXED);
        __atomic_store_n(&session->beat_tick, now, __ATOMIC_RELAXED);
        return 1;
    }
    uint64_t since = now - __atomic_load_n(&session->beat_tick, __ATOMIC_RELAXED);
    return (int64_t)since < 0 ||
           since < probity_ticks_of_ns(DRAINER_NS, probity_live_rate(&session->live));
}

void probity_external_wait(struct probity_session *session)
{
    const uint32_t *freed = &session->live.header->freed;

    probity_os_wait_shared(freed, __atomic_load_n(&session->freed_seen, __ATOMIC_RELAXED),
                           LOOK_AGAIN_NS);
    /* The count may have been incremented before the chunk was in our list: forces a check. */
    __atomic_store_n(&session->freed_seen, __atomic_load_n(freed, __ATOMIC_ACQUIRE) - 1,
                     __ATOMIC_RELAXED);
}

int probity_external_flush(struct probity_session *session)
{
    struct probity_spool_header *header = session->live.header;

    if (session->live.mode == PROBITY_MODE_RING)
        return PROBITY_ERROR_STATE;
    uint32_t mine = __atomic_add_fetch(&header->flush_asked, 1, __ATOMIC_SEQ_CST);
    probity_writer_notify(&session->writer);
    for (;;) {
        uint32_t done = __atomic_load_n(&header->flush_done, __ATOMIC_ACQUIRE);
        if ((int32_t)(done - mine) >= 0)
            return 0;
        if (!probity_external_has_drainer(session))
            return PROBITY_ERROR_STATE;
        probity_os_wait_shared(&header->flush_done, done, LOOK_AGAIN_NS);
    }
}

int probity_external_end(struct probity_session *session, uint32_t reason)
{
    struct probity_live *live = &session->live;
    const struct probity_session_hooks *hooks = probity_hooks();

    probity_assert(reason != 0);
    for (uint32_t i = 0; i < live->slots; i++) {
        struct probity_thread_state *slot = &live->slot[i];
        if (__atomic_load_n(&slot->in_use, __ATOMIC_ACQUIRE) && slot->chunk != PROBITY_POOL_NONE)
            probity_live_chunk_release(live, slot);
    }
    live->header->end_reason = reason;
    /* Release: all of the above. From here on, the spool belongs to the holder of the draining
     * lock. */
    __atomic_store_n(&live->header->state, PROBITY_SPOOL_LEFT, __ATOMIC_RELEASE);
    probity_writer_notify(&session->writer);
    if (hooks != NULL)
        return hooks->close_trace(session->trace_path);
    /* An active drainer closes the trace; its first pass increments beat. `probity record` does so
     * even if this program ends first. */
    int has_drainer = __atomic_load_n(&live->header->beat, __ATOMIC_RELAXED) != 0
                          ? probity_external_has_drainer(session)
                          : getenv("PROBITY_RECORDER") != NULL;
    return has_drainer ? PROBITY_ERROR_STATE : PROBITY_ERROR_SYSTEM;
}
