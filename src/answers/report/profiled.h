/* SPDX-License-Identifier: MIT
 *
 * profiled.h: adds the counts of profile mode to a report.
 */
#ifndef PROBITY_ANSWERS_REPORT_PROFILED_H
#define PROBITY_ANSWERS_REPORT_PROFILED_H

#include "answers/report/report.h"

/* Computes the sums of a row of a profile. `thread` must live as long as the row. The caller
 * releases the row's histogram, also on failure. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_report_profiled_row(const struct probity_profiled *profiled,
                                const struct probity_thread_label *thread,
                                struct probity_report_row *ret_row);

/* Adds a row of a profile. A profile has only the bucket of each duration, so the report uses the
 * bucket's midpoint. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_report_add_profiled(struct probity_report *report,
                                const struct probity_profiled *profiled);

#endif
