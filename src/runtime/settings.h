/* SPDX-License-Identifier: MIT
 *
 * settings.h: what the options and the environment ask for, checked and complete.
 */
#ifndef PROBITY_RUNTIME_SETTINGS_H
#define PROBITY_RUNTIME_SETTINGS_H

#include "base/limits.h"
#include "probity.h"

struct probity_settings {
    char out[PROBITY_LIMIT_PATH];        /* template, not expanded */
    char spool_directory[PROBITY_LIMIT_PATH]; /* "": the default */
    int mode, wall_time, cpu_time, overwrite; /* the switches are 0 or 1 */
    int refuse_counter; /* PROBITY_CLOCK=monotonic */
    int is_asked_for;   /* PROBITY_OUT is set: the first probe starts recording */
    uint32_t chunk_words, segment_chunks, segments_max;
    uint32_t cpu_gap_ns, cpu_budget_permille;
    int level_functions, level_parameters; /* PROBITY_LEVEL; -1: not set */
    int profile, threads_announced;        /* 0 or 1 */
    int cost;                              /* 0 or 1: what recording costs is measured */
    int is_for_text; /* only PROBITY_LOG or _SUMMARY is set: the trace goes when they are printed */
    /* "": none; "stderr"; else a file's template, not expanded */
    char log[PROBITY_LIMIT_PATH], summary[PROBITY_LIMIT_PATH];
    char label[PROBITY_LIMIT_NAME + 1]; /* "": none */
};

/* Levels as text, "F" or "F,P", each 0 to PROBITY_LEVEL_MAX; without P, ret_parameters is -1.
 * Returns 1, or 0 where it is no such text. */
enum { PROBITY_LEVEL_MAX = 5 };
int probity_settings_levels(const char *text, int *ret_functions, int *ret_parameters);

/* Options (NULL: none), then the environment over them. Returns 0, or PROBITY_ERROR_ARGUMENT and in
 * ret_what the name of the setting at fault (static). */
int probity_settings_read(const struct probity_options *options,
                          struct probity_settings *ret_settings, const char **ret_what);

/* Makes relative paths absolute: for a forked child, which may have gone elsewhere (a daemon). */
void probity_settings_keep_folder(struct probity_settings *settings);

#endif
