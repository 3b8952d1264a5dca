/* SPDX-License-Identifier: MIT
 *
 * block.h: blocks of the trace file and their fixed payloads, as specified in doc/trace-format.md.
 * Pure functions on memory, no I/O; used by the writer and the reader.
 */
#ifndef PROBITY_FORMAT_BLOCK_H
#define PROBITY_FORMAT_BLOCK_H

#include <stddef.h>
#include <stdint.h>

enum {
    PROBITY_FILE_HEADER_BYTES = 16,
    PROBITY_FORMAT_MAJOR = 1,
    PROBITY_FORMAT_MINOR = 4,
    PROBITY_BLOCK_HEADER_BYTES = 24,
    PROBITY_BLOCK_PAYLOAD_MAX = 16 << 20,
    PROBITY_ANCHOR_BYTES = 40,
    PROBITY_INFO_FIXED_BYTES = 128,
    PROBITY_DATA_FIXED_BYTES = 72,
    PROBITY_SYNC_BYTES = 112,
    PROBITY_END_FAILED_BYTES = 128 /* size of an END that states why recording ended early */
};

enum probity_block_type {
    PROBITY_BLOCK_INFO = 1,
    PROBITY_BLOCK_DATA = 2,
    PROBITY_BLOCK_SYNC = 3,
    PROBITY_BLOCK_END = 4,
    PROBITY_BLOCK_PROFILE = 5, /* src/format/profile.h */
    PROBITY_BLOCK_SITES = 6,   /* src/format/sites.h */
    PROBITY_BLOCK_COST = 7,    /* src/format/cost.h */
    PROBITY_BLOCK_DUMP = 8     /* src/format/dump.h */
};

enum probity_clock_kind {
    PROBITY_CLOCK_TSC = 1,
    PROBITY_CLOCK_CNTVCT = 2,
    PROBITY_CLOCK_MONOTONIC_NS = 3
};

enum {
    PROBITY_INFO_CPU_TIME = 1,
    PROBITY_INFO_WALL_TIME = 2,
    PROBITY_INFO_PROFILE = 4,
    PROBITY_INFO_MARKS_START = 8, /* a SYNC is written when the spool gets its name */
    PROBITY_INFO_ORDERED = 16     /* preceding instructions finish before the clock is read */
};
enum { PROBITY_DATA_CPU_KNOWN = 1, PROBITY_DATA_HAS_EVENTS = 2, PROBITY_DATA_LATE = 4 };
enum {
    PROBITY_END_STOPPED = 1,
    PROBITY_END_EXIT = 2,
    PROBITY_END_RECOVERED = 3,
    PROBITY_END_FAILED = 4, /* recovered; recording had ended because the trace was not writable */
    PROBITY_END_DUMP = 5    /* a dump: the recording continued */
};

enum probity_info_tag {
    PROBITY_TAG_PROGRAM = 1,
    PROBITY_TAG_COMMAND = 2,
    PROBITY_TAG_HOST = 3,
    PROBITY_TAG_KERNEL = 4,
    PROBITY_TAG_CPU = 5,
    PROBITY_TAG_SPOOL = 6,
    PROBITY_TAG_LIBRARY = 7,
    PROBITY_TAG_DIRECTORY = 8,
    PROBITY_TAG_CSV = 9,
    PROBITY_TAG_EXECUTABLE = 10,
    PROBITY_TAG_BUILD = 11,
    PROBITY_TAG_PROCESSORS = 12,
    PROBITY_TAG_LABEL = 13,
    PROBITY_TAG_CPU_ERROR = 14,
    PROBITY_TAG_COUNT = 15 /* one more than the last */
};

struct probity_anchor {
    uint64_t ticks, raw_ns, monotonic_ns, realtime_ns;
    uint32_t width_ns;
};

struct probity_text {
    const char *bytes; /* not zero-terminated; NULL: absent */
    size_t length;
};

struct probity_info {
    uint8_t session[16], boot[16];
    uint32_t pid, parent_pid;
    uint64_t process_start;
    uint32_t clock, flags;
    uint64_t rate;
    struct probity_anchor anchor;
    uint32_t mode, chunk_words;
    uint64_t gap_ticks;
    uint32_t cpu_clock_ns;
    struct probity_text
        text[PROBITY_TAG_COUNT]; /* by tag; decoded texts point into the payload */
};

struct probity_data {
    uint32_t thread, tid;
    uint64_t chunk;
    uint32_t first_word, end_word, records, flags;
    uint64_t first_tick, last_tick, cpu_ns, rate;
    uint32_t holes;
};

struct probity_totals {
    uint64_t records;
    uint64_t dropped_full, dropped_memory, dropped_write;
    uint64_t stalls, stall_ticks, unmeasured_ticks_max;
    uint32_t threads;
};

struct probity_sync {
    struct probity_anchor anchor;
    uint64_t watermark;
    struct probity_totals totals;
    uint32_t reason; /* END only */
    uint32_t failed_errno; /* END with reason FAILED only, else 0 */
    uint64_t failed_tick;
};

struct probity_block_header {
    uint32_t payload_bytes, checksum;
    uint16_t type;
    uint64_t serial;
};

/* The file's first 16 bytes. */
void probity_file_header_put(uint8_t bytes[PROBITY_FILE_HEADER_BYTES]);

/* Returns 0, PROBITY_ERROR_FORMAT or PROBITY_ERROR_VERSION (different major version). */
int probity_file_header_check(const uint8_t bytes[PROBITY_FILE_HEADER_BYTES]);

/* Whether a block in memory is valid, as probity_block_seal() makes it: 1 or 0. */
int probity_block_is_valid(const uint8_t *block, size_t bytes);

/* Fills in the header, including the checksum, before a payload that is already at block + 24. */
void probity_block_seal(uint8_t *block, uint16_t type, uint64_t serial, uint32_t payload_bytes);

/* Reads a header. Returns 0, or PROBITY_ERROR_DAMAGED if magic or length is invalid. */
int probity_block_header_get(const uint8_t bytes[PROBITY_BLOCK_HEADER_BYTES],
                             struct probity_block_header *ret_header);

/* Whether the checksum of a complete block (header and payload) is correct: 1 or 0. */
int probity_block_is_whole(const uint8_t *block, const struct probity_block_header *header);

/* INFO. put: returns the payload's size, at most room, or 0 if room is too small. Texts are
 * truncated to 65,535 bytes. get: returns 0 or PROBITY_ERROR_DAMAGED; texts point into the
 * payload. */
size_t probity_info_put(uint8_t *payload, size_t room, const struct probity_info *info);
int probity_info_get(const uint8_t *payload, size_t bytes, struct probity_info *ret_info);

/* The fixed part of DATA; the stream follows after PROBITY_DATA_FIXED_BYTES. get: the same as
 * above; also rejects a first tick that is later than the last, and words out of order. */
void probity_data_put(uint8_t *payload, const struct probity_data *data);
int probity_data_get(const uint8_t *payload, size_t bytes, struct probity_data *ret_data);

/* SYNC and END. */
void probity_sync_put(uint8_t payload[PROBITY_SYNC_BYTES], const struct probity_sync *sync);
/* Additional fields of an END with reason FAILED. */
void probity_end_failed_put(uint8_t payload[PROBITY_END_FAILED_BYTES],
                            const struct probity_sync *sync);
int probity_sync_get(const uint8_t *payload, size_t bytes, struct probity_sync *ret_sync);

#endif
