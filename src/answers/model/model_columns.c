/* SPDX-License-Identifier: MIT
 *
 * model_columns.c: columns of a workload model.
 */
#include "answers/model/model_columns.h"

#include <math.h>

#include "probity.h"

/* Returns a number for a numbered probe and a string for a site, because a site may be named
 * "1". */
static struct probity_cell probe_cell(const struct probity_probe *probe)
{
    return probe->is_site ? probity_cell_text(probe->text) : probity_cell_count(probe->number);
}

static struct probity_cell share_cell(double part, double whole)
{
    return whole > 0 ? probity_cell_decimal(part / whole, 9) : probity_cell_unknown();
}

static struct probity_cell number_cell(double value)
{
    return probity_cell_number(value, 9);
}

/* ---- Distributions -----------------------------------------------------------------------------
 */

#define TIMES_COLUMN(NAME, CELL)                                                                   \
    static struct probity_cell NAME(const void *row)                                               \
    {                                                                                              \
        const struct probity_duration_stats *times = row;                                          \
        return times->count > 0 ? CELL : probity_cell_none();                                      \
    }

#define QUANTILE_COLUMN(NAME, PER_MILLE)                                                           \
    TIMES_COLUMN(NAME, probity_cell_count(probity_duration_stats_quantile(times, PER_MILLE)))

PROBITY_COLUMN(times_count, count, struct probity_duration_stats, row->count)
TIMES_COLUMN(total, probity_cell_count(times->total_ns))
TIMES_COLUMN(mean, probity_cell_count(times->total_ns / times->count))
TIMES_COLUMN(variance, probity_cell_number(probity_duration_stats_variance(times), 12))
TIMES_COLUMN(cv, share_cell(sqrt(probity_duration_stats_variance(times)),
                            probity_duration_stats_mean(times)))
TIMES_COLUMN(least, probity_cell_count(times->min_ns))
TIMES_COLUMN(most, probity_cell_count(times->max_ns))
QUANTILE_COLUMN(p1, 10)
QUANTILE_COLUMN(p10, 100)
QUANTILE_COLUMN(p25, 250)
QUANTILE_COLUMN(p50, 500)
QUANTILE_COLUMN(p75, 750)
QUANTILE_COLUMN(p90, 900)
QUANTILE_COLUMN(p99, 990)
QUANTILE_COLUMN(p999, 999)

const struct probity_column probity_model_times_columns[MODEL_TIMES_COLUMNS] = {
    [MODEL_TIMES_COUNT] = {"count", times_count},
    [MODEL_TIMES_TOTAL] = {"total_ns", total},
    [MODEL_TIMES_MEAN] = {"mean_ns", mean},
    [MODEL_TIMES_VARIANCE] = {"variance_ns2", variance},
    [MODEL_TIMES_CV] = {"cv", cv},
    [MODEL_TIMES_MIN] = {"min_ns", least},
    [MODEL_TIMES_P1] = {"p1_ns", p1},
    [MODEL_TIMES_P10] = {"p10_ns", p10},
    [MODEL_TIMES_P25] = {"p25_ns", p25},
    [MODEL_TIMES_P50] = {"p50_ns", p50},
    [MODEL_TIMES_P75] = {"p75_ns", p75},
    [MODEL_TIMES_P90] = {"p90_ns", p90},
    [MODEL_TIMES_P99] = {"p99_ns", p99},
    [MODEL_TIMES_P999] = {"p999_ns", p999},
    [MODEL_TIMES_MAX] = {"max_ns", most}};

/* ---- Groups ------------------------------------------------------------------------------------
 */

static struct probity_cell node_probe(const void *row)
{
    return probe_cell(((const struct probity_model_node *)row)->probe);
}

#define COLUMN(NAME, KIND, FROM) PROBITY_COLUMN(NAME, KIND, struct probity_model_node, FROM)

COLUMN(node_name, text, row->probe->name)
COLUMN(node_role, text, row->role != 0 ? probity_role_name(row->role) : NULL)
COLUMN(node_hits, count, row->hits)
COLUMN(followed, count, row->followed)
COLUMN(starts, count, row->starts)
COLUMN(ends, count, row->ends)

const struct probity_column probity_model_node_columns[MODEL_NODE_COLUMNS] = {
    {"probe", node_probe},   {"name", node_name}, {"role", node_role}, {"hits", node_hits},
    {"followed", followed}, {"starts", starts},  {"ends", ends}};

static struct probity_cell from(const void *row)
{
    return probe_cell(((const struct probity_model_block *)row)->from->probe);
}

static struct probity_cell to(const void *row)
{
    return probe_cell(((const struct probity_model_block *)row)->to->probe);
}

static struct probity_cell probability(const void *row)
{
    return probity_cell_decimal(probity_model_probability(row), 9);
}

PROBITY_COLUMN(block_count, count, struct probity_model_block, row->wall.count)

const struct probity_column probity_model_block_columns[MODEL_BLOCK_COLUMNS] = {
    [MODEL_BLOCK_FROM] = {"from", from},
    [MODEL_BLOCK_TO] = {"to", to},
    [MODEL_BLOCK_COUNT] = {"count", block_count},
    [MODEL_BLOCK_PROBABILITY] = {"probability", probability}};

PROBITY_COLUMN(call_name, text, struct probity_model_call, row->name)
PROBITY_COLUMN(call_count, count, struct probity_model_call, row->wall.count)

const struct probity_column probity_model_call_columns[MODEL_CALL_COLUMNS] = {
    {"call", call_name}, {"count", call_count}};

#undef COLUMN
#define COLUMN(NAME, KIND, FROM) PROBITY_COLUMN(NAME, KIND, struct probity_model_group, FROM)

COLUMN(group_number, count, row->number)
COLUMN(group_name, text, row->name)
COLUMN(group_threads, count, row->threads)
COLUMN(group_hits, count, row->hits)
COLUMN(lifetime, count, row->lifetime_ns)
COLUMN(wall, count, row->wall_ns)
COLUMN(cpu_clock, count, row->cpu_known_ns)
COLUMN(cpu, count, row->cpu_ns)

static struct probity_cell cpu_share(const void *row)
{
    const struct probity_model_group *group = row;

    return share_cell((double)group->cpu_ns, (double)group->wall_ns);
}

const struct probity_column probity_model_group_columns[MODEL_GROUP_COLUMNS] = {
    [MODEL_GROUP_NUMBER] = {"group", group_number},
    [MODEL_GROUP_NAME] = {"name", group_name},
    [MODEL_GROUP_THREADS] = {"threads", group_threads},
    [MODEL_GROUP_HITS] = {"hits", group_hits},
    [MODEL_GROUP_LIFETIME] = {"lifetime_ns", lifetime},
    [MODEL_GROUP_WALL] = {"wall_ns", wall},
    [MODEL_GROUP_CPU_CLOCK] = {"cpu_clock_ns", cpu_clock},
    [MODEL_GROUP_CPU] = {"cpu_ns", cpu},
    [MODEL_GROUP_CPU_SHARE] = {"cpu_share", cpu_share}};

/* ---- Stations ----------------------------------------------------------------------------------
 */

static struct probity_cell user_probe(const void *row)
{
    return probe_cell(((const struct probity_model_user *)row)->node->probe);
}

PROBITY_COLUMN(user_group, count, struct probity_model_user, row->node->group->number)
PROBITY_COLUMN(user_role, text, struct probity_model_user, probity_role_name(row->role))
PROBITY_COLUMN(user_count, count, struct probity_model_user, row->count)

const struct probity_column probity_model_user_columns[MODEL_USER_COLUMNS] = {
    {"group", user_group}, {"probe", user_probe}, {"role", user_role}, {"count", user_count}};

#undef COLUMN
#define COLUMN(NAME, KIND, FROM) PROBITY_COLUMN(NAME, KIND, struct probity_model_station, FROM)

COLUMN(station_number, count, row->number)
COLUMN(station_name, text, row->name)
COLUMN(arrivals, count, row->arrivals)
COLUMN(departures, count, row->departures)
COLUMN(strays, count, row->strays)
COLUMN(again, count, row->again)
COLUMN(notifies, count, row->notifies)
COLUMN(station_forgotten, count, row->forgotten)
COLUMN(left, count, row->level.now)
COLUMN(level_max, count, row->level.max)
COLUMN(trace, count, row->trace)
COLUMN(object, count, row->object)

static struct probity_cell none(const void *row)
{
    (void)row;
    return probity_cell_none();
}

static struct probity_cell begin(const void *row)
{
    return probe_cell(((const struct probity_model_station *)row)->begin);
}

static struct probity_cell mutex(const void *row)
{
    uint64_t id = ((const struct probity_model_station *)row)->mutex;

    return id != 0 ? probity_cell_count(id) : probity_cell_none();
}

static struct probity_cell rate(const void *row)
{
    return number_cell(((const struct probity_model_station *)row)->little.rate_s);
}

static struct probity_cell level_mean(const void *row)
{
    return number_cell(((const struct probity_model_station *)row)->little.length);
}

static struct probity_cell contention(const void *row)
{
    const struct probity_model_station *station = row;

    return share_cell((double)station->waits.count, (double)station->arrivals);
}

const struct probity_column probity_model_contention_column = {"contention", contention};

const struct probity_column probity_model_level_columns[MODEL_LEVEL_COLUMNS] = {
    [MODEL_LEVEL_MEAN] = {"mean", level_mean}, [MODEL_LEVEL_MAX] = {"max", level_max}};

/* The columns that all kinds have with the same name. */
#define COMMON_COLUMNS                                                                             \
    [MODEL_STATION_NAME] = {"name", station_name},                                                 \
    [MODEL_STATION_FORGOTTEN] = {"forgotten", station_forgotten},                                  \
    [MODEL_STATION_LEFT] = {"left", left},                                                         \
    [MODEL_STATION_RATE] = {"rate_s", rate}

/* The columns of the kinds that are identified by an object. */
#define OBJECT_COLUMNS                                                                             \
    [MODEL_STATION_PROBE] = {"probe", none},                                                       \
    [MODEL_STATION_TRACE] = {"trace", trace},                                                      \
    [MODEL_STATION_OBJECT] = {"object", object},                                                   \
    [MODEL_STATION_MUTEX] = {"mutex", mutex}

const struct probity_column
    probity_model_station_columns[PROBITY_MODEL_KINDS][MODEL_STATION_COLUMNS] = {
        [PROBITY_MODEL_QUEUE] = {
            COMMON_COLUMNS, OBJECT_COLUMNS,
            [MODEL_STATION_NUMBER] = {"queue", station_number},
            [MODEL_STATION_ARRIVALS] = {"puts", arrivals},
            [MODEL_STATION_DEPARTURES] = {"gets", departures},
            [MODEL_STATION_STRAYS] = {"gets_without_put", strays},
            [MODEL_STATION_AGAIN] = {"puts_again", again},
            [MODEL_STATION_NOTIFIES] = {"notifies", none}},
        [PROBITY_MODEL_LOCK] = {
            COMMON_COLUMNS, OBJECT_COLUMNS,
            [MODEL_STATION_NUMBER] = {"lock", station_number},
            [MODEL_STATION_ARRIVALS] = {"holds", arrivals},
            [MODEL_STATION_DEPARTURES] = {"releases", departures},
            [MODEL_STATION_STRAYS] = {"releases_without_hold", strays},
            [MODEL_STATION_AGAIN] = {"holds_again", again},
            [MODEL_STATION_NOTIFIES] = {"notifies", none}},
        [PROBITY_MODEL_REQUEST] = {
            COMMON_COLUMNS,
            [MODEL_STATION_NUMBER] = {"request", station_number},
            [MODEL_STATION_PROBE] = {"probe", begin},
            [MODEL_STATION_TRACE] = {"trace", none},
            [MODEL_STATION_OBJECT] = {"object", none},
            [MODEL_STATION_MUTEX] = {"mutex", none},
            [MODEL_STATION_ARRIVALS] = {"begins", arrivals},
            [MODEL_STATION_DEPARTURES] = {"ends", departures},
            [MODEL_STATION_STRAYS] = {"ends_without_begin", none},
            [MODEL_STATION_AGAIN] = {"begun_again", again},
            [MODEL_STATION_NOTIFIES] = {"notifies", none}},
        [PROBITY_MODEL_CONDITION] = {
            COMMON_COLUMNS, OBJECT_COLUMNS,
            [MODEL_STATION_NUMBER] = {"condition", station_number},
            [MODEL_STATION_ARRIVALS] = {"waits", arrivals},
            [MODEL_STATION_DEPARTURES] = {"wakings", departures},
            [MODEL_STATION_STRAYS] = {"wakings_without_wait", strays},
            [MODEL_STATION_AGAIN] = {"waits_again", again},
            [MODEL_STATION_NOTIFIES] = {"notifies", notifies}}};

static struct probity_cell little_length(const void *row)
{
    return number_cell(((const struct probity_model_little *)row)->length);
}

static struct probity_cell little_rate(const void *row)
{
    return number_cell(((const struct probity_model_little *)row)->rate_s);
}

static struct probity_cell little_stay(const void *row)
{
    return number_cell(((const struct probity_model_little *)row)->wait_ns);
}

static struct probity_cell little_difference(const void *row)
{
    return number_cell(((const struct probity_model_little *)row)->difference);
}

const struct probity_column probity_model_little_columns[MODEL_LITTLE_COLUMNS] = {
    [MODEL_LITTLE_LENGTH] = {"length", little_length},
    [MODEL_LITTLE_RATE] = {"rate_s", little_rate},
    [MODEL_LITTLE_STAY] = {"stay_ns", little_stay},
    [MODEL_LITTLE_DIFFERENCE] = {"difference", little_difference}};

/* ---- The model ---------------------------------------------------------------------------------
 */

#undef COLUMN
#define COLUMN(NAME, KIND, FROM) PROBITY_COLUMN(NAME, KIND, struct probity_model_result, FROM)

COLUMN(from_ns, count, row->from_ns)
COLUMN(to_ns, count, row->to_ns)
COLUMN(duration, count, row->to_ns - row->from_ns)
COLUMN(hits, count, row->hits)
COLUMN(threads, count, row->threads)
COLUMN(ends_without_begin, count, row->ends_without_begin)
COLUMN(forgotten, count, row->forgotten)
COLUMN(hits_left_out, count, row->hits_left_out)
COLUMN(threads_left_out, count, row->threads_left_out)

static struct probity_cell cores(const void *row)
{
    uint64_t count = ((const struct probity_model_result *)row)->cores;

    return count > 0 ? probity_cell_count(count) : probity_cell_unknown();
}

const struct probity_column probity_model_columns[MODEL_COLUMNS] = {
    [MODEL_FROM] = {"from_ns", from_ns},       [MODEL_TO] = {"to_ns", to_ns},
    [MODEL_DURATION] = {"duration_ns", duration}, [MODEL_HITS] = {"hits", hits},
    [MODEL_THREADS] = {"threads", threads},    [MODEL_CORES] = {"cores", cores}};

static struct probity_cell wall_explained(const void *row)
{
    const struct probity_model_result *result = row;

    return share_cell((double)result->wall_ns, (double)result->lifetime_ns);
}

static struct probity_cell cpu_explained(const void *row)
{
    const struct probity_model_result *result = row;

    return share_cell((double)result->cpu_ns, (double)result->cpu_known_ns);
}

static struct probity_cell cores_used(const void *row)
{
    const struct probity_model_result *result = row;

    return share_cell((double)result->cpu_ns, (double)(result->to_ns - result->from_ns));
}

static struct probity_cell row_error(const void *row)
{
    return probity_cell_number(((const struct probity_model_result *)row)->row_error, 3);
}

/* Returns the largest difference of all stations. */
static struct probity_cell largest_difference(const void *row)
{
    const struct probity_model_result *result = row;
    double largest = 0;

    for (int kind = 0; kind < PROBITY_MODEL_KINDS; kind++) {
        for (size_t i = 0; i < result->station_counts[kind]; i++) {
            double difference = fabs(result->stations[kind][i]->little.difference);
            largest = difference > largest ? difference : largest;
        }
    }
    return number_cell(largest);
}

const struct probity_column probity_model_check_columns[MODEL_CHECK_COLUMNS] = {
    [MODEL_CHECK_WALL] = {"wall_explained", wall_explained},
    [MODEL_CHECK_CPU] = {"cpu_explained", cpu_explained},
    [MODEL_CHECK_CORES] = {"cores_used", cores_used},
    [MODEL_CHECK_ROWS] = {"row_error", row_error},
    [MODEL_CHECK_LITTLE] = {"little_difference", largest_difference},
    [MODEL_CHECK_ENDS] = {"ends_without_begin", ends_without_begin},
    [MODEL_CHECK_IDS] = {"ids_forgotten", forgotten},
    [MODEL_CHECK_HITS] = {"hits_left_out", hits_left_out},
    [MODEL_CHECK_THREADS] = {"threads_left_out", threads_left_out}};
