/* SPDX-License-Identifier: MIT
 *
 * symbols.h: signatures of C functions from the DWARF of their program, by elfutils' libdw. Only
 * the tool links it. Files are those named in the trace, where they still are; nothing is fetched
 * from a network.
 */
#ifndef PROBITY_SYMBOLS_SYMBOLS_H
#define PROBITY_SYMBOLS_SYMBOLS_H

#include "reader/reader.h"

struct symbols;

/* no_memory is called, here and below, where there is no memory; it may end the process. If it
 * returns, or is NULL, signatures are missing. NULL without memory: then nothing is found. */
struct symbols *symbols_open(void (*no_memory)(void));

/* The signature of a function, as "int SetRect(struct rect *rect, int left)", or NULL where its
 * object (executable, where the function names none) or its DWARF cannot be had. Found once for
 * each function; valid until close. symbols may be NULL. */
const char *symbols_signature(struct symbols *symbols, const struct probity_function *function,
                              const char *executable);

void symbols_close(struct symbols *symbols);

#endif
