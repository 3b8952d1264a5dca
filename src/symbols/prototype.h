/* SPDX-License-Identifier: MIT
 *
 * prototype.h: formats a DWARF function as its C prototype.
 */
#ifndef PROBITY_SYMBOLS_PROTOTYPE_H
#define PROBITY_SYMBOLS_PROTOTYPE_H

#include <elfutils/libdw.h>
#include <stddef.h>

/* Writes "int SetRect(struct rect *rect, int left)" to ret_text, truncated to `room` bytes
 * including the terminating zero. DWARF may be damaged: types nested too deeply are shown as
 * "...". */
void symbols_prototype(Dwarf_Die *function, char *ret_text, size_t room);

#endif
