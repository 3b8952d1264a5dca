/* SPDX-License-Identifier: MIT
 *
 * signatures.h: signatures of C functions from DWARF, because compilers record no signatures for C
 * in the trace.
 */
#ifndef PROBITY_CLI_SIGNATURES_H
#define PROBITY_CLI_SIGNATURES_H

#include "answers/report/report.h"
#include "symbols/symbols.h"

/* Calls symbols_signature() for the program named in the function's trace. */
const char *cli_signature(struct symbols *symbols, const struct probity_reader *reader,
                          const struct probity_function *function);

/* Fills in missing signatures of functions; valid until symbols is closed. */
void cli_signatures_find(struct symbols *symbols, const struct probity_reader *reader,
                         struct probity_report_function *functions, size_t count);

#endif
