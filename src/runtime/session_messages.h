/* SPDX-License-Identifier: MIT
 *
 * session_messages.h: what the library prints on stderr about recordings.
 */
#ifndef PROBITY_RUNTIME_SESSION_MESSAGES_H
#define PROBITY_RUNTIME_SESSION_MESSAGES_H

#include <stddef.h>

/* Prints one line on stderr: "probity: WHAT: WHY; not recording". A process prints only the first
 * line of this function and the next two. */
void probity_session_complain(const char *what, const char *why);

/* Prints another line: "probity: TEXT". */
void probity_session_say_once(const char *text);

/* Reports that a CSV file could not be made: "probity: 'PATH' WHAT: WHY; its trace is kept". */
void probity_session_complain_of_csv(const char *path, const char *what, const char *why);

/* Prints a line that reports no failure, and does not suppress later lines. Async-signal-safe. */
void probity_session_say(const char *line, size_t length);

/* Sets whether nothing is printed from now on, because the reason is reported to another process.
 * Under the session's lock. */
void probity_session_keep_silent(int is_silent);

#endif
