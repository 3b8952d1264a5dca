/* SPDX-License-Identifier: MIT
 *
 * memory_rows.c: gives each leaf a text, and sums leaves with equal texts.
 */
#include "answers/memory/memory_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/row_sort.h"
#include "base/array_grow.h"
#include "base/hash.h"
#include "probity.h"

/* Of deeper paths, only the outermost and innermost levels are written. */
enum { LEVELS_OUTER = 32, LEVELS_INNER = 96, LEVELS_MAX = LEVELS_OUTER + LEVELS_INNER };

/* ---- Texts -------------------------------------------------------------------------------------
 */

static void put_path(FILE *stream, const struct probity_tree_node *node)
{
    const struct probity_tree_node *inner[LEVELS_INNER], *outer[LEVELS_OUTER];
    size_t depth = 0, left_out = 0;
    char text[32];

    /* Further levels overwrite each other in a ring, so that the outermost ones remain. */
    for (; node != NULL && node->function != NULL; node = node->parent, depth++) {
        if (depth < LEVELS_INNER)
            inner[depth] = node;
        else
            outer[(depth - LEVELS_INNER) % LEVELS_OUTER] = node;
    }
    if (depth > LEVELS_MAX)
        left_out = depth - LEVELS_MAX;
    for (size_t level = depth; level > LEVELS_INNER + left_out; level--)
        fprintf(stream, "%s > ",
                probity_tree_name(outer[(level - 1 - LEVELS_INNER) % LEVELS_OUTER], text));
    if (left_out > 0)
        fprintf(stream, "[%zu more] > ", left_out);
    for (size_t level = depth < LEVELS_INNER ? depth : LEVELS_INNER; level > 0; level--)
        fprintf(stream, "%s > ", probity_tree_name(inner[level - 1], text));
}

/* Returns a malloc'ed text, or NULL if out of memory. */
static char *text_of(const struct probity_memory_leaf *leaf, enum probity_memory_by by,
                     const char *place)
{
    char *text = NULL, name[32];
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);

    if (stream == NULL)
        return NULL;
    if (by == PROBITY_MEMORY_BY_PATH)
        put_path(stream, leaf->path);
    if (by == PROBITY_MEMORY_BY_FUNCTION && leaf->path->function != NULL)
        fputs(probity_tree_name(leaf->path, name), stream);
    else if (by == PROBITY_MEMORY_BY_FUNCTION && *place != '\0')
        fprintf(stream, "%.*s", (int)strcspn(place, "+ "), place);
    else
        fputs(leaf->call, stream);
    if (by == PROBITY_MEMORY_BY_PATH && *place != '\0')
        fprintf(stream, " (%s)", place);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- Rows --------------------------------------------------------------------------------------
 */

static void free_row(struct probity_memory_row *row)
{
    if (row == NULL)
        return;
    free(row->text);
    free(row->place);
    free(row);
}

/* Takes ownership of the text. Returns NULL if out of memory. */
static struct probity_memory_row *row_at(struct probity_memory_rows *rows, char *text,
                                         const struct probity_memory_leaf *leaf, const char *place)
{
    uint64_t hash = probity_hash_text(0, text);
    struct probity_memory_row *row = probity_hashtable_at(&rows->table, hash);

    while (row != NULL && strcmp(row->text, text) != 0)
        row = (struct probity_memory_row *)row->link.next;
    if (row != NULL) {
        free(text);
        return row;
    }
    void *grown = probity_array_room(rows->rows, sizeof *rows->rows, rows->count, &rows->capacity);
    if (grown != NULL)
        rows->rows = grown;
    row = grown != NULL ? calloc(1, sizeof *row) : NULL;
    if (row == NULL) {
        free(text);
        return NULL;
    }
    row->leaf = leaf;
    row->text = text;
    row->place = strdup(place);
    if (row->place == NULL || probity_hashtable_add(&rows->table, row, hash) != 0) {
        free_row(row);
        return NULL;
    }
    rows->rows[rows->count++] = row;
    return row;
}

int probity_memory_rows_make(struct probity_memory_rows *rows, const struct probity_memory *memory,
                             enum probity_memory_by by, probity_memory_namer *namer, void *context)
{
    size_t count;
    struct probity_memory_leaf *const *leaves = probity_memory_leaves(memory, &count);
    char place[PROBITY_MEMORY_PLACE_BYTES];

    for (size_t i = 0; i < count; i++) {
        int has_place = by == PROBITY_MEMORY_BY_PATH ||
                        (by == PROBITY_MEMORY_BY_FUNCTION && leaves[i]->path->function == NULL);
        place[0] = '\0';
        if (has_place && leaves[i]->place != 0)
            namer(context, leaves[i], place, sizeof place);
        char *text = text_of(leaves[i], by, place);
        struct probity_memory_row *row =
            text != NULL ? row_at(rows, text, leaves[i], place) : NULL;
        if (row == NULL)
            return PROBITY_ERROR_MEMORY;
        probity_memory_sums_add(&row->sums, &leaves[i]->sums);
    }
    return 0;
}

void probity_memory_rows_keep_live(struct probity_memory_rows *rows)
{
    size_t kept = 0;

    for (size_t i = 0; i < rows->count; i++) {
        struct probity_memory_row *row = rows->rows[i];
        if (row->sums.live_blocks > 0) {
            rows->rows[kept++] = row;
            continue;
        }
        probity_hashtable_remove(&rows->table, row);
        free_row(row);
    }
    rows->count = kept;
}

static double value_of(const struct probity_memory_sums *sums, enum probity_memory_key key)
{
    switch (key) {
    case PROBITY_MEMORY_PEAK: return (double)sums->peak_bytes;
    case PROBITY_MEMORY_LIVE: return (double)sums->live_bytes;
    case PROBITY_MEMORY_BYTES: return (double)sums->bytes;
    case PROBITY_MEMORY_ALLOCATIONS: return (double)sums->allocations;
    case PROBITY_MEMORY_FREES: return (double)sums->frees;
    case PROBITY_MEMORY_LIFETIME:
        return sums->frees > 0 ? (double)sums->lifetime_ns / (double)sums->frees : 0;
    default: return 0;
    }
}

int probity_memory_rows_sort(struct probity_memory_rows *rows, enum probity_memory_key key)
{
    struct probity_row_sort_item *items = calloc(rows->count + 1, sizeof *items);

    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < rows->count; i++) {
        items[i].value = value_of(&rows->rows[i]->sums, key);
        items[i].name = rows->rows[i]->text;
        items[i].place = i;
    }
    probity_row_sort(items, rows->count);
    int error = probity_row_sort_arrange(rows->rows, sizeof *rows->rows, items, rows->count);
    free(items);
    return error;
}

enum probity_memory_key probity_memory_key_parse(const char *name)
{
    static const char *const names[PROBITY_MEMORY_KEYS] = {
        "peak", "live", "bytes", "allocations", "frees", "lifetime", "name"};
    int key = 0;

    while (key < PROBITY_MEMORY_KEYS && strcmp(name, names[key]) != 0)
        key++;
    return (enum probity_memory_key)key;
}

void probity_memory_rows_release(struct probity_memory_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free_row(rows->rows[i]);
    free(rows->rows);
    probity_hashtable_release(&rows->table);
    *rows = (struct probity_memory_rows){0};
}
