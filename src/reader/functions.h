/* SPDX-License-Identifier: MIT
 *
 * functions.h: the functions and formats that a trace has declared so far. What is handed out stays
 * where it is until release. The first declaration of a number counts; one that is not whole does
 * not.
 */
#ifndef PROBITY_READER_FUNCTIONS_H
#define PROBITY_READER_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "reader/names.h"
#include "reader/reader.h"

struct probity_functions {
    struct probity_function_item *list; /* all functions, newest first */
    struct probity_format **places;     /* a hash table with open addressing; at most half full */
    size_t count, capacity;             /* of formats; capacity: a power of two, or 0 */
};

/* Takes the payload of an event FUNCTION: enters it in `names` for its two sites, unless one of
 * them has a name. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_functions_declare(struct probity_functions *functions, struct probity_names *names,
                              uint32_t trace, const uint8_t *payload, size_t bytes);

/* The same for an event FORMAT. */
int probity_functions_declare_format(struct probity_functions *functions, const uint8_t *payload,
                                     size_t bytes);

/* NULL where there is none. */
const struct probity_format *
probity_functions_format(const struct probity_functions *functions, uint32_t number);

/* Whether the payload of a declaration is as doc/trace-format.md says: 1 or 0. */
int probity_function_is_whole(const uint8_t *payload, size_t bytes);
int probity_format_is_whole(const uint8_t *payload, size_t bytes);

/* The functions that are entered in a table of names end with this. */
void probity_functions_release(struct probity_functions *functions);

#endif
