/* SPDX-License-Identifier: MIT
 *
 * path_choose.h: finds when the slowest calls began, without analyzing waits and activities of
 * threads, so that the critical paths need only the records of that time. Only for traces without
 * waits and thread states in which each exit matches the innermost open call: then no other records
 * affect the time of a call. Prints nothing.
 */
#ifndef PROBITY_ANSWERS_PATH_PATH_CHOOSE_H
#define PROBITY_ANSWERS_PATH_PATH_CHOOSE_H

#include "answers/path/path.h"

/* With more, the calls are likely to be spread over the whole range. */
enum { PROBITY_PATH_CHOICE_MAX = 16 };

struct probity_path_choice;

/* Of the options, uses from_ns, to_ns, slowest (at most PROBITY_PATH_CHOICE_MAX), is_wanted, and
 * marks, which must mark only enters and exits of calls. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_path_choice_open(const struct probity_path_options *options,
                             struct probity_path_choice **ret_choice);

/* Takes the next event in time order. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_path_choice_put(struct probity_path_choice *choice, const struct probity_event *event);

/* Returns the number of calls that began in the range and have not ended. */
uint64_t probity_path_choice_pending(const struct probity_path_choice *choice);

/* Returns the part of the range in which the slowest calls began, or all of it if more calls were
 * open at a time than path.h follows. */
void probity_path_choice_range(const struct probity_path_choice *choice, uint64_t *ret_from_ns,
                               uint64_t *ret_to_ns);

void probity_path_choice_close(struct probity_path_choice *choice);

#endif
