/* SPDX-License-Identifier: MIT
 *
 * passing_parts.h: shared by the rules of the processors in passing.c and passing_aarch64.c.
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

/* 0: unknown. */
Dwarf_Word symbols_alignment_of(const struct symbols_type *type);

/* A struct, class or union. */
int symbols_is_aggregate(const struct symbols_type *type);

/* A base type, of a real or complex floating-point number. */
int symbols_is_float(struct symbols_type *type);

/* Whether the name of the type contains this text. */
int symbols_is_named(struct symbols_type *type, const char *part);

/* Whether the type itself is a vector of the compiler. */
int symbols_has_vector(const struct symbols_type *type);

/* Whether a DIE in a class is a member or base class that has a place in each object. */
int symbols_is_part(Dwarf_Die *die);

struct probity_arguments_place symbols_place(enum probity_arguments_where where, uint16_t index);

/* This argument and all that follow are lost. */
struct symbols_passing symbols_lose(struct symbols_taken *taken);

struct symbols_passing symbols_pass_on_stack(const struct symbols_type *type, Dwarf_Word alignment,
                                             struct symbols_taken *taken);

struct symbols_passing symbols_pass_argument_aarch64(const struct symbols_type *type,
                                                     struct symbols_taken *taken);
struct symbols_passing symbols_pass_result_aarch64(const struct symbols_type *type);

#endif
