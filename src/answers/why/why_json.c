/* SPDX-License-Identifier: MIT
 *
 * why_json.c: slow calls as one JSON object.
 */
#include "answers/why/why_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answers/path/path_print.h"
#include "answers/report/report_json.h"
#include "answers/waits/wait_text.h"
#include "answers/why/why_rows.h"
#include "print/json.h"
#include "probity.h"

struct writing {
    FILE *stream;
    const struct probity_why_answer *answer;
    const struct probity_why_case *of;
};

static const struct probity_thread_label *thread_of(const struct writing *writing, uint32_t slot)
{
    return probity_path_thread(probity_why_paths(writing->answer->why), slot);
}

/* Writes a text, or null for NULL. */
static int put_name(FILE *stream, const char *before, const char *text)
{
    fputs(before, stream);
    return probity_json_put_text(stream, text);
}

/* Writes the paths below the call. */
static int put_rows(const struct writing *writing)
{
    struct probity_why_row rows[PROBITY_WHY_ROWS];
    size_t count = probity_why_rows(writing->of, rows);
    FILE *stream = writing->stream;
    int error = 0;

    fputs(", \"differences\": [", stream);
    for (size_t i = 0; error == 0 && i < count; i++) {
        const struct probity_why_row *row = &rows[i];
        char text[PROBITY_WHY_PATH_BYTES];
        probity_why_path_text(writing->of->group, row->node, text);
        error = put_name(stream, i > 0 ? ",\n  {\"path\": " : "\n  {\"path\": ", text);
        fprintf(stream, ", \"ns\": %" PRIu64 ", \"median_ns\": %" PRIu64 ", \"calls\": %" PRIu64
                ", \"median_calls\": %" PRIu64 "}", row->value.wall_ns, row->usual.wall_ns,
                row->value.calls, row->usual.calls);
    }
    fputc(']', stream);
    return error;
}

static int put_waits(const struct writing *writing)
{
    FILE *stream = writing->stream;
    int error = 0;

    fputs(", \"waits\": [", stream);
    for (size_t i = 0; error == 0 && i < writing->of->wait_count; i++) {
        const struct probity_why_wait *wait = &writing->of->waits[i];
        fprintf(stream, "%s{\"part\": \"%s\", \"ns\": %" PRIu64 ", \"count\": %" PRIu64
                ", \"longest_ns\": %" PRIu64 ", \"kind\": ", i > 0 ? ",\n  " : "\n  ",
                probity_why_part_name(wait->part), wait->ns, wait->count, wait->longest_ns);
        if (wait->target == NULL) {
            fputs("null, \"name\": null}", stream);
            continue;
        }
        fprintf(stream, "\"%s\"", probity_wait_what_name(wait->target->what));
        error = put_name(stream, ", \"name\": ", wait->target->name);
        if (wait->target->object != 0)
            fprintf(stream, ", \"object\": \"0x%" PRIx64 "\"", wait->target->object);
        fputc('}', stream);
    }
    fputc(']', stream);
    return error;
}

static int put_others(const struct writing *writing)
{
    struct probity_why_other others[PROBITY_WHY_OTHERS];
    size_t count = probity_why_others(writing->answer->why, writing->of, others);
    int error = 0;

    fputs(", \"other_threads\": [", writing->stream);
    for (size_t i = 0; error == 0 && i < count; i++) {
        fprintf(writing->stream, "%s{\"ns\": %" PRIu64 ", \"state\": \"%s\"",
                i > 0 ? ",\n  " : "\n  ", others[i].ns, probity_path_state_name(others[i].state));
        error = probity_wait_json_who(writing->stream, "",
                                      thread_of(writing, others[i].thread_slot), 0,
                                      &others[i].doing);
        fputc('}', writing->stream);
    }
    fputc(']', writing->stream);
    return error;
}

static int put_sentence(const struct writing *writing, const struct probity_why_cause *cause)
{
    char *text = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes);

    if (memory == NULL)
        return PROBITY_ERROR_MEMORY;
    probity_why_sentence(memory, writing->answer, writing->of, cause);
    int error = fclose(memory) == 0 && text != NULL
                    ? put_name(writing->stream, ", \"sentence\": ", text) : PROBITY_ERROR_MEMORY;
    free(text);
    return error;
}

static int put_cause(const struct writing *writing)
{
    const struct probity_why_cause cause = probity_why_cause_of(writing->answer->why, writing->of);
    FILE *stream = writing->stream;
    int error = 0;

    fprintf(stream, ", \"cause\": {\"kind\": \"%s\"", probity_why_cause_name(cause.kind));
    if (cause.kind != PROBITY_WHY_CAUSE_NONE) {
        char path[PROBITY_WHY_PATH_BYTES];
        probity_why_path_text(writing->of->group, cause.node->number, path);
        fprintf(stream, ", \"part\": \"%s\", \"ns\": %" PRIu64 ", \"median_ns\": %" PRIu64
                ", \"share\": %.4f", probity_why_part_name(cause.part), cause.ns, cause.usual_ns,
                cause.share);
        error = put_name(stream, ", \"path\": ", path);
        fprintf(stream, ", \"calls\": %" PRIu64 ", \"median_calls\": %" PRIu64, cause.value.calls,
                cause.usual.calls);
    }
    if (error == 0 && cause.wait != NULL && cause.wait->target != NULL)
        error = put_name(stream, ", \"waited_for\": ", cause.wait->target->name);
    if (error == 0 && cause.wait != NULL)
        error = probity_wait_json_who(stream, "culprit_", thread_of(writing, cause.culprit_slot),
                                      cause.culprit_tid, &cause.culprit_doing);
    if (error == 0)
        error = put_sentence(writing, &cause);
    fputc('}', stream);
    return error;
}

static int put_head(const struct writing *writing)
{
    const struct probity_why_case *of = writing->of;
    const struct probity_duration_stats *all = &of->group->durations;
    const struct probity_thread_label *thread = thread_of(writing, of->thread_slot);
    FILE *stream = writing->stream;
    uint64_t ns = of->to_ns - of->from_ns;
    int error = put_name(stream, "{\"name\": ",
                         probity_why_group_name(writing->answer, of->group));

    fprintf(stream, ", \"at_ns\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"tid\": %" PRIu32,
            of->from_ns, ns, thread != NULL ? thread->tid : 0);
    if (error == 0)
        error = put_name(stream, ", \"thread\": ", thread != NULL ? thread->name : NULL);
    fprintf(stream, ", \"count\": %" PRIu64 ", \"as_slow\": %" PRIu64 ", \"median_ns\": %" PRIu64
            ", \"p99_ns\": %" PRIu64 ", \"has_cpu_times\": %s, \"has_states\": %s", all->count,
            probity_why_rank(of->group, ns), probity_duration_stats_quantile(all, 500),
            probity_duration_stats_quantile(all, 990), of->has_cpu ? "true" : "false",
            of->has_states ? "true" : "false");
    return error;
}

static int put_case(const struct writing *writing)
{
    const struct probity_why_case *of = writing->of;
    int error = put_head(writing);

    fputs(", \"parts\": {", writing->stream);
    for (int part = 0; part < PROBITY_WHY_PARTS; part++)
        fprintf(writing->stream, "%s\"%s\": {\"ns\": %" PRIu64 ", \"median_ns\": %" PRIu64 "}",
                part > 0 ? ", " : "", probity_why_part_name((enum probity_why_part)part),
                of->parts[part], probity_why_median(of->group, &of->group->parts[part]));
    fputc('}', writing->stream);
    if (error == 0)
        error = put_waits(writing);
    if (error == 0)
        error = put_rows(writing);
    if (error == 0)
        error = put_others(writing);
    if (error == 0)
        error = put_cause(writing);
    fputc('}', writing->stream);
    return error;
}

/* Writes the condition that caused the dump, and its limit. */
static int put_dump(FILE *stream, const struct probity_why_dump *dump)
{
    if (dump == NULL)
        return 0;
    char *condition = strndup(dump->reason.condition.bytes, dump->reason.condition.length);
    if (condition == NULL)
        return PROBITY_ERROR_MEMORY;
    fputs(",\n\"condition\": ", stream);
    int error = probity_json_put_text(stream, condition);
    free(condition);
    fprintf(stream, ",\n\"limit_ns\": %" PRIu64, dump->limit_ns);
    return error;
}

int probity_why_json(FILE *stream, const struct probity_why_answer *answer)
{
    struct probity_waits_facts facts = probity_why_facts(answer->why);
    size_t count;
    const struct probity_why_case *const *cases = probity_why_cases(answer->why, &count);
    int error = probity_report_json_head(stream, answer->reader, probity_why_repairs(answer->why));

    fprintf(stream, ",\n\"start_ns\": %" PRIu64 ",\n\"what\": \"%s\"",
            probity_reader_start_ns(answer->reader), answer->span != NULL ? "span" : "call");
    probity_wait_json_facts(stream, &facts);
    if (error == 0)
        error = put_dump(stream, answer->dump);
    fputs(",\n\"cases\": [", stream);
    for (size_t i = 0; error == 0 && i < count; i++) {
        const struct writing writing = {stream, answer, cases[i]};
        fputs(i > 0 ? ",\n" : "\n", stream);
        error = put_case(&writing);
    }
    fputs("]}\n", stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}
