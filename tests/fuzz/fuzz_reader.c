/* SPDX-License-Identifier: MIT
 *
 * fuzz_reader.c: the reader, the merge and `check` on arbitrary bytes in memory, where executions
 * are cheap. Checks the results: events are in time order, no more numerous than bytes, texts are
 * terminated, and `check` finds all damage.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fuzz/target.h"
#include "reader/reader.h"

/* Bits of the first byte. */
enum { SURVEY = 1, TWICE = 2, RANGE = 4, LISTS = 8, CHECK = 16, WAYS = 32 };

const int target_ways = WAYS;

static volatile uint64_t sink; /* keeps the compiler from removing reads */

static void touch(const void *bytes, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += ((const uint8_t *)bytes)[i];
    sink += sum;
}

static void touch_text(const char *text)
{
    if (text != NULL)
        touch(text, strlen(text));
}

static void demand(int holds)
{
    if (!holds)
        abort();
}

static void touch_function(const struct probity_function *function)
{
    if (function == NULL)
        return;
    touch_text(function->name);
    touch_text(function->file);
    touch_text(function->signature);
    touch_text(function->returns);
    touch_text(function->object);
}

static void touch_event(const struct probity_event *event)
{
    if (event->name != NULL) {
        demand(event->name[event->name_bytes] == '\0');
        touch(event->name, event->name_bytes);
    }
    touch(event->payload, event->payload_bytes);
    touch(event->values, event->value_bytes);
    touch_function(event->function);
    for (size_t i = 0; event->format != NULL && i < event->format->count; i++)
        touch_text(event->format->values[i].text);
    demand(event->entered_tick <= event->tick);
}

static int take_profiled(void *context, const struct probity_profiled *profiled)
{
    (void)context;
    touch_function(profiled->function);
    touch(profiled->histogram, PROBITY_PROFILE_BUCKETS * sizeof *profiled->histogram);
    return 0;
}

static int take_site(void *context, const struct probity_listed_site *site)
{
    (void)context;
    touch_text(site->name);
    touch_text(site->file);
    touch_text(site->within);
    touch_text(site->signature);
    touch_text(site->returns);
    touch_text(site->object);
    return 0;
}

static void read_lists(struct probity_reader *reader)
{
    uint64_t left_out;

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        probity_reader_profile(reader, i, take_profiled, NULL);
        probity_reader_sites(reader, i, take_site, NULL, &left_out);
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        for (size_t j = 0; j < facts->thread_list_count; j++)
            touch_text(facts->thread_list[j].name);
    }
}

/* Two readings of a trace have the same ticks, so events are in the order of ticks, except after
 * damage, which may delay the discovery of a block. */
static uint64_t read_events(struct probity_reader *reader, uint64_t events_max)
{
    const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
    const struct probity_event *event;
    uint64_t events = 0, before = 0;
    int got, steps_back = 0;

    while ((got = probity_reader_next(reader, &event)) > 0) {
        demand(++events <= events_max);
        steps_back |= event->tick < before;
        before = event->tick;
        touch_event(event);
    }
    demand(got == 0);
    demand(!steps_back || facts->damages > 0 || facts->late_records_unordered > 0);
    return events;
}

static void count_fault(void *context, uint64_t offset, const char *text)
{
    (void)offset;
    touch_text(text);
    ++*(uint64_t *)context;
}

/* No reader that checks less may find more damage than `check`. */
static void check(const struct probity_reader *reader, uint64_t events, int is_all)
{
    const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
    uint64_t faults = 0;
    struct probity_check_listener listener = {.report = count_fault, .context = &faults};
    struct probity_check_result result;
    int error = probity_check_file("trace", &listener, &result);

    demand(error == 0 || error == PROBITY_ERROR_DAMAGED || error == PROBITY_ERROR_FORMAT);
    if (error != 0 || faults > 0 || result.cut_bytes > 0)
        return;
    demand(facts->damages == 0 && facts->cut_bytes == 0);
    demand(!is_all || facts->spool_records > 0 || events == result.records);
}

static void run(uint8_t way, size_t size)
{
    static const char *const paths[] = {"trace", "trace"};
    struct probity_reader_options options = {.prescan = (way & SURVEY) != 0};
    size_t count = (way & TWICE) != 0 ? 2 : 1;
    struct probity_reader *reader;
    char why[256];

    if (probity_reader_open(paths, count, &options, NULL, &reader) != 0)
        return;
    const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
    if ((way & RANGE) != 0)
        probity_reader_set_range(reader, facts->first_wall_ns, facts->last_wall_ns);
    int is_by_ticks = count == 1 || facts->info.clock == PROBITY_CLOCK_TSC;
    uint64_t events = is_by_ticks ? read_events(reader, count * (size + facts->spool_records)) : 0;
    if ((way & LISTS) != 0)
        read_lists(reader);
    if (probity_trace_is_complete(facts, why, sizeof why))
        demand(facts->damages == 0);
    touch_text(why);
    if ((way & CHECK) != 0)
        check(reader, events, count == 1 && (way & RANGE) == 0);
    probity_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[TARGET_BYTES_MAX];

    if (size < 2 || size > TARGET_BYTES_MAX)
        return 0;
    memcpy(bytes, data + 1, size - 1);
    if (data[0] < TARGET_FIX_BELOW)
        target_fix_checksums(bytes, size - 1);
    target_file_set(bytes, size - 1);
    run(data[0], size);
    return 0;
}
