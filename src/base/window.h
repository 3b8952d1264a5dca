/* SPDX-License-Identifier: MIT
 *
 * window.h: times and sizes as users write them, and the size of a ring: doc/triggers.md. Pure
 * functions.
 */
#ifndef PROBITY_BASE_WINDOW_H
#define PROBITY_BASE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

/* Parse a number with a unit (ns, us, ms, s, min; or none, K, M, G for bytes) at the beginning of
 * the text; a time may have a decimal point. Set *ret_end to the text that follows. Return 1, or 0
 * with the error at *ret_end if there is no number or it is out of range. */
int probity_window_time(const char *text, const char **ret_end, uint64_t *ret_ns);
int probity_window_bytes(const char *text, const char **ret_end, uint64_t *ret_bytes);

/* Parses "30s", "64M" or "30s,64M". A missing part is 0. Returns 1, or 0 if the text is invalid or
 * out of range: a window of 1 ms to 24 h, a size of 1 MiB to 1 GiB. */
int probity_window_ring(const char *text, uint64_t *ret_ns, uint64_t *ret_bytes);

#endif
