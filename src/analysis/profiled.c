/* SPDX-License-Identifier: MIT
 *
 * profiled.c: a histogram of ticks becomes one of nanoseconds: all calls of a bucket go to its
 * middle, which is within an eighth of each of them.
 */
#include "analysis/profiled.h"

#include "base/scale.h"

static int convert(const struct probity_profiled *profiled, struct probity_fine *durations)
{
    int error = 0;

    for (uint32_t i = 0; error == 0 && i < PROBITY_PROFILE_BUCKETS; i++) {
        uint64_t least = i > 0 ? probity_profile_bucket_start(i) : 0;
        uint64_t middle = least + (probity_profile_bucket_start(i + 1) - least) / 2;
        uint64_t ns = probity_ns_of_ticks(middle, profiled->rate);
        /* The middle of a bucket may lie beyond any of its calls. */
        ns = ns > profiled->max_ns ? profiled->max_ns : ns;
        ns = ns < profiled->min_ns ? profiled->min_ns : ns;
        error = probity_fine_add_times(durations, ns, profiled->histogram[i]);
    }
    return error;
}

int probity_report_add_profiled(struct probity_report *report,
                                const struct probity_profiled *profiled)
{
    const struct probity_thread_label thread = {.trace = profiled->trace,
                                                 .thread = profiled->thread,
                                                 .tid = profiled->tid,
                                                 .pid = profiled->pid};
    int is_timed = profiled->calls > profiled->untimed;
    struct probity_report_row row = {
        .function = profiled->function,
        .trace = profiled->trace,
        .number = profiled->number,
        .thread = &thread,
        .sums = {.calls = profiled->calls,
                 .untimed = profiled->untimed,
                 .repaired = profiled->unwound,
                 .total = {profiled->total_ns, profiled->cpu_total_ns},
                 .self = {profiled->self_ns, profiled->cpu_self_ns},
                 .paused = {profiled->paused_ns, 0},
                 .uncosted = profiled->calls - profiled->untimed,
                 .sum_ns = profiled->durations_ns,
                 .min_ns = is_timed ? profiled->min_ns : UINT64_MAX,
                 .max_ns = profiled->max_ns}};
    int error = convert(profiled, &row.sums.durations);

    if (error == 0)
        error = probity_report_add_row(report, &row);
    probity_fine_release(&row.sums.durations);
    return error;
}

static int take_profiled(void *report, const struct probity_profiled *profiled)
{
    return probity_report_add_profiled(report, profiled);
}

int probity_report_read(struct probity_report *report, struct probity_reader *reader)
{
    const struct probity_event *event;
    int got = 0, error = 0;

    while (error == 0 && (got = probity_reader_next(reader, &event)) > 0)
        error = probity_report_put(report, event);
    for (size_t i = 0; error == 0 && got == 0 && i < probity_reader_traces(reader); i++)
        error = probity_reader_profile(reader, i, take_profiled, report);
    if (error == 0)
        error = got < 0 ? got : probity_report_finish(report);
    return error;
}
