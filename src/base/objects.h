/* SPDX-License-Identifier: MIT
 *
 * objects.h: the objects loaded into the process: the executable, its shared libraries, and the
 * notes in them. Same contract as os.h: preserves errno and allocates nothing.
 */
#ifndef PROBITY_BASE_OBJECTS_H
#define PROBITY_BASE_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

struct probity_object {
    const char *path; /* "": the executable */
    uintptr_t offset; /* load address minus address as linked */
    const void *headers; /* its program headers */
    size_t header_count;
};

/* Finds the executable, as reported by the kernel. Returns 0, or -1 if the kernel does not report
 * it. Takes no lock; async-signal-safe. */
int probity_object_executable(struct probity_object *ret_object);

typedef void probity_object_take(void *context, const struct probity_object *object);

/* Passes all loaded objects to `take`, the executable first, unless nothing was loaded since the
 * call that last set *loads (initially 0). Takes the dynamic linker's lock, which the linker also
 * holds while it changes its list, but not while constructors run. Not in a forked child of a
 * multithreaded process, in which the thread that held the lock may not exist; not in a signal
 * handler. */
void probity_objects_each(uint64_t *loads, probity_object_take *take, void *context);

/* Returns the number of bytes from `at` on that belong to the object; 0 if `at` is outside it. */
size_t probity_object_bytes(const struct probity_object *object, const void *at);

typedef void probity_object_take_note(void *context, const struct probity_object *object,
                                      const uint8_t *note, size_t bytes);

/* Passes the descriptions of all notes with this owner and type to `take`. */
void probity_object_notes(const struct probity_object *object, const char *owner, uint32_t type,
                          probity_object_take_note *take, void *context);

#endif
