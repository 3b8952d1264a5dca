/* SPDX-License-Identifier: MIT
 *
 * conditions.h: conditions as users write them (doc/triggers.md, "Conditions"), and the settings of
 * dumps. For the tool, which explains errors, and the runtime, which gets the same text from the
 * environment. Pure functions, no allocation.
 */
#ifndef PROBITY_BASE_CONDITIONS_H
#define PROBITY_BASE_CONDITIONS_H

#include <stddef.h>
#include <stdint.h>

enum {
    PROBITY_CONDITIONS_MAX = 64,
    PROBITY_CONDITION_NAME = 256,     /* size of a name in bytes, including its zero */
    PROBITY_CONDITIONS_BYTES = 16384, /* size of all texts together */
    PROBITY_CONDITION_PERCENT_UNIT = 1000000 /* a percentile of 100 % */
};

enum probity_condition_kind {
    PROBITY_CONDITION_SIGNAL = 3, /* numbers as in the DUMP block */
    PROBITY_CONDITION_FUNCTION = 4,
    PROBITY_CONDITION_BLOCK = 5,
    PROBITY_CONDITION_WAIT = 6,
    PROBITY_CONDITION_REQUEST = 7,
    PROBITY_CONDITION_GAP = 8,
    PROBITY_CONDITION_RATE = 9,
    PROBITY_CONDITION_VALUE = 10
};

/* A name, or the number of a probe. */
struct probity_condition_name {
    int is_number;
    uint32_t number;
    char name[PROBITY_CONDITION_NAME]; /* a pattern, or a site's name; "": any */
};

struct probity_condition {
    enum probity_condition_kind kind;
    struct probity_condition_name name, to; /* to: end of a block */
    uint64_t limit_ns; /* for a rate, its period */
    int64_t number;    /* the limit of a rate or value */
    int is_below;      /* `limit` is the lowest allowed value */
    uint32_t percentile; /* in units of PROBITY_CONDITION_PERCENT_UNIT; 0: limit_ns is the limit */
    int signal;
    const char *text; /* as given; not terminated */
    size_t length;
};

/* Whether the writer checks the condition, using the records; threads check other conditions. */
static inline int probity_condition_is_watched(const struct probity_condition *condition)
{
    return condition->kind >= PROBITY_CONDITION_REQUEST;
}

/* Whether the writer reads the records for the condition: to compare them, or to compute a
 * percentile. */
static inline int probity_condition_is_read(const struct probity_condition *condition)
{
    return probity_condition_is_watched(condition) ||
           (condition->percentile != 0 && condition->kind != PROBITY_CONDITION_FUNCTION);
}

struct probity_condition_error {
    size_t column;       /* starts at 1 */
    const char *allowed; /* what is expected there */
};

/* Parses one condition, which ends at the end of the text or at a semicolon outside quotes. Sets
 * *ret_end to its end. Returns 1, or 0 with *ret_error. */
int probity_condition_parse(const char *text, const char **ret_end,
                            struct probity_condition *ret_condition,
                            struct probity_condition_error *ret_error);

enum probity_dumps_keep {
    PROBITY_DUMPS_KEEP_ALL,
    PROBITY_DUMPS_KEEP_FIRST,
    PROBITY_DUMPS_KEEP_WORST
};
enum { PROBITY_DUMPS_KEPT_MAX = 1000 };

struct probity_dumps_settings {
    uint64_t before_ns, after_ns;
    uint64_t limit_bytes;
    uint64_t period_ns;
    uint32_t at_most; /* dumps in each period */
    uint32_t kept;    /* not used with PROBITY_DUMPS_KEEP_ALL */
    enum probity_dumps_keep keep;
};

/* The defaults. */
void probity_dumps_settings_init(struct probity_dumps_settings *ret_settings);

/* Parses "before=2s,after=500ms,at-most=1/10s,keep=worst:20,limit=1G", any part of which may be
 * missing, into the settings. Returns 1, or 0 with *ret_error. */
int probity_dumps_settings_parse(const char *text, struct probity_dumps_settings *settings,
                                 struct probity_condition_error *ret_error);

/* Whether a pattern for names of dumps is valid: %n, %p and %%, and %i once, in the last part.
 * Returns 1, or 0 with *ret_error. */
int probity_dumps_pattern_check(const char *pattern, struct probity_condition_error *ret_error);

#endif
