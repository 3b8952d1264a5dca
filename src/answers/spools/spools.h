/* SPDX-License-Identifier: MIT
 *
 * spools.h: the list of `probity spools` as a text table and as JSON.
 */
#ifndef PROBITY_ANSWERS_SPOOLS_SPOOLS_H
#define PROBITY_ANSWERS_SPOOLS_SPOOLS_H

#include <stdio.h>

#include "reader/spools.h"

/* now_ns: since 1970. The caller checks the stream for errors. */
void probity_spools_text(FILE *stream, const struct probity_spools *spools, int64_t now_ns);

/* One object. Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_spools_json(FILE *stream, const struct probity_spools *spools, int64_t now_ns);

#endif
