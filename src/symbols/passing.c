/* SPDX-License-Identifier: MIT
 *
 * passing.c: see passing.h; the rules of x86-64. A type is classified 8 bytes at a time. Nothing is
 * guessed: anything that the ABI or DWARF does not determine is lost, and so is everything after
 * it.
 */
#include "symbols/passing.h"

#include <elf.h>
#include <string.h>

#include "symbols/passing_parts.h"

enum { DEPTH_MAX = 16, MEMBERS_MAX = 64, TYPEDEFS_MAX = 64, STEPS_MAX = 1000, WORD = 8 };

/* ---- Types -------------------------------------------------------------------------------------
 */

static int is_qualifier(int tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

/* Follows qualifiers and typedefs. Returns 0 if there are too many; sets all but the size. */
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

/* DWARF gives no size to pointers to members. */
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

/* steps: types that were looked at. In untrusted DWARF, a type may contain itself many times. */
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

/* Of a base type, enum or pointer. */
static Dwarf_Word alignment_of_scalar(struct symbols_type *type)
{
    if (symbols_is_named(type, "complex"))
        return type->bytes / 2;
    return type->tag == DW_TAG_ptr_to_member_type ? WORD : type->bytes;
}

/* A base type, enum or pointer. */
static void classify_scalar(struct symbols_type *type, Dwarf_Word offset, struct classes *classes)
{
    Dwarf_Word alignment = alignment_of_scalar(type);

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
    } else { /* __float128 is in one register of 16 bytes */
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
 * DWARF has the place of the integer that contains it. */
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

int symbols_is_aggregate(const struct symbols_type *type)
{
    return type->tag == DW_TAG_structure_type || type->tag == DW_TAG_class_type ||
           type->tag == DW_TAG_union_type;
}

static int flag(Dwarf_Die *die, unsigned attribute_name)
{
    Dwarf_Attribute attribute;
    bool is_set;

    return dwarf_attr(die, attribute_name, &attribute) != NULL &&
           dwarf_formflag(&attribute, &is_set) == 0 && is_set;
}

/* Whether a member function was defaulted where it is declared: then the compiler generates it. */
static int is_defaulted(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Word how;

    return dwarf_attr(function, DW_AT_defaulted, &attribute) != NULL &&
           dwarf_formudata(&attribute, &how) == 0 && how == DW_DEFAULTED_in_class;
}

/* Whether a member function has exactly one parameter besides `this`, a reference to the class:
 * it copies or moves, and is a constructor unless it is an operator. */
static int takes_own_class(Dwarf_Die *function, Dwarf_Die *class_die)
{
    struct symbols_type type, target;
    Dwarf_Die child;
    int count = 0, is_own = 0;

    for (int error = dwarf_child(function, &child); error == 0;
         error = dwarf_siblingof(&child, &child)) {
        if (dwarf_tag(&child) != DW_TAG_formal_parameter || flag(&child, DW_AT_artificial))
            continue;
        is_own = ++count == 1 && symbols_type_of(&child, &type) &&
                 (type.tag == DW_TAG_reference_type ||
                  type.tag == DW_TAG_rvalue_reference_type) &&
                 symbols_type_of(&type.die, &target) && target.die.addr == class_die->addr;
    }
    return is_own;
}

/* The convention that a member function implies for its class: with a user-provided copy or
 * destructor, objects are passed by address. */
static enum symbols_convention convention_by(Dwarf_Die *function, Dwarf_Die *class_die)
{
    const char *name = dwarf_diename(function);
    int is_destructor = name != NULL && *name == '~';

    if (name == NULL || strncmp(name, "operator", strlen("operator")) == 0 ||
        flag(function, DW_AT_artificial) || is_defaulted(function) ||
        (!is_destructor && !takes_own_class(function, class_die)))
        return SYMBOLS_BY_VALUE;
    return flag(function, DW_AT_deleted) ? SYMBOLS_CONVENTION_UNKNOWN : SYMBOLS_BY_ADDRESS;
}

static enum symbols_convention convention_of_class(Dwarf_Die *class_die, int depth, int *steps);

/* A member or a base class. */
static enum symbols_convention convention_of_part(Dwarf_Die *part, int depth, int *steps)
{
    const char *name = dwarf_diename(part);
    struct symbols_type type;
    Dwarf_Attribute attribute;

    if (dwarf_attr(part, DW_AT_virtuality, &attribute) != NULL ||
        (name != NULL && strncmp(name, "_vptr", strlen("_vptr")) == 0))
        return SYMBOLS_BY_ADDRESS;
    int is_known = symbols_type_of(part, &type);
    while (is_known && type.tag == DW_TAG_array_type)
        is_known = ++*steps <= STEPS_MAX && symbols_type_of(&type.die, &type);
    if (!is_known)
        return SYMBOLS_CONVENTION_UNKNOWN;
    return symbols_is_aggregate(&type) ? convention_of_class(&type.die, depth, steps)
                               : SYMBOLS_BY_VALUE;
}

/* Itanium C++ ABI, 3.1.2.3: by address if copying or destroying the object is not trivial. clang
 * states this in DWARF 5; otherwise it follows from members and functions of the class. */
static enum symbols_convention convention_of_class(Dwarf_Die *class_die, int depth, int *steps)
{
    enum symbols_convention found = SYMBOLS_BY_VALUE;
    Dwarf_Attribute attribute;
    Dwarf_Word how;
    Dwarf_Die child;

    if (dwarf_attr(class_die, DW_AT_calling_convention, &attribute) != NULL &&
        dwarf_formudata(&attribute, &how) == 0)
        return how == DW_CC_pass_by_reference ? SYMBOLS_BY_ADDRESS : SYMBOLS_BY_VALUE;
    if (depth == 0 || ++*steps > STEPS_MAX || dwarf_hasattr(class_die, DW_AT_declaration))
        return SYMBOLS_CONVENTION_UNKNOWN;
    for (int error = dwarf_child(class_die, &child); error == 0;
         error = dwarf_siblingof(&child, &child)) {
        int tag = dwarf_tag(&child);
        enum symbols_convention one = SYMBOLS_BY_VALUE;
        if (tag == DW_TAG_subprogram)
            one = convention_by(&child, class_die);
        else if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
                 !flag(&child, DW_AT_declaration) && !flag(&child, DW_AT_external))
            one = convention_of_part(&child, depth - 1, steps);
        if (one == SYMBOLS_BY_ADDRESS)
            return one;
        found = one > found ? one : found;
    }
    return found;
}

enum symbols_convention symbols_convention_of(const struct symbols_type *type)
{
    Dwarf_Die die = type->die;
    int steps = 0;

    return symbols_is_aggregate(type) ? convention_of_class(&die, DEPTH_MAX, &steps)
                                      : SYMBOLS_BY_VALUE;
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
        return alignment_of_scalar(&copy);
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

struct probity_arguments_place symbols_place(enum probity_arguments_where where, uint16_t index)
{
    return (struct probity_arguments_place){.where = (uint8_t)where, .index = index};
}

struct symbols_passing symbols_lose(struct symbols_taken *taken)
{
    taken->is_lost = 1;
    return (struct symbols_passing){.how = SYMBOLS_PASSED_LOST};
}

struct symbols_passing symbols_pass_on_stack(const struct symbols_type *type, Dwarf_Word alignment,
                                             struct symbols_taken *taken)
{
    struct symbols_passing passing = {.how = SYMBOLS_PASSED_IN_MEMORY, .unit = WORD, .count = 2};
    Dwarf_Word words = (type->bytes + WORD - 1) / WORD;

    if (alignment > WORD)
        taken->stack = (uint16_t)((taken->stack + 1) & ~1u);
    if (words > PROBITY_ARGUMENTS_STACK_WORDS_MAX ||
        taken->stack + words > PROBITY_ARGUMENTS_STACK_WORDS_MAX)
        return symbols_lose(taken);
    if (words <= 2) {
        passing.how = SYMBOLS_PASSED_IN_PLACES;
        passing.place[0] = symbols_place(PROBITY_ARGUMENTS_STACK, taken->stack);
        passing.place[1] = symbols_place(PROBITY_ARGUMENTS_STACK, (uint16_t)(taken->stack + 1));
    }
    taken->stack = (uint16_t)(taken->stack + words);
    return passing;
}

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
    return machine != EM_AARCH64; /* there, x8 has it */
}
