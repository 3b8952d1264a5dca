/* SPDX-License-Identifier: MIT
 *
 * signatures.h: signatures of C functions from DWARF; the compiler records none for C.
 */
#ifndef PROBITY_CLI_SIGNATURES_H
#define PROBITY_CLI_SIGNATURES_H

#include "answers/report/report.h"
#include "symbols/symbols.h"

/* Calls symbols_signature() on the program that the function's trace names. */
const char *cli_signature(struct symbols *symbols, const struct probity_reader *reader,
                          const struct probity_function *function);

/* Sets the missing signatures of functions. They are valid until symbols is closed. */
void cli_signatures_find(struct symbols *symbols, const struct probity_reader *reader,
                         struct probity_report_function *functions, size_t count);

#endif
