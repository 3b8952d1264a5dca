/* SPDX-License-Identifier: MIT
 *
 * model_print.h: a workload model as text, as JSON (its fields: doc/model.md), and as a graph for
 * Graphviz dot(1).
 */
#ifndef PROBITY_ANSWERS_MODEL_MODEL_PRINT_H
#define PROBITY_ANSWERS_MODEL_MODEL_PRINT_H

#include <stdio.h>

#include "answers/model/model.h"

/* Returns the number of rows of a list to show. rows_max 0: all. */
static inline size_t probity_model_shown(size_t count, size_t rows_max)
{
    return rows_max > 0 && rows_max < count ? rows_max : count;
}

/* Prints groups with their blocks, queues, locks, requests and checks, then whether the traces are
 * complete; of each list, at most rows_max (0: all). The caller checks the stream for errors. */
void probity_model_text(FILE *stream, int has_color, const struct probity_reader *reader,
                        const struct probity_model_result *result, size_t rows_max);

/* Prints one object. Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_model_json(FILE *stream, const struct probity_reader *reader,
                       const struct probity_model_result *result, size_t rows_max);

/* Prints a cluster for each thread group, a box for each probe, arrows with probabilities and mean
 * times, nodes for queues, locks and requests. The caller checks the stream for errors. */
void probity_model_dot(FILE *stream, const struct probity_reader *reader,
                       const struct probity_model_result *result, size_t rows_max);

#endif
