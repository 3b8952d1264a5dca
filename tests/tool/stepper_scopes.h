/* SPDX-License-Identifier: MIT
 *
 * stepper_scopes.h: the scopes that stepper.c steps through. Each record that they make bears a
 * number, in several values that must fit together: so a torn one shows, and one with another's
 * values.
 */
#ifndef PROBITY_TESTS_STEPPER_SCOPES_H
#define PROBITY_TESTS_STEPPER_SCOPES_H

#include "format/stream.h"

enum scopes_kind {
    SCOPES_NONE = 0,
    SCOPES_PLAIN,      /* FN_FUNC */
    SCOPES_PARAMETERS, /* four integers and a return value */
    SCOPES_TEXT,       /* a string: the slow path */
    SCOPES_MESSAGE,    /* FN_OUTPUT */
    SCOPES_CHECKPOINT,
    SCOPES_PAUSE,
    SCOPES_TYPED,      /* hits with ids: of a probe, of a site */
    SCOPES_PROFILE     /* FN_FUNC_PARAMS in profile mode, counted and not recorded */
};

enum { SCOPES_HANDLER = 1 << 30 };

/* Runs one scope, the number-th of its kind. begins() comes before each record, ends() behind. */
void scopes_run(enum scopes_kind kind, uint32_t number, void (*begins)(void), void (*ends)(void));

/* Records of one such scope. */
uint32_t scopes_records(enum scopes_kind kind);

/* The same in a signal handler: two records, with parameters and return value. */
void scopes_handle(uint32_t number);

/* Which record it is: from 0 on, of all scopes of this kind; + SCOPES_HANDLER for the handler's.
 * -1: none of them; -2: values that were never recorded together. hits: how many enters, leaves,
 * pauses and resumes came before this one, which bear no number. */
int64_t scopes_number(enum scopes_kind kind, const struct probity_record *record,
                      uint32_t hits[4]);

#endif
