/* SPDX-License-Identifier: MIT
 *
 * request.h: asks a running program for other levels, from another process: finds the spool of a
 * process, and is the tool's half of src/spool/control.h. Nothing of it runs in a traced program.
 */
#ifndef PROBITY_WRITER_REQUEST_H
#define PROBITY_WRITER_REQUEST_H

#include <stdint.h>

/* A spool whose program records now. */
struct probity_request;

/* The spool of a process in a folder, by all segments 0 there. *ret_count says how many it has;
 * where that is 1, *ret_request is open. Returns 0, PROBITY_ERROR_OPEN with errno where the folder
 * cannot be read (none: no spool), PROBITY_ERROR_MEMORY. */
int probity_request_open_process(const char *folder, uint32_t pid, int *ret_count,
                                 struct probity_request **ret_request);

/* The spool whose segment 0 is at path. Returns 0; PROBITY_ERROR_STATE where its program does not
 * record any more; else as probity_attach_open(). */
int probity_request_open_spool(const char *path, const uint8_t session[16], const uint8_t boot[16],
                               struct probity_request **ret_request);

uint32_t probity_request_pid(const struct probity_request *request);

/* Whether there is a thread that could answer: 1 or 0. */
int probity_request_has_writer(const struct probity_request *request);

/* Levels in force. Returns 0, or PROBITY_ERROR_VERSION where the program knows none. */
int probity_request_read(const struct probity_request *request, int *ret_functions,
                         int *ret_parameters);

/* Asks for levels (-1: unchanged), waits for the answer at most wait_ns. Returns 0 with those in
 * force then, or an error as probity_control_ask(). */
int probity_request_levels(const struct probity_request *request, int functions, int parameters,
                           int64_t wait_ns, int *ret_functions, int *ret_parameters);

void probity_request_close(struct probity_request *request);

#endif
