/* SPDX-License-Identifier: MIT
 *
 * types.h: types in DWARF: sizes, alignments, members.
 */
#ifndef PROBITY_SYMBOLS_TYPES_H
#define PROBITY_SYMBOLS_TYPES_H

#include "symbols/elfutils.h"

/* A type in DWARF, with typedefs and qualifiers removed. */
struct symbols_type {
    Dwarf_Die die;
    int tag;                /* 0: void */
    Dwarf_Word bytes;       /* 0 if unknown */
    int is_wide;            /* a typedef named wchar_t was removed */
};

/* Finds the type of a variable, parameter, member, function or type. Returns 0 if it cannot be
 * read. */
int symbols_type_of(Dwarf_Die *die, struct symbols_type *ret_type);

/* Finds the offset of a member or base class. Returns 0 if it has none, or is a bit-field. */
int symbols_member_offset(Dwarf_Die *member, Dwarf_Word *ret_offset);

/* Returns the number of elements of an array with one dimension; 0: unknown, or several
 * dimensions. */
Dwarf_Word symbols_array_count(Dwarf_Die *array);

/* 0: unknown. An attribute raises the alignment of a type or of a member. */
Dwarf_Word symbols_alignment_of(const struct symbols_type *type);

/* Of a base type, enum or pointer. */
Dwarf_Word symbols_scalar_alignment(struct symbols_type *type);

/* A struct, class or union. */
int symbols_is_aggregate(const struct symbols_type *type);

/* A base type for a real or complex floating-point number. */
int symbols_is_float(struct symbols_type *type);

/* Whether the name of the type contains this text. */
int symbols_is_named(struct symbols_type *type, const char *part);

/* Whether the type itself is a compiler's vector type. */
int symbols_has_vector(const struct symbols_type *type);

/* Whether a DIE in a class is a member or base class that has a place in each object. */
int symbols_is_part(Dwarf_Die *die);

#endif
