/* SPDX-License-Identifier: MIT
 *
 * symbols.h: finds signatures of C functions in the DWARF of their program, read with elfutils'
 * libdw, C++ names, and the dynamic linker that a program requests. Linked only into the tool. Uses
 * the files named in the trace, if they still exist; nothing is fetched from a network.
 */
#ifndef PROBITY_SYMBOLS_SYMBOLS_H
#define PROBITY_SYMBOLS_SYMBOLS_H

#include "reader/reader.h"

struct symbols;

/* report is called, once for each path, if a file has debugging information that is not used
 * (debug_files.h), with the reason, as a clause for the end of a message. */
void symbols_on_unused(void (*report)(const char *path, const char *why));

/* no_memory is called, here and below, if memory is exhausted; it may end the process. If it
 * returns, or is NULL, signatures are missing. Returns NULL if out of memory: nothing is found
 * then. */
struct symbols *symbols_open(void (*no_memory)(void));

/* Returns the signature of a function, such as "int SetRect(struct rect *rect, int left)", or NULL
 * if its object (the executable, if the function has none) or its DWARF is not available. Looked up
 * once per function; valid until close. symbols may be NULL. */
const char *symbols_signature(struct symbols *symbols, const struct probity_function *function,
                              const char *executable);

void symbols_close(struct symbols *symbols);

/* The full signature of a C++ function, such as "ns::f(int)", from the symbol that identifies it in
 * a trace, and the name in it without parameters and return type. Uses the demangler of the C++
 * library. malloc'ed; *ret_name is malloc'ed too. Returns NULL if the symbol is not mangled, or
 * cannot be demangled: without that library, none can. For probity_functions_demangle. */
char *symbols_demangle(const char *symbol, char **ret_name);

/* Writes the path of the dynamic linker that an executable requests. Returns 0, or -1 if the file
 * is not an executable for this machine, is linked statically, or cannot be read. */
int symbols_interpreter(const char *path, char *ret_path, size_t room);

#endif
