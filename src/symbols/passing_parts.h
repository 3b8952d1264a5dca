/* SPDX-License-Identifier: MIT
 *
 * passing_parts.h: shared by the rules for the processors in passing.c and passing_aarch64.c.
 */
#ifndef PROBITY_SYMBOLS_PASSING_PARTS_H
#define PROBITY_SYMBOLS_PASSING_PARTS_H

#include "symbols/passing.h"

/* Itanium C++ ABI, 3.1.2.3: an object is passed by address if copying or destroying it is not
 * trivial. */
enum symbols_convention {
    SYMBOLS_BY_VALUE,
    SYMBOLS_BY_ADDRESS,
    SYMBOLS_CONVENTION_UNKNOWN
};

enum symbols_convention symbols_convention_of(const struct symbols_type *type);

struct probity_arguments_place symbols_place(enum probity_arguments_where where, uint16_t index);

/* This argument and all that follow are lost. */
struct symbols_passing symbols_lose(struct symbols_taken *taken);

struct symbols_passing symbols_pass_on_stack(const struct symbols_type *type, Dwarf_Word alignment,
                                             struct symbols_taken *taken);

/* ---- passing_aarch64.c ---- */

struct symbols_passing symbols_pass_argument_aarch64(const struct symbols_type *type,
                                                     struct symbols_taken *taken);
struct symbols_passing symbols_pass_result_aarch64(const struct symbols_type *type);

#endif
