/* SPDX-License-Identifier: MIT
 *
 * values.c: see values.h.
 */
#include "symbols/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "reader/reader.h"

enum { DEPTH_MAX = 8, NAME_BYTES = 256, ENUMERATORS_MAX = 4096, ELEMENTS_MAX = 64, WORD = 8 };

/* ---- Enums -------------------------------------------------------------------------------------
 */

static int compare_enumerators(const void *left, const void *right)
{
    const struct probity_arguments_enumerator *a = left, *b = right;

    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->reserved < b->reserved ? -1 : a->reserved > b->reserved;
}

/* Compilers write negative numbers in signed forms; other forms have no sign. */
static int enumerator_value(Dwarf_Die *enumerator, int64_t *ret_value)
{
    Dwarf_Attribute attribute;
    Dwarf_Sword value;
    Dwarf_Word word;

    if (dwarf_attr(enumerator, DW_AT_const_value, &attribute) == NULL)
        return 0;
    unsigned form = dwarf_whatform(&attribute);
    if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
        if (dwarf_formsdata(&attribute, &value) != 0)
            return 0;
        *ret_value = value;
        return 1;
    }
    if (dwarf_formudata(&attribute, &word) != 0)
        return 0;
    *ret_value = (int64_t)word;
    return 1;
}

/* If a value has two names, the first is shown. */
static uint32_t drop_doubles(struct probity_arguments_enumerator *all, uint32_t count)
{
    uint32_t kept = count > 0;

    for (uint32_t i = 1; i < count; i++) {
        if (all[i].value != all[kept - 1].value)
            all[kept++] = all[i];
    }
    return kept;
}

static uint32_t read_enumerators(struct symbols_values *values, Dwarf_Die *type,
                                 struct probity_arguments_enumerator *all)
{
    uint32_t count = 0;
    Dwarf_Die child;

    for (int error = dwarf_child(type, &child); error == 0 && count < ENUMERATORS_MAX;
         error = dwarf_siblingof(&child, &child)) {
        const char *name = dwarf_diename(&child);
        int64_t value;
        if (dwarf_tag(&child) != DW_TAG_enumerator || name == NULL ||
            !enumerator_value(&child, &value))
            continue;
        all[count] = (struct probity_arguments_enumerator){
            .value = value, .name = symbols_description_text(values->description, name),
            .reserved = count}; /* its index, until they are sorted */
        count++;
    }
    qsort(all, count, sizeof *all, compare_enumerators);
    for (uint32_t i = 0; i < count; i++)
        all[i].reserved = 0;
    return drop_doubles(all, count);
}

static struct symbols_enum add_enum(struct symbols_values *values, Dwarf_Die *type)
{
    struct symbols_table *table = &values->description->enumerators;
    struct probity_arguments_enumerator *all = malloc(ENUMERATORS_MAX * sizeof *all);
    struct symbols_enum *more =
        probity_array_append(values->enums, sizeof *values->enums, values->enum_count);
    struct symbols_enum made = {.at = type->addr};

    if (more != NULL)
        values->enums = more;
    if (all == NULL || more == NULL) {
        values->description->is_short = 1;
        free(all);
        return made;
    }
    made.first = symbols_description_count(table, sizeof *all);
    made.count = read_enumerators(values, type, all);
    symbols_table_add(values->description, table, all, made.count * sizeof *all);
    values->enums[values->enum_count++] = made;
    free(all);
    return made;
}

static struct symbols_enum enum_of(struct symbols_values *values, Dwarf_Die *type)
{
    for (size_t i = 0; i < values->enum_count; i++) {
        if (values->enums[i].at == type->addr)
            return values->enums[i];
    }
    return add_enum(values, type);
}

/* ---- Types of the format -----------------------------------------------------------------------
 */

static uint8_t integer_type(Dwarf_Word bytes, int is_unsigned)
{
    static const uint8_t types[] = {0, PROBITY_VALUE_I8, PROBITY_VALUE_I16, 0, PROBITY_VALUE_I32};

    if (bytes == 16)
        return (uint8_t)(PROBITY_VALUE_I128 + is_unsigned);
    if (bytes == 8)
        return (uint8_t)(PROBITY_VALUE_I64 + is_unsigned);
    return bytes < sizeof types && types[bytes] != 0 ? (uint8_t)(types[bytes] + is_unsigned) : 0;
}

static int is_called(const struct symbols_type *type, const char *wanted)
{
    Dwarf_Die die = type->die;
    const char *name = dwarf_diename(&die);

    return name != NULL && strcmp(name, wanted) == 0;
}

/* Returns the type in a trace for a base type; 0: none. */
static uint8_t base_type(const struct symbols_type *type)
{
    Dwarf_Die die = type->die;
    Dwarf_Attribute attribute;
    Dwarf_Word encoding;

    if (dwarf_attr(&die, DW_AT_encoding, &attribute) == NULL ||
        dwarf_formudata(&attribute, &encoding) != 0)
        return 0;
    if (type->tag == DW_TAG_base_type && is_called(type, "wchar_t"))
        return type->bytes <= 4 ? PROBITY_VALUE_WIDE_CHAR : 0;
    switch (encoding) {
    case DW_ATE_boolean: return type->bytes == 1 ? PROBITY_VALUE_BOOL : 0;
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char:
        return is_called(type, "char") ? PROBITY_VALUE_CHAR
                                       : integer_type(1, encoding == DW_ATE_unsigned_char);
    case DW_ATE_signed: return integer_type(type->bytes, 0);
    case DW_ATE_unsigned: return integer_type(type->bytes, 1);
    case DW_ATE_UTF: return PROBITY_VALUE_WIDE_CHAR;
    case DW_ATE_float:
        if (type->bytes == 16)
            return is_called(type, "long double") ? PROBITY_VALUE_LONG_DOUBLE : 0;
        return type->bytes == 4 ? PROBITY_VALUE_FLOAT : PROBITY_VALUE_DOUBLE;
    case DW_ATE_complex_float: return type->bytes <= 16 ? PROBITY_VALUE_COMPLEX : 0;
    default: return 0;
    }
}

/* Finds the underlying type of an enum: as declared, or signed if a value is negative. */
static uint8_t enum_type(struct symbols_values *values, const struct symbols_type *type)
{
    struct symbols_type integer;
    struct symbols_enum found;
    Dwarf_Die die = type->die;

    if (symbols_type_of(&die, &integer) && integer.tag == DW_TAG_base_type) {
        uint8_t declared = base_type(&integer);
        return declared == PROBITY_VALUE_CHAR || declared == PROBITY_VALUE_BOOL
                   ? PROBITY_VALUE_U8
                   : declared;
    }
    found = enum_of(values, &die);
    const struct probity_arguments_enumerator *all =
        (const void *)values->description->enumerators.bytes;
    return integer_type(type->bytes, found.count == 0 || all[found.first].value >= 0);
}

/* Fills kind, type and size. Returns 0 if such a value is not shown. */
static int set_kind(struct symbols_values *values, const struct symbols_type *type,
                    struct probity_arguments_value *value)
{
    struct symbols_type target;
    Dwarf_Die die = type->die;

    value->bytes = (uint8_t)type->bytes;
    value->kind = PROBITY_ARGUMENTS_PLAIN;
    if (type->tag == DW_TAG_base_type) {
        value->type = base_type(type);
    } else if (type->tag == DW_TAG_enumeration_type) {
        struct symbols_enum found = enum_of(values, &die);
        value->kind = PROBITY_ARGUMENTS_ENUM;
        value->type = enum_type(values, type);
        value->first_enumerator = found.first;
        value->enumerators = found.count;
    } else if (type->bytes == WORD) {
        value->type = PROBITY_VALUE_POINTER;
        if (type->tag == DW_TAG_pointer_type && symbols_type_of(&die, &target) &&
            target.tag == DW_TAG_base_type) {
            int is_text = is_called(&target, "char");
            if (is_text || (target.is_wide && target.bytes == 4)) {
                value->kind = PROBITY_ARGUMENTS_TEXT;
                value->type = is_text ? PROBITY_VALUE_STRING : PROBITY_VALUE_WIDE_STRING;
            }
        }
    }
    return value->type != 0;
}

static int is_scalar(const struct symbols_type *type)
{
    return type->tag == DW_TAG_base_type || type->tag == DW_TAG_enumeration_type ||
           type->tag == DW_TAG_pointer_type;
}

/* A reference to a number is shown as the number, a reference to an object as its address. */
static int set_reference(struct symbols_values *values, const struct symbols_type *type,
                         struct probity_arguments_value *value)
{
    struct symbols_type target;
    Dwarf_Die die = type->die;

    if (symbols_type_of(&die, &target) && is_scalar(&target) && set_kind(values, &target, value)) {
        value->kind |= PROBITY_ARGUMENTS_REFERENCE;
        return 1;
    }
    value->kind = PROBITY_ARGUMENTS_PLAIN;
    value->type = PROBITY_VALUE_POINTER;
    value->bytes = WORD;
    return 1;
}

/* ---- Values ------------------------------------------------------------------------------------
 */

static void put(struct symbols_values *values, const char *name,
                struct probity_arguments_value *value)
{
    if (values->count == PROBITY_ARGUMENTS_VALUES_MAX)
        return;
    value->name = symbols_description_text(values->description, name);
    symbols_table_add(values->description, &values->description->values, value, sizeof *value);
    values->count++;
}

static void put_unknown(struct symbols_values *values, const char *name)
{
    struct probity_arguments_value value = {.kind = PROBITY_ARGUMENTS_UNKNOWN};

    put(values, name, &value);
}

/* Returns 0 if the value is spread over several registers that each hold less than half of it. */
static int set_places(struct probity_arguments_value *value, const struct symbols_passing *passing,
                      Dwarf_Word offset, Dwarf_Word bytes)
{
    Dwarf_Word index = offset / passing->unit, last = (offset + bytes - 1) / passing->unit;
    int is_long = bytes > WORD;

    if (bytes == 0 || last >= passing->count || (last != index && passing->unit != WORD))
        return 0;
    value->place[0] = passing->place[index];
    value->place[0].offset = (uint8_t)(offset % passing->unit);
    if (is_long)
        value->place[1] = passing->place[last];
    if (is_long && last == index)
        value->place[1].where = PROBITY_ARGUMENTS_VECTOR_HIGH;
    return is_long || last == index;
}

/* Adds one value, `offset` bytes into its parameter. */
static void put_scalar(struct symbols_values *values, const char *name,
                       const struct symbols_type *type, const struct symbols_passing *passing,
                       Dwarf_Word offset)
{
    struct probity_arguments_value value = {.kind = PROBITY_ARGUMENTS_UNKNOWN};
    int is_reference =
        type->tag == DW_TAG_reference_type || type->tag == DW_TAG_rvalue_reference_type;
    int is_shown = is_reference ? set_reference(values, type, &value)
                                : set_kind(values, type, &value);

    if (!is_shown || !set_places(&value, passing, offset, type->bytes)) {
        put_unknown(values, name);
        return;
    }
    put(values, name, &value);
}

static void put_value(struct symbols_values *values, const char *name,
                      const struct symbols_type *type, const struct symbols_passing *passing,
                      Dwarf_Word offset, int depth);

static void put_elements(struct symbols_values *values, const char *name,
                         const struct symbols_type *array, const struct symbols_passing *passing,
                         Dwarf_Word offset, int depth)
{
    struct symbols_type element;
    Dwarf_Die die = array->die;
    Dwarf_Word count = symbols_array_count(&die);
    char part[NAME_BYTES];

    if (!symbols_type_of(&die, &element) || count == 0 || count > ELEMENTS_MAX ||
        count * element.bytes != array->bytes) {
        put_unknown(values, name);
        return;
    }
    for (Dwarf_Word i = 0; i < count; i++) {
        snprintf(part, sizeof part, "%s[%u]", name, (unsigned)i);
        put_value(values, part, &element, passing, offset + i * element.bytes, depth);
    }
}

/* Anonymous members and base classes add nothing to the name. */
static void put_member(struct symbols_values *values, const char *name, Dwarf_Die *member,
                       const struct symbols_passing *passing, Dwarf_Word offset, int depth)
{
    const char *own = dwarf_tag(member) == DW_TAG_member ? dwarf_diename(member) : NULL;
    struct symbols_type type;
    char path[NAME_BYTES];
    Dwarf_Word at;

    snprintf(path, sizeof path, "%s%s%s", name, *name != '\0' && own != NULL ? "." : "",
             own != NULL ? own : "");
    if (!symbols_type_of(member, &type))
        return;
    if (symbols_member_offset(member, &at))
        put_value(values, path, &type, passing, offset + at, depth);
    else
        put_unknown(values, path);
}

static void put_members(struct symbols_values *values, const char *name,
                        const struct symbols_type *type, const struct symbols_passing *passing,
                        Dwarf_Word offset, int depth)
{
    Dwarf_Die die = type->die, child;

    for (int error = dwarf_child(&die, &child); error == 0;
         error = dwarf_siblingof(&child, &child)) {
        int tag = dwarf_tag(&child);
        if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
            !dwarf_hasattr(&child, DW_AT_declaration) && !dwarf_hasattr(&child, DW_AT_external))
            put_member(values, name, &child, passing, offset, depth);
    }
}

static void put_value(struct symbols_values *values, const char *name,
                      const struct symbols_type *type, const struct symbols_passing *passing,
                      Dwarf_Word offset, int depth)
{
    int is_struct = type->tag == DW_TAG_structure_type || type->tag == DW_TAG_class_type;

    /* In untrusted DWARF, a type may contain itself many times. */
    if (values->count == PROBITY_ARGUMENTS_VALUES_MAX)
        return;
    if (depth == 0 || type->tag == DW_TAG_union_type)
        put_unknown(values, name);
    else if (is_struct)
        put_members(values, name, type, passing, offset, depth - 1);
    else if (type->tag == DW_TAG_array_type)
        put_elements(values, name, type, passing, offset, depth - 1);
    else
        put_scalar(values, name, type, passing, offset);
}

void symbols_values_add(struct symbols_values *values, const char *name,
                        const struct symbols_type *type, const struct symbols_passing *passing)
{
    if (passing->how == SYMBOLS_PASSED_IN_PLACES)
        put_value(values, name, type, passing, 0, DEPTH_MAX);
    else if (passing->how != SYMBOLS_PASSED_NOT)
        put_unknown(values, name);
}

void symbols_values_release(struct symbols_values *values)
{
    free(values->enums);
}
