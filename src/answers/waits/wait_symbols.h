/* SPDX-License-Identifier: MIT
 *
 * wait_symbols.h: names of locks by the symbols of the program's files (wait_names.h), for the
 * tool's commands.
 */
#ifndef PROBITY_ANSWERS_WAITS_WAIT_SYMBOLS_H
#define PROBITY_ANSWERS_WAITS_WAIT_SYMBOLS_H

/* Sets probity_wait_symbol_find. no_memory: as for symbols_addresses_open(). */
void probity_wait_symbols_open(void (*no_memory)(void));

void probity_wait_symbols_close(void);

#endif
