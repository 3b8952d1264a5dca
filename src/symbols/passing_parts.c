/* SPDX-License-Identifier: MIT
 *
 * passing_parts.c: see passing_parts.h. What the ABI or DWARF does not determine is unknown, never
 * guessed.
 */
#include "symbols/passing_parts.h"

#include <string.h>

enum { DEPTH_MAX = 16, STEPS_MAX = 1000, WORD = 8 };

/* ---- By value or by address --------------------------------------------------------------------
 */

static int flag(Dwarf_Die *die, unsigned attribute_name)
{
    Dwarf_Attribute attribute;
    bool is_set;

    return dwarf_attr(die, attribute_name, &attribute) != NULL &&
           dwarf_formflag(&attribute, &is_set) == 0 && is_set;
}

/* Whether a member function is defaulted in its declaration: then the compiler generates it. */
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

/* Returns the convention that a member function implies for its class: with a user-provided copy
 * constructor or destructor, objects are passed by address. */
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

/* A member or base class. */
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

/* Itanium C++ ABI, 3.1.2.3: an object is passed by address if copying or destroying it is not
 * trivial. clang specifies this in DWARF 5; otherwise it follows from members and functions of the
 * class. */
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
