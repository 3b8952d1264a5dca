/* SPDX-License-Identifier: MIT
 *
 * path_text.c: the parts of each path, one on a line.
 */
#include "answers/path/path_text.h"

#include <inttypes.h>

#include "answers/report/report_text.h"
#include "answers/waits/wait_text.h"
#include "print/text.h"
#include "print/time_text.h"

const char *probity_path_state_name(enum probity_path_state state)
{
    static const char *const names[PROBITY_PATH_STATES] = {
        [PROBITY_PATH_RUNNING] = "running", [PROBITY_PATH_OFF] = "off-cpu",
        [PROBITY_PATH_WAIT] = "waiting", [PROBITY_PATH_WAKE_UP] = "wake-up",
        [PROBITY_PATH_UNKNOWN] = "unknown"};

    return names[state];
}

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

/* Who did it, and why that was on the path. */
static void put_part(const struct printing *printing, const struct probity_path_span *span,
                     const struct probity_path_part *part)
{
    FILE *stream = printing->stream;
    const struct probity_path_link *link = part->link;
    uint64_t span_ns = span->to_ns - span->from_ns;
    char text[PROBITY_TIME_TEXT_BYTES];

    fprintf(stream, "  +%-9s", probity_time_text(part->from_ns - span->from_ns, text));
    fprintf(stream, "%9s%6.1f%%  %-8s  ", probity_time_text(part->ns, text),
            span_ns > 0 ? 100 * (double)part->ns / (double)span_ns : 0,
            probity_path_state_name(part->state));
    put_thread(printing, part->thread_slot);
    fputs(" in ", stream);
    probity_wait_text_doing(stream, &part->doing);
    if (link != NULL && link->thread_slot == part->thread_slot) {
        fputs(part->state == PROBITY_PATH_WAKE_UP ? ", after " : ", for ", stream);
        put_link(printing, link);
        link = link->outer;
    }
    for (; link != NULL; link = link->outer) {
        fputs(", while ", stream);
        put_thread(printing, link->thread_slot);
        fputs(" waits for ", stream);
        put_link(printing, link);
    }
    fputc('\n', stream);
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
    for (size_t i = 0; i < span->part_count; i++)
        put_part(printing, span, &span->parts[i]);
    fputc('\n', stream);
}

void probity_path_text(FILE *stream, int has_colour, const struct probity_path_answer *answer)
{
    const struct printing printing = {stream, answer, probity_reader_traces(answer->reader) > 1};
    struct probity_waits_facts facts = probity_path_facts(answer->path);
    size_t count;
    const struct probity_path_span *const *spans = probity_path_spans(answer->path, &count);

    for (size_t i = 0; i < count; i++)
        put_span(&printing, spans[i]);
    if (count == 0)
        fprintf(stream, "no %s has begun and ended\n", answer->what);
    probity_wait_text_facts(stream, &facts);
    probity_report_foot(stream, has_colour, answer->reader, probity_path_repairs(answer->path));
}
