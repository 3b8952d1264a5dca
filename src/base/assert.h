/* SPDX-License-Identifier: MIT
 *
 * assert.h: assertions: preconditions of functions, and what must hold between the fields of a
 * structure (the functions named ..._is_valid). They are compiled in with PROBITY_DEBUG, which
 * `make DEBUG=1`, checked builds (SANITIZE) and fuzz targets set. Otherwise conditions are not
 * evaluated and no code is made of them, so an assertion must never check what is read from a file,
 * a spool or a user: that takes an error.
 */
#ifndef PROBITY_BASE_ASSERT_H
#define PROBITY_BASE_ASSERT_H

#ifdef PROBITY_DEBUG
#define probity_assert(condition)                                                                  \
    ((condition) ? (void)0 : probity_assert_fail(#condition, __FILE__, __LINE__))
#else
#define probity_assert(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

/* Prints the condition and ends the process. Any thread, also in a signal handler. */
__attribute__((noreturn, cold)) void probity_assert_fail(const char *condition, const char *file,
                                                         int line);

#endif
