/* SPDX-License-Identifier: MIT
 *
 * assert.h: assertions: preconditions of functions, and invariants between the fields of a
 * structure (the functions named ..._is_valid). They are compiled in with PROBITY_DEBUG, which is
 * set by `make DEBUG=1`, sanitizer builds (SANITIZE) and fuzz targets. Otherwise they generate no
 * code, so an assertion must never check input from a file, a spool or a user: invalid input
 * requires an error.
 */
#ifndef PROBITY_BASE_ASSERT_H
#define PROBITY_BASE_ASSERT_H

#ifdef PROBITY_DEBUG
#define probity_assert(condition)                                                                  \
    ((condition) ? (void)0 : probity_assert_fail(#condition, __FILE__, __LINE__))
#else
#define probity_assert(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

/* Prints the condition and ends the process. Any thread, even in a signal handler. */
__attribute__((noreturn, cold)) void probity_assert_fail(const char *condition, const char *file,
                                                         int line);

#endif
