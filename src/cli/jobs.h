/* SPDX-License-Identifier: MIT
 *
 * jobs.h: how many threads read traces: `probity --jobs N COMMAND`, or PROBITY_JOBS.
 */
#ifndef PROBITY_CLI_JOBS_H
#define PROBITY_CLI_JOBS_H

#include "reader/reader.h"

/* Takes PROBITY_JOBS and the options before the command. Returns the number of arguments taken, or
 * -1 after a message; at least one argument is left. */
int cli_jobs_take(int argc, char **argv);

/* Sets whether a reader reads ahead in a second thread. */
void cli_jobs_use(struct probity_reader_options *options);

#endif
