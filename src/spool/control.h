/* SPDX-License-Identifier: MIT
 *
 * control.h: requests to a running program to change levels, through segment 0 of its spool
 * (doc/spool.md, "Requests"). For both sides: the tool and the writer thread.
 *
 *     tool                                  writer
 *     level_request = serial + 1, levels ─► sees it, changes the levels, writes the event
 *     waits                              ◄─ levels; level_answered = serial + 1 (release)
 *
 * One word holds serial and levels, so a request is atomic. The writer replies even if the tool has
 * been killed.
 */
#ifndef PROBITY_SPOOL_CONTROL_H
#define PROBITY_SPOOL_CONTROL_H

#include "spool/attach.h"
#include "spool/layout.h"

/* Flags in levels: the requests to which the writer replies: for levels, for the end of the
 * recording, for other settings. */
enum {
    PROBITY_CONTROL_ANSWERS = 0x10000,
    PROBITY_CONTROL_ENDS = 0x20000,
    PROBITY_CONTROL_CHANGES = 0x40000
};

/* Values of end_asked. END_ASKED requests the end. END_PARTLY, with an errno in the upper bits,
 * replaces it if the program's code is not restored yet. */
enum { PROBITY_CONTROL_END_ASKED = 1, PROBITY_CONTROL_END_PARTLY = 2 };

/* Position of the mode in levels, an enum probity_mode; 0: as in INFO. */
enum { PROBITY_CONTROL_MODE_SHIFT = 20, PROBITY_CONTROL_MODE_MASK = 3 };

/* Positions of the requested levels in a request; its low half is the serial. */
enum { PROBITY_CONTROL_FUNCTIONS_SHIFT = 32, PROBITY_CONTROL_PARAMETERS_SHIFT = 40 };

/* Encodes levels as in the header. */
static inline uint32_t probity_control_levels(int functions, int parameters)
{
    return (uint32_t)functions | (uint32_t)parameters << 8 | PROBITY_CONTROL_ANSWERS |
           PROBITY_CONTROL_ENDS | PROBITY_CONTROL_CHANGES;
}

static inline uint32_t probity_control_mode(uint32_t levels)
{
    return levels >> PROBITY_CONTROL_MODE_SHIFT & PROBITY_CONTROL_MODE_MASK;
}

/* ---- The writer's half, in control.c ---- */

/* Returns 1 if a request is pending, with its serial and levels (-1: unchanged), or 0. Levels are
 * not validated, and may be anything up to 254. */
int probity_control_pending(const struct probity_spool_header *header, uint32_t *ret_serial,
                            int *ret_functions, int *ret_parameters);

/* Replies to the request: the levels in the header are in effect. */
void probity_control_answer(struct probity_spool_header *header, uint32_t serial);

/* Returns 1 if a change of settings is pending, with its serial and a copy of its text, or 0. */
int probity_control_change_pending(const struct probity_spool_header *header, uint32_t *ret_serial,
                                   char ret_text[PROBITY_SPOOL_CHANGE_TEXT]);

/* Replies to a change. result 0: all of it is in effect, and text may have details; otherwise text
 * is the reason why it was refused. */
void probity_control_change_answer(struct probity_spool_header *header, uint32_t serial, int result,
                                   const char *text);

/* ---- The tool's half, in control_ask.c ---- */

/* Requests other levels from the owner of an attached spool (-1: unchanged) and waits for the
 * reply, at most wait_ns. attach must be writable and its owner alive. Returns 0 with the levels
 * then in effect; PROBITY_ERROR_VERSION if the writer does not support requests;
 * PROBITY_ERROR_STATE if recording ended in the meantime; PROBITY_ERROR_LIMIT if the reply did not
 * come in time; PROBITY_ERROR_EXISTS if the reply to an earlier request did not, so nothing was
 * requested; PROBITY_ERROR_SYSTEM if the header cannot be mapped for writing. */
int probity_control_ask(const struct probity_attach *attach, int functions, int parameters,
                        int64_t wait_ns, int *ret_functions, int *ret_parameters);

/* Requests the end of the recording and waits, at most wait_ns, until its trace is closed and the
 * spool is removed. Returns the same as above; 0 also if the program ended in the meantime. If 0,
 * ret_why is 0, or the errno that prevented restoring the program's code. */
int probity_control_end(const struct probity_attach *attach, int64_t wait_ns, int *ret_why);

/* Requests other settings, and waits as above. text: "NAME=VALUE" separated by newlines. Returns
 * the same as probity_control_ask(); PROBITY_ERROR_EXISTS if another tool is changing settings; or
 * PROBITY_ERROR_ARGUMENT with the reason in ret_why. If 0, ret_why has details, or "". */
int probity_control_change(const struct probity_attach *attach, const char *text, int64_t wait_ns,
                           char ret_why[PROBITY_SPOOL_CHANGE_TEXT]);

/* Reads the current levels. Returns 0 or PROBITY_ERROR_VERSION. */
int probity_control_read(const struct probity_attach *attach, int *ret_functions,
                         int *ret_parameters);

#endif
