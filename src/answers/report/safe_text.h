/* SPDX-License-Identifier: MIT
 *
 * safe_text.h: writes texts from the traced program to a stream, made safe by print/text.h.
 */
#ifndef PROBITY_ANSWERS_REPORT_SAFE_TEXT_H
#define PROBITY_ANSWERS_REPORT_SAFE_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Returns the number of characters that probity_report_put_safe() writes. */
size_t probity_report_safe_columns(const char *text, size_t bytes);

/* Writes a text from the traced program; unprintable bytes must not reach a terminal. */
void probity_report_put_safe(FILE *stream, const char *text, size_t bytes);

#endif
