/* SPDX-License-Identifier: MIT
 *
 * unload.c: dlopen(), which may load functions with sleds, and dlclose(), after which an address
 * may belong to another function. Only in the shared library, since these call the next dlopen()
 * and dlclose(), which do not exist in a static program.
 */
#include <dlfcn.h>
#include <string.h>

#include "functions/arguments.h"
#include "functions/functions.h"
#include "functions/sleds.h"

/* libc searches for a name without a slash, and expands $ORIGIN, relative to the caller's object,
 * so it must see that caller: therefore such a call is last here, which gcc and clang compile to a
 * jump. Sleds in the library are then replaced at the next dlopen() or dlclose(). */
PROBITY_API void *dlopen(const char *path, int flags)
{
    static void *(*next)(const char *path, int flags);

    if (next == NULL)
        next = (void *(*)(const char *, int))(uintptr_t)dlsym(RTLD_NEXT, "dlopen");
    if (next == NULL)
        return NULL;
    if (path == NULL || strchr(path, '/') == NULL || strchr(path, '$') != NULL)
        return next(path, flags);
    void *handle = next(path, flags);
    if (handle != NULL) {
        probity_arguments_update();
        probity_sleds_update();
    }
    return handle;
}

PROBITY_API int dlclose(void *handle)
{
    static int (*next)(void *handle);

    if (next == NULL)
        next = (int (*)(void *))(uintptr_t)dlsym(RTLD_NEXT, "dlclose");
    int result = next != NULL ? next(handle) : -1;
    probity_functions_unloaded();
    probity_arguments_update();
    probity_sleds_update();
    return result;
}
