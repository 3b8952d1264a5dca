/* SPDX-License-Identifier: MIT
 *
 * cli_repeated.c: finds traces that are given several times. Counting a trace twice would double
 * its calls and times, and the result would look plausible.
 */
#include "cli/cli_repeated.h"

#include <stdlib.h>
#include <string.h>

#include "cli/place.h"

/* Compares device and inode, to detect links. The reader reports files that cannot be examined. */
size_t cli_repeated_links(const struct cli_command *command, char **paths, size_t count)
{
    struct cli_place *seen = calloc(count + 1, sizeof *seen);
    size_t kept = 0;

    for (size_t i = 0; seen != NULL && i < count; i++) {
        struct cli_place *one = &seen[kept];
        size_t same = 0;
        int is_known = cli_place_of(paths[i], one);
        if (!is_known)
            *one = (struct cli_place){0};
        while (same < kept && (!is_known || memcmp(&seen[same], one, sizeof *one) != 0))
            same++;
        char *path = paths[i];
        if (same == kept) {
            /* Keeps both in the array, because its owner frees them. */
            paths[i] = paths[kept];
            paths[kept++] = path;
        } else {
            cli_warn(command, "'%s' is the same trace as '%s'; counted once", path, paths[same]);
        }
    }
    free(seen);
    return kept > 0 ? kept : count;
}

/* The session is random, so it alone identifies a recording; dumps have sessions of their own. A
 * trace that only has the same session as another one, by mistake or on purpose, does not count as
 * a copy. */
static int is_same_recording(const struct probity_trace_facts *one,
                             const struct probity_trace_facts *other)
{
    return memcmp(one->info.session, other->info.session, sizeof one->info.session) == 0 &&
           memcmp(one->info.boot, other->info.boot, sizeof one->info.boot) == 0 &&
           one->info.pid == other->info.pid &&
           one->info.process_start == other->info.process_start &&
           one->info.anchor.ticks == other->info.anchor.ticks;
}

/* Files only grow, and only the original has the spool. */
static int has_more(const struct probity_trace_facts *one, const struct probity_trace_facts *other)
{
    return one->file_bytes != other->file_bytes ? one->file_bytes > other->file_bytes
                                                : one->spool_records > other->spool_records;
}

size_t cli_repeated_copies(const struct cli_command *command, char **paths,
                           const struct probity_reader *reader)
{
    size_t count = probity_reader_traces(reader), kept = 0;
    const struct probity_trace_facts **seen = calloc(count + 1, sizeof *seen);

    for (size_t i = 0; seen != NULL && i < count; i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        char *path = paths[i];
        size_t same = 0;
        while (same < kept && !is_same_recording(seen[same], facts))
            same++;
        if (same == kept) {
            paths[i] = paths[kept];
            paths[kept] = path;
            seen[kept++] = facts;
            continue;
        }
        if (has_more(facts, seen[same])) {
            paths[i] = paths[same];
            paths[same] = path;
            seen[same] = facts;
        }
        cli_warn(command, "'%s' is a copy of '%s'; counted once", paths[i], paths[same]);
    }
    free(seen);
    return kept > 0 ? kept : count;
}
