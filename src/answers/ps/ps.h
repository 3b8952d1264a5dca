/* SPDX-License-Identifier: MIT
 *
 * ps.h: the programs that are recording, one row each, as text, JSON and CSV. Computes nothing: the
 * rows are those of reader/activity.h.
 */
#ifndef PROBITY_ANSWERS_PS_PS_H
#define PROBITY_ANSWERS_PS_PS_H

#include <stdint.h>
#include <stdio.h>

#include "reader/activity.h"

/* A recording. The names of its program and trace are untrusted. */
struct probity_ps_row {
    uint32_t pid, owner; /* process id in its own namespace; user id */
    uint64_t bytes;      /* memory of its spool */
    const char *program;
    const struct probity_activity_facts *facts;
    double rate; /* records per second or, in profile mode, calls; negative: unknown */
};

struct probity_ps_answer {
    const struct probity_ps_row *rows;
    size_t count;
    uint64_t now_ns;     /* CLOCK_REALTIME */
    int has_users;       /* rows may belong to several users */
    size_t line_columns; /* width of the terminal; 0: no limit */
    int has_color;
};

/* Returns "block", "drop", "ring" or "?", from an enum probity_mode. */
const char *probity_ps_mode(const struct probity_activity_facts *facts);

/* The caller checks the stream for errors. */
void probity_ps_text(FILE *stream, const struct probity_ps_answer *answer);

/* Prints a header line and a line for each row. The caller checks the stream for errors. */
void probity_ps_csv(FILE *stream, const struct probity_ps_answer *answer);

/* Prints one object. Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_ps_json(FILE *stream, const struct probity_ps_answer *answer);

#endif
