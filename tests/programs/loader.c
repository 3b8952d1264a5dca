/* SPDX-License-Identifier: MIT
 *
 * loader.c: repeatedly loads libraries like plugin_hits.so in turn, makes them probe, and unloads
 * them. It probes, too: before, in between, after, and at the end in a new thread. Prints what must
 * be in the traces. With a fourth argument, prints to stderr by how much the process has grown
 * since the first tenth of the rounds.
 *
 *     loader PLUGIN ROUNDS [PLUGIN2 [grown]]
 */
#include <dlfcn.h>
#include <unistd.h>

#include "programs/hits.h"
#include "programs/resource_usage.h"

enum { HITS = 100, PLUGINS_OWN = 5 };

typedef void plugin_function(uint32_t stream, uint64_t first, uint64_t count);

static void use(const char *path, uint64_t first)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    plugin_function *make = NULL;

    if (plugin == NULL)
        fprintf(stderr, "%s\n", dlerror());
    hits_need(plugin != NULL, "dlopen");
    void *symbol = dlsym(plugin, "plugin_make");
    memcpy(&make, &symbol, sizeof make);
    make(1, first, HITS);
    hits_need(dlclose(plugin) == 0, "dlclose");
}

static void *probe_late(void *unused)
{
    hits_make(2, 0, HITS);
    return unused;
}

int main(int argc, char **argv)
{
    uint64_t rounds = hits_argument(argc, argv, 2, 10);
    struct resource_usage start = {0};
    pthread_t late;

    hits_make(0, 0, HITS);
    for (uint64_t i = 0; i < rounds; i++) {
        if (i == rounds / 10)
            start = resource_usage_now();
        use(argv[argc > 3 && i % 2 != 0 ? 3 : 1], i * (HITS + PLUGINS_OWN));
        hits_make(0, (i + 1) * HITS, HITS);
    }
    if (argc > 4)
        resource_usage_print(&start);
    hits_need(pthread_create(&late, NULL, probe_late, NULL) == 0, "thread");
    pthread_join(late, NULL);
    hits_expect(getpid(), 0, (rounds + 1) * HITS);
    hits_expect(getpid(), 1, rounds * (HITS + PLUGINS_OWN));
    hits_expect(getpid(), 2, HITS);
    return 0;
}
