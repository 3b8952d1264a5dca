/* SPDX-License-Identifier: MIT
 *
 * graphviz.h: writes text from the traced program into graphs for dot.
 */
#ifndef PROBITY_PRINT_GRAPHVIZ_H
#define PROBITY_PRINT_GRAPHVIZ_H

#include <stdio.h>

/* Writes a text within quotes, in which a backslash begins an escape. */
void probity_graphviz_text(FILE *stream, const char *text, size_t bytes);

#endif
