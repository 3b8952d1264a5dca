/* SPDX-License-Identifier: MIT
 *
 * stepper_scopes.h: the scopes that stepper.c steps through. Each of their records has a number, in
 * several values that must agree, so that torn records and mixed-up values show.
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
    SCOPES_PROFILE,    /* FN_FUNC_PARAMS in profile mode, counted and not recorded */
    SCOPES_HOOKED      /* the compiler's hooks; the handler calls them, too */
};

enum { SCOPES_HANDLER = 1 << 30 };

/* Runs scope `number` of its kind. begins() is called before each record, ends() after it. */
void scopes_run(enum scopes_kind kind, uint32_t number, void (*begins)(void), void (*ends)(void));

/* The number of records of one such scope. */
uint32_t scopes_records(enum scopes_kind kind);

/* The same in a signal handler: two records, with parameters and return value. */
void scopes_handle(uint32_t number);

/* The number of a record, from 0, over all scopes of this kind; + SCOPES_HANDLER for the handler's.
 * -1: none of them; -2: values that were never recorded together. hits: the numbers of enters,
 * leaves, pauses and resumes, which are not numbered, before this one. */
int64_t scopes_number(enum scopes_kind kind, const struct probity_record *record,
                      uint32_t hits[4]);

#endif
