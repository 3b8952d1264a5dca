/* SPDX-License-Identifier: MIT
 *
 * check_names.c: finds, for each number of a site or format, the earliest declaration and the
 * earliest use. Blocks are not in time order, so the two are compared at the end.
 */
#include "reader/check_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "base/limits.h"
#include "probity.h"

struct probity_check_name {
    uint64_t declared, used; /* ticks */
    uint64_t offset;         /* offset of the block with the earliest use */
    int is_declared, is_used;
};

/* Sets *ret_name to NULL for a number that no writer assigns. */
static int find(struct probity_check_table *table, uint32_t number,
                struct probity_check_name **ret_name)
{
    *ret_name = NULL;
    if (number >= PROBITY_LIMIT_SITES)
        return 0;
    if (number >= table->capacity) {
        void *names =
            probity_array_grow(table->names, sizeof *table->names, number, &table->capacity);
        if (names == NULL)
            return PROBITY_ERROR_MEMORY;
        table->names = names;
    }
    probity_assert(number < table->capacity);
    *ret_name = &table->names[number];
    return 0;
}

static int declare(struct probity_check_table *table, uint32_t number, uint64_t tick)
{
    struct probity_check_name *name;
    int error = find(table, number, &name);

    if (name == NULL || (name->is_declared && name->declared <= tick))
        return error;
    name->declared = tick;
    name->is_declared = 1;
    return 0;
}

static int use(struct probity_check_table *table, uint32_t number, uint64_t tick, uint64_t offset)
{
    struct probity_check_name *name;
    int error = find(table, number, &name);

    if (name == NULL || (name->is_used && name->used <= tick))
        return error;
    name->used = tick;
    name->offset = offset;
    name->is_used = 1;
    return 0;
}

static int use_format(struct probity_check_names *names, const uint8_t *at, uint64_t tick,
                      uint64_t offset)
{
    uint32_t number = probity_get_u32(at);

    return number != 0 ? use(&names->formats, number, tick, offset) : 0;
}

/* Takes a declaration. A function has two sites. */
static int take_declaration(struct probity_check_names *names, const struct probity_record *record)
{
    uint32_t number = probity_get_u32(record->payload);

    if (record->kind == PROBITY_EVENT_FORMAT)
        return declare(&names->formats, number, record->tick);
    int error = declare(&names->sites, number, record->tick);
    return error == 0 && record->kind == PROBITY_EVENT_FUNCTION && number < UINT32_MAX
               ? declare(&names->sites, number + 1, record->tick)
               : error;
}

static int take_values(struct probity_check_names *names, const struct probity_record *record,
                       uint64_t offset)
{
    const uint8_t *payload = record->payload;
    int has_site = record->kind != PROBITY_EVENT_MESSAGE &&
                   record->kind != PROBITY_EVENT_PARAMETERS;

    if (record->payload_bytes < (has_site ? 8 : 4))
        return 0;
    if (!has_site)
        return use_format(names, payload, record->tick, offset);
    int error = use(&names->sites, probity_get_u32(payload), record->tick, offset);
    return error != 0 ? error : use_format(names, payload + 4, record->tick, offset);
}

static int take_hit(struct probity_check_names *names, uint64_t code, uint64_t tick,
                    uint64_t offset)
{
    return (code & 1) && code >> 1 < PROBITY_LIMIT_SITES
               ? use(&names->sites, (uint32_t)(code >> 1), tick, offset)
               : 0;
}

int probity_check_names_take(struct probity_check_names *names,
                             const struct probity_record *record, uint64_t offset)
{
    struct probity_hit_with hit;

    switch (record->kind) {
    case PROBITY_EVENT_HIT: return take_hit(names, record->code, record->tick, offset);
    case PROBITY_EVENT_HIT_WITH:
        return probity_hit_with_parse(record->payload, record->payload_bytes, &hit)
                   ? take_hit(names, hit.code, record->tick, offset)
                   : 0;
    case PROBITY_EVENT_SITE:
    case PROBITY_EVENT_FUNCTION:
    case PROBITY_EVENT_FORMAT:
        return record->payload_bytes >= 4 ? take_declaration(names, record) : 0;
    case PROBITY_EVENT_ENTER:
    case PROBITY_EVENT_LEAVE:
    case PROBITY_EVENT_CHECKPOINT:
    case PROBITY_EVENT_MESSAGE:
    case PROBITY_EVENT_PARAMETERS: return take_values(names, record, offset);
    default: return 0;
    }
}

int probity_check_names_take_row(struct probity_check_names *names, uint32_t site, uint64_t offset)
{
    return use(&names->sites, site, UINT64_MAX, offset);
}

static void judge(const struct probity_check_table *table, const char *kind, uint64_t slack,
                  int all, void (*report)(void *context, uint64_t offset, const char *text),
                  void *context)
{
    char text[128];

    for (uint32_t number = 0; number < table->capacity; number++) {
        const struct probity_check_name *name = &table->names[number];
        if (!name->is_used || (!name->is_declared && !all))
            continue;
        if (!name->is_declared)
            snprintf(text, sizeof text, "%s %" PRIu32 " is never declared", kind, number);
        else if (name->declared > name->used && name->declared - name->used > slack)
            snprintf(text, sizeof text,
                     "%s %" PRIu32 " is used %" PRIu64 " ticks before it is declared", kind, number,
                     name->declared - name->used);
        else
            continue;
        report(context, name->offset, text);
    }
}

void probity_check_names_judge(const struct probity_check_names *names, uint64_t slack, int all,
                               void (*report)(void *context, uint64_t offset, const char *text),
                               void *context)
{
    judge(&names->sites, "site", slack, all, report, context);
    judge(&names->formats, "format", slack, all, report, context);
}

void probity_check_names_release(struct probity_check_names *names)
{
    free(names->sites.names);
    free(names->formats.names);
}
