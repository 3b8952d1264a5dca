/* SPDX-License-Identifier: MIT
 *
 * wake.h: the block through which another process starts a recording in this one (doc/attach.md).
 * It is in the memory of each program that has the library; a tool finds it by a note in the mapped
 * file, and writes to it through /proc/PID/mem. This is the layout for both sides.
 */
#ifndef PROBITY_SPOOL_WAKE_H
#define PROBITY_SPOOL_WAKE_H

#include <stddef.h>
#include <stdint.h>

#define PROBITY_WAKE_MAGIC "PBWAKE01"

enum {
    PROBITY_WAKE_VERSION = 2,
    PROBITY_WAKE_NOTE = 2, /* type of the note, whose owner is "Probity" */
    PROBITY_WAKE_TEXT_BYTES = 8192
};

/* Results besides those of enum probity_error, which are negative: what the request requires but
 * the program does not have. */
enum {
    PROBITY_WAKE_NO_FUNCTIONS = 1, /* libprobity-functions */
    PROBITY_WAKE_NO_CALLS = 2,     /* libprobity-calls */
    PROBITY_WAKE_NO_PATCHING = 3,  /* code that can be changed; the errno is in the upper bits */
    PROBITY_WAKE_FORKED = 4,       /* code that it may change: its parent had threads */
    PROBITY_WAKE_CHANGING = 5,     /* a moment when nothing forks or changes code */
    PROBITY_WAKE_ENDED = 6,        /* a recording: the program has ended it in the meantime */
    PROBITY_WAKE_NO_SOURCES = 7,   /* debugging information, for `file` rules */
    PROBITY_WAKE_LATE = 8,         /* no thread in a slow path of the last recording */
    PROBITY_WAKE_NO_DUMPS = 9      /* the code for conditions and dumps */
};

enum { PROBITY_WAKE_WHAT = 255, PROBITY_WAKE_ERRNO_SHIFT = 8 };

struct probity_wake {
    char magic[8];
    uint32_t version, bytes;
    uint64_t active, level; /* addresses of probity_active and probity_scope_level */
    uint64_t text;          /* address of PROBITY_WAKE_TEXT_BYTES: "NAME=VALUE", each with a zero */
    uint64_t until_ns;      /* from the tool: CLOCK_MONOTONIC until which probes look for it */
    uint32_t requested;     /* serial of the last request; stored last by the tool */
    uint32_t taken;         /* serial of the last request with a reply from the library */
    int32_t result;         /* of that request: 0, an enum probity_error, or one of the above */
    uint32_t pid;           /* of the process that replied */
};

_Static_assert(offsetof(struct probity_wake, active) == 16, "doc/attach.md");
_Static_assert(offsetof(struct probity_wake, until_ns) == 40, "doc/attach.md");
_Static_assert(offsetof(struct probity_wake, requested) == 48, "doc/attach.md");
_Static_assert(sizeof(struct probity_wake) == 64, "doc/attach.md");

/* Returns whether a request is pending. The serial of a withdrawn request is older than that of the
 * last reply. */
static inline int probity_wake_is_requested(const struct probity_wake *wake)
{
    /* Acquire: pairs with the tool's order of writes, the text before the serial. */
    uint32_t requested = __atomic_load_n(&wake->requested, __ATOMIC_ACQUIRE);

    return (int32_t)(requested - __atomic_load_n(&wake->taken, __ATOMIC_RELAXED)) > 0;
}

#endif
