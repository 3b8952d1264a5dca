/* SPDX-License-Identifier: MIT
 *
 * listed.c: sites of every kind, some of which are never hit. A comment "list: KIND NAME LEVEL" is
 * what `probity list` must print for its line ("-": no level); "gone:" is the same for a function
 * that exists only if the linker keeps functions that are never called.
 *
 *     listed [kill | fork | plugin PATH | replug PATH TRACE]
 *
 * LISTED_LIBRARY: without main(). LISTED_MAIN: main() only.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probity_typed.h"

int listed_run(int argc, char **argv);
int listed_unused(int number);

#ifndef LISTED_MAIN

static inline int twice(int number)
{
    FN_FUNC(int, FN_3);                 /* list: function twice 3 */
    PROBITY_PROBE_NAMED("in, \"twice\""); /* list: site in,_"twice" - */
    return 2 * number;
}

static int called(int number)
{
    FN_FUNC(int, FN_1); /* list: function called 1 */
    PROBITY_PROBE(7);   /* list: probe 7 - */
    for (int i = 0; i < 3; i++) {
        PROBITY_PROBE_NAMED("loop"); /* list: site loop - */
        number += twice(i);
    }
    PROBITY_PROBE((uint32_t)number & 1 ? 1001u : 1002u);
    return number;
}

static int never_called(int number)
{
    FN_FUNC_ARGS(int, number, FN_5, number); /* list: function never_called 5 */
    PROBITY_PROBE(8);                        /* list: probe 8 - */
    PROBITY_PROBE_NAMED("never");            /* list: site never - */
    PROBITY_LOCK_HOLD("lock", &number);      /* list: site lock:hold - */
    return number + twice(number);
}

static void reached(int number)
{
    FN_ENTRY(FN_2); /* list: function reached 2 */
    if (number > 1)
        FN_CHECKPOINT("there", FN_2, 0);
}

static void not_reached(int number)
{
    FN_ENTRY(FN_4); /* list: function not_reached 4 */
    if (number > 1000)
        FN_CHECKPOINT("there", FN_4, 0);
}

int listed_unused(int number)
{
    FN_FUNC(int, FN_0);            /* gone: function listed_unused 0 */
    PROBITY_PROBE_NAMED("unused"); /* gone: site unused - */
    return number;
}

static int in_child(int number)
{
    FN_FUNC(int, FN_2);             /* list: function in_child 2 */
    PROBITY_PROBE(4000000000u);     /* list: probe 4000000000 - */
    PROBITY_PROBE_NAMED("a child"); /* list: site a_child - */
    return number;
}

static int with_plugin(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = plugin != NULL ? dlsym(plugin, "plugin_listed") : NULL;
    int (*plugged)(void);

    if (symbol == NULL)
        return 1;
    memcpy(&plugged, &symbol, sizeof plugged);
    return plugged() == 3 ? 0 : 1;
}

/* Records each time the plugin is loaded, always at a different address. */
static int with_moving_plugin(const char *path, const char *trace)
{
    enum { ROUNDS = 8, PAGE = 4096 };
    const struct probity_options options = {.out = trace, .overwrite = PROBITY_ON};
    void *before = NULL;

    for (int i = 0; i < ROUNDS; i++) {
        void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        char *symbol = plugin != NULL ? dlsym(plugin, "plugin_listed") : NULL;
        if (symbol == NULL || symbol == before || probity_start(&options) != 0 ||
            probity_stop() != 0 || dlclose(plugin) != 0)
            return 1;
        before = symbol;
        char *place = symbol - (uintptr_t)symbol % PAGE;
        if (mmap(place, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
                 0) != place)
            return 1;
    }
    return 0;
}

int listed_run(int argc, char **argv)
{
    int number = called(argc);

    PROBITY_REQUEST_BEGIN("request", number); /* list: site request:begin - */
    PROBITY_PROBE_WITH(9, number);            /* list: probe 9 - */
    if (argc > 100)
        number = never_called(number);
    reached(number);
    not_reached(number);
    if (argc > 1 && strcmp(argv[1], "kill") == 0)
        kill(getpid(), SIGKILL);
    if (argc > 1 && strcmp(argv[1], "fork") == 0) {
        int status = 1;
        pid_t child = fork();
        if (child == 0)
            exit(in_child(0));
        return child < 0 || waitpid(child, &status, 0) != child || status != 0;
    }
    if (argc > 3 && strcmp(argv[1], "replug") == 0)
        return with_moving_plugin(argv[2], argv[3]);
    return argc > 2 && strcmp(argv[1], "plugin") == 0 ? with_plugin(argv[2]) : 0;
}

#endif

#ifndef LISTED_LIBRARY
int main(int argc, char **argv)
{
    return listed_run(argc, argv);
}
#endif
