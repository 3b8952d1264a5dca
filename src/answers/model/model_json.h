/* SPDX-License-Identifier: MIT
 *
 * model_json.h: a workload model as JSON; doc/model.md defines every field. Needs libjansson and
 * libm.
 */
#ifndef PROBITY_ANSWERS_MODEL_MODEL_JSON_H
#define PROBITY_ANSWERS_MODEL_MODEL_JSON_H

#include <stdio.h>

#include "answers/model/model.h"

/* One object. Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_model_json(FILE *stream, const struct probity_reader *reader,
                       const struct probity_model_result *result);

#endif
