/* SPDX-License-Identifier: MIT
 *
 * plugin_hits.c: a library that is loaded, probes, and is unloaded again, with the strings of its
 * named probes.
 */
#include "programs/hits.h"

void plugin_make(uint32_t stream, uint64_t first, uint64_t count);

static uint32_t last_stream;
static uint64_t next;

__attribute__((visibility("default"))) void plugin_make(uint32_t stream, uint64_t first,
                                                        uint64_t count)
{
    hits_make(stream, first, count);
    for (int i = 0; i < 10; i++)
        PROBITY_PROBE_NAMED("plugin's own name");
    last_stream = stream;
    next = first + count;
}

__attribute__((destructor)) static void at_unload(void)
{
    hits_make(last_stream, next, 5);
}
