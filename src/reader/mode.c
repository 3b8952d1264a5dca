/* SPDX-License-Identifier: MIT
 *
 * mode.c: finds the mode among the settings of an event `levels`, which are lines of NAME=VALUE. No
 * I/O; runs only in the tool.
 */
#include "reader/mode.h"

#include <string.h>

enum { SETTINGS_AT = 3 };

static int mode_of(const uint8_t *line, size_t bytes)
{
    static const char name[] = "mode=";
    static const char *const words[] = {"block", "drop", "ring"};
    size_t before = sizeof name - 1;

    if (bytes <= before || memcmp(line, name, before) != 0)
        return -1;
    for (int i = 0; i < 3; i++) {
        if (strlen(words[i]) == bytes - before &&
            memcmp(line + before, words[i], bytes - before) == 0)
            return i;
    }
    return -1;
}

int probity_mode_set_by(const uint8_t *payload, size_t bytes)
{
    int mode = -1;

    for (size_t at = SETTINGS_AT; at < bytes;) {
        const uint8_t *end = memchr(payload + at, '\n', bytes - at);
        size_t length = end != NULL ? (size_t)(end - payload) - at : bytes - at;
        int found = mode_of(payload + at, length);
        mode = found >= 0 ? found : mode;
        at += length + 1;
    }
    return mode;
}
