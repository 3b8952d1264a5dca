/* SPDX-License-Identifier: MIT
 *
 * control.h: requests to a running program, through segment 0 of its spool: other levels
 * (doc/spool.md, "Requests"). Both halves: the tool's, and that of the writing thread.
 *
 *     tool                                  writer
 *     level_request = serial + 1, levels ─► sees it, changes the levels, writes the event
 *     waits                              ◄─ levels; level_answered = serial + 1 (release)
 *
 * One word holds serial and levels, so that a request is there as a whole or not at all. A request
 * that nobody waits for any more (its tool was killed) is answered all the same.
 */
#ifndef PROBITY_SPOOL_CONTROL_H
#define PROBITY_SPOOL_CONTROL_H

#include "spool/attach.h"
#include "spool/layout.h"

enum { PROBITY_CONTROL_ANSWERS = 0x10000 }; /* in levels: requests are answered */

/* Levels as they stand in the header. */
static inline uint32_t probity_control_levels(int functions, int parameters)
{
    return (uint32_t)functions | (uint32_t)parameters << 8 | PROBITY_CONTROL_ANSWERS;
}

/* ---- The writer's half ---- */

/* Whether a request waits: 1 with its serial and levels (-1: unchanged), or 0. Levels are as they
 * came, and may be anything up to 254. */
int probity_control_pending(const struct probity_spool_header *header, uint32_t *ret_serial,
                            int *ret_functions, int *ret_parameters);

/* The request is done, and `levels` says what is in force. */
void probity_control_answer(struct probity_spool_header *header, uint32_t serial);

/* ---- The tool's half ---- */

/* Asks the owner of an attached spool for other levels (-1: unchanged) and waits for the answer, at
 * most wait_ns. attach must be writable, and be looked at as alive. Returns 0 with what is in force
 * then; PROBITY_ERROR_VERSION where its writer does not know requests; PROBITY_ERROR_STATE where
 * recording ended meanwhile; PROBITY_ERROR_LIMIT where no answer came in time; PROBITY_ERROR_SYSTEM
 * where the header cannot be mapped for writing. */
int probity_control_ask(const struct probity_attach *attach, int functions, int parameters,
                        int64_t wait_ns, int *ret_functions, int *ret_parameters);

/* What is in force. Returns 0 or PROBITY_ERROR_VERSION. */
int probity_control_read(const struct probity_attach *attach, int *ret_functions,
                         int *ret_parameters);

#endif
