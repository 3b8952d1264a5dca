/* SPDX-License-Identifier: MIT
 *
 * blocks_value.c: the keys by which blocks are sorted and shown.
 */
#include <stdio.h>
#include <stdlib.h>

#include "answers/blocks/blocks.h"

static uint64_t quantile_of(const struct probity_blocks_pair *pair, unsigned per_mille)
{
    return probity_histogram_quantile(&pair->durations, per_mille, pair->min_ns, pair->max_ns);
}

uint64_t probity_blocks_value(const struct probity_blocks_pair *pair, enum probity_blocks_key key)
{
    switch (key) {
    case PROBITY_BLOCKS_TOTAL: return pair->wall_ns;
    case PROBITY_BLOCKS_CALLS: return pair->calls;
    case PROBITY_BLOCKS_PROBABILITY:
        return (uint64_t)(1e6 * (double)pair->calls / (double)pair->followed + 0.5);
    case PROBITY_BLOCKS_CPU: return pair->cpu_ns;
    case PROBITY_BLOCKS_OFF:
        return pair->cpu_wall_ns > pair->cpu_ns ? pair->cpu_wall_ns - pair->cpu_ns : 0;
    case PROBITY_BLOCKS_MIN: return pair->durations.count > 0 ? pair->min_ns : 0;
    case PROBITY_BLOCKS_MEAN:
        return pair->durations.count > 0 ? pair->sum_ns / pair->durations.count : 0;
    case PROBITY_BLOCKS_P50: return quantile_of(pair, 500);
    case PROBITY_BLOCKS_P90: return quantile_of(pair, 900);
    case PROBITY_BLOCKS_P99: return quantile_of(pair, 990);
    case PROBITY_BLOCKS_MAX: return pair->max_ns;
    default: return 0;
    }
}

static void put_probe(FILE *stream, const struct probity_probe *probe, int with_name)
{
    fputs(probe->text, stream);
    if (with_name && probe->name != NULL)
        fprintf(stream, " (%s)", probe->name);
}

char *probity_blocks_pair_name(const struct probity_blocks_pair *pair, int with_names)
{
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);

    if (stream == NULL)
        return NULL;
    put_probe(stream, pair->from, with_names);
    fputs(" -> ", stream);
    put_probe(stream, pair->to, with_names);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}
