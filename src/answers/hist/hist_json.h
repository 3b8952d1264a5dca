/* SPDX-License-Identifier: MIT
 *
 * hist_json.h: histograms as JSON. Needs libjansson.
 */
#ifndef PROBITY_ANSWERS_HIST_HIST_JSON_H
#define PROBITY_ANSWERS_HIST_HIST_JSON_H

#include "answers/hist/hist_text.h"

/* One object: the traces, the repaired scopes, and the histograms in order. Times are ns. Returns
 * 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_hist_json(FILE *stream, const struct probity_hist_answer *answer);

#endif
