/* SPDX-License-Identifier: MIT
 *
 * log_names.c: formats signatures for a log. If neither the trace nor the caller has a signature,
 * uses the type and the name from the macro.
 */
#include "log/log_names.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "log/log_color.h"
#include "print/text.h"

enum { SIGNATURE_BYTES_MAX = 16 << 10 };

/* Returns "type name", or "name()" if the type is unknown. */
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

/* Matches patterns against the name with and without classes and namespaces. */
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

/* Returns malloc'ed text, or NULL. */
static char *text_of(const struct probity_log_options *options,
                     const struct probity_function *function, uint32_t *ret_bytes)
{
    char *text = malloc(SIGNATURE_BYTES_MAX);

    if (text == NULL)
        return NULL;
    char *end = text + SIGNATURE_BYTES_MAX - LOG_COLOR_BYTES_MAX - 1;
    char *at = probity_text_copy(text, end, LOG_COLOR_FUNCTION,
                                 options->has_color ? strlen(LOG_COLOR_FUNCTION) : 0);
    at = put_signature(at, end, options, function);
    end += LOG_COLOR_BYTES_MAX;
    at = probity_text_copy(at, end, LOG_COLOR_OFF,
                           options->has_color ? strlen(LOG_COLOR_OFF) : 0);
    *at++ = '\n';
    *ret_bytes = (uint32_t)(at - text);
    char *fitting = realloc(text, *ret_bytes);
    return fitting != NULL ? fitting : text;
}

const struct log_name *log_names_make(struct log_names *names,
                                      const struct probity_log_options *options,
                                      const struct probity_function *function)
{
    struct log_name *name = calloc(1, sizeof *name);

    if (name == NULL)
        return NULL;
    name->function = function;
    name->text = text_of(options, function, &name->bytes);
    name->is_wanted = (int64_t)function->level <= options->level_max;
    name->is_named = (uint8_t)is_named(options, function);
    if (name->text != NULL &&
        probity_hashtable_add(&names->table, name, probity_hash((uintptr_t)function)) == 0)
        return name;
    free(name->text);
    free(name);
    return NULL;
}

void log_names_release(struct log_names *names)
{
    struct log_name *name;

    while ((name = probity_hashtable_take(&names->table)) != NULL) {
        free(name->text);
        free(name);
    }
}
