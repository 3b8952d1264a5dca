/* SPDX-License-Identifier: MIT
 *
 * unload.c: dlclose(), after which an address may be that of another function. Only in the shared
 * library: a static program has no other dlclose() to call.
 */
#include <dlfcn.h>

#include "functions/functions.h"

PROBITY_API int dlclose(void *handle)
{
    static int (*next)(void *handle);

    if (next == NULL)
        next = (int (*)(void *))(uintptr_t)dlsym(RTLD_NEXT, "dlclose");
    int result = next != NULL ? next(handle) : -1;
    probity_functions_unloaded();
    return result;
}
