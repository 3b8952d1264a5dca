/* SPDX-License-Identifier: MIT
 *
 * profiled.h: adds the counts of profile mode to a report.
 */
#ifndef PROBITY_ANSWERS_REPORT_PROFILED_H
#define PROBITY_ANSWERS_REPORT_PROFILED_H

#include "answers/report/report.h"

/* Adds a row of a profile. A profile only has the bucket of each duration, so the report uses the
 * bucket's midpoint. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_report_add_profiled(struct probity_report *report,
                                const struct probity_profiled *profiled);

#endif
