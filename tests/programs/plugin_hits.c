/* SPDX-License-Identifier: MIT
 *
 * plugin_hits.c: a library that is loaded, probes, and is unloaded along with the names of its
 * probes. PLUGIN_SCOPE, the name of a function, adds a scope, so that two libraries of equal size
 * can differ in their names.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include "programs/hits.h"

void plugin_make(uint32_t stream, uint64_t first, uint64_t count);

#ifdef PLUGIN_SCOPE
#define PLUGIN_TEXT(name) PLUGIN_TEXT_OF(name)
#define PLUGIN_TEXT_OF(name) #name
static __attribute__((noinline)) int PLUGIN_SCOPE(uint64_t first)
{
    FN_FUNC(int, FN_1);
    FN_PARAM(first);
    PROBITY_PROBE_NAMED(PLUGIN_TEXT(PLUGIN_SCOPE));
    return (int)first;
}
#else
static int no_scope(uint64_t first)
{
    return (int)first;
}
#define PLUGIN_SCOPE no_scope
#endif

static uint32_t last_stream;
static uint64_t next;

__attribute__((visibility("default"))) void plugin_make(uint32_t stream, uint64_t first,
                                                        uint64_t count)
{
    hits_make(stream, first, count);
    for (int i = 0; i < 10; i++)
        PROBITY_PROBE_NAMED("plugin's own name");
    PLUGIN_SCOPE(first);
    last_stream = stream;
    next = first + count;
}

__attribute__((destructor)) static void at_unload(void)
{
    hits_make(last_stream, next, 5);
}
