/* SPDX-License-Identifier: MIT
 *
 * path_text.c: prints the parts of each path, one per line.
 */
#include "answers/path/path_print.h"

#include <inttypes.h>
#include <string.h>

#include "answers/report/hosts_print.h"
#include "answers/report/report_text.h"
#include "answers/waits/wait_text.h"
#include "print/text.h"
#include "print/time_text.h"

const char *probity_path_state_name(enum probity_path_state state)
{
    static const char *const names[PROBITY_PATH_STATES] = {
        [PROBITY_PATH_RUNNING] = "running", [PROBITY_PATH_RUNNABLE] = "runnable",
        [PROBITY_PATH_BLOCKED] = "blocked", [PROBITY_PATH_WAKE_UP] = "wake-up",
        [PROBITY_PATH_WIRE] = "wire",
        [PROBITY_PATH_OFF] = "off-cpu", [PROBITY_PATH_WAIT] = "waiting",
        [PROBITY_PATH_UNKNOWN] = "unknown"};

    return names[state];
}

/* The text shows up to this many alternating states of one thread one by one. */
enum { ALTERNATIONS_MAX = 4 };

struct printing {
    FILE *stream;
    const struct probity_path_answer *answer;
    int has_pids;
};

static void put_thread(const struct printing *printing, uint32_t slot)
{
    const struct probity_thread_label *thread =
        probity_path_thread(printing->answer->path, slot);

    if (thread != NULL)
        probity_wait_text_thread(printing->stream, thread, 0, printing->has_pids);
    else
        fputc('-', printing->stream);
}

static void put_link(const struct printing *printing, const struct probity_path_link *link)
{
    const struct probity_wait_name name = {link->what, link->name, link->object};

    probity_wait_text_name(printing->stream, &name);
}

uint64_t probity_path_wire_error(const struct probity_path_answer *answer,
                                 const struct probity_path_part *part)
{
    const struct probity_hosts *hosts = probity_reader_hosts(answer->reader);
    const struct probity_thread_label *from = probity_path_thread(answer->path, part->from_slot);
    const struct probity_thread_label *to = probity_path_thread(answer->path, part->thread_slot);

    if (from == NULL || to == NULL)
        return UINT64_MAX;
    const struct probity_info *a = &probity_reader_facts(answer->reader, from->trace)->info;
    const struct probity_info *b = &probity_reader_facts(answer->reader, to->trace)->info;
    if (memcmp(a->boot, b->boot, sizeof a->boot) == 0)
        return 0;
    if (hosts == NULL)
        return UINT64_MAX;
    const struct probity_host *left = &hosts->hosts[hosts->of_traces[from->trace]];
    const struct probity_host *right = &hosts->hosts[hosts->of_traces[to->trace]];
    return left->reference != right->reference || left->error_ns == UINT64_MAX ||
                   right->error_ns == UINT64_MAX
               ? UINT64_MAX
               : left->error_ns + right->error_ns;
}

static void put_host(const struct printing *printing, uint32_t slot)
{
    const struct probity_hosts *hosts = probity_reader_hosts(printing->answer->reader);
    const struct probity_thread_label *thread = probity_path_thread(printing->answer->path, slot);
    char name[PROBITY_HOST_NAME_BYTES];

    put_thread(printing, slot);
    if (hosts != NULL && thread != NULL)
        fprintf(printing->stream, " on %s",
                probity_host_name(hosts, hosts->of_traces[thread->trace], name));
}

static void put_wire(const struct printing *printing, const struct probity_path_part *part)
{
    uint64_t error_ns = probity_path_wire_error(printing->answer, part);
    char text[PROBITY_TIME_TEXT_BYTES];

    fputs("from ", printing->stream);
    put_host(printing, part->from_slot);
    fputs(" to ", printing->stream);
    put_host(printing, part->thread_slot);
    if (error_ns == UINT64_MAX)
        fputs(", error unknown\n", printing->stream);
    else if (error_ns > 0)
        fprintf(printing->stream, ", error at most %s\n", probity_time_text(error_ns, text));
    else
        fputc('\n', printing->stream);
}

/* Prints the thread and function, and why they are on the path. times: number of parts summed in
 * the line. */
static void put_part(const struct printing *printing, const struct probity_path_span *span,
                     const struct probity_path_part *part, size_t times)
{
    FILE *stream = printing->stream;
    const struct probity_path_link *link = part->link;
    uint64_t span_ns = span->to_ns - span->from_ns;
    char text[PROBITY_TIME_TEXT_BYTES];

    fprintf(stream, "  +%-9s", probity_time_text(part->from_ns - span->from_ns, text));
    fprintf(stream, "%9s%6.1f%%  %-8s  ", probity_time_text(part->ns, text),
            span_ns > 0 ? 100 * (double)part->ns / (double)span_ns : 0,
            probity_path_state_name(part->state));
    if (part->state == PROBITY_PATH_WIRE) {
        put_wire(printing, part);
        return;
    }
    put_thread(printing, part->thread_slot);
    fputs(" in ", stream);
    probity_wait_text_doing(stream, &part->doing);
    if (link != NULL && link->thread_slot == part->thread_slot) {
        if (part->state != PROBITY_PATH_RUNNING) {
            int is_after = part->state == PROBITY_PATH_WAKE_UP ||
                           part->state == PROBITY_PATH_RUNNABLE;
            fputs(is_after ? ", after " : ", for ", stream);
            put_link(printing, link);
        }
        link = link->outer;
    }
    for (; link != NULL; link = link->outer) {
        fputs(", while ", stream);
        put_thread(printing, link->thread_slot);
        fputs(link->what != PROBITY_WAIT_WHATS ? " waits for " : " is blocked", stream);
        if (link->what != PROBITY_WAIT_WHATS)
            put_link(printing, link);
    }
    if (times > 1)
        fprintf(stream, " (%zu times)", times);
    fputc('\n', stream);
}

static int is_alike(const struct probity_path_part *a, const struct probity_path_part *b)
{
    return a->thread_slot == b->thread_slot && a->link == b->link &&
           a->doing.function == b->doing.function && a->doing.call == b->doing.call;
}

/* Sums parts that differ only in their states: prints a line for each state, in order of first
 * appearance. */
static void put_sums(const struct printing *printing, const struct probity_path_span *span,
                     const struct probity_path_part *parts, size_t count)
{
    unsigned shown = 0;

    for (size_t i = 0; i < count; i++) {
        struct probity_path_part sum = parts[i];
        size_t times = 1;
        if (shown >> sum.state & 1)
            continue;
        shown |= 1U << sum.state;
        for (size_t j = i + 1; j < count; j++) {
            sum.ns += parts[j].state == sum.state ? parts[j].ns : 0;
            times += parts[j].state == sum.state;
        }
        put_part(printing, span, &sum, times);
    }
}

static void put_parts(const struct printing *printing, const struct probity_path_span *span)
{
    for (size_t i = 0, end; i < span->part_count; i = end) {
        for (end = i + 1; end < span->part_count && is_alike(&span->parts[i], &span->parts[end]);)
            end++;
        if (end - i > ALTERNATIONS_MAX)
            put_sums(printing, span, &span->parts[i], end - i);
        else
            for (size_t j = i; j < end; j++)
                put_part(printing, span, &span->parts[j], 1);
    }
}

static void put_states(const struct printing *printing, const struct probity_path_span *span)
{
    static const struct {
        const char *name;
        enum probity_sched_state state;
    } parts[] = {{"running", PROBITY_STATE_RUNNING},
                 {", waiting for a CPU", PROBITY_STATE_RUNNABLE},
                 {", blocked", PROBITY_STATE_BLOCKED},
                 {", unknown", PROBITY_STATE_UNKNOWN}};
    char text[PROBITY_TIME_TEXT_BYTES];

    fputs("  ", printing->stream);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        uint64_t ns = span->split.ns[parts[i].state];
        if (ns > 0 || parts[i].state != PROBITY_STATE_UNKNOWN)
            fprintf(printing->stream, "%s %s", parts[i].name, probity_time_text(ns, text));
    }
    fputc('\n', printing->stream);
}

static void put_span(const struct printing *printing, const struct probity_path_span *span)
{
    FILE *stream = printing->stream;
    char text[PROBITY_TIME_TEXT_BYTES];

    fputs(printing->answer->what, stream);
    if (span->has_id)
        fprintf(stream, " %" PRIu64, span->id);
    fprintf(stream, ": %s, ", probity_time_text(span->to_ns - span->from_ns, text));
    probity_wait_text_when(stream, span->from_ns,
                           probity_reader_start_ns(printing->answer->reader));
    fputs(", ended in ", stream);
    put_thread(printing, span->thread_slot);
    fputc('\n', stream);
    if (span->has_states)
        put_states(printing, span);
    put_parts(printing, span);
    fputc('\n', stream);
}

void probity_path_text(FILE *stream, int has_color, const struct probity_path_answer *answer)
{
    const struct printing printing = {stream, answer, probity_reader_traces(answer->reader) > 1};
    struct probity_waits_facts facts = probity_path_facts(answer->path);
    size_t count;
    const struct probity_path_span *const *spans = probity_path_spans(answer->path, &count);

    for (size_t i = 0; i < count; i++)
        put_span(&printing, spans[i]);
    if (count == 0)
        fprintf(stream, "no %s begins and ends in the trace\n", answer->what);
    probity_wait_text_facts(stream, &facts);
    probity_report_foot(stream, has_color, answer->reader, probity_path_repairs(answer->path));
}
