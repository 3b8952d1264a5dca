/* SPDX-License-Identifier: MIT
 *
 * hooks.c: finds libprobity-print. It may be linked with the program. Otherwise it is loaded by a
 * fixed name, first by the dynamic linker's usual search, then from the directory of the shared
 * libprobity. Nothing else determines what is loaded (doc/security.md).
 */
#include "runtime/hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"

#define LIBRARY "libprobity-print.so.0"
#define OWN_LIBRARY "/libprobity.so."

typedef __typeof__(dlopen) open_library;

/* Defined if the program is linked with libprobity-print. */
extern const struct probity_session_hooks *probity_print_hooks(uint32_t version)
    __attribute__((weak));

/* Kept once found; a forked child inherits them. */
static const struct probity_session_hooks *found;

const struct probity_session_hooks *probity_hooks(void)
{
    return __atomic_load_n(&found, __ATOMIC_ACQUIRE);
}

/* Opens the library next to the shared libprobity. Its RUNPATH has the same effect, but sanitizers
 * intercept dlopen(), and the dynamic linker then uses their RUNPATH. A relative path would refer
 * to another file after chdir(). */
static void *open_beside(open_library *open)
{
    Dl_info own;
    char path[PATH_MAX];

    if (dladdr(&found, &own) == 0 || own.dli_fname == NULL || own.dli_fname[0] != '/')
        return NULL;
    const char *name = strrchr(own.dli_fname, '/');
    if (strncmp(name, OWN_LIBRARY, sizeof OWN_LIBRARY - 1) != 0)
        return NULL;
    int directory = (int)(name - own.dli_fname);
    if (snprintf(path, sizeof path, "%.*s/" LIBRARY, directory, own.dli_fname) >= (int)sizeof path)
        return NULL;
    return open(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/* Loads the library. On failure, returns NULL and stores the reason in ret_why. dlopen() is looked
 * up by name, because linking it into a static program gives a warning and requires the same libc
 * at run time; in a static program it is not found. */
static probity_hooks_entry *load(char ret_why[PROBITY_HOOKS_WHY_BYTES])
{
    open_library *open = (open_library *)(uintptr_t)dlsym(RTLD_DEFAULT, "dlopen");

    if (open == NULL) {
        snprintf(ret_why, PROBITY_HOOKS_WHY_BYTES,
                 "a static program cannot load " LIBRARY " (link it with libprobity-print.a)");
        return NULL;
    }
    void *library = open(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL)
        library = open_beside(open);
    void *entry = library != NULL ? dlsym(library, "probity_print_hooks") : NULL;
    const char *why = entry == NULL ? dlerror() : NULL;
    if (entry == NULL)
        snprintf(ret_why, PROBITY_HOOKS_WHY_BYTES, "%s",
                 why != NULL ? why : LIBRARY " cannot be loaded");
    return (probity_hooks_entry *)(uintptr_t)entry;
}

static probity_hooks_entry *entry_find(char ret_why[PROBITY_HOOKS_WHY_BYTES])
{
    if (probity_print_hooks != NULL)
        return probity_print_hooks;
    if (!probity_os_is_privileged())
        return load(ret_why);
    snprintf(ret_why, PROBITY_HOOKS_WHY_BYTES, "a set-user-id program does not load " LIBRARY);
    return NULL;
}

void probity_hooks_find(char ret_why[PROBITY_HOOKS_WHY_BYTES])
{
    int saved = errno;

    memset(ret_why, 0, PROBITY_HOOKS_WHY_BYTES);
    if (probity_hooks() == NULL) {
        probity_hooks_entry *entry = entry_find(ret_why);
        const struct probity_session_hooks *hooks =
            entry != NULL ? entry(PROBITY_HOOKS_VERSION) : NULL;
        if (entry != NULL && hooks == NULL)
            snprintf(ret_why, PROBITY_HOOKS_WHY_BYTES, LIBRARY " has a different version");
        /* Release: a thread that sees the table also sees the library's data. Pairs with
         * probity_hooks(). */
        if (hooks != NULL)
            __atomic_store_n(&found, hooks, __ATOMIC_RELEASE);
    }
    errno = saved;
}
