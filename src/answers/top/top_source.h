/* SPDX-License-Identifier: MIT
 *
 * top_source.h: a trace that `probity top` watches, live or ended. A live trace is followed, which
 * does not disturb its program. The records of a ring are not written, so its spool is read each
 * time.
 */
#ifndef PROBITY_ANSWERS_TOP_TOP_SOURCE_H
#define PROBITY_ANSWERS_TOP_TOP_SOURCE_H

#include "answers/top/top.h"

struct probity_top_source;

/* Opens a trace. interval_ns: if the trace is not live, its last part of this length counts as the
 * interval; if it is live, everything newer than this. Returns 0 or an error of
 * probity_reader_open(). */
int probity_top_source_open(struct probity_top *top, const char *path, uint64_t interval_ns,
                            struct probity_top_source **ret_source);

/* Adds new events. is_over is called from time to time; if it returns 1, reading ends early.
 * Returns 0 or an error of probity_reader_next(). */
int probity_top_source_read(struct probity_top_source *source, int (*is_over)(void *context),
                            void *context);

/* Whether its program may record more: 1 or 0. */
int probity_top_source_is_live(const struct probity_top_source *source);

const char *probity_top_source_path(const struct probity_top_source *source);

void probity_top_source_close(struct probity_top_source *source);

#endif
