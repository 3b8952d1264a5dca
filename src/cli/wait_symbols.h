/* SPDX-License-Identifier: MIT
 *
 * wait_symbols.h: names locks after the symbols of the program's files, for commands about waiting.
 */
#ifndef PROBITY_CLI_WAIT_SYMBOLS_H
#define PROBITY_CLI_WAIT_SYMBOLS_H

#include "answers/waits/wait_names.h"
#include "symbols/address.h"

/* Valid until `addresses`, which may be NULL, is closed. */
struct probity_wait_symbols cli_wait_symbols(struct symbols_addresses *addresses);

#endif
