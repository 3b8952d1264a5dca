/* SPDX-License-Identifier: MIT
 *
 * pass.h: one pass of the writer over a live spool: full chunks and, periodically, the contents of
 * open ones become blocks of the trace. For one thread at a time (the writer thread, or at exit the
 * thread that replaces it).
 */
#ifndef PROBITY_WRITER_PASS_H
#define PROBITY_WRITER_PASS_H

#include "format/block.h"
#include "spool/drain.h"
#include "spool/live.h"
#include "writer/append.h"
#include "writer/tally.h"

/* What to do with a chunk once its block is in the file. */
enum probity_pass_then {
    PROBITY_PASS_KEEP, /* more words may follow */
    PROBITY_PASS_FREE  /* no more words will follow */
};

struct probity_pass_commit {
    uint32_t chunk, end;
    enum probity_pass_then then;
};

struct probity_pass {
    struct probity_live *live;
    struct probity_append append;
    uint64_t block_serial, records;
    uint64_t watermark;
    uint32_t waiting; /* list of full chunks with a hole */
    uint32_t held;    /* list of chunks written up to their hole, which was not filled in time */
    uint64_t needed_from;  /* ring: records from this tick on are kept for a dump */
    uint64_t noticed;      /* ring: tick before notices were last taken; UINT64_MAX: never */
    uint64_t dropped;      /* ring: records dropped, as last seen */
    uint64_t synced_bytes; /* end of the last SYNC */
    uint8_t *batch;
    size_t batch_bytes;
    struct probity_pass_commit *commit;
    uint32_t commits;
    struct probity_drain_scratch scratch;
    struct probity_tally *tally; /* counts drained records; NULL: no counts */
    /* Ring: reads the records of a chunk before it is discarded; or NULL. */
    void (*look)(void *context, struct probity_pass *pass, uint32_t chunk, uint32_t used);
    void *look_context;
    uint64_t looked; /* words that were read in this pass */
    uint32_t thread; /* thread number of the writer, once it has recorded something */
    int has_thread;
    int may_yield; /* the program had no seccomp filter when recording began */
};

/* Returns whether the gathered blocks fit into the batch, and each has a commit. */
int probity_pass_is_valid(const struct probity_pass *pass);

/* Sets batch, commits and scratch buffer: in live->memory if they fit, otherwise in a mapping.
 * append must be set. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_pass_init(struct probity_pass *pass, struct probity_live *live);
void probity_pass_release(struct probity_pass *pass);

/* Drains the full chunks. Returns 0 or PROBITY_ERROR_WRITE. */
int probity_pass_full(struct probity_pass *pass);

/* Drains open chunks as far as they are stored, then the full ones, and advances the watermark;
 * then writes a SYNC if there was anything. last: also drains chunks that wait for a hole, and
 * leaves what it has gathered and the SYNC to probity_pass_end(). */
int probity_pass_all(struct probity_pass *pass, int last);

/* Writes an event at this tick, or at the last SYNC if that is later, as a record of the writer
 * thread, which takes its number from *thread_numbers the first time. Returns 0 or
 * PROBITY_ERROR_WRITE. */
int probity_pass_event(struct probity_pass *pass, uint64_t tick, uint32_t kind,
                       const uint8_t *event, size_t bytes, uint32_t *thread_numbers);

/* Does the same for a `levels` event. Levels are encoded as in src/spool/control.h. settings: other
 * settings that have changed; "": none. */
int probity_pass_levels(struct probity_pass *pass, uint64_t tick, uint32_t levels,
                        const char *settings, uint32_t *thread_numbers);

/* Makes room for the payload of a block of any type, at most PROBITY_LIMIT_BATCH_BYTES; writes the
 * gathered blocks first. Returns NULL on failure. */
uint8_t *probity_pass_room(struct probity_pass *pass);

/* Writes the block whose payload was stored in that room. Returns 0 or PROBITY_ERROR_WRITE. */
int probity_pass_block(struct probity_pass *pass, uint16_t type, uint32_t payload_bytes);

/* Stores the totals counted in the spool, without records, which are counted where they are
 * drained. */
void probity_pass_totals(const struct probity_pass *pass, struct probity_totals *ret_totals);

/* Ends the trace with an END block with this reason. */
int probity_pass_end(struct probity_pass *pass, uint32_t reason);

/* Writes the gathered blocks and releases their chunks. Returns 0 or PROBITY_ERROR_WRITE. */
int probity_pass_write(struct probity_pass *pass);

/* Drains one chunk up to `end` words into the batch, without counting the records that it adds.
 * Returns 0 or PROBITY_ERROR_WRITE. */
int probity_pass_drain(struct probity_pass *pass, uint32_t chunk, uint32_t end, int stop_at_hole,
                       struct probity_drain_output *ret_output);

#endif
