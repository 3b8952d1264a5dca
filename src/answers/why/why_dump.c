/* SPDX-License-Identifier: MIT
 *
 * why_dump.c: selects one of the reasons of a dump.
 */
#include "answers/why/why_dump.h"

#include <string.h>

/* Returns by how much a reason exceeded its limit, or its time if there is no limit. */
static double excess_of(const struct probity_dump_reason *reason)
{
    double ticks = (double)(reason->end - reason->start);

    return reason->limit > 0 ? ticks / (double)reason->limit : ticks;
}

/* Whether the reason is a call or a span in one thread. */
static int is_usable(const struct probity_dump_reason *reason)
{
    int is_span = reason->kind == PROBITY_DUMP_BLOCK ||
                  (reason->kind == PROBITY_DUMP_REQUEST &&
                   reason->flags & PROBITY_DUMP_IS_ONE_THREAD);

    return (reason->kind == PROBITY_DUMP_FUNCTION || is_span) && reason->end > reason->start;
}

int probity_why_dump_find(const struct probity_trace_facts *facts,
                          struct probity_why_dump *ret_dump)
{
    struct probity_dump dump;
    struct probity_dump_reason reason, best = {0};
    size_t at;

    if (facts->dump == NULL || probity_dump_get(facts->dump, facts->dump_bytes, &dump, &at) != 0)
        return 0;
    for (uint32_t i = 0; i < dump.reasons; i++) {
        if (probity_dump_reason_get(facts->dump, facts->dump_bytes, &at, &reason) != 0)
            break;
        if (is_usable(&reason) && (best.kind == 0 || excess_of(&reason) > excess_of(&best)))
            best = reason;
    }
    if (best.kind == 0)
        return 0;
    /* Uses the end: in dumps of versions before 0.2, the start may be long before the record of the
     * enter, if the thread lost its CPU in between. */
    *ret_dump = (struct probity_why_dump){best, best.end,
                                          probity_trace_ns_of_ticks(facts, best.limit)};
    return 1;
}

int probity_why_dump_other(const struct probity_trace_facts *facts,
                           struct probity_why_dump_other *ret_other)
{
    static const struct probity_why_dump_other kinds[] = {
        {"a reason of an unknown kind", "info"},
        [PROBITY_DUMP_COMMAND] = {"a command", "info"},
        [PROBITY_DUMP_PROGRAM] = {"a request of the program", "info"},
        [PROBITY_DUMP_SIGNAL] = {"a signal", "info"},
        [PROBITY_DUMP_FUNCTION] = {"a call without a duration", "info"},
        [PROBITY_DUMP_BLOCK] = {"a block without a duration", "info"},
        [PROBITY_DUMP_WAIT] = {"a wait", "waits"},
        [PROBITY_DUMP_REQUEST] = {"a request that passed several threads", "path"},
        [PROBITY_DUMP_GAP] = {"a gap between hits", "timeline"},
        [PROBITY_DUMP_RATE] = {"the rate of a probe", "timeline"},
        [PROBITY_DUMP_VALUE] = {"a value", "log"},
    };
    struct probity_dump dump;
    struct probity_dump_reason reason;
    size_t at;

    if (facts->dump == NULL ||
        probity_dump_get(facts->dump, facts->dump_bytes, &dump, &at) != 0 || dump.reasons == 0 ||
        probity_dump_reason_get(facts->dump, facts->dump_bytes, &at, &reason) != 0)
        return 0;
    *ret_other = kinds[reason.kind < sizeof kinds / sizeof *kinds ? reason.kind : 0];
    return 1;
}

/* A dump contains only the beginning of a long name. */
static int is_name(const struct probity_text *text, const char *name)
{
    size_t length = text->length, all = strlen(name);

    return length > 0 && (all == length || (all > length && length >= PROBITY_DUMP_TEXT_MAX)) &&
           memcmp(text->bytes, name, length) == 0;
}

int probity_why_dump_is_function(const struct probity_why_dump *dump,
                                 const struct probity_function *function)
{
    return function->number == dump->reason.number || is_name(&dump->reason.text, function->name);
}

unsigned probity_why_dump_marks(const struct probity_why_dump *dump,
                                const struct probity_event *event)
{
    uint32_t code = event->id << 1 | (event->is_site != 0);

    return (unsigned)(code == dump->reason.from) | (unsigned)(code == dump->reason.number) << 1;
}
