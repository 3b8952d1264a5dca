/* SPDX-License-Identifier: MIT
 *
 * pass.h: one pass of the writer over a live spool: full chunks, and now and then what open ones
 * hold, become blocks of the trace. One thread at a time (the writing thread, or at exit whoever
 * takes its place).
 */
#ifndef PROBITY_WRITER_PASS_H
#define PROBITY_WRITER_PASS_H

#include "format/block.h"
#include "spool/drain.h"
#include "spool/live.h"
#include "writer/append.h"

/* What is to be done to a chunk once its block is in the file. */
enum probity_pass_then {
    PROBITY_PASS_KEEP, /* more may come */
    PROBITY_PASS_FREE  /* nothing more will come */
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
    uint32_t waiting; /* list of full chunks with a hole in them */
    uint32_t held;    /* list of those in front of whose hole all is written: it took too long */
    uint64_t synced_bytes; /* where the last SYNC ended */
    uint8_t *batch;
    size_t batch_bytes;
    struct probity_pass_commit *commit;
    uint32_t commits;
    struct probity_drain_scratch scratch;
    uint32_t thread; /* number of the writing thread itself, once it has recorded something */
    int has_thread;
};

/* Batch, commits and scratch, in one mapping. append must be set. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_pass_init(struct probity_pass *pass, struct probity_live *live);
void probity_pass_release(struct probity_pass *pass);

/* Drains the full chunks. Returns 0 or PROBITY_ERROR_WRITE. */
int probity_pass_full(struct probity_pass *pass);

/* Drains open chunks as far as they are stored, then the full ones, and moves the watermark: then
 * writes a SYNC if anything came. last: also what waits for a hole. */
int probity_pass_all(struct probity_pass *pass, int last);

/* Writes the event `levels` at this tick, not before the last SYNC, as a record of the writing
 * thread, which takes its number from *thread_numbers the first time. Levels are as in
 * src/spool/control.h. Returns 0 or PROBITY_ERROR_WRITE. */
int probity_pass_levels(struct probity_pass *pass, uint64_t tick, uint32_t levels,
                        uint32_t *thread_numbers);

/* Room for the payload of a block of any type, at most PROBITY_LIMIT_BATCH_BYTES; what was gathered
 * before is written. NULL where it cannot be. */
uint8_t *probity_pass_room(struct probity_pass *pass);

/* Writes the block whose payload lies there. Returns 0 or PROBITY_ERROR_WRITE. */
int probity_pass_block(struct probity_pass *pass, uint16_t type, uint32_t payload_bytes);

/* Ends the trace: an END block with this reason. */
int probity_pass_end(struct probity_pass *pass, uint32_t reason);

/* Ring mode: forgets the oldest full chunks while more than three quarters of all are full. What
 * they declare is written: names outlast the records that they came with. Returns 0 or
 * PROBITY_ERROR_WRITE. */
int probity_pass_forget(struct probity_pass *pass);

#endif
