/* SPDX-License-Identifier: MIT
 *
 * profiled.c: converts a histogram of ticks to one of nanoseconds. Each call in a bucket is counted
 * at the bucket's midpoint, which is within an eighth of the call's duration.
 */
#include "answers/report/profiled.h"

#include "base/ticks.h"

static int convert(const struct probity_profiled *profiled, struct probity_histogram *durations)
{
    int error = 0;

    for (uint32_t i = 0; error == 0 && i < PROBITY_PROFILE_BUCKETS; i++) {
        uint64_t least = i > 0 ? probity_profile_bucket_start(i) : 0;
        uint64_t middle = least + (probity_profile_bucket_start(i + 1) - least) / 2;
        uint64_t ns = probity_ns_of_ticks(middle, profiled->rate);
        /* A bucket's midpoint may be outside the range of its calls. */
        ns = ns > profiled->max_ns ? profiled->max_ns : ns;
        ns = ns < profiled->min_ns ? profiled->min_ns : ns;
        error = probity_histogram_add_times(durations, ns, profiled->histogram[i]);
    }
    return error;
}

int probity_report_profiled_row(const struct probity_profiled *profiled,
                                const struct probity_thread_label *thread,
                                struct probity_report_row *ret_row)
{
    int is_timed = profiled->calls > profiled->untimed + profiled->open;

    *ret_row = (struct probity_report_row){
        .function = profiled->function,
        .trace = profiled->trace,
        .number = profiled->number,
        .thread = thread,
        .sums = {.calls = profiled->calls,
                 .untimed = profiled->untimed,
                 .counted = profiled->counted,
                 .repaired = profiled->unwound + profiled->open,
                 .open = profiled->open,
                 .total = {profiled->total_ns, profiled->cpu_total_ns},
                 .self = {profiled->self_ns, profiled->cpu_self_ns},
                 .paused = {profiled->paused_ns, 0},
                 .uncosted = profiled->calls - profiled->untimed,
                 .sum_ns = profiled->durations_ns,
                 .min_ns = is_timed ? profiled->min_ns : UINT64_MAX,
                 .max_ns = profiled->max_ns}};
    /* If no call was timed, there is no minimum, which the histogram requires. */
    return is_timed ? convert(profiled, &ret_row->sums.durations) : 0;
}

int probity_report_add_profiled(struct probity_report *report,
                                const struct probity_profiled *profiled)
{
    const struct probity_thread_label thread = {.trace = profiled->trace,
                                                 .thread = profiled->thread,
                                                 .tid = profiled->tid,
                                                 .pid = profiled->pid};
    struct probity_report_row row;
    int error = probity_report_profiled_row(profiled, &thread, &row);

    row.sums.profiled = row.sums.calls - row.sums.counted;
    if (error == 0)
        error = probity_report_add_row(report, &row);
    probity_histogram_release(&row.sums.durations);
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
