/* SPDX-License-Identifier: MIT
 *
 * prototype.h: a function of DWARF as its prototype in C.
 */
#ifndef PROBITY_SYMBOLS_PROTOTYPE_H
#define PROBITY_SYMBOLS_PROTOTYPE_H

#include <elfutils/libdw.h>
#include <stddef.h>

/* Puts "int SetRect(struct rect *rect, int left)" into ret_text, cut to `room` bytes with the zero
 * at its end. DWARF may be damaged: what is nested too deep is shown as "...". */
void symbols_prototype(Dwarf_Die *function, char *ret_text, size_t room);

#endif
