/* SPDX-License-Identifier: MIT
 *
 * prototype.c: writes C declarations, which grow from the name outwards: a pointer prepends its
 * star, an array and a function append their brackets, and the final type comes first.
 */
#include "symbols/object.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 12, STEPS_MAX = 2000, DECLARATOR_BYTES = 1024 };

/* Limit the work for one prototype, whatever its DWARF contains. */
struct effort {
    int depth, steps;
};

static void put_type(Dwarf_Die *type, const char *declarator, struct effort *effort, char *out,
                     size_t room);

/* Some entries have no name: a parameter of a declaration, a struct within a typedef. */
static const char *name_of(Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);

    return name != NULL ? name : "";
}

/* Returns the type, or NULL for void, for which DWARF has no entry. */
static Dwarf_Die *type_of(Dwarf_Die *die, Dwarf_Die *ret_type)
{
    Dwarf_Attribute attribute;

    if (dwarf_attr_integrate(die, DW_AT_type, &attribute) == NULL)
        return NULL;
    return dwarf_formref_die(&attribute, ret_type);
}

/* Truncates at the end of the buffer. */
static void append(char *out, size_t room, const char *text)
{
    size_t length = strlen(out);

    if (length < room)
        snprintf(out + length, room - length, "%s", text);
}

/* Writes "(int left, char *name)". */
static void put_parameters(Dwarf_Die *function, struct effort *effort, char *out, size_t room)
{
    char one[DECLARATOR_BYTES];
    Dwarf_Die child, type;
    size_t count = 0;

    append(out, room, "(");
    for (int error = dwarf_child(function, &child); error == 0 && effort->steps < STEPS_MAX;
         error = dwarf_siblingof(&child, &child)) {
        int tag = dwarf_tag(&child);
        effort->steps++;
        if (tag != DW_TAG_formal_parameter && tag != DW_TAG_unspecified_parameters)
            continue;
        append(out, room, count++ > 0 ? ", " : "");
        if (tag == DW_TAG_unspecified_parameters) {
            append(out, room, "...");
            continue;
        }
        put_type(type_of(&child, &type), name_of(&child), effort, one, sizeof one);
        append(out, room, one);
    }
    append(out, room, count == 0 && dwarf_hasattr(function, DW_AT_prototyped) ? "void)" : ")");
}

/* Writes a type that ends the declaration: its name, after the keyword that C requires. */
static void put_named(const char *keyword, const char *name, const char *declarator, char *out,
                      size_t room)
{
    snprintf(out, room, "%s%s%s%s", keyword, *name != '\0' ? name : "(unnamed)",
             *declarator != '\0' ? " " : "", declarator);
}

/* Brackets bind tighter than the star: before brackets the star needs parentheses. */
static void put_pointer(Dwarf_Die *target, const char *declarator, struct effort *effort, char *out,
                        size_t room)
{
    char inner[DECLARATOR_BYTES];
    int tag = target != NULL ? dwarf_tag(target) : 0;
    int is_inside = tag == DW_TAG_array_type || tag == DW_TAG_subroutine_type;

    snprintf(inner, sizeof inner, is_inside ? "(*%s)" : "*%s", declarator);
    put_type(target, inner, effort, out, room);
}

/* The qualifier of a pointer follows its star, that of anything else precedes it. */
static void put_qualified(const char *word, Dwarf_Die *target, const char *declarator,
                          struct effort *effort, char *out, size_t room)
{
    char inner[DECLARATOR_BYTES];

    if (target != NULL && dwarf_tag(target) == DW_TAG_pointer_type) {
        snprintf(inner, sizeof inner, "%s%s%s", word, *declarator != '\0' ? " " : "", declarator);
        put_type(target, inner, effort, out, room);
        return;
    }
    snprintf(out, room, "%s ", word);
    size_t length = strlen(out);
    put_type(target, declarator, effort, out + length, room - length);
}

/* Writes "name[3][8]": one child entry per dimension, with its last index or its count. */
static void put_array(Dwarf_Die *array, Dwarf_Die *element, const char *declarator,
                      struct effort *effort, char *out, size_t room)
{
    char inner[DECLARATOR_BYTES], bounds[24];
    Dwarf_Die child;

    snprintf(inner, sizeof inner, "%s", declarator);
    for (int error = dwarf_child(array, &child); error == 0 && effort->steps < STEPS_MAX;
         error = dwarf_siblingof(&child, &child)) {
        Dwarf_Attribute attribute;
        Dwarf_Word number;
        int is_count = dwarf_attr(&child, DW_AT_count, &attribute) != NULL;
        effort->steps++;
        bounds[0] = '\0';
        if ((is_count || dwarf_attr(&child, DW_AT_upper_bound, &attribute) != NULL) &&
            dwarf_formudata(&attribute, &number) == 0)
            snprintf(bounds, sizeof bounds, "%llu", (unsigned long long)number + !is_count);
        append(inner, sizeof inner, "[");
        append(inner, sizeof inner, bounds);
        append(inner, sizeof inner, "]");
    }
    put_type(element, inner, effort, out, room);
}

/* For a pointer to a function, the declarator is "(*name)". */
static void put_function(Dwarf_Die *function, Dwarf_Die *result, const char *declarator,
                         struct effort *effort, char *out, size_t room)
{
    char inner[2 * DECLARATOR_BYTES];

    snprintf(inner, sizeof inner, "%s", declarator);
    put_parameters(function, effort, inner, sizeof inner);
    put_type(result, inner, effort, out, room);
}

/* Writes a type that is neither void nor nested too deeply. */
static void put_known(Dwarf_Die *type, const char *declarator, struct effort *effort, char *out,
                      size_t room)
{
    Dwarf_Die memory, *target = type_of(type, &memory);
    const char *word = NULL;

    switch (dwarf_tag(type)) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type: word = "struct "; break;
    case DW_TAG_union_type: word = "union "; break;
    case DW_TAG_enumeration_type: word = "enum "; break;
    case DW_TAG_pointer_type: put_pointer(target, declarator, effort, out, room); return;
    case DW_TAG_const_type: put_qualified("const", target, declarator, effort, out, room); return;
    case DW_TAG_volatile_type:
        put_qualified("volatile", target, declarator, effort, out, room);
        return;
    case DW_TAG_restrict_type:
        put_qualified("restrict", target, declarator, effort, out, room);
        return;
    case DW_TAG_atomic_type:
        put_qualified("_Atomic", target, declarator, effort, out, room);
        return;
    case DW_TAG_array_type: put_array(type, target, declarator, effort, out, room); return;
    case DW_TAG_subroutine_type:
        put_function(type, target, declarator, effort, out, room);
        return;
    default: word = ""; break;
    }
    put_named(word, name_of(type), declarator, out, room);
}

static void put_type(Dwarf_Die *type, const char *declarator, struct effort *effort, char *out,
                     size_t room)
{
    if (room == 0)
        return;
    if (type == NULL || effort->depth == DEPTH_MAX || effort->steps >= STEPS_MAX) {
        put_named("", type == NULL ? "void" : "...", declarator, out, room);
        return;
    }
    effort->depth++;
    effort->steps++;
    put_known(type, declarator, effort, out, room);
    effort->depth--;
}

void symbols_prototype(Dwarf_Die *function, char *ret_text, size_t room)
{
    struct effort effort = {0, 0};
    Dwarf_Die memory;

    put_function(function, type_of(function, &memory), name_of(function), &effort, ret_text, room);
}
