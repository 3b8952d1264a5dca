/* SPDX-License-Identifier: MIT
 *
 * description.c: see description.h. Tables grow separately, and are joined at the end.
 */
#include "symbols/description.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"

void symbols_table_add(struct symbols_description *description, struct symbols_table *table,
                       const void *bytes, size_t count)
{
    uint8_t *bytes_kept = probity_array_fit(table->bytes, 1, table->used + count + 1, &table->room);

    if (bytes_kept == NULL) {
        description->is_short = 1;
        return;
    }
    table->bytes = bytes_kept;
    memcpy(table->bytes + table->used, bytes, count);
    table->used += count;
}

uint32_t symbols_description_text(struct symbols_description *description, const char *text)
{
    uint32_t number = (uint32_t)description->texts.used;

    symbols_table_add(description, &description->texts, text, strlen(text) + 1);
    return number;
}

static uint8_t *put(uint8_t *at, const struct symbols_table *table)
{
    if (table->used > 0)
        memcpy(at, table->bytes, table->used);
    return at + table->used;
}

uint8_t *symbols_description_bytes(const struct symbols_description *description,
                                   size_t *ret_bytes)
{
    const struct symbols_description *all = description;
    struct probity_arguments_head head = {
        .magic = PROBITY_ARGUMENTS_MAGIC,
        .version = PROBITY_ARGUMENTS_VERSION,
        .objects = symbols_description_count(&all->objects,
                                             sizeof(struct probity_arguments_object)),
        .functions = symbols_description_count(&all->functions,
                                               sizeof(struct probity_arguments_function)),
        .values = symbols_description_count(&all->values, sizeof(struct probity_arguments_value)),
        .enumerators = symbols_description_count(&all->enumerators,
                                                 sizeof(struct probity_arguments_enumerator)),
        .text_bytes = (uint32_t)all->texts.used + 1};
    size_t bytes = sizeof head + all->objects.used + all->functions.used + all->values.used +
                   all->enumerators.used + all->texts.used + 1;

    if (all->is_short || bytes > PROBITY_ARGUMENTS_BYTES_MAX)
        return NULL;
    uint8_t *made = malloc(bytes), *at = made;
    if (made == NULL)
        return NULL;
    head.bytes = (uint32_t)bytes;
    memcpy(at, &head, sizeof head);
    at = put(at + sizeof head, &all->objects);
    at = put(put(put(put(at, &all->functions), &all->values), &all->enumerators), &all->texts);
    *at = '\0';
    *ret_bytes = bytes;
    return made;
}

void symbols_description_release(struct symbols_description *description)
{
    free(description->objects.bytes);
    free(description->functions.bytes);
    free(description->values.bytes);
    free(description->enumerators.bytes);
    free(description->texts.bytes);
}
