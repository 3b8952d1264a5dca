/* SPDX-License-Identifier: MIT
 *
 * line_table.h: finds the functions that come from given source files, in the line tables of DWARF
 * 2 to 5. Reads only addresses and files. Neither allocates from the heap nor takes a lock;
 * async-signal-safe. The sections are not trusted.
 */
#ifndef PROBITY_FUNCTIONS_LINE_TABLE_H
#define PROBITY_FUNCTIONS_LINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "functions/symbol_table.h"

struct probity_line_sections {
    uint8_t *lines; /* .debug_line */
    size_t line_bytes;
    uint8_t *texts; /* .debug_line_str; NULL: none */
    size_t text_bytes;
};

/* The source files to find. path: directory and name, as far as the table contains them. */
struct probity_line_search {
    int (*is_wanted)(const void *context, const char *path);
    const void *context;
};

/* Sets `source` of the symbols that have a line, and counts them. The time is bounded by the sizes
 * of the sections and of the symbol table. */
void probity_line_table_mark(const struct probity_line_sections *sections,
                             const struct probity_line_search *search,
                             struct probity_symbol_table *table);

#endif
