/* SPDX-License-Identifier: MIT
 *
 * blocks_text.c: the table of blocks.
 */
#include "output/blocks_text.h"

#include <inttypes.h>
#include <string.h>

#include "output/report_text.h"

static const struct {
    const char *title;
    enum probity_blocks_key key;
    int is_cpu;
} times[] = {{"wall", PROBITY_BLOCKS_TOTAL, 0}, {"CPU", PROBITY_BLOCKS_CPU, 1},
             {"off CPU", PROBITY_BLOCKS_OFF, 1}, {"min", PROBITY_BLOCKS_MIN, 0},
             {"mean", PROBITY_BLOCKS_MEAN, 0},  {"p50", PROBITY_BLOCKS_P50, 0},
             {"p90", PROBITY_BLOCKS_P90, 0},    {"p99", PROBITY_BLOCKS_P99, 0},
             {"max", PROBITY_BLOCKS_MAX, 0}};

enum { TIMES = sizeof times / sizeof *times };

size_t probity_blocks_shown(const struct probity_blocks_answer *answer)
{
    return answer->limit > 0 && answer->limit < answer->count ? answer->limit : answer->count;
}

void probity_blocks_put_probe(FILE *stream, const struct probity_probe *probe)
{
    probity_report_put_safe(stream, probe->text, strlen(probe->text));
    if (probe->name == NULL)
        return;
    fputs(" (", stream);
    probity_report_put_safe(stream, probe->name, strlen(probe->name));
    fputc(')', stream);
}

static void put_times(FILE *stream, const struct probity_blocks_pair *pair)
{
    char text[PROBITY_REPORT_TIME_BYTES];
    uint64_t millionths = probity_blocks_value(pair, PROBITY_BLOCKS_PROBABILITY);

    fprintf(stream, "%10" PRIu64 "%7.1f%%", pair->calls, (double)millionths / 10000);
    for (size_t i = 0; i < TIMES; i++) {
        uint64_t ns = probity_blocks_value(pair, times[i].key);
        int is_known = !times[i].is_cpu || pair->cpu_calls > 0;
        fprintf(stream, "%9s", is_known ? probity_report_time_text(ns, text) : "-");
    }
}

/* When an instance began, as seconds since recording did: --since and the log have these. */
static void put_instance(FILE *stream, const struct probity_blocks_answer *answer,
                         const struct probity_blocks_instance *instance)
{
    char text[PROBITY_REPORT_TIME_BYTES];
    int64_t at_ns = (int64_t)(instance->at_ns - answer->start_ns);

    fprintf(stream, "%8s at%13.9fs", "slow", (double)at_ns / 1e9);
    fprintf(stream, "%9s", probity_report_time_text(instance->wall_ns, text));
    if (instance->is_cpu_known) {
        uint64_t cpu_ns = instance->cpu_ns;
        uint64_t off_ns = instance->wall_ns > cpu_ns ? instance->wall_ns - cpu_ns : 0;
        fprintf(stream, "%9s", probity_report_time_text(cpu_ns, text));
        fprintf(stream, "%9s", probity_report_time_text(off_ns, text));
    } else {
        fprintf(stream, "%9s%9s", "-", "-");
    }
    fputs("  ", stream);
    probity_report_put_thread(stream, instance->thread, probity_reader_traces(answer->reader) > 1);
    fputc('\n', stream);
}

static void put_pair(FILE *stream, const struct probity_blocks_answer *answer,
                     const struct probity_blocks_pair *pair)
{
    put_times(stream, pair);
    fputs("  ", stream);
    probity_blocks_put_probe(stream, pair->from);
    fputs(" -> ", stream);
    probity_blocks_put_probe(stream, pair->to);
    fputc('\n', stream);
    for (size_t i = 0; i < pair->row_count; i++) {
        put_times(stream, pair->rows[i]);
        fputs("    ", stream);
        probity_report_put_thread(stream, pair->rows[i]->thread,
                                  probity_reader_traces(answer->reader) > 1);
        fputc('\n', stream);
    }
    for (size_t i = 0; answer->has_slowest && i < pair->slowest_count; i++)
        put_instance(stream, answer, &pair->slowest[i]);
}

void probity_blocks_text(FILE *stream, int has_colour, const struct probity_blocks_answer *answer)
{
    const struct probity_scopes_repairs none = {0};
    size_t shown = probity_blocks_shown(answer);

    fprintf(stream, "%s%10s%8s", has_colour ? "\033[1m" : "", "calls", "share");
    for (size_t i = 0; i < TIMES; i++)
        fprintf(stream, "%9s", times[i].title);
    fprintf(stream, "  block%s\n", has_colour ? "\033[0m" : "");
    for (size_t i = 0; i < shown; i++)
        put_pair(stream, answer, answer->pairs[i]);
    fputc('\n', stream);
    if (answer->count == 0 && answer->are_chosen)
        fputs("no such blocks\n", stream);
    else if (answer->count == 0)
        fprintf(stream, "no hits of one %s that follow each other\n",
                answer->by_correlation ? "correlation id" : "thread");
    if (answer->forgotten > 0)
        fprintf(stream, "%" PRIu64 " ids were forgotten: more were open at a time than are kept\n",
                answer->forgotten);
    if (shown < answer->count)
        fprintf(stream, "%zu more blocks are not shown\n", answer->count - shown);
    probity_report_foot(stream, has_colour, answer->reader, &none);
}
