/* SPDX-License-Identifier: MIT
 *
 * values.h: encodes values of the program as bytes of an event (doc/trace-format.md, "Values"), on
 * the slow path: texts, pointed-to values, and the output of formatters for user types.
 */
#ifndef PROBITY_RUNTIME_VALUES_H
#define PROBITY_RUNTIME_VALUES_H

#include "base/os.h"
#include "probity_scope.h"

/* A payload being filled. */
struct probity_payload {
    size_t used;
    int is_full; /* truncated: nothing more may follow */
    const struct probity_os_image *image; /* texts in it are read without a check by the kernel;
                                           * NULL: none */
    uint8_t bytes[PROBITY_EVENT_ROOM];
};

/* Appends bytes, truncated to the room left. */
void probity_payload_put(struct probity_payload *payload, const void *bytes, size_t count);

/* Appends a value of one of the format's types. Never faults on an invalid pointer. */
void probity_payload_put_value(struct probity_payload *payload, uint32_t type,
                               const struct probity_value *value);

/* Returns the size of a value of a type whose bytes are recorded as they are; 0 for other types. */
size_t probity_bytes_of_type(uint32_t type);

/* Returns the number of elements of `unit` bytes before the zero, after a pointer that may be
 * invalid, at most `most`; reads page by page. *ret_is_whole: the zero was found. */
size_t probity_text_pointed(const struct probity_os_image *image, const void *text, size_t unit,
                            size_t most, int *ret_is_whole);

#endif
