/* SPDX-License-Identifier: MIT
 *
 * export_pprof.c: pprof profiles: a sample for each call path, with the number of calls and their
 * self time: wall, CPU and off CPU; or for each block between probes. Holds a node for each path or
 * pair of probes. The profile is written as many
 * small messages, which readers concatenate into one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "exports/export.h"
#include "exports/export_names.h"
#include "exports/export_tree.h"
#include "exports/pprof/pprof.pb-c.h"
#include "print/text.h"
#include "print/values.h"
#include "probity.h"

enum { TYPES = 4, LABELS_MAX = 3, KEY_BETWEEN = 1 /* neither address nor function key */ };

/* Key of a pair of probes; neither address nor function key either. */
#define KEY_OF_PAIR (UINT64_C(1) << 62)

/* Beginning of the string table. It is followed by two strings for each function, and by thread
 * names as they occur. */
static const char *const first_strings[] = {
    "", "calls", "count", "wall", "nanoseconds", "cpu", "off-cpu", "thread", "tid", "pid"};

enum { TEXT_CALLS = 1, TEXT_COUNT, TEXT_WALL, TEXT_NS, TEXT_CPU, TEXT_OFF, TEXT_THREAD, TEXT_TID,
       TEXT_PID, TEXTS };

struct pprof {
    struct export_tree tree; /* must be first: see export_tree.h */
    struct export_names functions;
    FILE *stream;
    int64_t strings;
    const struct probity_thread_label *thread; /* of the samples; `name`: index of its name */
    int64_t name;
    uint64_t *path;      /* locations, outermost first */
    size_t room;
    uint64_t locations[PROBITY_TREE_LEVELS_SHOWN + 1]; /* path of a sample, innermost first */
    char text[PROBITY_VALUE_TEXT_MAX];
};

/* ---- Parts -------------------------------------------------------------------------------------
 */

static int put(struct pprof *pprof, const Pprof__Profile *part)
{
    size_t bytes = pprof__profile__get_packed_size(part);
    uint8_t *packed = malloc(bytes > 0 ? bytes : 1);

    if (packed == NULL)
        return PROBITY_ERROR_MEMORY;
    pprof__profile__pack(part, packed);
    fwrite(packed, 1, bytes, pprof->stream);
    free(packed);
    return 0;
}

/* Returns the index of the string, or an error. */
static int64_t put_string(struct pprof *pprof, const char *text, size_t bytes)
{
    char *list[] = {pprof->text};
    const char *end = pprof->text + sizeof pprof->text - 1;
    Pprof__Profile part = PPROF__PROFILE__INIT;

    *probity_text_put(pprof->text, end, text, bytes, '\0') = '\0';
    part.n_string_table = 1;
    part.string_table = list;
    int error = put(pprof, &part);
    return error == 0 ? pprof->strings++ : error;
}

/* function: NULL if only the name is known. */
static int put_function(struct pprof *pprof, const struct probity_function *function,
                        const char *name, size_t bytes, uint64_t id)
{
    Pprof__Function made = PPROF__FUNCTION__INIT, *functions[] = {&made};
    Pprof__Line line = PPROF__LINE__INIT, *lines[] = {&line};
    Pprof__Location location = PPROF__LOCATION__INIT, *locations[] = {&location};
    Pprof__Profile part = PPROF__PROFILE__INIT;

    made.id = location.id = line.function_id = id;
    /* If the system name were the same, readers would demangle it, and templates would lose their
     * arguments. */
    made.name = put_string(pprof, name, bytes);
    if (made.name < 0)
        return (int)made.name;
    if (function != NULL) {
        made.filename = put_string(pprof, function->file, strlen(function->file));
        made.start_line = line.line = function->line;
    }
    if (made.filename < 0)
        return (int)made.filename;
    location.n_line = part.n_location = part.n_function = 1;
    location.line = lines;
    part.location = locations;
    part.function = functions;
    return put(pprof, &part);
}

/* Returns the number of a function, which is also that of its location. */
static int location_of(struct pprof *pprof, const struct probity_function_key *key,
                       uint64_t *ret_location)
{
    size_t known = pprof->functions.table.items, bytes;
    const struct export_name *entry = export_names_at(
        &pprof->functions, export_key_of_function(key->function, key->trace, key->number));
    char lost[32];

    if (entry == NULL)
        return PROBITY_ERROR_MEMORY;
    *ret_location = (uint64_t)entry->number + 1;
    if (pprof->functions.table.items == known)
        return 0;
    const char *name = probity_export_function_name(key->function, key->number, lost, &bytes);
    return put_function(pprof, key->function, name, bytes, *ret_location);
}

/* Returns a placeholder for the levels left out of a path. */
static int location_between(struct pprof *pprof, uint64_t *ret_location)
{
    static const char name[] = PROBITY_TREE_LEVELS_BETWEEN;
    size_t known = pprof->functions.table.items;
    const struct export_name *entry = export_names_at(&pprof->functions, KEY_BETWEEN);

    if (entry == NULL)
        return PROBITY_ERROR_MEMORY;
    *ret_location = (uint64_t)entry->number + 1;
    return pprof->functions.table.items > known
               ? put_function(pprof, NULL, name, sizeof name - 1, *ret_location) : 0;
}

/* Adds a comment to the profile. */
static int put_comment(struct pprof *pprof, const char *text)
{
    int64_t number = put_string(pprof, text, strlen(text));
    Pprof__Profile part = PPROF__PROFILE__INIT;

    if (number < 0)
        return (int)number;
    part.n_comment = 1;
    part.comment = &number;
    return put(pprof, &part);
}

/* ---- Samples -----------------------------------------------------------------------------------
 */

/* Sets the thread of the next samples. */
static int set_thread(struct pprof *pprof, const struct probity_thread_label *thread)
{
    pprof->thread = thread;
    pprof->name = 0;
    if (thread == NULL || thread->name == NULL)
        return 0;
    pprof->name = put_string(pprof, thread->name, strlen(thread->name));
    return pprof->name < 0 ? (int)pprof->name : 0;
}

static int put_sample(struct pprof *pprof, size_t depth, int64_t values[TYPES])
{
    Pprof__Label labels[LABELS_MAX] = {PPROF__LABEL__INIT, PPROF__LABEL__INIT, PPROF__LABEL__INIT};
    Pprof__Label *list[LABELS_MAX] = {&labels[0], &labels[1], &labels[2]};
    Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples[] = {&sample};
    Pprof__Profile part = PPROF__PROFILE__INIT;

    labels[0].key = TEXT_TID;
    labels[1].key = TEXT_PID;
    labels[2].key = TEXT_THREAD;
    labels[2].str = pprof->name;
    if (pprof->thread != NULL) {
        labels[0].num = pprof->thread->tid;
        labels[1].num = pprof->thread->pid;
        sample.n_label = pprof->name > 0 ? 3 : 2;
    }
    sample.label = list;
    sample.n_location_id = depth;
    sample.location_id = pprof->locations;
    sample.n_value = TYPES;
    sample.value = values;
    part.n_sample = 1;
    part.sample = samples;
    return put(pprof, &part);
}

static int put_self(struct pprof *pprof, size_t depth, uint64_t calls,
                    struct probity_scope_time self)
{
    uint64_t off_ns = self.wall_ns > self.cpu_ns ? self.wall_ns - self.cpu_ns : 0;
    int64_t values[TYPES] = {(int64_t)calls, (int64_t)self.wall_ns, (int64_t)self.cpu_ns,
                             (int64_t)off_ns};

    return put_sample(pprof, depth, values);
}

static int make_room(struct pprof *pprof, size_t depth)
{
    uint64_t *path = probity_array_fit(pprof->path, sizeof *path, depth + 1, &pprof->room);

    if (path == NULL)
        return PROBITY_ERROR_MEMORY;
    pprof->path = path;
    return 0;
}

/* Appends the innermost `count` of `depth` levels to those of the sample. */
static size_t add_levels(struct pprof *pprof, size_t written, size_t depth, size_t count)
{
    for (size_t i = 1; i <= count; i++)
        pprof->locations[written++] = pprof->path[depth - i];
    return written;
}

/* Adds a path, innermost function first. Its callers are in `path`. */
static int put_node(struct pprof *pprof, const struct probity_tree_node *node, size_t depth,
                    uint64_t *shortened)
{
    int is_deep = depth > PROBITY_TREE_LEVELS_SHOWN;
    int error = make_room(pprof, depth);

    if (error == 0)
        error = location_of(pprof, &node->function->key, &pprof->path[depth - 1]);
    if (error != 0 || node->sums.calls == 0)
        return error;
    size_t written = add_levels(pprof, 0, depth, is_deep ? PROBITY_TREE_LEVELS_INNER : depth);
    if (is_deep) {
        error = location_between(pprof, &pprof->locations[written++]);
        written = add_levels(pprof, written, PROBITY_TREE_LEVELS_OUTER, PROBITY_TREE_LEVELS_OUTER);
        ++*shortened;
    }
    if (error != 0)
        return error;
    return put_self(pprof, written, node->sums.calls, node->sums.self);
}

/* Rows of profile mode have no caller. */
static void pprof_profiled(struct probity_export *export, const struct probity_profiled *profiled)
{
    struct pprof *pprof = export->state;
    const struct probity_function_key key = {profiled->function, profiled->trace,
                                             profiled->number};
    int error = location_of(pprof, &key, pprof->locations);

    if (error == 0)
        error = put_self(pprof, 1, profiled->calls,
                         (struct probity_scope_time){profiled->self_ns, profiled->cpu_self_ns});
    if (error != 0)
        probity_export_fail(export, error);
}

/* Writes a block as a function. With by_thread, called for each of its threads in succession. */
static int put_pair(struct probity_export *export, const struct probity_blocks_pair *pair,
                    const char *name)
{
    struct pprof *pprof = export->state;
    const uint64_t key = KEY_OF_PAIR | (uint64_t)pair->from->place << 30 | pair->to->place;
    size_t known = pprof->functions.table.items;
    const struct export_name *entry = export_names_at(&pprof->functions, key);
    int64_t values[TYPES] = {
        (int64_t)pair->calls, (int64_t)pair->wall_ns, (int64_t)pair->cpu_ns,
        (int64_t)probity_blocks_value(pair, PROBITY_BLOCKS_OFF)};

    if (entry == NULL)
        return PROBITY_ERROR_MEMORY;
    pprof->locations[0] = (uint64_t)entry->number + 1;
    int error = 0;
    if (pprof->functions.table.items > known)
        error = put_function(pprof, NULL, name, strlen(name), pprof->locations[0]);
    if (error == 0 && pair->thread != NULL)
        error = set_thread(pprof, pair->thread);
    return error == 0 ? put_sample(pprof, 1, values) : error;
}

/* ---- The profile -------------------------------------------------------------------------------
 */

static uint64_t duration_of(const struct probity_reader *reader)
{
    uint64_t from_ns = UINT64_MAX, to_ns = 0;

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        from_ns = facts->first_wall_ns < from_ns ? facts->first_wall_ns : from_ns;
        to_ns = facts->last_wall_ns > to_ns ? facts->last_wall_ns : to_ns;
    }
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

static int put_types(struct pprof *pprof, const struct probity_export *export)
{
    static const int64_t names[TYPES] = {TEXT_CALLS, TEXT_WALL, TEXT_CPU, TEXT_OFF};
    static const int64_t of_value[] = {[PROBITY_EXPORT_WALL] = TEXT_WALL,
                                       [PROBITY_EXPORT_CPU] = TEXT_CPU,
                                       [PROBITY_EXPORT_OFF_CPU] = TEXT_OFF,
                                       [PROBITY_EXPORT_CALLS] = TEXT_CALLS};
    Pprof__ValueType types[TYPES], *list[TYPES];
    Pprof__Profile part = PPROF__PROFILE__INIT;
    char *texts[TEXTS];

    for (size_t i = 0; i < TYPES; i++) {
        types[i] = (Pprof__ValueType)PPROF__VALUE_TYPE__INIT;
        types[i].type = names[i];
        types[i].unit = names[i] == TEXT_CALLS ? TEXT_COUNT : TEXT_NS;
        list[i] = &types[i];
    }
    /* Protobuf-c only reads these texts. */
    for (size_t i = 0; i < TEXTS; i++)
        texts[i] = (char *)(uintptr_t)first_strings[i];
    part.n_sample_type = TYPES;
    part.sample_type = list;
    part.n_string_table = TEXTS;
    part.string_table = texts;
    part.default_sample_type = of_value[export->options->value];
    part.time_nanos = (int64_t)export->start_ns;
    part.duration_nanos = (int64_t)duration_of(export->reader);
    pprof->strings = TEXTS;
    return put(pprof, &part);
}

static int pprof_begin(struct probity_export *export)
{
    struct pprof *pprof = export->state;

    pprof->stream = probity_export_stream_open(export);
    if (pprof->stream == NULL)
        return PROBITY_ERROR_MEMORY;
    int error = put_types(pprof, export);
    return error == 0 ? export_tree_begin(export) : error;
}

/* Adds a comment, because a sample cannot show that levels were left out. */
static int put_shortened(struct pprof *pprof, uint64_t shortened)
{
    char text[160];

    if (shortened == 0)
        return 0;
    snprintf(text, sizeof text, "paths deeper than %d levels, shortened to their outermost and "
             "innermost %d: %" PRIu64, PROBITY_TREE_LEVELS_SHOWN, PROBITY_TREE_LEVELS_INNER,
             shortened);
    return put_comment(pprof, text);
}

static int put_lacks(struct pprof *pprof, const struct probity_export *export)
{
    char text[PROBITY_EXPORT_LACK_BYTES];
    int error = 0;

    for (size_t i = 0; error == 0 && i < probity_reader_traces(export->reader); i++) {
        if (probity_export_lack(export, i, text))
            error = put_comment(pprof, text);
    }
    return error;
}

static int put_tree(struct pprof *pprof, const struct probity_tree_answer *answer,
                    uint64_t *shortened)
{
    const struct probity_tree_node *node = answer->root;
    size_t depth = 0, outside = 0; /* outside: levels that are not functions */
    int error = 0;

    while (error == 0 && (node = probity_tree_next(node, answer->root, &depth)) != NULL) {
        outside = node->function != NULL ? outside : depth;
        error = node->function != NULL ? put_node(pprof, node, depth - outside, shortened)
                                       : set_thread(pprof, node->thread);
    }
    return error;
}

static int put_profile(struct probity_export *export)
{
    struct pprof *pprof = export->state;
    struct probity_tree_answer answer;
    int error = export_tree_finish(export, &answer), is_done = 0;

    if (error != 0)
        return error;
    error = export_tree_blocks(export, put_pair, &is_done);
    if (error == 0 && !is_done)
        error = put_tree(pprof, &answer, &export->counts.shortened);
    if (error != 0)
        return error;
    error = put_shortened(pprof, export->counts.shortened);
    return error != 0 ? error : put_lacks(pprof, export);
}

static int pprof_end(struct probity_export *export)
{
    struct pprof *pprof = export->state;
    int error = put_profile(export);
    int closed = probity_export_stream_close(pprof->stream);

    pprof->stream = NULL;
    return error != 0 ? error : closed;
}

static void pprof_release(struct probity_export *export)
{
    struct pprof *pprof = export->state;

    if (pprof->stream != NULL)
        fclose(pprof->stream);
    export_names_release(&pprof->functions);
    free(pprof->path);
    export_tree_release(export);
}

const struct probity_exporter probity_exporter_pprof = {
    .name = "pprof",
    .target = PROBITY_EXPORT_STREAM,
    .has_gzip = 1,
    .carries = PROBITY_EXPORT_SCOPES | PROBITY_EXPORT_PROFILE,
    .has_all = 1,
    .values = 1 << PROBITY_EXPORT_WALL | 1 << PROBITY_EXPORT_CPU | 1 << PROBITY_EXPORT_OFF_CPU |
              1 << PROBITY_EXPORT_CALLS,
    .has_threads = 1,
    .has_blocks = 1,
    .state_bytes = sizeof(struct pprof),
    .begin = pprof_begin,
    .event = export_tree_event,
    .profiled = pprof_profiled,
    .end = pprof_end,
    .release = pprof_release};
