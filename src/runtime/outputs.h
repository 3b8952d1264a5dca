/* SPDX-License-Identifier: MIT
 *
 * outputs.h: the outputs of a recording besides or instead of its trace: a log, a summary, a CSV
 * file.
 */
#ifndef PROBITY_RUNTIME_OUTPUTS_H
#define PROBITY_RUNTIME_OUTPUTS_H

#include "runtime/session_mapping.h"

/* Finds libprobity-print if options or environment request an output, and stores the reason if it
 * was not found. In a constructor or on an explicit request, with no lock held. */
void probity_outputs_find(struct probity_session *session, const struct probity_options *options);

/* Call once a recording has begun: reports the outputs that will be missing. Lock held. */
void probity_outputs_report_missing(struct probity_session *session);

/* Call at start, when the trace and the writer's settings exist. */
void probity_outputs_prepare(struct probity_session *session, int is_child);

/* Call when the trace is closed: makes summary and CSV file, and removes the trace if it was
 * recorded only for them. Returns 0, or an error in writing the CSV file. */
int probity_outputs_make(struct probity_session *session);

#endif
