/* SPDX-License-Identifier: MIT
 *
 * index.h: indexes of traces, which allow reading a time range without everything before it: the
 * file TRACE.index made by `probity index` or, for large traces without such a file, an index in
 * memory.
 */
#ifndef PROBITY_CLI_INDEX_H
#define PROBITY_CLI_INDEX_H

#include "cli/time_range.h"

/* Distance between marks for many small windows: the smaller it is, the less is read before each
 * window. */
enum { CLI_INDEX_WINDOWS_BYTES = 256 << 10 };

/* Lets a reader use indexes if there is a range. without_waits: 1: makes no index in memory for a
 * trace that has waits (reader/index.h). */
void cli_index_use(const struct cli_command *command, const struct cli_range *range,
                   int without_waits, struct probity_reader_options *options);

/* Lets a second reader use the indexes of a first one, which reads the same traces and stays open.
 * Indexes in memory are not made again. */
void cli_index_share(const struct probity_reader *first, struct probity_reader_options *options);

/* The same as cli_index_use() without a range, for a trace of any size, from which many windows are
 * read. */
void cli_index_use_always(const struct cli_command *command,
                          struct probity_reader_options *options);

/* Opens an index; the open_index of the reader's options. command: of type struct cli_command. */
int cli_index_open_always(void *command, const char *path, const struct probity_range *trace,
                          int attempt);

#endif
