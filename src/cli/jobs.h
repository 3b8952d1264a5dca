/* SPDX-License-Identifier: MIT
 *
 * jobs.h: the number of threads that read traces: `probity --jobs N COMMAND`, or PROBITY_JOBS.
 */
#ifndef PROBITY_CLI_JOBS_H
#define PROBITY_CLI_JOBS_H

#include "reader/reader.h"

/* Handles PROBITY_JOBS and the options before the command. Returns the number of arguments that it
 * used, or -1 after a message; at least one argument remains. */
int cli_jobs_take(int argc, char **argv);

/* Whether traces may be read by more than one thread: 1 or 0. */
int cli_jobs_are_many(void);

/* Sets whether a reader reads ahead in a second thread. */
void cli_jobs_use(struct probity_reader_options *options);

#endif
