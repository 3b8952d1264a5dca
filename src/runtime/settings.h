/* SPDX-License-Identifier: MIT
 *
 * settings.h: the options and the environment, combined and checked.
 */
#ifndef PROBITY_RUNTIME_SETTINGS_H
#define PROBITY_RUNTIME_SETTINGS_H

#include "base/conditions.h"
#include "base/limits.h"
#include "probity.h"

/* Whether the run measures the cost of recording. */
enum probity_settings_cost {
    PROBITY_SETTINGS_COST_OFF = 0,
    PROBITY_SETTINGS_COST_LONG = 1, /* at the start, and at the end of a long recording */
    PROBITY_SETTINGS_COST_BOTH = 2  /* at the start and at the end */
};

/* Numbers first, then texts, of which only the used part is copied (probity_settings_copy). */
struct probity_settings {
    int mode, wall_time, cpu_time, overwrite; /* the switches are 0 or 1 */
    uint64_t ring_ns;     /* window of a ring; 0: as much as its memory holds */
    uint64_t spool_total; /* PROBITY_SPOOL_TOTAL in bytes; 0: no ceiling */
    int has_spool_total;  /* 0: the default limit of the file system applies */
    int refuse_counter; /* PROBITY_CLOCK=monotonic */
    int is_ordered;     /* PROBITY_ORDER=strict */
    int is_asked_for;   /* PROBITY_OUT is set: the first probe starts recording */
    uint32_t chunk_words, segment_chunks, segments_max;
    uint32_t cpu_gap_ns, cpu_budget_permille;
    int level_functions, level_parameters; /* PROBITY_LEVEL; -1: not set */
    int profile, threads_announced;        /* 0 or 1 */
    int writing;                           /* an enum probity_writing */
    int cost;                              /* an enum probity_settings_cost */
    uint32_t budget; /* PROBITY_BUDGET: share of CPU time for recording, in millionths; 0: none */
    int is_for_text; /* only for PROBITY_LOG or PROBITY_SUMMARY: the trace is removed afterwards */
    struct probity_dumps_settings dumps; /* PROBITY_DUMPS */
    int has_watched;        /* some conditions are compared by the writer */
    int has_gap_conditions; /* some are compared when a gap is found */
    int has_dumps;       /* a ring whose window or size is set: dumps can be requested */
    uint32_t texts_set;  /* in a copy: a bit for each text that is not empty; the first: out */
    char out[PROBITY_LIMIT_PATH];             /* template, not expanded */
    char spool_directory[PROBITY_LIMIT_PATH]; /* "": the default */
    /* "": none; a standard stream; or the template of a file name, not expanded */
    char log[PROBITY_LIMIT_PATH], summary[PROBITY_LIMIT_PATH];
    char label[PROBITY_LIMIT_NAME + 1]; /* "": none */
    char dump[PROBITY_LIMIT_PATH];      /* PROBITY_DUMP, not expanded; "": next to the trace */
    char when[PROBITY_CONDITIONS_BYTES]; /* PROBITY_WHEN; "": no conditions */
};

/* Parses levels, "F" or "F,P", each 0 to PROBITY_LEVEL_MAX; without P, ret_parameters is -1.
 * Returns 1, or 0 if the text is invalid. */
enum { PROBITY_LEVEL_MAX = 5 };
int probity_settings_levels(const char *text, int *ret_functions, int *ret_parameters);

/* The bit of `when` in texts_set. */
enum { PROBITY_SETTINGS_HAS_WHEN = 1 << 6 };

/* Applies the options (NULL: none), then the environment. Returns 0, or PROBITY_ERROR_ARGUMENT with
 * the name of the invalid setting in ret_what (static). */
int probity_settings_read(const struct probity_options *options,
                          struct probity_settings *ret_settings, const char **ret_what);

/* Does the same without options. text: variables, each "NAME=VALUE" and a zero byte, with another
 * zero byte after the last, which replace those of the environment. Call with the session's lock
 * held. */
int probity_settings_read_text(const char *text, struct probity_settings *ret_settings,
                               const char **ret_what);

/* Reports an invalid setting, with its value if that comes from the environment. */
void probity_settings_complain(const char *name);

/* Copies the numbers and the used part of the texts: most of their 28 KiB is unused, and would cost
 * each process pages. *ret_settings must be zero before. */
void probity_settings_copy(struct probity_settings *ret_settings,
                           const struct probity_settings *settings);

/* Returns whether options (NULL: none) or environment may need libprobity-print: for a CSV file, a
 * log, a summary, or to end a trace that no thread of this process writes. A quick test without
 * validation. */
int probity_settings_may_need_hooks(const struct probity_options *options);

/* Returns the standard stream of a log or summary; -1: a file. */
int probity_settings_stream(const char *text);

/* Returns the destination of the log if neither options nor environment set it; NULL: no log. */
const char *probity_settings_log_default(void);

/* Makes relative paths absolute, for a forked child, which may have changed its directory (a
 * daemon). */
void probity_settings_keep_directory(struct probity_settings *settings);

struct probity_session;

/* Call when a recording with dumps is prepared: from then on its writer thread applies "NAME=VALUE"
 * settings (`probity level --set`), separated by newlines: all of them, or none, with the reason.
 * Lock held. */
void probity_change_begin(struct probity_session *session);

#endif
