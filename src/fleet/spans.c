/* SPDX-License-Identifier: MIT
 *
 * spans.c: computes blocks from rows of minutes or, for a range or by correlation, from rows of
 * blocks or of requests.
 */
#include "fleet/spans.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "fleet/schema.h"
#include "probity.h"

/* A probe; `hit` represents its first hit in the answer. */
struct probe_entry {
    struct probity_link link;
    uint64_t number;
    struct probity_event hit;
};

/* ---- Statements --------------------------------------------------------------------------------
 */

int probity_fleet_spans_are_of_minutes(const struct probity_fleet_spans *spans)
{
    return !spans->by_correlation && spans->range->from_ns == 0 && spans->range->to_ns == 0;
}

void probity_fleet_sql_probes(FILE *stream, const struct probity_fleet_spans *spans)
{
    struct probity_fleet_range whole = *spans->range;

    whole.from_ns = whole.to_ns = 0;
    fprintf(stream, "SELECT probe, any(site), any(number), max(name) FROM %s WHERE ",
            probity_fleet_tables[PROBITY_FLEET_PROBES].name);
    probity_fleet_sql_condition(stream, &whole, "", 1);
    fputs(" GROUP BY probe", stream);
}

static void put_keys(FILE *stream, const struct probity_fleet_spans *spans)
{
    fputs(spans->range->group == PROBITY_FLEET_OF_THREAD ? "SELECT run, thread"
          : spans->range->group == PROBITY_FLEET_OF_RUN ? "SELECT run, toUInt32(0)"
                                                        : "SELECT toUInt64(0), toUInt32(0)",
          stream);
    fputs(", from_probe, to_probe", stream);
}

static void put_group(FILE *stream, const struct probity_fleet_spans *spans)
{
    fputs(spans->range->group == PROBITY_FLEET_OF_THREAD ? " GROUP BY run, thread, "
          : spans->range->group == PROBITY_FLEET_OF_RUN ? " GROUP BY run, "
                                                        : " GROUP BY ", stream);
    fputs("from_probe, to_probe", stream);
}

/* Sums rows of single blocks: those whose hits are both in the range. */
static void put_rows(FILE *stream, const struct probity_fleet_spans *spans)
{
    const struct probity_fleet_range *range = spans->range;

    fprintf(stream, " FROM %s WHERE ", probity_fleet_tables[spans->by_correlation
                                                               ? PROBITY_FLEET_REQUESTS
                                                               : PROBITY_FLEET_BLOCKS].name);
    probity_fleet_sql_condition(stream, range,
                                spans->by_correlation ? "at_ns - wall_ns" : "start_ns", 1);
    if (spans->by_correlation)
        fputs(" AND bitAnd(flags, 2) != 0", stream);
    if (range->to_ns > 0)
        fprintf(stream, " AND %s < %" PRIu64,
                spans->by_correlation ? "at_ns" : "start_ns + wall_ns", range->to_ns);
}

static void put_to_probe(FILE *stream, const struct probity_fleet_spans *spans)
{
    fputs(spans->by_correlation ? "probe AS to_probe" : "to_probe", stream);
}

void probity_fleet_sql_spans_sums(FILE *stream, const struct probity_fleet_spans *spans)
{
    put_keys(stream, spans);
    fputs(", sum(spans), sum(wall_ns), sum(cpu_spans), sum(cpu_ns), sum(cpu_wall_ns), min(min_ns), "
          "max(max_ns), sumMap(buckets, counts)", stream);
    if (probity_fleet_spans_are_of_minutes(spans)) {
        fprintf(stream, " FROM %s WHERE ", probity_fleet_tables[PROBITY_FLEET_BLOCK_MINUTES].name);
        probity_fleet_sql_condition(stream, spans->range, "", 1);
        put_group(stream, spans);
        return;
    }
    fputs(" FROM (SELECT run, thread, from_probe, to_probe, count() AS spans, "
          "sum(duration) AS wall_ns, toUInt64(sum(is_cpu)) AS cpu_spans, "
          "toUInt64(sum(cpu)) AS cpu_ns, toUInt64(sum(is_cpu * duration)) AS cpu_wall_ns, "
          "min(duration) AS min_ns, max(duration) AS max_ns, [bucket] AS buckets, "
          "[count()] AS counts FROM (SELECT run, thread, from_probe, ", stream);
    put_to_probe(stream, spans);
    fprintf(stream, ", bitAnd(flags, 1) AS is_cpu, is_cpu * (wall_ns - off_ns) AS cpu, %s"
            "wall_ns AS duration", probity_fleet_bucket_columns);
    put_rows(stream, spans);
    fputs(") GROUP BY run, thread, from_probe, to_probe, bucket)", stream);
    put_group(stream, spans);
}

/* Among equal blocks, the earlier ones come first. */
void probity_fleet_sql_slowest(FILE *stream, const struct probity_fleet_spans *spans)
{
    fputs("SELECT run, thread, from_probe, to_probe, begin_ns, wall_ns, cpu_ns, is_cpu FROM "
          "(SELECT run, thread, from_probe, ", stream);
    put_to_probe(stream, spans);
    fprintf(stream, ", toUInt64(%s) AS begin_ns, wall_ns, bitAnd(flags, 1) AS is_cpu, "
            "toUInt64(is_cpu * (wall_ns - off_ns)) AS cpu_ns",
            spans->by_correlation ? "at_ns - wall_ns" : "start_ns");
    put_rows(stream, spans);
    fprintf(stream, ") ORDER BY wall_ns DESC, begin_ns LIMIT %zu BY from_probe, to_probe",
            spans->slowest);
}

/* ---- Probes ------------------------------------------------------------------------------------
 */

static int is_named_site(const struct probe_entry *entry)
{
    return entry->hit.is_site != 0;
}

int probity_fleet_take_probes(struct probity_fleet_probes_taken *probes,
                              struct probity_fleet_answer *answer)
{
    uint32_t sites = 0;

    while (!probity_fleet_answer_is_over(answer)) {
        struct probe_entry *entry = calloc(1, sizeof *entry);
        size_t length;
        if (entry == NULL)
            return PROBITY_ERROR_MEMORY;
        entry->number = probity_fleet_take_number(answer, 8);
        entry->hit.kind = PROBITY_EVENT_HIT;
        entry->hit.is_site = probity_fleet_take_number(answer, 1) != 0;
        entry->hit.id = (uint32_t)probity_fleet_take_number(answer, 4);
        const char *name = probity_fleet_take_text(answer, &length);
        if (is_named_site(entry))
            entry->hit.id = sites++;
        char *copy = is_named_site(entry) || length > 0 ? strndup(name, length) : NULL;
        entry->hit.name = copy;
        entry->hit.name_bytes = copy != NULL ? (uint32_t)strlen(copy) : 0;
        if (probity_hashtable_add(&probes->table, entry, probity_hash(entry->number)) != 0) {
            free(copy);
            free(entry);
            return PROBITY_ERROR_MEMORY;
        }
        if (copy == NULL && is_named_site(entry))
            return PROBITY_ERROR_MEMORY;
    }
    return answer->is_bad ? PROBITY_ERROR_FORMAT : 0;
}

static const struct probity_event *hit_at(const struct probity_fleet_probes_taken *probes,
                                          uint64_t number)
{
    const struct probe_entry *entry = probity_hashtable_at(&probes->table, probity_hash(number));

    while (entry != NULL && entry->number != number)
        entry = (const struct probe_entry *)entry->link.next;
    return entry != NULL ? &entry->hit : NULL;
}

void probity_fleet_probes_taken_release(struct probity_fleet_probes_taken *probes)
{
    struct probe_entry *entry;

    while ((entry = probity_hashtable_take(&probes->table)) != NULL) {
        free((char *)entry->hit.name);
        free(entry);
    }
}

/* ---- Blocks ------------------------------------------------------------------------------------
 */

/* The beginning of each row. */
struct row_head {
    uint64_t run;
    const struct probity_thread_label *thread; /* NULL: not by thread */
    const struct probity_event *from, *to;
};

static int take_head(const struct probity_fleet_probes_taken *probes,
                     const struct probity_fleet_sums *sums, int has_thread,
                     struct probity_fleet_answer *answer, struct row_head *ret_head)
{
    uint64_t run = probity_fleet_take_number(answer, 8);
    uint32_t thread = (uint32_t)probity_fleet_take_number(answer, 4);

    ret_head->run = run;
    ret_head->thread = has_thread ? probity_fleet_thread_at(sums, run, thread) : NULL;
    ret_head->from = hit_at(probes, probity_fleet_take_number(answer, 8));
    ret_head->to = hit_at(probes, probity_fleet_take_number(answer, 8));
    return answer->is_bad || ret_head->from == NULL || ret_head->to == NULL ||
                   (has_thread && ret_head->thread == NULL)
               ? PROBITY_ERROR_FORMAT
               : 0;
}

static int take_pair(struct probity_fleet_answer *answer, struct probity_blocks_pair *pair)
{
    uint64_t *const numbers[] = {&pair->calls, &pair->wall_ns, &pair->cpu_calls, &pair->cpu_ns,
                                 &pair->cpu_wall_ns, &pair->min_ns, &pair->max_ns};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = probity_fleet_take_number(answer, 8);
    pair->sum_ns = pair->wall_ns;
    int error = probity_fleet_take_histogram(answer, &pair->durations);
    return error == 0 && pair->min_ns > pair->max_ns ? PROBITY_ERROR_FORMAT : error;
}

int probity_fleet_take_spans_sums(const struct probity_fleet_probes_taken *probes,
                                  const struct probity_fleet_sums *sums,
                                  struct probity_fleet_answer *answer,
                                  struct probity_blocks *const *blocks)
{
    int error = 0, is_of_run = sums->group == PROBITY_FLEET_OF_RUN;

    while (error == 0 && !probity_fleet_answer_is_over(answer)) {
        struct probity_blocks_pair pair = {.calls = 0};
        struct row_head head;
        error = take_head(probes, sums, sums->group == PROBITY_FLEET_OF_THREAD, answer, &head);
        if (error == 0)
            error = take_pair(answer, &pair);
        size_t index = 0;
        if (error == 0 && is_of_run)
            error = probity_fleet_run_at(sums, head.run, &index);
        pair.thread = head.thread;
        if (error == 0)
            error = probity_blocks_add(blocks[index], head.from, head.to, &pair);
        probity_histogram_release(&pair.durations);
    }
    return error == 0 && answer->is_bad ? PROBITY_ERROR_FORMAT : error;
}

int probity_fleet_take_slowest(const struct probity_fleet_probes_taken *probes,
                               const struct probity_fleet_sums *sums,
                               struct probity_fleet_answer *answer, struct probity_blocks *blocks)
{
    int error = 0;

    while (error == 0 && !probity_fleet_answer_is_over(answer)) {
        struct row_head head;
        error = take_head(probes, sums, 1, answer, &head);
        struct probity_blocks_instance instance = {.thread = head.thread};
        instance.at_ns = probity_fleet_take_number(answer, 8);
        instance.wall_ns = instance.value_ns = probity_fleet_take_number(answer, 8);
        instance.cpu_ns = probity_fleet_take_number(answer, 8);
        instance.is_cpu_known = probity_fleet_take_number(answer, 1) != 0;
        if (error == 0)
            error = probity_blocks_add_instance(blocks, head.from, head.to, &instance);
    }
    return error == 0 && answer->is_bad ? PROBITY_ERROR_FORMAT : error;
}
