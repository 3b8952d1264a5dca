/* SPDX-License-Identifier: MIT
 *
 * stepper_scopes.h: the scopes that stepper.c steps through. Every record contains its number in
 * several values, which must agree, so that torn records and mixed-up values are detected.
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
    SCOPES_HOOKED,     /* the compiler's hooks; the handler calls them, too */
    SCOPES_FENTRY      /* the same with __fentry__ and __return__ */
};

enum { SCOPES_HANDLER = 1 << 30 };

/* Runs scope `number` of this kind. begins() is called before each record, ends() after it. */
void scopes_run(enum scopes_kind kind, uint32_t number, void (*begins)(void), void (*ends)(void));

/* Returns how many records one such scope makes. */
uint32_t scopes_records(enum scopes_kind kind);

/* Same as above in a signal handler: two records, with parameters and return value. */
void scopes_handle(uint32_t number);

/* Returns a record's number, from 0, over all scopes of this kind; + SCOPES_HANDLER for the
 * handler's. -1: not one of them; -2: its values were never recorded together. hits: the numbers of
 * preceding enters, leaves, pauses and resumes, which have no numbers themselves. */
int64_t scopes_number(enum scopes_kind kind, const struct probity_record *record,
                      uint32_t hits[4]);

#endif
