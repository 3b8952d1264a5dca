/* SPDX-License-Identifier: MIT
 *
 * fast_driver.h: the interface between the fast driver and its allocator.
 */
#ifndef TESTS_FUZZ_FAST_DRIVER_H
#define TESTS_FUZZ_FAST_DRIVER_H

#include <stddef.h>
#include <stdint.h>

/* Saves the current input to a file, prints the reason, and exits. */
_Noreturn void fast_driver_found(const char *why);

/* Ends an execution, after which nothing may still be allocated. */
void fast_driver_memory_anew(void);

#endif
