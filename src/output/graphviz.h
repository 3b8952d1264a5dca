/* SPDX-License-Identifier: MIT
 *
 * graphviz.h: texts of the traced program in graphs for dot.
 */
#ifndef PROBITY_OUTPUT_GRAPHVIZ_H
#define PROBITY_OUTPUT_GRAPHVIZ_H

#include <stdio.h>

/* What stands within quotes, where a backslash begins an escape. */
void probity_graphviz_text(FILE *stream, const char *text, size_t bytes);

#endif
