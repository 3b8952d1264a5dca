/* SPDX-License-Identifier: MIT
 *
 * profiled.h: what profile mode has counted, as rows of a report.
 */
#ifndef PROBITY_ANALYSIS_PROFILED_H
#define PROBITY_ANALYSIS_PROFILED_H

#include "analysis/report.h"

/* Adds a row of a profile. Durations are known to their bucket only, of which the report gets
 * the middle. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_report_add_profiled(struct probity_report *report,
                                const struct probity_profiled *profiled);

#endif
