/* SPDX-License-Identifier: MIT
 *
 * types.c: see types.h. Untrusted DWARF may nest types deeply or in a circle, so each search has a
 * limit.
 */
#include "symbols/types.h"

#include <string.h>

enum { DEPTH_MAX = 16, TYPEDEFS_MAX = 64, STEPS_MAX = 1000, WORD = 8 };

static int is_qualifier(int tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

/* Follows qualifiers and typedefs. Returns 0 if there are too many; sets all members except the
 * size. */
static int find_type(Dwarf_Die *die, struct symbols_type *ret_type)
{
    Dwarf_Attribute attribute;

    *ret_type = (struct symbols_type){.die = *die};
    for (int i = 0; i < TYPEDEFS_MAX; i++) {
        if (dwarf_attr_integrate(&ret_type->die, DW_AT_type, &attribute) == NULL) {
            ret_type->tag = 0;
            return 1;
        }
        if (dwarf_formref_die(&attribute, &ret_type->die) == NULL)
            return 0;
        ret_type->tag = dwarf_tag(&ret_type->die);
        const char *name = dwarf_diename(&ret_type->die);
        ret_type->is_wide |= name != NULL && strcmp(name, "wchar_t") == 0;
        if (!is_qualifier(ret_type->tag))
            return 1;
    }
    return 0;
}

/* DWARF has no size for pointers to members. */
static Dwarf_Word size_of(struct symbols_type *type)
{
    struct symbols_type target;
    Dwarf_Word bytes;

    if (type->tag == DW_TAG_pointer_type || type->tag == DW_TAG_reference_type ||
        type->tag == DW_TAG_rvalue_reference_type || type->tag == DW_TAG_unspecified_type)
        return WORD;
    if (type->tag == DW_TAG_ptr_to_member_type)
        return find_type(&type->die, &target) && target.tag == DW_TAG_subroutine_type ? 2 * WORD
                                                                                      : WORD;
    return dwarf_aggregate_size(&type->die, &bytes) == 0 ? bytes : 0;
}

int symbols_type_of(Dwarf_Die *die, struct symbols_type *ret_type)
{
    if (!find_type(die, ret_type))
        return 0;
    if (ret_type->tag != 0)
        ret_type->bytes = size_of(ret_type);
    return 1;
}

int symbols_member_offset(Dwarf_Die *member, Dwarf_Word *ret_offset)
{
    Dwarf_Attribute attribute;

    if (dwarf_hasattr(member, DW_AT_bit_size))
        return 0;
    if (dwarf_attr(member, DW_AT_data_member_location, &attribute) == NULL) {
        *ret_offset = 0; /* as in a union, or the first member */
        return 1;
    }
    return dwarf_formudata(&attribute, ret_offset) == 0;
}

Dwarf_Word symbols_array_count(Dwarf_Die *array)
{
    Dwarf_Attribute attribute;
    Dwarf_Die range, next;
    Dwarf_Word count;

    if (dwarf_child(array, &range) != 0 || dwarf_tag(&range) != DW_TAG_subrange_type ||
        dwarf_siblingof(&range, &next) == 0)
        return 0;
    if (dwarf_attr(&range, DW_AT_count, &attribute) != NULL &&
        dwarf_formudata(&attribute, &count) == 0)
        return count;
    if (dwarf_attr(&range, DW_AT_upper_bound, &attribute) != NULL &&
        dwarf_formudata(&attribute, &count) == 0)
        return count + 1;
    return 0;
}

int symbols_has_vector(const struct symbols_type *type)
{
    Dwarf_Die die = type->die;

    return dwarf_hasattr(&die, DW_AT_GNU_vector);
}

int symbols_is_part(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);

    return (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
           !dwarf_hasattr(die, DW_AT_declaration) && !dwarf_hasattr(die, DW_AT_external);
}

int symbols_is_float(struct symbols_type *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding;

    return type->tag == DW_TAG_base_type &&
           dwarf_attr(&type->die, DW_AT_encoding, &attribute) != NULL &&
           dwarf_formudata(&attribute, &encoding) == 0 &&
           (encoding == DW_ATE_float || encoding == DW_ATE_complex_float);
}

int symbols_is_named(struct symbols_type *type, const char *part)
{
    const char *name = dwarf_diename(&type->die);

    return name != NULL && strstr(name, part) != NULL;
}

Dwarf_Word symbols_scalar_alignment(struct symbols_type *type)
{
    if (symbols_is_named(type, "complex"))
        return type->bytes / 2;
    return type->tag == DW_TAG_ptr_to_member_type ? WORD : type->bytes;
}

int symbols_is_aggregate(const struct symbols_type *type)
{
    return type->tag == DW_TAG_structure_type || type->tag == DW_TAG_class_type ||
           type->tag == DW_TAG_union_type;
}

/* 0: unknown. An attribute raises the alignment of a type or of a member. */
static Dwarf_Word alignment_of(const struct symbols_type *type, int depth, int *steps)
{
    struct symbols_type copy = *type, part;
    Dwarf_Word most = 1;
    Dwarf_Die child;

    if (depth == 0 || ++*steps > STEPS_MAX || dwarf_hasattr(&copy.die, DW_AT_alignment) ||
        dwarf_hasattr(&copy.die, DW_AT_GNU_vector))
        return 0;
    if (type->tag == DW_TAG_array_type)
        return symbols_type_of(&copy.die, &part) ? alignment_of(&part, depth - 1, steps) : 0;
    if (!symbols_is_aggregate(type))
        return symbols_scalar_alignment(&copy);
    for (int error = dwarf_child(&copy.die, &child); error == 0;
         error = dwarf_siblingof(&child, &child)) {
        if (!symbols_is_part(&child))
            continue;
        Dwarf_Word alignment = dwarf_hasattr(&child, DW_AT_alignment) ||
                                       !symbols_type_of(&child, &part)
                                   ? 0
                                   : alignment_of(&part, depth - 1, steps);
        if (alignment == 0)
            return 0;
        most = alignment > most ? alignment : most;
    }
    return most;
}

Dwarf_Word symbols_alignment_of(const struct symbols_type *type)
{
    int steps = 0;

    return alignment_of(type, DEPTH_MAX, &steps);
}
