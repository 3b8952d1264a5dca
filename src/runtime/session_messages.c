/* SPDX-License-Identifier: MIT
 *
 * session_messages.c: prints why a recording did not start, or what it lacks. Any thread, in slow
 * paths; preserves errno.
 */
#include "runtime/session_messages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "base/os.h"

static int is_silent;

void probity_session_keep_silent(int is)
{
    __atomic_store_n(&is_silent, is, __ATOMIC_RELAXED);
}

/* Prints the line, truncated if long, unless one was printed before. */
static __attribute__((format(printf, 1, 2))) void complain_once(const char *format, ...)
{
    static uint32_t is_reported;
    char line[1024];
    int before = errno;
    va_list arguments;

    if (__atomic_load_n(&is_silent, __ATOMIC_RELAXED) ||
        __atomic_exchange_n(&is_reported, 1, __ATOMIC_RELAXED) != 0)
        return;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof line) {
        length = sizeof line - 1;
        line[length - 1] = '\n';
    }
    if (length > 0)
        probity_os_say(line, (size_t)length);
    errno = before;
}

void probity_session_complain(const char *what, const char *why)
{
    complain_once("probity: %.400s: %s; not recording\n", what, why);
}

void probity_session_say_once(const char *text)
{
    complain_once("probity: %.900s\n", text);
}

void probity_session_say(const char *line, size_t length)
{
    int before = errno;

    if (!__atomic_load_n(&is_silent, __ATOMIC_RELAXED))
        probity_os_say(line, length);
    errno = before;
}

void probity_session_complain_of_csv(const char *path, const char *what, const char *why)
{
    complain_once("probity: '%.400s' %s: %s; its trace was kept\n", path, what, why);
}
