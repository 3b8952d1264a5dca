/* SPDX-License-Identifier: MIT
 *
 * cost.h: the COST block (doc/trace-format.md): the cost of recording, measured in the same run.
 * Pure functions on memory; used by the runtime, the writer and the reader.
 */
#ifndef PROBITY_FORMAT_COST_H
#define PROBITY_FORMAT_COST_H

#include <stddef.h>
#include <stdint.h>

enum probity_cost_moment {
    PROBITY_COST_START = 0,
    PROBITY_COST_END = 1,
    PROBITY_COST_PARENT = 2, /* at the start, inherited from the parent process */
    PROBITY_COST_MOMENTS = 3
};

/* Kinds of measured costs. INNER: the part of a scope's cost between its ticks. */
enum probity_cost_kind {
    PROBITY_COST_HIT = 1,
    PROBITY_COST_SCOPE = 2,
    PROBITY_COST_SCOPE_INNER = 3,
    PROBITY_COST_VALUES = 4, /* a scope with values */
    PROBITY_COST_VALUES_INNER = 5,
    PROBITY_COST_MESSAGE = 6,
    PROBITY_COST_PROFILED = 7, /* a scope in profile mode */
    PROBITY_COST_PROFILED_INNER = 8,
    /* Not a cost: the time by which the clock may be read before preceding instructions finish. */
    PROBITY_COST_EARLY_INTEGERS = 9,
    PROBITY_COST_EARLY_LOADS = 10,
    PROBITY_COST_EARLY_DOUBLES = 11,
    PROBITY_COST_EARLY_DIVISIONS = 12,
    PROBITY_COST_HOOKED = 13, /* a call recorded by the compiler's hooks */
    PROBITY_COST_HOOKED_INNER = 14,
    PROBITY_COST_COUNTED = 15,        /* a scope that is only counted */
    PROBITY_COST_HOOKED_COUNTED = 16, /* the same, by hooks */
    PROBITY_COST_KINDS = 17 /* one more than the last kind */
};

enum probity_cost_context { PROBITY_COST_BARE = 0, PROBITY_COST_AMID_WORK = 1 };

enum {
    PROBITY_COST_FIXED_BYTES = 16,
    PROBITY_COST_ROW_BYTES = 16,
    PROBITY_COST_ROWS_MAX = 24, /* maximum in a block: all kinds in both contexts, and a few more */
    PROBITY_COST_BYTES_MAX =
        PROBITY_COST_FIXED_BYTES + PROBITY_COST_ROWS_MAX * PROBITY_COST_ROW_BYTES,
    PROBITY_COST_UNITS = 256 /* units of a row's figures per nanosecond */
};

struct probity_cost_row {
    uint16_t kind, context; /* kind: an enum probity_cost_kind, or an unknown one */
    uint16_t windows, calls;
    uint32_t least, median; /* in 1/256 ns */
};

/* rows is 0 if nothing was measured. */
struct probity_cost {
    uint32_t moment, took_ns, rows;
    struct probity_cost_row row[PROBITY_COST_ROWS_MAX];
};

/* Returns the payload's size. */
uint32_t probity_cost_put(uint8_t payload[PROBITY_COST_BYTES_MAX], const struct probity_cost *cost);

/* Returns 0 or PROBITY_ERROR_DAMAGED. Rows beyond PROBITY_COST_ROWS_MAX are dropped; if the moment
 * is unknown, there are no rows. */
int probity_cost_get(const uint8_t *payload, size_t bytes, struct probity_cost *ret_cost);

#endif
