/* SPDX-License-Identifier: MIT
 *
 * functions.h: the functions and formats that a trace has declared so far. Addresses of returned
 * items are stable until release. Only the first complete declaration of a number counts.
 */
#ifndef PROBITY_READER_FUNCTIONS_H
#define PROBITY_READER_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hashtable.h"
#include "format/stream.h"
#include "reader/names.h"
#include "reader/reader.h"

struct probity_function_item;

struct probity_functions {
    struct probity_function_item *list; /* all functions, latest first */
    struct probity_hashtable formats;   /* by number */
    /* Receives a new function, for which probity_function_complete() must be called before it is
     * used. NULL: it is called immediately. */
    void (*declared)(void *context, struct probity_function_item *item);
    void *context;
};

/* Demangles a symbol: returns a function's signature and sets its name, both malloc'ed, or returns
 * NULL. Set by the tool; NULL: symbols stay as they are. */
extern char *(*probity_functions_demangle)(const char *symbol, char **ret_name);

/* Finds where a function without a macro is defined, by its object, its symbol and its address in
 * that file. Returns the source file, malloc'ed, and its line, or NULL. Set by the tool; NULL: such
 * functions have the places given in their trace. */
extern char *(*probity_functions_locate)(const char *object, const char *symbol, uint64_t address,
                                         uint32_t *ret_line);

/* Takes the payload of an event FUNCTION: enters it in `names` for its two sites, unless one of
 * them has a name. executable: path of the program, for functions in no other object; NULL:
 * places are not needed. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_functions_declare(struct probity_functions *functions, struct probity_names *names,
                              uint32_t trace, const struct probity_text *executable,
                              const uint8_t *payload, size_t bytes);

/* Demangles the symbol of a function and finds its place, with the two functions above. */
void probity_function_complete(struct probity_function_item *item);

/* Takes the payload of an event FORMAT. Returns the same. */
int probity_functions_declare_format(struct probity_functions *functions, const uint8_t *payload,
                                     size_t bytes);

/* Returns the kind of a hit of one of the function's two sites. */
static inline uint32_t probity_function_event(const struct probity_function *function,
                                              uint32_t site)
{
    return site != function->number     ? PROBITY_EVENT_LEAVE
           : function->has_entries_only ? PROBITY_READER_ENTRY
                                        : PROBITY_EVENT_ENTER;
}

/* Sets is_least of a function if it was declared. NULL: does nothing. */
void probity_function_set_least(const struct probity_function *function);

/* Returns NULL if the format is not declared. */
const struct probity_format *
probity_functions_format(const struct probity_functions *functions, uint32_t number);

/* Whether the payload of a declaration is valid according to doc/trace-format.md: 1 or 0. */
int probity_function_is_whole(const uint8_t *payload, size_t bytes);
int probity_format_is_whole(const uint8_t *payload, size_t bytes);

/* Invalidates functions that were entered in a table of names. */
void probity_functions_release(struct probity_functions *functions);

#endif
