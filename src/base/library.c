/* SPDX-License-Identifier: MIT
 *
 * library.c: see library.h. The dynamic linker searches for a library in the same places as if it
 * were linked; the file's name is fixed.
 */
#include "base/library.h"

void (*probity_library_on_failure)(const char *message);

#ifndef PROBITY_WITHOUT_DLOPEN

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void report(const struct probity_library *library)
{
    const char *why = dlerror();
    char message[512];

    if (probity_library_on_failure == NULL)
        return;
    snprintf(message, sizeof message, "cannot load %s; install the library of %s: %s",
             library->file, library->project, why != NULL ? why : "it lacks a function");
    probity_library_on_failure(message);
}

/* Binds at once: a missing function must not end the process later. */
static int load(struct probity_library *library)
{
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; handle != NULL && i < library->count; i++) {
        void *found = dlsym(handle, library->names[i]);
        if (found == NULL)
            return -1;
        memcpy((char *)library->functions + i * sizeof found, &found, sizeof found);
    }
    return handle != NULL ? 0 : -1;
}

int probity_library_load(struct probity_library *library)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    library->is_loaded = library->is_loaded || load(library) == 0;
    int is_loaded = library->is_loaded;
    pthread_mutex_unlock(&lock);
    if (!is_loaded)
        report(library);
    return is_loaded ? 0 : -1;
}

#endif
