/* SPDX-License-Identifier: MIT
 *
 * bytes_text.h: formats a number of bytes as text, for tables.
 */
#ifndef PROBITY_PRINT_BYTES_TEXT_H
#define PROBITY_PRINT_BYTES_TEXT_H

#include <stdint.h>

enum { PROBITY_BYTES_TEXT_BYTES = 24 };

/* Writes, for example, "512 B" or "4.1 MiB", in at most 8 columns. Returns ret_text, which has
 * PROBITY_BYTES_TEXT_BYTES. */
const char *probity_bytes_text(uint64_t bytes, char *ret_text);

#endif
