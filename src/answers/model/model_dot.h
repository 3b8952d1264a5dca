/* SPDX-License-Identifier: MIT
 *
 * model_dot.h: a workload model as a graph for Graphviz dot(1).
 */
#ifndef PROBITY_ANSWERS_MODEL_MODEL_DOT_H
#define PROBITY_ANSWERS_MODEL_MODEL_DOT_H

#include <stdio.h>

#include "answers/model/model.h"

/* A cluster for each thread group, a box for each probe, arrows with probabilities and mean times,
 * nodes for queues, locks and requests. The caller checks the stream for errors. */
void probity_model_dot(FILE *stream, const struct probity_reader *reader,
                       const struct probity_model_result *result);

#endif
