/* SPDX-License-Identifier: MIT
 *
 * argument_values.c: see argument_values.h. Numbers are stored directly in the record; texts and
 * names of enums take the slow path of FnTrace's values, which reads text without faulting. Runs in
 * hooks, with all registers of the program saved.
 */
#include "functions/argument_values.h"

#include <string.h>

#include "base/os.h"
#include "functions/arena.h"
#include "functions/cpu_sleds.h"

enum {
    TYPE_POINTER = 16, /* from doc/trace-format.md */
    TYPE_LONG_DOUBLE = 15,
    TYPE_TEXT = 21,
    TYPE_COMPLEX = 23,
    EVENT_ENTER = 7,
    EVENT_LEAVE = 8,
    WORD = sizeof(uint64_t)
};

typedef const struct probity_arguments_value value_description;

/* ---- Formats -----------------------------------------------------------------------------------
 */

/* as_addresses: whether to show the addresses that references point to. */
static uint8_t type_of(value_description *value, int as_addresses)
{
    if (value->kind == PROBITY_ARGUMENTS_UNKNOWN)
        return TYPE_TEXT;
    if (as_addresses && (value->kind & PROBITY_ARGUMENTS_REFERENCE))
        return TYPE_POINTER;
    return (value->kind & ~PROBITY_ARGUMENTS_REFERENCE) == PROBITY_ARGUMENTS_ENUM ? TYPE_TEXT
                                                                                  : value->type;
}

static int make_format(const struct probity_arguments *all, value_description *values,
                       uint32_t count, int as_addresses, struct probity_site_format *ret_format)
{
    uint8_t *types = probity_arena_take(count + 1);
    const char **texts = probity_arena_take((count + 1) * sizeof *texts);

    if (types == NULL || texts == NULL)
        return -1;
    for (uint32_t i = 0; i < count; i++) {
        types[i] = type_of(&values[i], as_addresses);
        texts[i] = all->texts + values[i].name;
    }
    *ret_format = (struct probity_site_format){.types = types, .texts = texts, .count = count};
    return 0;
}

int probity_argument_values_prepare(const struct probity_arguments *all,
                                    struct probity_valued_function *function)
{
    value_description *arguments = &all->values[function->description->first_value];
    uint32_t count = function->description->arguments, results = function->description->results;

    if (make_format(all, arguments, count, 0, &function->arguments) != 0 ||
        make_format(all, arguments, count, 1, &function->addressed[0]) != 0 ||
        make_format(all, arguments + count, results, 0, &function->results) != 0 ||
        make_format(all, arguments + count, results, 1, &function->addressed[1]) != 0)
        return -1;
    return 0;
}

/* ---- Texts -------------------------------------------------------------------------------------
 */

/* The text to show for an enum. */
struct shown_enum {
    const char *name; /* NULL: the number */
    int64_t number;
    int is_unsigned;
};

static size_t put_text(const char *from, size_t length, char *text, size_t bytes)
{
    memcpy(text, from, length < bytes ? length : bytes);
    return length;
}

static size_t format_unknown(const void *value, char *text, size_t bytes)
{
    (void)value;
    return put_text("?", 1, text, bytes);
}

static size_t format_enum(const void *value, char *text, size_t bytes)
{
    const struct shown_enum *shown = value;
    char digits[24];
    size_t first = sizeof digits;
    int is_negative = !shown->is_unsigned && shown->number < 0;
    uint64_t number = is_negative ? 0 - (uint64_t)shown->number : (uint64_t)shown->number;

    if (shown->name != NULL)
        return put_text(shown->name, strlen(shown->name), text, bytes);
    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    if (is_negative)
        digits[--first] = '-';
    return put_text(digits + first, sizeof digits - first, text, bytes);
}

static struct shown_enum show_enum(const struct probity_arguments *all, value_description *value,
                                   const uint8_t *bytes)
{
    enum { U8 = 4 }; /* the unsigned types are even */
    uint64_t number = 0;
    uint32_t unused_bits = 64 - 8 * (uint32_t)value->bytes;
    int is_unsigned = value->type % 2 == U8 % 2;

    memcpy(&number, bytes, value->bytes);
    int64_t extended = (int64_t)(number << unused_bits);
    extended = is_unsigned ? (int64_t)((uint64_t)extended >> unused_bits)
                           : extended >> unused_bits;
    return (struct shown_enum){probity_arguments_enumerator_name(all, value, extended), extended,
                               is_unsigned};
}

/* ---- Reading -----------------------------------------------------------------------------------
 */

/* Returns whether all bytes can be read, by a system call. */
static int is_readable(uintptr_t address, size_t bytes)
{
    size_t readable = probity_os_readable_bytes((const void *)address);

    return readable >= bytes ||
           (readable > 0 && probity_os_readable_bytes((const void *)(address + readable)) > 0);
}

/* Reads the stack, with a check: the description may be wrong and lead beyond its end. */
static int read_stack(const struct probity_registers *registers, uint32_t index, uint64_t *ret_word)
{
    enum { PAGE = 4096 };
    uintptr_t at = registers->stack + WORD * (1 + (uintptr_t)index);

    if (at / PAGE != registers->stack / PAGE && !is_readable(at, WORD))
        return -1;
    memcpy(ret_word, (const void *)at, WORD);
    return 0;
}

static int read_place(const struct probity_registers *registers,
                      const struct probity_arguments_place *place, int is_result,
                      uint64_t *ret_word)
{
    int is_high = place->where == PROBITY_ARGUMENTS_VECTOR_HIGH;

    switch (place->where) {
    case PROBITY_ARGUMENTS_GENERAL:
        *ret_word = registers->general[probity_cpu_sled_word_of(place->index, is_result)];
        break;
    case PROBITY_ARGUMENTS_VECTOR:
    case PROBITY_ARGUMENTS_VECTOR_HIGH:
        memcpy(ret_word,
               registers->vectors + probity_cpu_sled_vector_at(place->index) + WORD * is_high,
               WORD);
        break;
    default:
        if (read_stack(registers, place->index, ret_word) != 0)
            return -1;
    }
    *ret_word >>= 8 * place->offset;
    return 0;
}

/* A value that was read. */
struct read_value {
    uint64_t words[2];
    struct shown_enum shown;
};

/* Returns 0, or -1 if it cannot be read. as_addresses: does not follow references. */
static int read_value(const struct probity_registers *registers, value_description *value,
                      int is_result, int as_addresses, struct read_value *ret_read)
{
    int is_reference = (value->kind & PROBITY_ARGUMENTS_REFERENCE) != 0;

    ret_read->words[1] = 0;
    if (value->kind == PROBITY_ARGUMENTS_UNKNOWN)
        return 0;
    if (read_place(registers, &value->place[0], is_result, &ret_read->words[0]) != 0 ||
        (!is_reference && value->bytes > WORD &&
         read_place(registers, &value->place[1], is_result, &ret_read->words[1]) != 0))
        return -1;
    if (!is_reference || as_addresses)
        return 0;
    uintptr_t address = ret_read->words[0];
    if (!is_readable(address, value->bytes))
        return -1;
    memcpy(ret_read->words, (const void *)address, value->bytes);
    return 0;
}

static struct probity_value value_to_record(const struct probity_arguments *all,
                                            value_description *value, int as_addresses,
                                            struct read_value *read)
{
    struct probity_value made = {.at = read->words, .bytes = value->bytes};
    int kind = value->kind & ~PROBITY_ARGUMENTS_REFERENCE;

    if (value->kind == PROBITY_ARGUMENTS_UNKNOWN) {
        made.format = format_unknown;
    } else if (as_addresses && kind != value->kind) {
        made.bytes = WORD;
    } else if (kind == PROBITY_ARGUMENTS_TEXT) {
        made.how = PROBITY_AT_POINTER;
    } else if (kind == PROBITY_ARGUMENTS_ENUM) {
        read->shown = show_enum(all, value, (const uint8_t *)read->words);
        made.at = &read->shown;
        made.format = format_enum;
    }
    return made;
}

/* ---- Recording ---------------------------------------------------------------------------------
 */

/* Returns the total size if all values are recorded as their bytes; 0 otherwise. */
static uint32_t fixed_bytes(value_description *values, uint32_t count)
{
    uint32_t bytes = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (values[i].kind != PROBITY_ARGUMENTS_PLAIN || values[i].type == TYPE_LONG_DOUBLE ||
            values[i].type > TYPE_POINTER)
            return 0;
        bytes += values[i].bytes;
    }
    return bytes;
}

/* The event being made. */
struct event {
    uint32_t kind, code, count;
    value_description *values;
    struct probity_site_format *format;
};

/* Stores values whose bytes are recorded, as FnTrace.h does. Returns the record's tick, or 0 if the
 * values are not stored. */
static uint64_t record_fixed(const struct event *event, const struct read_value *read)
{
    struct probity_event_room room;
    uint32_t number = probity_site_format_number(event->format);
    uint32_t bytes = number != 0 ? fixed_bytes(event->values, event->count) : 0;
    uint8_t *at = bytes > 0 ? probity_event_begin(&room, event->kind, 8 + bytes) : NULL;

    if (at == NULL)
        return 0;
    at = probity_put_head(at, event->kind, event->code, number, 0);
    for (uint32_t i = 0; i < event->count; i++)
        at = probity_put_bytes(at, read[i].words, event->values[i].bytes);
    probity_event_publish(&room);
    return room.tick;
}

uint64_t probity_argument_values_record(const struct probity_arguments *all,
                                    struct probity_valued_function *function, int is_result,
                                    uint32_t code, const struct probity_registers *registers)
{
    const struct probity_arguments_function *description = function->description;
    struct read_value read[PROBITY_ARGUMENTS_VALUES_MAX];
    struct probity_value values[PROBITY_ARGUMENTS_VALUES_MAX];
    struct event event = {
        .kind = is_result ? EVENT_LEAVE : EVENT_ENTER,
        .code = code,
        .count = is_result ? description->results : description->arguments,
        .values = &all->values[description->first_value + (is_result ? description->arguments : 0)],
        .format = is_result ? &function->results : &function->arguments};
    int is_read = 1, as_addresses = 0;
    uint64_t tick = 0;

    for (uint32_t i = 0; i < event.count && is_read; i++)
        is_read = read_value(registers, &event.values[i], is_result, 0, &read[i]) == 0;
    if (!is_read) {
        as_addresses = 1;
        event.format = &function->addressed[is_result];
        for (uint32_t i = 0; i < event.count; i++) {
            read[i].words[0] = read[i].words[1] = 0;
            read_value(registers, &event.values[i], is_result, 1, &read[i]);
        }
    } else {
        tick = record_fixed(&event, read);
    }
    if (tick != 0)
        return tick;
    for (uint32_t i = 0; i < event.count; i++)
        values[i] = value_to_record(all, &event.values[i], as_addresses, &read[i]);
    return probity_values_slow(event.kind, code, 0, event.format, values);
}
