/* SPDX-License-Identifier: MIT
 *
 * locate.h: finds the source file and line of functions that a trace identifies by their addresses,
 * in the DWARF of the file from which they were loaded. Only the tool uses it.
 */
#ifndef PROBITY_SYMBOLS_LOCATE_H
#define PROBITY_SYMBOLS_LOCATE_H

#include <stdint.h>

/* no_memory is called by symbols_locate() if memory is exhausted; it may end the process. If it
 * returns, or is NULL, some functions are not found. */
void symbols_locate_on_no_memory(void (*no_memory)(void));

/* Returns the source file as passed to the compiler, malloc'ed, and sets the line of the function's
 * name. Returns NULL if the object does not exist, has no debugging information, or has no function
 * with this symbol at this address (it is then not the file that was recorded). Objects stay open
 * for later calls. Call from one thread only. For probity_functions_locate. */
char *symbols_locate(const char *object, const char *symbol, uint64_t address, uint32_t *ret_line);

#endif
