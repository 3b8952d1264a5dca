/* SPDX-License-Identifier: MIT
 *
 * why_cause.c: compares a slow call with the median of all. The cause is the part of its time that
 * exceeds its median most. To find the place, it follows the paths below the function as long as
 * one callee accounts for most of the difference.
 */
#include "answers/why/why.h"

/* A callee is followed if it accounts for more than this share of its caller's difference. */
#define SHARE_LEAST 0.5
/* Minimum ratio to the median for more calls than usual. */
#define CALLS_RATIO 1.5

/* ---- Usual values ------------------------------------------------------------------------------
 */

/* Returns the value that `rank` of the values do not exceed: the middle of its bucket. */
static uint64_t value_at(const struct probity_histogram *fine, uint64_t rank)
{
    struct probity_histogram_bucket bucket = {0, 1, 0};
    uint64_t seen = 0;
    size_t at = 0;

    while (seen < rank && probity_histogram_next(fine, &at, &bucket))
        seen += bucket.count;
    return bucket.least + (bucket.width - 1) / 2;
}

uint64_t probity_why_median(const struct probity_why_group *group,
                            const struct probity_histogram *fine)
{
    uint64_t count = group->durations.count, zeros = count - fine->count;
    uint64_t rank = count / 2 + count % 2;

    return rank <= zeros ? 0 : value_at(fine, rank - zeros);
}

uint64_t probity_why_rank(const struct probity_why_group *group, uint64_t ns)
{
    struct probity_histogram_bucket bucket;
    uint64_t count = 0;
    size_t at = 0;

    while (probity_histogram_next(&group->durations.fine, &at, &bucket))
        count += bucket.least + (bucket.width - 1) >= ns ? bucket.count : 0;
    return count;
}

struct probity_why_value probity_why_value_of(const struct probity_why_case *of, size_t node)
{
    return node < of->value_count ? of->values[node] : (struct probity_why_value){0};
}

struct probity_why_value probity_why_usual(const struct probity_why_group *group, size_t node)
{
    const struct probity_why_node *at = &group->nodes[node];

    return (struct probity_why_value){probity_why_median(group, &at->calls),
                                      probity_why_median(group, &at->wall),
                                      probity_why_median(group, &at->cpu)};
}

/* ---- Where -------------------------------------------------------------------------------------
 */

/* The part of a value that is compared when paths are followed. */
enum measure { WALL, CPU, OFF };

static uint64_t measure_of(const struct probity_why_value *value, enum measure measure)
{
    uint64_t off_ns = value->wall_ns > value->cpu_ns ? value->wall_ns - value->cpu_ns : 0;

    return measure == WALL ? value->wall_ns : measure == CPU ? value->cpu_ns : off_ns;
}

static double excess_of(const struct probity_why_case *of, size_t node, enum measure measure)
{
    const struct probity_why_value value = probity_why_value_of(of, node);
    const struct probity_why_value usual = probity_why_usual(of->group, node);

    return (double)measure_of(&value, measure) - (double)measure_of(&usual, measure);
}

static double ratio(uint64_t value, uint64_t usual)
{
    return (double)value / (double)(usual > 0 ? usual : 1);
}

/* Whether the time of a path grew because it was taken more often. */
static int has_more_calls(const struct probity_why_case *of, uint32_t node, enum measure measure)
{
    const struct probity_why_value value = probity_why_value_of(of, node);
    const struct probity_why_value usual = probity_why_usual(of->group, node);
    double calls = ratio(value.calls, usual.calls);
    double time = ratio(measure_of(&value, measure), measure_of(&usual, measure));

    return value.calls > usual.calls + 1 && calls >= CALLS_RATIO && calls * calls >= time;
}

/* Returns the callee with the largest difference, if it accounts for most of its caller's, else
 * 0. */
static uint32_t worst_child(const struct probity_why_case *of, uint32_t parent,
                            enum measure measure)
{
    const struct probity_why_node *nodes = of->group->nodes;
    double most = excess_of(of, parent, measure) * SHARE_LEAST;
    uint32_t worst = 0;

    for (uint32_t node = nodes[parent].child; node != 0; node = nodes[node].sibling) {
        double excess = node < of->value_count ? excess_of(of, node, measure) : 0;
        if (excess > most) {
            most = excess;
            worst = node;
        }
    }
    return worst;
}

static const struct probity_why_node *find_node(const struct probity_why_case *of,
                                                enum measure measure, int *ret_has_more_calls)
{
    uint32_t node = 0, next;

    *ret_has_more_calls = 0;
    while (!*ret_has_more_calls && (next = worst_child(of, node, measure)) != 0) {
        node = next;
        *ret_has_more_calls = measure != OFF && has_more_calls(of, node, measure);
    }
    return &of->group->nodes[node];
}

/* ---- Who ---------------------------------------------------------------------------------------
 */

/* Finds the function that accounts for most of the wait in the thread that was waited for,
 * according to the critical path. */
static void find_culprit(const struct probity_why *why, const struct probity_why_case *of,
                         struct probity_why_cause *cause)
{
    const struct probity_path_span *span = probity_why_path(why, of);
    const struct probity_why_target *target = cause->wait->target;
    uint64_t most = 0;

    cause->culprit_slot = cause->wait->culprit_slot;
    cause->culprit_tid = cause->wait->culprit_tid;
    cause->culprit_doing = cause->wait->culprit_doing;
    for (size_t i = 0; span != NULL && target != NULL && i < span->part_count; i++) {
        const struct probity_path_part *part = &span->parts[i];
        const struct probity_path_link *link = part->link;
        while (link != NULL && link->outer != NULL)
            link = link->outer;
        if (link == NULL || link->object != target->object || part->ns <= most ||
            part->thread_slot == of->thread_slot || part->link->outer != NULL)
            continue;
        most = part->ns;
        cause->culprit_slot = part->thread_slot;
        cause->culprit_tid = 0;
        cause->culprit_doing = part->doing;
    }
}

static const struct probity_why_wait *wait_of(const struct probity_why_case *of,
                                              enum probity_why_part part)
{
    for (size_t i = 0; i < of->wait_count; i++) {
        if (of->waits[i].part == part)
            return &of->waits[i];
    }
    return NULL;
}

/* ---- Why ---------------------------------------------------------------------------------------
 */

static enum probity_why_cause_kind kind_of(enum probity_why_part part, int has_more_calls)
{
    static const enum probity_why_cause_kind kinds[PROBITY_WHY_PARTS] = {
        [PROBITY_WHY_LOCK] = PROBITY_WHY_CAUSE_LOCK,
        [PROBITY_WHY_CONDITION] = PROBITY_WHY_CAUSE_CONDITION,
        [PROBITY_WHY_IO] = PROBITY_WHY_CAUSE_IO,
        [PROBITY_WHY_SLEEP] = PROBITY_WHY_CAUSE_SLEEP,
        [PROBITY_WHY_PROCESS] = PROBITY_WHY_CAUSE_PROCESS,
        [PROBITY_WHY_RUNNABLE] = PROBITY_WHY_CAUSE_DESCHEDULED,
        [PROBITY_WHY_BLOCKED] = PROBITY_WHY_CAUSE_BLOCKED,
        [PROBITY_WHY_OFF] = PROBITY_WHY_CAUSE_OFF};

    if (part == PROBITY_WHY_RUNNING || part == PROBITY_WHY_UNKNOWN)
        return has_more_calls ? PROBITY_WHY_CAUSE_MORE_CALLS : PROBITY_WHY_CAUSE_MORE_WORK;
    return kinds[part];
}

static enum measure measure_for(const struct probity_why_case *of, enum probity_why_part part)
{
    if (!of->has_cpu)
        return WALL;
    return part == PROBITY_WHY_RUNNING ? CPU : OFF;
}

struct probity_why_cause probity_why_cause_of(const struct probity_why *why,
                                              const struct probity_why_case *of)
{
    struct probity_why_cause cause = {.culprit_slot = PROBITY_WAITS_NO_THREAD};
    uint64_t usual_ns = probity_duration_stats_quantile(&of->group->durations, 500);
    uint64_t ns = of->to_ns - of->from_ns;
    /* A single call is explained by its largest part. */
    int is_alone = of->group->durations.count < 2;
    double most = 0;
    int has_more = 0;

    for (int part = 0; part < PROBITY_WHY_PARTS; part++) {
        uint64_t usual = is_alone ? 0 : probity_why_median(of->group, &of->group->parts[part]);
        if ((double)of->parts[part] - (double)usual <= most)
            continue;
        most = (double)of->parts[part] - (double)usual;
        cause.part = (enum probity_why_part)part;
        cause.ns = of->parts[part];
        cause.usual_ns = usual;
    }
    if (most <= 0 || (!is_alone && ns <= usual_ns))
        return cause;
    double difference = (double)ns - (is_alone ? 0 : (double)usual_ns);
    cause.share = most < difference ? most / difference : 1;
    cause.node = find_node(of, measure_for(of, cause.part), &has_more);
    cause.kind = kind_of(cause.part, has_more);
    cause.value = probity_why_value_of(of, cause.node->number);
    cause.usual = probity_why_usual(of->group, cause.node->number);
    cause.wait = wait_of(of, cause.part);
    if (cause.wait != NULL)
        find_culprit(why, of, &cause);
    return cause;
}
