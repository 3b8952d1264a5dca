/* SPDX-License-Identifier: MIT
 *
 * temporary.c: users have files that end in .tmp too: without the number one would be replaced.
 */
#include "base/temporary.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/os.h"

enum { SUFFIX_BYTES = sizeof ".01234567.tmp" - 1 };

char *probity_temporary_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash != NULL ? (size_t)(slash + 1 - path) : 0, length = strlen(path);
    size_t kept = length - folder < NAME_MAX - SUFFIX_BYTES ? length
                                                            : folder + NAME_MAX - SUFFIX_BYTES;
    char *name = malloc(kept + SUFFIX_BYTES + 1);
    struct timespec now = {0, 0};
    uint32_t number;

    if (name == NULL)
        return NULL;
    if (probity_os_random(&number, sizeof number) != 0) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = (uint32_t)now.tv_nsec ^ probity_os_thread_id() << 8;
    }
    memcpy(name, path, kept);
    snprintf(name + kept, SUFFIX_BYTES + 1, ".%08" PRIx32 ".tmp", number);
    return name;
}
