/* SPDX-License-Identifier: MIT
 *
 * export_folded.c: folded stacks, the input of flame graph tools: one line for each call path, or
 * for each span between probes. Holds a node for each path or pair of probes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answers/tree/tree_print.h"
#include "exports/export.h"
#include "exports/export_tree.h"
#include "print/text.h"

struct folded {
    struct export_tree tree; /* must be first: see export_tree.h */
    FILE *stream;
};

/* ---- Blocks ------------------------------------------------------------------------------------
 */

/* Writes a level; a semicolon in it would end the level, so it is replaced. */
static int put_level(FILE *stream, const char *text)
{
    size_t bytes = strlen(text);
    char *level = calloc(4, bytes + 1);

    if (level == NULL)
        return PROBITY_ERROR_MEMORY;
    *probity_text_put(level, level + 4 * bytes, text, bytes, '\0') = '\0';
    for (char *at = level; (at = strchr(at, ';')) != NULL;)
        *at = ':';
    fputs(level, stream);
    free(level);
    return 0;
}

static int put_pair(struct probity_export *export, const struct probity_blocks_pair *pair,
                    const char *name)
{
    static const enum probity_blocks_key keys[] = {[PROBITY_EXPORT_WALL] = PROBITY_BLOCKS_TOTAL,
                                                   [PROBITY_EXPORT_CPU] = PROBITY_BLOCKS_CPU,
                                                   [PROBITY_EXPORT_OFF_CPU] = PROBITY_BLOCKS_OFF,
                                                   [PROBITY_EXPORT_CALLS] = PROBITY_BLOCKS_CALLS};
    const struct folded *folded = export->state;
    uint64_t value = probity_blocks_value(pair, keys[export->options->value]);
    char thread[PROBITY_TREE_THREAD_BYTES];
    int error = 0;

    if (value == 0)
        return 0;
    if (pair->thread != NULL) {
        probity_tree_thread_text(export->reader, pair->thread, thread);
        error = put_level(folded->stream, thread);
        fputc(';', folded->stream);
    }
    if (error == 0)
        error = put_level(folded->stream, name);
    fprintf(folded->stream, " %" PRIu64 "\n", value);
    return error;
}

/* ---- The file ----------------------------------------------------------------------------------
 */

static int end_folded(struct probity_export *export)
{
    static const enum probity_tree_key keys[] = {
        [PROBITY_EXPORT_WALL] = PROBITY_TREE_SELF,
        [PROBITY_EXPORT_CPU] = PROBITY_TREE_CPU_SELF,
        [PROBITY_EXPORT_OFF_CPU] = PROBITY_TREE_OFF_SELF,
        [PROBITY_EXPORT_CALLS] = PROBITY_TREE_CALLS};
    struct folded *folded = export->state;
    struct probity_tree_answer answer;
    int error = export_tree_finish(export, &answer), is_done = 0;

    folded->stream = error == 0 ? probity_export_stream_open(export) : NULL;
    if (folded->stream == NULL)
        return error != 0 ? error : PROBITY_ERROR_MEMORY;
    error = export_tree_blocks(export, put_pair, &is_done);
    if (error == 0 && !is_done)
        error = probity_tree_folded(folded->stream, &answer, keys[export->options->value],
                                    &export->counts.shortened);
    int closed = probity_export_stream_close(folded->stream);
    return error != 0 ? error : closed;
}

const struct probity_exporter probity_exporter_folded = {
    .name = "folded",
    .target = PROBITY_EXPORT_STREAM,
    .carries = PROBITY_EXPORT_SCOPES,
    .has_all = 1,
    .values = 1 << PROBITY_EXPORT_WALL | 1 << PROBITY_EXPORT_CPU | 1 << PROBITY_EXPORT_OFF_CPU |
              1 << PROBITY_EXPORT_CALLS,
    .has_threads = 1,
    .has_blocks = 1,
    .state_bytes = sizeof(struct folded),
    .begin = export_tree_begin,
    .event = export_tree_event,
    .end = end_folded,
    .release = export_tree_release};
