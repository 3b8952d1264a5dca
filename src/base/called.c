/* SPDX-License-Identifier: MIT
 *
 * called.c: see called.h. Used by the tool, which reports invalid parts, and by libprobity-calls.
 */
#include "base/called.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    uint32_t families;
} words[] = {{"all", PROBITY_CALLS_ALL},
             {"io", PROBITY_CALLS_IO},
             {"locks", PROBITY_CALLS_LOCKS},
             {"locks=waits", PROBITY_CALLS_LOCKS | PROBITY_CALLS_WAITS},
             {"memory", PROBITY_CALLS_MEMORY},
             {"sleep", PROBITY_CALLS_SLEEP},
             {"threads", PROBITY_CALLS_THREADS}};

static uint32_t families_of(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i].name) == length && memcmp(words[i].name, word, length) == 0)
            return words[i].families;
    }
    return 0;
}

int probity_called_parse(const char *text, uint32_t *ret_families)
{
    uint32_t all = 0;

    for (;;) {
        size_t length = strcspn(text, ",");
        uint32_t families = families_of(text, length);
        if (families == 0)
            return 0;
        all |= families;
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    *ret_families = all;
    return 1;
}
