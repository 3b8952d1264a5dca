/* SPDX-License-Identifier: MIT
 *
 * story.c: rows of requests are sorted by id, so they are found without knowing the runs; rows of
 * calls are found by run, thread and time.
 */
#include "fleet/story.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "fleet/open_sums.h"
#include "fleet/schema.h"
#include "probity.h"

enum { FLAG_CPU = 1, FLAG_PREVIOUS = 2, NAMES_MAX = 100000 };

static const char *table(enum probity_fleet_table_number number)
{
    return probity_fleet_tables[number].name;
}

/* ---- Hits --------------------------------------------------------------------------------------
 */

void probity_fleet_sql_steps(FILE *stream, uint64_t id)
{
    fprintf(stream, "SELECT run, at_ns, thread, probe, role, from_thread, flags, wall_ns, off_ns "
            "FROM %s WHERE id = %" PRIu64 " ORDER BY run, at_ns LIMIT %d",
            table(PROBITY_FLEET_REQUESTS), id, PROBITY_FLEET_STEPS_MAX);
}

int probity_fleet_take_steps(struct probity_fleet_story *story, struct probity_fleet_answer *answer)
{
    while (!probity_fleet_answer_is_over(answer)) {
        struct probity_fleet_step *grown = probity_array_fit(
            story->steps, sizeof *grown, story->step_count + 1, &story->step_room);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        story->steps = grown;
        struct probity_fleet_step *step = &grown[story->step_count];
        step->run = probity_fleet_take_number(answer, 8);
        step->at_ns = probity_fleet_take_number(answer, 8);
        step->thread = (uint32_t)probity_fleet_take_number(answer, 4);
        step->probe = probity_fleet_take_number(answer, 8);
        step->role = (uint32_t)probity_fleet_take_number(answer, 1);
        step->from_thread = (uint32_t)probity_fleet_take_number(answer, 4);
        uint64_t flags = probity_fleet_take_number(answer, 1);
        step->wall_ns = probity_fleet_take_number(answer, 8);
        step->cpu_ns = step->wall_ns - probity_fleet_take_number(answer, 8);
        step->has_previous = (flags & FLAG_PREVIOUS) != 0;
        step->is_cpu_known = (flags & FLAG_CPU) != 0;
        story->step_count += !answer->is_bad;
    }
    return answer->is_bad ? PROBITY_ERROR_FORMAT : 0;
}

/* ---- Calls -------------------------------------------------------------------------------------
 */

static int is_window(const struct probity_fleet_step *step)
{
    return step->has_previous && step->thread == step->from_thread && step->wall_ns <= step->at_ns;
}

/* Returns the least at_ns of calls that began at start_ns or later. */
static uint64_t earliest_anchor(uint64_t start_ns)
{
    return start_ns > PROBITY_FLEET_SINCE_MAX ? start_ns - PROBITY_FLEET_SINCE_MAX : 0;
}

/* First selects the range that covers all windows, which the server can look up in its index, then
 * each window. */
int probity_fleet_sql_story_calls(FILE *stream, const struct probity_fleet_step *first,
                                  size_t count)
{
    uint64_t from_ns = UINT64_MAX, to_ns = 0;
    size_t windows = 0;

    for (size_t i = 0; i < count && windows < PROBITY_FLEET_WINDOWS_MAX; i++) {
        if (!is_window(&first[i]))
            continue;
        uint64_t begin_ns = first[i].at_ns - first[i].wall_ns;
        from_ns = begin_ns < from_ns ? begin_ns : from_ns;
        to_ns = first[i].at_ns > to_ns ? first[i].at_ns : to_ns;
        windows++;
    }
    if (windows == 0)
        return 0;
    fprintf(stream, "SELECT function, thread, depth, start_ns, total_ns, off_ns FROM %s WHERE run "
            "= %" PRIu64 " AND day >= toDate(%" PRIu64 ") AND at_ns > %" PRIu64
            " AND at_ns <= %" PRIu64 " AND (0", table(PROBITY_FLEET_CALLS), first->run,
            from_ns / PROBITY_FLEET_DAY_NS, earliest_anchor(from_ns), to_ns);
    for (size_t i = 0; windows > 0; i++) {
        if (!is_window(&first[i]))
            continue;
        uint64_t begin_ns = first[i].at_ns - first[i].wall_ns;
        fprintf(stream, " OR (thread = %" PRIu32 " AND at_ns > %" PRIu64 " AND at_ns <= %" PRIu64
                " AND start_ns >= %" PRIu64 " AND start_ns <= %" PRIu64 ")", first[i].thread,
                earliest_anchor(begin_ns), first[i].at_ns, begin_ns, first[i].at_ns);
        windows--;
    }
    fprintf(stream, ") ORDER BY start_ns, depth LIMIT %d", PROBITY_FLEET_STORY_CALLS_MAX);
    return 1;
}

int probity_fleet_take_story_calls(struct probity_fleet_story *story, int has_cpu,
                                   struct probity_fleet_answer *answer)
{
    while (!probity_fleet_answer_is_over(answer)) {
        struct probity_fleet_story_call *grown = probity_array_fit(
            story->calls, sizeof *grown, story->call_count + 1, &story->call_room);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        story->calls = grown;
        struct probity_fleet_story_call *call = &grown[story->call_count];
        call->function = probity_fleet_take_number(answer, 8);
        call->thread = (uint32_t)probity_fleet_take_number(answer, 4);
        call->depth = (uint32_t)probity_fleet_take_number(answer, 4);
        call->start_ns = probity_fleet_take_number(answer, 8);
        call->total_ns = probity_fleet_take_number(answer, 8);
        uint64_t off_ns = probity_fleet_take_number(answer, 8);
        call->cpu_ns = has_cpu ? call->total_ns - off_ns : 0;
        story->call_count += !answer->is_bad;
    }
    return answer->is_bad ? PROBITY_ERROR_FORMAT : 0;
}

/* ---- Names -------------------------------------------------------------------------------------
 */

void probity_fleet_sql_probe_names(FILE *stream, uint64_t run)
{
    fprintf(stream, "SELECT probe, if(site, name, if(name = '', toString(number), concat("
            "toString(number), ' (', name, ')'))) FROM %s WHERE run = %" PRIu64
            " ORDER BY version LIMIT %d", table(PROBITY_FLEET_PROBES), run, NAMES_MAX);
}

void probity_fleet_sql_thread_names(FILE *stream, uint64_t run)
{
    fprintf(stream, "SELECT toUInt64(thread), if(name = '', toString(tid), name) FROM %s WHERE run "
            "= %" PRIu64 " ORDER BY version LIMIT %d", table(PROBITY_FLEET_THREADS), run,
            NAMES_MAX);
}

void probity_fleet_sql_call_names(FILE *stream, const struct probity_fleet_story *story)
{
    fprintf(stream, "SELECT DISTINCT function, if(declared, name, concat('site-', toString(line))) "
            "FROM %s WHERE function IN (0", table(PROBITY_FLEET_FUNCTIONS));
    for (size_t i = 0; i < story->call_count; i++) {
        if (i == 0 || story->calls[i].function != story->calls[i - 1].function)
            fprintf(stream, ", %" PRIu64, story->calls[i].function);
    }
    fputc(')', stream);
}

int probity_fleet_take_names(struct probity_fleet_story *story, struct probity_fleet_answer *answer)
{
    while (!probity_fleet_answer_is_over(answer)) {
        struct probity_fleet_name *grown = probity_array_fit(
            story->names, sizeof *grown, story->name_count + 1, &story->name_room);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        story->names = grown;
        uint64_t number = probity_fleet_take_number(answer, 8);
        size_t length;
        const char *text = probity_fleet_take_text(answer, &length);
        if (answer->is_bad)
            break;
        grown[story->name_count] = (struct probity_fleet_name){number, strndup(text, length)};
        if (grown[story->name_count].text == NULL)
            return PROBITY_ERROR_MEMORY;
        story->name_count++;
    }
    return answer->is_bad ? PROBITY_ERROR_FORMAT : 0;
}

const char *probity_fleet_story_name(const struct probity_fleet_story *story, uint64_t number)
{
    for (size_t i = story->name_count; i-- > 0;) {
        if (story->names[i].number == number)
            return story->names[i].text;
    }
    return "";
}

void probity_fleet_story_forget(struct probity_fleet_story *story)
{
    for (size_t i = 0; i < story->name_count; i++)
        free(story->names[i].text);
    story->name_count = story->call_count = 0;
}

void probity_fleet_story_release(struct probity_fleet_story *story)
{
    probity_fleet_story_forget(story);
    free(story->names);
    free(story->calls);
    free(story->steps);
}
