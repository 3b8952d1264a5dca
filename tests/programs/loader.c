/* SPDX-License-Identifier: MIT
 *
 * loader.c: loads libraries like plugin_hits.so in turns, lets them probe, unloads them; again and
 * again. Probes itself before, between and behind, at last in a new thread. Says what must be in
 * the traces, and on stderr, with a fourth argument, by what the process has grown since the first
 * tenth of the rounds.
 *
 *     loader PLUGIN ROUNDS [PLUGIN2 [grown]]
 */
#include <dlfcn.h>
#include <unistd.h>

#include "programs/grown.h"
#include "programs/hits.h"

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
    struct grown start = {0};
    pthread_t late;

    hits_make(0, 0, HITS);
    for (uint64_t i = 0; i < rounds; i++) {
        if (i == rounds / 10)
            start = grown_now();
        use(argv[argc > 3 && i % 2 != 0 ? 3 : 1], i * (HITS + PLUGINS_OWN));
        hits_make(0, (i + 1) * HITS, HITS);
    }
    if (argc > 4)
        grown_tell(&start);
    hits_need(pthread_create(&late, NULL, probe_late, NULL) == 0, "thread");
    pthread_join(late, NULL);
    hits_expect(getpid(), 0, (rounds + 1) * HITS);
    hits_expect(getpid(), 1, rounds * (HITS + PLUGINS_OWN));
    hits_expect(getpid(), 2, HITS);
    return 0;
}
