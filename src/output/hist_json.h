/* SPDX-License-Identifier: MIT
 *
 * hist_json.h: histograms, for programs. Needs libjansson.
 */
#ifndef PROBITY_OUTPUT_HIST_JSON_H
#define PROBITY_OUTPUT_HIST_JSON_H

#include "output/hist_text.h"

/* One object: the traces, what was repaired, and histograms in their order. Times are ns. Returns
 * 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_hist_json(FILE *stream, const struct probity_hist_answer *answer);

#endif
