/* SPDX-License-Identifier: MIT
 *
 * objects.h: the seam to what is loaded into the process: the executable, its shared libraries, and
 * the notes in them. Part of os.h's contract: leaves errno alone and allocates nothing.
 */
#ifndef PROBITY_BASE_OBJECTS_H
#define PROBITY_BASE_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

struct probity_object {
    const char *path; /* "": the executable */
    uintptr_t offset; /* how far from its own addresses it lies */
    const void *headers; /* its program headers */
    size_t header_count;
};

/* The executable, as the kernel tells it. Returns 0, or -1 where it does not. No lock; signal
 * handlers too. */
int probity_object_executable(struct probity_object *ret_object);

typedef void probity_object_take(void *context, const struct probity_object *object);

/* Hands out all that is loaded, the executable first, unless nothing was loaded since *loads was
 * what it becomes (at first 0). Takes the dynamic linker's lock, which it also holds while it
 * changes its list, but not while constructors run: not in a child of a process of several threads,
 * where its holder may be gone, and not in a signal handler. */
void probity_objects_each(uint64_t *loads, probity_object_take *take, void *context);

/* How many bytes from `at` on belong to the object; 0 where `at` is elsewhere. */
size_t probity_object_bytes(const struct probity_object *object, const void *at);

typedef void probity_object_take_note(void *context, const struct probity_object *object,
                                      const uint8_t *note, size_t bytes);

/* Hands out the descriptions of all notes of this owner and type. */
void probity_object_notes(const struct probity_object *object, const char *owner, uint32_t type,
                          probity_object_take_note *take, void *context);

#endif
