/* SPDX-License-Identifier: MIT
 *
 * model_text.h: a workload model as text tables.
 */
#ifndef PROBITY_ANSWERS_MODEL_MODEL_TEXT_H
#define PROBITY_ANSWERS_MODEL_MODEL_TEXT_H

#include <stdio.h>

#include "answers/model/model.h"

/* Groups with their blocks, queues, locks, requests and checks, then whether the traces are
 * complete. The caller checks the stream for errors. */
void probity_model_text(FILE *stream, int has_colour, const struct probity_reader *reader,
                        const struct probity_model_result *result);

#endif
