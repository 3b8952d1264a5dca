/* SPDX-License-Identifier: MIT
 *
 * assert.c: handles failed assertions, in builds with assertions.
 */
#include "base/assert.h"

#ifdef PROBITY_DEBUG

#include <stdio.h>
#include <unistd.h>

void probity_assert_fail(const char *condition, const char *file, int line)
{
    char text[512];
    int length = snprintf(text, sizeof text, "probity: %s:%d: assertion failed: %s\n", file, line,
                          condition);
    size_t bytes = length < (int)sizeof text ? (size_t)length : sizeof text - 1;

    ssize_t written = write(STDERR_FILENO, text, bytes);

    (void)written; /* the process ends in any case */
    __builtin_trap();
}

#endif
