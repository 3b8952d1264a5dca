/* SPDX-License-Identifier: MIT
 *
 * model_dot.h: a workload model as a graph for dot(1), of Graphviz.
 */
#ifndef PROBITY_OUTPUT_MODEL_DOT_H
#define PROBITY_OUTPUT_MODEL_DOT_H

#include <stdio.h>

#include "analysis/model.h"

/* A cluster for each thread group, a box for each probe; arrows with probabilities and mean times;
 * further nodes for queues, locks and requests. Errors of writing stay in the stream. */
void probity_model_dot(FILE *stream, const struct probity_reader *reader,
                       const struct probity_model_result *result);

#endif
