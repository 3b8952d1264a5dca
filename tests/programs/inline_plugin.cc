/* SPDX-License-Identifier: MIT
 *
 * inline_plugin.cc: an inline function whose static variables a program shares with a library that
 * it unloads. With -DPLUGIN this is the library, otherwise the program:
 *
 *     host PLUGIN CALLS SECOND-TRACE
 *
 * Calls the function CALLS times in the library, unloads the library, begins a second recording and
 * calls it as often in the program. Exits with 1 if the library stays loaded.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

inline int shared_inline(int value)
{
    FN_FUNC(int, FN_1);
    return value + 1;
}

#ifdef PLUGIN
extern "C" int plugin_call(int value)
{
    return shared_inline(value);
}
#else
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 4)
        return 1;
    int calls = atoi(argv[2]), sum = 0;
    void *plugin = dlopen(argv[1], RTLD_NOW);
    if (plugin == nullptr)
        return 1;
    auto call = reinterpret_cast<int (*)(int)>(dlsym(plugin, "plugin_call"));
    for (int i = 0; i < calls; i++)
        sum = call(sum);
    if (dlclose(plugin) != 0 || dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != nullptr)
        return 1;
    probity_stop();
    struct probity_options options = {};
    options.out = argv[3];
    if (probity_start(&options) != 0)
        return 1;
    for (int i = 0; i < calls; i++)
        sum = shared_inline(sum);
    printf("%d\n", sum);
    return 0;
}
#endif
