/* SPDX-License-Identifier: MIT
 *
 * layout.h: the binary layout of the spool (doc/spool.md), shared by the producer (runtime), the
 * writer thread, and readers of dead and live spools. Offsets are asserted below; the document is
 * normative.
 */
#ifndef PROBITY_SPOOL_LAYOUT_H
#define PROBITY_SPOOL_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define PROBITY_SPOOL_MAGIC "PBSPOOL1"

enum {
    PROBITY_SPOOL_VERSION = 1,
    PROBITY_SPOOL_HEADER_BYTES = 4096,
    PROBITY_SPOOL_ANCHORS = 8,
    PROBITY_CHUNK_WORDS_MIN = 512, /* a page */
    PROBITY_CHUNK_WORDS_MAX = 65536,
    PROBITY_SPOOL_SEGMENTS_MAX = 1024
};

enum probity_spool_state {
    PROBITY_SPOOL_MAKING = 0,
    PROBITY_SPOOL_RECORDING = 1,
    PROBITY_SPOOL_CLOSED = 2,
    PROBITY_SPOOL_LEFT = 3 /* recording has ended; the drainer writes the rest */
};

enum probity_spool_writer { PROBITY_SPOOL_WRITER_THREAD = 0, PROBITY_SPOOL_WRITER_EXTERNAL = 1 };

/* Locked bytes of segment 0 (doc/spool.md, "Alive or dead"). */
enum probity_spool_lock {
    PROBITY_SPOOL_LOCK_PROGRAM = 0,
    PROBITY_SPOOL_LOCK_DRAINER = 1,
    PROBITY_SPOOL_LOCK_CHANGE = 2
};

enum probity_chunk_state {
    PROBITY_CHUNK_FREE = 0,
    PROBITY_CHUNK_OPEN = 1,
    PROBITY_CHUNK_FULL = 2,
    PROBITY_CHUNK_CELLS = 3 /* contains cells instead of records (src/spool/cells.h) */
};

enum { PROBITY_CHUNK_CPU_KNOWN = 1, PROBITY_CHUNK_HELD = 2 };

struct probity_spool_anchor {
    uint64_t ticks, raw_ns, monotonic_ns, realtime_ns;
    uint32_t width_ns, reserved;
};

struct probity_spool_header {
    char magic[8];
    uint32_t version, segment;
    uint8_t session[16], boot[16];
    uint32_t pid, chunk_words;
    uint64_t process_start;
    uint32_t chunks, state, segments, locked;
    uint64_t committed;
    uint64_t dropped_full, dropped_memory, dropped_write;
    uint64_t stalls, stall_ticks, unmeasured_ticks_max, threads;
    uint64_t rate;
    uint64_t anchors;
    struct probity_spool_anchor anchor[PROBITY_SPOOL_ANCHORS];
    uint32_t failed, failed_errno;
    uint64_t failed_tick;
    uint64_t level_request; /* see src/spool/control.h */
    uint32_t level_answered, levels;
    uint64_t watermark;   /* older records are in the trace, before `committed` */
    uint64_t followed_ns; /* until this CLOCK_MONOTONIC time, a reader follows the trace */
    uint32_t wake;        /* futex of the writer thread: counts pending work */
    uint32_t writer;      /* an enum probity_spool_writer */
    uint64_t trace_device, trace_inode; /* the trace's file; both 0: an older writer */
    /* Only EXTERNAL: doc/spool.md, "An external drainer". */
    uint32_t beat, freed, end_reason, flush_asked, flush_done;
    uint32_t end_asked; /* not 0: `probity detach` requests the end of the recording */
    uint64_t complete_from; /* only a ring: later records are complete (doc/triggers.md, "Had") */
    uint32_t change_asked, change_taken; /* serials of struct probity_spool_change */
};

_Static_assert(offsetof(struct probity_spool_header, pid) == 48, "doc/spool.md");
_Static_assert(offsetof(struct probity_spool_header, chunks) == 64, "doc/spool.md");
_Static_assert(offsetof(struct probity_spool_header, committed) == 80, "doc/spool.md");
_Static_assert(offsetof(struct probity_spool_header, rate) == 144, "doc/spool.md");
_Static_assert(offsetof(struct probity_spool_header, anchor) == 160, "doc/spool.md");
_Static_assert(offsetof(struct probity_spool_header, failed) == 480, "doc/spool.md");
_Static_assert(offsetof(struct probity_spool_header, level_request) == 496, "doc/spool.md");
_Static_assert(offsetof(struct probity_spool_header, watermark) == 512, "doc/spool.md");
_Static_assert(offsetof(struct probity_spool_header, wake) == 528, "doc/spool.md");
_Static_assert(offsetof(struct probity_spool_header, trace_device) == 536, "doc/spool.md");
_Static_assert(offsetof(struct probity_spool_header, beat) == 552, "doc/spool.md");
_Static_assert(offsetof(struct probity_spool_header, change_asked) == 584, "doc/spool.md");
_Static_assert(sizeof(struct probity_spool_header) == 592, "doc/spool.md");

/* Follows the header in segment 0: path of the trace, and the program. Only for lists of spools;
 * not part of the struct above, which is copied to small stacks. */
enum { PROBITY_SPOOL_ORIGIN_OFFSET = 640 };

struct probity_spool_origin {
    uint32_t trace_path_bytes; /* size of the full path, which may be truncated; 0: unknown */
    uint32_t reserved;
    char program[64];      /* padded with zeros */
    char trace_path[1336]; /* padded with zeros */
};

/* Follows that: settings that a tool requests to change while the program records, and the
 * reply. */
enum { PROBITY_SPOOL_CHANGE_OFFSET = 2048, PROBITY_SPOOL_CHANGE_TEXT = 2040 };

struct probity_spool_change {
    int32_t result; /* 0, or an enum probity_error; stored by the program */
    uint32_t reserved;
    char text[PROBITY_SPOOL_CHANGE_TEXT]; /* zero-terminated: the request, then the reply */
};

_Static_assert(PROBITY_SPOOL_ORIGIN_OFFSET + sizeof(struct probity_spool_origin) ==
                   PROBITY_SPOOL_CHANGE_OFFSET,
               "doc/spool.md");
_Static_assert(PROBITY_SPOOL_CHANGE_OFFSET + sizeof(struct probity_spool_change) ==
                   PROBITY_SPOOL_HEADER_BYTES,
               "doc/spool.md");

struct probity_chunk_header {
    uint32_t state, thread, tid, used;
    uint64_t serial, base_tick, cpu_ns;
    uint32_t drained, flags;
    uint32_t set, threads; /* only for a chunk of cells */
    uint64_t handed_over;  /* tick at which it became full: no record is newer; 0: unknown */
};

_Static_assert(sizeof(struct probity_chunk_header) == 64, "doc/spool.md");
_Static_assert(offsetof(struct probity_chunk_header, drained) == 40, "doc/spool.md");

/* Returns whether a chunk may have this number of words: a power of two, because its size is a bit
 * in the addresses of its words. */
static inline int probity_chunk_words_is_valid(uint32_t chunk_words)
{
    return chunk_words >= PROBITY_CHUNK_WORDS_MIN && chunk_words <= PROBITY_CHUNK_WORDS_MAX &&
           (chunk_words & (chunk_words - 1)) == 0;
}

/* Returns whether a header of this process is valid, as it must be at any time. A header of another
 * process is untrusted: see src/spool/attach.c. */
static inline int probity_chunk_is_valid(const struct probity_chunk_header *header,
                                         uint32_t chunk_words)
{
    return __atomic_load_n(&header->state, __ATOMIC_RELAXED) <= PROBITY_CHUNK_CELLS &&
           __atomic_load_n(&header->used, __ATOMIC_RELAXED) <= chunk_words &&
           __atomic_load_n(&header->drained, __ATOMIC_RELAXED) <= chunk_words;
}

/* Layout of a word: bits 0 to 23 code, 24 to 63 tick. */
enum probity_word_kind {
    PROBITY_WORD_PENDING = 1,
    PROBITY_WORD_PAD = 2,
    PROBITY_WORD_CPU = 3,
    PROBITY_WORD_HIT = 4,
    PROBITY_WORD_EVENT = 5
};

#define PROBITY_WORD_CODE_BITS 24
#define PROBITY_WORD_CODE_MASK UINT64_C(0xffffff)
#define PROBITY_WORD_CODE_FIRST 4096u
_Static_assert(PROBITY_WORD_CODE_BITS == 24,
               "as in probity.h, probity_scope.h, functions/fentry.c and functions/hooks_x86_64.h");

static inline uint64_t probity_word(uint64_t tick, uint32_t code)
{
    return tick << PROBITY_WORD_CODE_BITS | code;
}

static inline uint32_t probity_word_special(enum probity_word_kind kind, uint32_t words)
{
    return (uint32_t)kind | words << 4;
}

/* Layout of a segment. Windows are twice a chunk's size, with the chunk in the upper half: see
 * struct probity_thread. The lower halves are never touched and have no pages. */
static inline size_t probity_spool_window_bytes(uint32_t chunk_words)
{
    return (size_t)chunk_words * 16;
}

static inline size_t probity_spool_windows_offset(uint32_t chunks, uint32_t chunk_words)
{
    size_t window = probity_spool_window_bytes(chunk_words);
    size_t headers =
        PROBITY_SPOOL_HEADER_BYTES + (size_t)chunks * sizeof(struct probity_chunk_header);

    return (headers + window - 1) / window * window;
}

static inline size_t probity_spool_words_offset(uint32_t chunks, uint32_t chunk_words,
                                                uint32_t chunk)
{
    return probity_spool_windows_offset(chunks, chunk_words) +
           chunk * probity_spool_window_bytes(chunk_words) + (size_t)chunk_words * 8;
}

static inline size_t probity_spool_segment_bytes(uint32_t chunks, uint32_t chunk_words)
{
    return probity_spool_words_offset(chunks, chunk_words, chunks - 1) + (size_t)chunk_words * 8;
}

static inline struct probity_chunk_header *probity_spool_chunk(void *segment, uint32_t chunk)
{
    return (struct probity_chunk_header *)((char *)segment + PROBITY_SPOOL_HEADER_BYTES) + chunk;
}

static inline uint64_t *probity_spool_words(void *segment, uint32_t chunks, uint32_t chunk_words,
                                            uint32_t chunk)
{
    return (uint64_t *)((char *)segment + probity_spool_words_offset(chunks, chunk_words, chunk));
}

#endif
