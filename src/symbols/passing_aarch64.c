/* SPDX-License-Identifier: MIT
 *
 * passing_aarch64.c: passing.h for AArch64: Procedure Call Standard for the Arm 64-bit Architecture
 * (AAPCS64), 6.8 and 6.9. The letters are those of its rules.
 */
#include "symbols/passing_parts.h"

enum { REGISTERS = 8, UNITS_MAX = SYMBOLS_PLACES_MAX, DEPTH_MAX = 16, STEPS_MAX = 1000, WORD = 8 };

/* ---- Homogeneous aggregates --------------------------------------------------------------------
 */

/* An aggregate of floating-point numbers of one size. steps: number of types examined. */
struct homogeneous {
    Dwarf_Word bytes; /* of each number; 0: none yet */
    Dwarf_Word count;
    int is_other; /* it contains other types */
    int steps;
};

static void add_numbers(struct homogeneous *found, Dwarf_Word bytes, Dwarf_Word count)
{
    found->is_other |= found->bytes != 0 && found->bytes != bytes;
    found->bytes = bytes;
    found->count += count;
}

static void add_type(struct symbols_type *type, int depth, struct homogeneous *found);

static void add_elements(struct symbols_type *array, int depth, struct homogeneous *found)
{
    Dwarf_Word count = symbols_array_count(&array->die);
    struct symbols_type element;

    if (count == 0 || count > UNITS_MAX || dwarf_hasattr(&array->die, DW_AT_GNU_vector) ||
        !symbols_type_of(&array->die, &element)) {
        found->is_other = 1;
        return;
    }
    for (Dwarf_Word i = 0; i < count && !found->is_other; i++)
        add_type(&element, depth, found);
}

/* The members of a union share one place, so only the largest counts. */
static void add_members(struct symbols_type *type, int depth, struct homogeneous *found)
{
    Dwarf_Word before = found->count, most = found->count;
    Dwarf_Die child;

    for (int error = dwarf_child(&type->die, &child); error == 0 && !found->is_other;
         error = dwarf_siblingof(&child, &child)) {
        struct symbols_type member;
        if (!symbols_is_part(&child))
            continue;
        if (dwarf_hasattr(&child, DW_AT_bit_size) || !symbols_type_of(&child, &member)) {
            found->is_other = 1;
            return;
        }
        if (type->tag == DW_TAG_union_type)
            found->count = before;
        add_type(&member, depth, found);
        most = found->count > most ? found->count : most;
    }
    found->count = most;
}

static void add_type(struct symbols_type *type, int depth, struct homogeneous *found)
{
    if (depth == 0 || ++found->steps > STEPS_MAX || found->count > UNITS_MAX)
        found->is_other = 1;
    else if (type->tag == DW_TAG_array_type)
        add_elements(type, depth - 1, found);
    else if (symbols_is_aggregate(type))
        add_members(type, depth - 1, found);
    else if (!symbols_is_float(type))
        found->is_other = 1;
    else if (symbols_is_named(type, "complex"))
        add_numbers(found, type->bytes / 2, 2);
    else
        add_numbers(found, type->bytes, 1);
}

/* Returns the number of floating-point numbers in the type, and their size; 0: it is not
 * homogeneous. */
static uint16_t homogeneous_of(const struct symbols_type *type, uint16_t *ret_bytes)
{
    struct symbols_type copy = *type;
    struct homogeneous found = {.is_other = 0};

    add_type(&copy, DEPTH_MAX, &found);
    if (found.is_other || found.count == 0 || found.count > UNITS_MAX ||
        (found.bytes != 4 && found.bytes != WORD && found.bytes != 2 * WORD) ||
        found.count * found.bytes != type->bytes)
        return 0;
    *ret_bytes = (uint16_t)found.bytes;
    return (uint16_t)found.count;
}

/* ---- Places ------------------------------------------------------------------------------------
 */

/* C.2: each number is in one register. */
static struct symbols_passing pass_in_vectors(uint16_t count, uint16_t bytes,
                                              struct symbols_taken *taken)
{
    struct symbols_passing passing = {
        .how = SYMBOLS_PASSED_IN_PLACES, .unit = (uint8_t)bytes, .count = (uint8_t)count};

    for (uint16_t i = 0; i < count; i++)
        passing.place[i] = symbols_place(PROBITY_ARGUMENTS_VECTOR, taken->vector++);
    return passing;
}

/* C.12 */
static struct symbols_passing pass_in_general(uint16_t words, struct symbols_taken *taken)
{
    struct symbols_passing passing = {
        .how = SYMBOLS_PASSED_IN_PLACES, .unit = WORD, .count = (uint8_t)words};

    for (uint16_t i = 0; i < words; i++)
        passing.place[i] = symbols_place(PROBITY_ARGUMENTS_GENERAL, taken->general++);
    return passing;
}

static struct symbols_passing pass_address(struct symbols_taken *taken)
{
    static const struct symbols_type pointer = {.bytes = WORD};
    struct symbols_passing passing = taken->general < REGISTERS
                                         ? pass_in_general(1, taken)
                                         : symbols_pass_on_stack(&pointer, WORD, taken);

    if (passing.how == SYMBOLS_PASSED_IN_PLACES)
        passing.how = SYMBOLS_PASSED_BY_ADDRESS;
    return passing;
}

/* Integers, pointers, and structures of at most 16 bytes made of them. */
static struct symbols_passing pass_words(const struct symbols_type *type, Dwarf_Word alignment,
                                         struct symbols_taken *taken)
{
    uint16_t words = (uint16_t)((type->bytes + WORD - 1) / WORD);

    if (alignment > WORD) /* C.10 */
        taken->general = (uint16_t)((taken->general + 1) & ~1u);
    if (taken->general + words <= REGISTERS)
        return pass_in_general(words, taken);
    taken->general = REGISTERS; /* C.13 */
    return symbols_pass_on_stack(type, alignment, taken);
}

/* The type of an argument or a result. count, bytes: those of a homogeneous aggregate. */
struct kind {
    int is_lost, is_nothing, is_by_address;
    uint16_t count, bytes;
    Dwarf_Word alignment;
};

static struct kind kind_of(const struct symbols_type *type)
{
    enum symbols_convention convention = symbols_convention_of(type);
    struct kind kind = {.is_by_address = convention == SYMBOLS_BY_ADDRESS};
    int is_scalar = !symbols_is_aggregate(type) && type->tag != DW_TAG_array_type;

    kind.is_lost = convention == SYMBOLS_CONVENTION_UNKNOWN || type->tag == 0 ||
                   type->tag == DW_TAG_array_type || symbols_has_vector(type);
    if (kind.is_lost || kind.is_by_address)
        return kind;
    kind.is_nothing = type->bytes == 0 && !is_scalar;
    kind.is_lost = type->bytes == 0 && is_scalar;
    kind.count = homogeneous_of(type, &kind.bytes);
    kind.alignment = symbols_alignment_of(type);
    kind.is_lost |= !kind.is_nothing && (kind.alignment == 0 || kind.alignment > 2 * WORD);
    /* B.4: larger objects are copied, and the address of the copy is passed. */
    kind.is_by_address = kind.count == 0 && type->bytes > 2 * WORD;
    return kind;
}

struct symbols_passing symbols_pass_argument_aarch64(const struct symbols_type *type,
                                                     struct symbols_taken *taken)
{
    struct kind kind = kind_of(type);

    if (kind.is_lost || taken->is_lost)
        return symbols_lose(taken);
    if (kind.is_nothing)
        return (struct symbols_passing){.how = SYMBOLS_PASSED_NOT};
    if (kind.is_by_address)
        return pass_address(taken);
    if (kind.count == 0)
        return pass_words(type, kind.alignment, taken);
    if (taken->vector + kind.count <= REGISTERS)
        return pass_in_vectors(kind.count, kind.bytes, taken);
    taken->vector = REGISTERS; /* C.3 */
    return symbols_pass_on_stack(type, kind.alignment, taken);
}

struct symbols_passing symbols_pass_result_aarch64(const struct symbols_type *type)
{
    struct symbols_taken taken = {0};

    if (type->tag == 0)
        return (struct symbols_passing){.how = SYMBOLS_PASSED_NOT};
    struct kind kind = kind_of(type);
    if (kind.is_lost)
        return symbols_lose(&taken);
    if (kind.is_nothing)
        return (struct symbols_passing){.how = SYMBOLS_PASSED_NOT};
    if (kind.is_by_address)
        return (struct symbols_passing){.how = SYMBOLS_PASSED_IN_MEMORY};
    return kind.count > 0 ? pass_in_vectors(kind.count, kind.bytes, &taken)
                          : pass_in_general((uint16_t)((type->bytes + WORD - 1) / WORD), &taken);
}
