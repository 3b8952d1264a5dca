/* SPDX-License-Identifier: MIT
 *
 * loader.c: loads plugin_hits.so, lets it probe, unloads it; again and again. Says what must be in
 * the trace.
 *
 *     loader PLUGIN ROUNDS
 */
#include <dlfcn.h>
#include <unistd.h>

#include "programs/hits.h"

enum { HITS = 100 };

typedef void plugin_function(uint32_t stream, uint64_t first, uint64_t count);

int main(int argc, char **argv)
{
    uint64_t rounds = hits_argument(argc, argv, 2, 10);

    for (uint64_t i = 0; i < rounds; i++) {
        void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (plugin == NULL)
            fprintf(stderr, "%s\n", dlerror());
        hits_need(plugin != NULL, "dlopen");
        plugin_function *make = NULL;
        void *symbol = dlsym(plugin, "plugin_make");
        memcpy(&make, &symbol, sizeof make);
        make(1, i * (HITS + 5), HITS);
        hits_need(dlclose(plugin) == 0, "dlclose");
    }
    hits_expect(getpid(), 1, rounds * (HITS + 5));
    return 0;
}
