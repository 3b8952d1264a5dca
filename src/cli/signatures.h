/* SPDX-License-Identifier: MIT
 *
 * signatures.h: what a compiler of C did not tell of functions, and the DWARF of their program may.
 */
#ifndef PROBITY_CLI_SIGNATURES_H
#define PROBITY_CLI_SIGNATURES_H

#include "analysis/report.h"
#include "symbols/symbols.h"

/* As symbols_signature(), in the program that the function's trace names. */
const char *cli_signature(struct symbols *symbols, const struct probity_reader *reader,
                          const struct probity_function *function);

/* Gives those functions a signature that have none; they are valid until symbols are closed. */
void cli_signatures_find(struct symbols *symbols, const struct probity_reader *reader,
                         struct probity_report_function *functions, size_t count);

#endif
