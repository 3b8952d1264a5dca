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
};

/* Options (NULL: none), then the environment over them. Returns 0, or PROBITY_ERROR_ARGUMENT and in
 * ret_what the name of the setting at fault (static). */
int probity_settings_read(const struct probity_options *options,
                          struct probity_settings *ret_settings, const char **ret_what);

#endif
