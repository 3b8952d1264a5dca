/* SPDX-License-Identifier: MIT
 *
 * passing.c: see passing.h; the rules for x86-64. A type is classified 8 bytes at a time. Nothing
 * is guessed: a place that the ABI or DWARF does not determine is lost, and so are all places after
 * it.
 */
#include "symbols/passing.h"

#include <elf.h>

#include "symbols/passing_parts.h"

enum { DEPTH_MAX = 16, MEMBERS_MAX = 64, STEPS_MAX = 1000, WORD = 8 };

/* ---- Classes -----------------------------------------------------------------------------------
 */

enum class {
    CLASS_NONE,
    CLASS_SSE,
    CLASS_INTEGER,
    CLASS_X87,
    CLASS_MEMORY,
    CLASS_LOST
};

/* steps: number of types examined. In untrusted DWARF, a type may contain itself many times. */
struct classes {
    enum class word[2];
    int steps;
};

static void merge(struct classes *classes, Dwarf_Word offset, enum class add)
{
    enum class *word = &classes->word[offset / WORD % 2];

    if (*word != CLASS_NONE && *word != add && (*word == CLASS_X87 || add == CLASS_X87))
        add = *word > CLASS_X87 || add > CLASS_X87 ? CLASS_LOST : CLASS_MEMORY;
    *word = add > *word ? add : *word;
}

/* A base type, enum or pointer. */
static void classify_scalar(struct symbols_type *type, Dwarf_Word offset, struct classes *classes)
{
    Dwarf_Word alignment = symbols_scalar_alignment(type);

    if (alignment == 0 || offset % alignment != 0) {
        merge(classes, offset, type->bytes == 0 ? CLASS_LOST : CLASS_MEMORY);
        return;
    }
    if (!symbols_is_float(type)) {
        merge(classes, offset, type->bytes > 2 * WORD ? CLASS_LOST : CLASS_INTEGER);
        if (type->bytes > WORD)
            merge(classes, offset + WORD, CLASS_INTEGER);
    } else if (type->bytes <= WORD) {
        merge(classes, offset, CLASS_SSE);
    } else if (symbols_is_named(type, "complex")) {
        merge(classes, offset, type->bytes == 2 * WORD ? CLASS_SSE : CLASS_LOST);
        merge(classes, offset + WORD, CLASS_SSE);
    } else { /* __float128 uses one register of 16 bytes */
        merge(classes, offset, symbols_is_named(type, "long double") ? CLASS_X87 : CLASS_LOST);
        merge(classes, offset + WORD, CLASS_X87);
    }
}

static void classify(struct symbols_type *type, Dwarf_Word offset, int depth,
                     struct classes *classes);

static void classify_array(struct symbols_type *array, Dwarf_Word offset, int depth,
                           struct classes *classes)
{
    struct symbols_type element;
    Dwarf_Word count = symbols_array_count(&array->die);

    if (dwarf_hasattr(&array->die, DW_AT_GNU_vector) || !symbols_type_of(&array->die, &element) ||
        element.bytes == 0 || array->bytes != count * element.bytes || count > MEMBERS_MAX) {
        merge(classes, offset, CLASS_LOST);
        return;
    }
    for (Dwarf_Word i = 0; i < count; i++)
        classify(&element, offset + i * element.bytes, depth, classes);
}

/* A bit-field counts as an integer in its 8 bytes; it never spans two units. Before version 5,
 * DWARF has the place of the integer that contains the bit-field. */
static void classify_bits(Dwarf_Die *member, Dwarf_Word offset, struct classes *classes)
{
    Dwarf_Attribute attribute;
    Dwarf_Word at = 0;

    if (dwarf_attr(member, DW_AT_data_bit_offset, &attribute) != NULL)
        at = dwarf_formudata(&attribute, &at) == 0 ? at / 8 : UINT64_MAX;
    else if (dwarf_attr(member, DW_AT_data_member_location, &attribute) != NULL)
        at = dwarf_formudata(&attribute, &at) == 0 ? at : UINT64_MAX;
    merge(classes, offset, at < 2 * WORD ? CLASS_NONE : CLASS_LOST);
    if (at < 2 * WORD)
        merge(classes, offset + at, CLASS_INTEGER);
}

static void classify_members(struct symbols_type *type, Dwarf_Word offset, int depth,
                             struct classes *classes)
{
    Dwarf_Die child;
    int members = 0;

    if (dwarf_hasattr(&type->die, DW_AT_declaration)) {
        merge(classes, offset, CLASS_LOST);
        return;
    }
    if (dwarf_child(&type->die, &child) != 0)
        return;
    do {
        struct symbols_type member;
        Dwarf_Word at;
        if (!symbols_is_part(&child))
            continue;
        if (dwarf_hasattr(&child, DW_AT_bit_size))
            classify_bits(&child, offset, classes);
        else if (++members > MEMBERS_MAX || !symbols_member_offset(&child, &at) ||
                 !symbols_type_of(&child, &member) || at > 2 * WORD)
            merge(classes, offset, CLASS_LOST);
        else
            classify(&member, offset + at, depth, classes);
    } while (dwarf_siblingof(&child, &child) == 0);
}

static void classify(struct symbols_type *type, Dwarf_Word offset, int depth,
                     struct classes *classes)
{
    switch (type->tag) {
    case DW_TAG_base_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_unspecified_type:
    case DW_TAG_ptr_to_member_type: classify_scalar(type, offset, classes); return;
    default: break;
    }
    if (depth == 0 || ++classes->steps > STEPS_MAX)
        merge(classes, offset, CLASS_LOST);
    else if (type->tag == DW_TAG_array_type)
        classify_array(type, offset, depth - 1, classes);
    else if (type->tag == DW_TAG_structure_type || type->tag == DW_TAG_class_type ||
             type->tag == DW_TAG_union_type)
        classify_members(type, offset, depth - 1, classes);
    else
        merge(classes, offset, CLASS_LOST);
}

static struct classes classes_of(const struct symbols_type *type)
{
    struct symbols_type copy = *type;
    struct classes classes = {{CLASS_NONE, CLASS_NONE}, 0};

    if (symbols_is_aggregate(type) && type->bytes > 2 * WORD) {
        classes.word[0] = CLASS_MEMORY;
        return classes;
    }
    classify(&copy, 0, DEPTH_MAX, &classes);
    enum class most =
        classes.word[0] > classes.word[1] ? classes.word[0] : classes.word[1];
    if (most >= CLASS_MEMORY)
        classes.word[0] = most;
    return classes;
}

/* ---- Places ------------------------------------------------------------------------------------
 */

static struct symbols_passing pass_in_registers(const struct classes *classes,
                                                struct symbols_taken *taken)
{
    struct symbols_passing passing = {.how = SYMBOLS_PASSED_IN_PLACES, .unit = WORD, .count = 2};

    for (int i = 0; i < 2; i++) {
        if (classes->word[i] == CLASS_INTEGER)
            passing.place[i] = symbols_place(PROBITY_ARGUMENTS_GENERAL, taken->general++);
        else if (classes->word[i] == CLASS_SSE)
            passing.place[i] = symbols_place(PROBITY_ARGUMENTS_VECTOR, taken->vector++);
    }
    return passing;
}

static int count_of(const struct classes *classes, enum class wanted)
{
    return (classes->word[0] == wanted) + (classes->word[1] == wanted);
}

static struct symbols_passing pass_address(struct symbols_taken *taken)
{
    static const struct classes address = {{CLASS_INTEGER, CLASS_NONE}, 0};
    static const struct symbols_type pointer = {.bytes = WORD};
    struct symbols_passing passing = taken->general < 6
                                         ? pass_in_registers(&address, taken)
                                         : symbols_pass_on_stack(&pointer, WORD, taken);

    if (passing.how == SYMBOLS_PASSED_IN_PLACES)
        passing.how = SYMBOLS_PASSED_BY_ADDRESS;
    return passing;
}

static struct symbols_passing pass_argument(const struct symbols_type *type,
                                            struct symbols_taken *taken)
{
    enum symbols_convention convention = symbols_convention_of(type);

    if (taken->is_lost || convention == SYMBOLS_CONVENTION_UNKNOWN || type->tag == 0)
        return symbols_lose(taken);
    if (convention == SYMBOLS_BY_ADDRESS)
        return pass_address(taken);
    struct classes classes = classes_of(type);
    if (classes.word[0] == CLASS_LOST)
        return symbols_lose(taken);
    Dwarf_Word alignment = symbols_alignment_of(type);
    if (classes.word[0] == CLASS_NONE && classes.word[1] == CLASS_NONE)
        return (struct symbols_passing){.how = SYMBOLS_PASSED_NOT};
    if (alignment == 0 || alignment > 2 * WORD)
        return symbols_lose(taken);
    if (classes.word[0] == CLASS_MEMORY || count_of(&classes, CLASS_X87) > 0 ||
        taken->general + count_of(&classes, CLASS_INTEGER) > 6 ||
        taken->vector + count_of(&classes, CLASS_SSE) > 8)
        return symbols_pass_on_stack(type, alignment, taken);
    return pass_in_registers(&classes, taken);
}

static struct symbols_passing pass_result(const struct symbols_type *type)
{
    enum symbols_convention convention = symbols_convention_of(type);
    struct symbols_taken taken = {0};

    if (type->tag == 0)
        return (struct symbols_passing){.how = SYMBOLS_PASSED_NOT};
    if (convention == SYMBOLS_CONVENTION_UNKNOWN)
        return symbols_lose(&taken);
    if (convention == SYMBOLS_BY_ADDRESS)
        return (struct symbols_passing){.how = SYMBOLS_PASSED_BY_ADDRESS};
    struct classes classes = classes_of(type);
    if (classes.word[0] == CLASS_LOST)
        return symbols_lose(&taken);
    if (classes.word[0] == CLASS_MEMORY)
        return (struct symbols_passing){.how = SYMBOLS_PASSED_IN_MEMORY};
    if (count_of(&classes, CLASS_X87) > 0)
        return (struct symbols_passing){.how = SYMBOLS_PASSED_IN_X87};
    if (classes.word[0] == CLASS_NONE && classes.word[1] == CLASS_NONE)
        return (struct symbols_passing){.how = SYMBOLS_PASSED_NOT};
    return pass_in_registers(&classes, &taken);
}

/* ---- Machines ----------------------------------------------------------------------------------
 */

struct symbols_passing symbols_pass_argument(const struct symbols_type *type,
                                             struct symbols_taken *taken)
{
    return taken->machine == EM_AARCH64 ? symbols_pass_argument_aarch64(type, taken)
                                        : pass_argument(type, taken);
}

struct symbols_passing symbols_pass_result(const struct symbols_type *type, uint16_t machine)
{
    return machine == EM_AARCH64 ? symbols_pass_result_aarch64(type) : pass_result(type);
}

int symbols_address_is_argument(uint16_t machine)
{
    return machine != EM_AARCH64; /* there, x8 has the address */
}
