/* SPDX-License-Identifier: MIT
 *
 * log_names.c: signatures as a log prints them. If neither the trace nor the caller has a
 * signature, the type and the name from the macro take its place.
 */
#include "log/log_names.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "log/log_colour.h"
#include "print/text.h"

enum { SIGNATURE_BYTES_MAX = 16 << 10 };

static int grow(struct log_names *names)
{
    struct log_names larger = {.capacity = names->capacity > 0 ? 2 * names->capacity : 64,
                               .count = names->count};

    larger.places = calloc(larger.capacity, sizeof *larger.places);
    if (larger.places == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < names->capacity; i++) {
        if (names->places[i].function != NULL)
            *log_names_place(&larger, names->places[i].function) = names->places[i];
    }
    free(names->places);
    *names = larger;
    return 0;
}

/* "type name", or "name()" if the type is unknown. */
static char *put_short(char *at, const char *end, const struct probity_function *function)
{
    int has_type = function->returns[0] != '\0';

    if (has_type) {
        at = probity_text_put(at, end, function->returns, strlen(function->returns), '\0');
        at = probity_text_copy(at, end, " ", 1);
    }
    at = probity_text_put(at, end, function->name, strlen(function->name), '\0');
    return probity_text_copy(at, end, "()", has_type ? 0 : 2);
}

static char *put_signature(char *at, const char *end, const struct probity_log_options *options,
                           const struct probity_function *function)
{
    const char *signature = function->signature;

    if (signature[0] == '\0' && options->signature != NULL)
        signature = options->signature(options->context, function);
    if (signature == NULL || signature[0] == '\0')
        return put_short(at, end, function);
    return probity_text_put(at, end, signature, strlen(signature), '\0');
}

/* Matches patterns against the name, with and without classes and namespaces. */
static int is_named(const struct probity_log_options *options,
                    const struct probity_function *function)
{
    char qualified[PROBITY_EVENT_BYTES_MAX + 1];
    size_t bytes;
    const char *from = probity_text_qualified(function->signature, function->name, &bytes);

    bytes = bytes < sizeof qualified ? bytes : sizeof qualified - 1;
    memcpy(qualified, from, bytes);
    qualified[bytes] = '\0';
    for (size_t i = 0; i < options->function_count; i++) {
        const char *pattern = options->functions[i];
        if (fnmatch(pattern, function->name, 0) == 0 || fnmatch(pattern, qualified, 0) == 0)
            return 1;
    }
    return 0;
}

const struct log_name *log_names_make(struct log_names *names,
                                      const struct probity_log_options *options,
                                      const struct probity_function *function)
{
    if (2 * names->count >= names->capacity && grow(names) != 0)
        return NULL;
    struct log_name *name = log_names_place(names, function);
    char *text = malloc(SIGNATURE_BYTES_MAX);
    if (text == NULL)
        return NULL;
    char *end = text + SIGNATURE_BYTES_MAX - LOG_COLOUR_BYTES_MAX - 1;
    char *at = probity_text_copy(text, end, LOG_COLOUR_FUNCTION,
                                 options->has_colour ? strlen(LOG_COLOUR_FUNCTION) : 0);
    at = put_signature(at, end, options, function);
    end += LOG_COLOUR_BYTES_MAX;
    at = probity_text_copy(at, end, LOG_COLOUR_OFF,
                           options->has_colour ? strlen(LOG_COLOUR_OFF) : 0);
    *at++ = '\n';
    size_t bytes = (size_t)(at - text);
    char *fitting = realloc(text, bytes);
    *name = (struct log_name){.function = function,
                              .text = fitting != NULL ? fitting : text,
                              .bytes = (uint32_t)bytes,
                              .is_wanted = (int64_t)function->level <= options->level_max,
                              .is_named = (uint8_t)is_named(options, function)};
    names->count++;
    return name;
}

void log_names_release(struct log_names *names)
{
    for (size_t i = 0; i < names->capacity; i++)
        free(names->places[i].text);
    free(names->places);
    *names = (struct log_names){.places = NULL};
}
