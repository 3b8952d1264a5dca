/* SPDX-License-Identifier: MIT
 *
 * library.h: shared libraries that only some commands of the tool need. They are loaded on first
 * use: loading all of them at startup would take longer than a short command. Only in the tool.
 *
 * A library has a header that lists its functions, NAME_FUNCTIONS(X), and declares a structure with
 * a pointer to each, which loading fills. With macros, they are called by their usual names. With
 * PROBITY_WITHOUT_DLOPEN, the library is linked instead.
 */
#ifndef PROBITY_BASE_LIBRARY_H
#define PROBITY_BASE_LIBRARY_H

#include <stddef.h>

/* Arguments for NAME_FUNCTIONS(): a member of the structure, and a name. */
#define PROBITY_LIBRARY_POINTER(name) __typeof__(name) *name;
#define PROBITY_LIBRARY_NAME(name) #name,

struct probity_library {
    const char *file; /* such as "libelf.so.1" */
    const char *project; /* the project that provides it, for a message */
    const char *const *names;
    size_t count;
    void *functions; /* a structure of `count` pointers to functions, in the order of names */
    int is_loaded;
};

/* Called with a message if a library cannot be loaded; may end the process. NULL: not called. */
extern void (*probity_library_on_failure)(const char *message);

/* Loads a library, unless it is loaded, and fills its functions. It is never unloaded, because
 * unloading its dependencies may not be safe. Any thread may call this. Returns 0, or -1 after
 * calling probity_library_on_failure: no function may be called then. */
int probity_library_load(struct probity_library *library);

#endif
