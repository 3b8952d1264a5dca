/* SPDX-License-Identifier: MIT
 *
 * index_waits.h: adds to an index that is being made the positions of the blocks of TRACE.sched,
 * and the state of locks, waits and descriptors.
 */
#ifndef PROBITY_CLI_INDEX_WAITS_H
#define PROBITY_CLI_INDEX_WAITS_H

#include "reader/index.h"
#include "reader/reader.h"

/* Appends to the index, with these marks, of the trace with this path. If the state is not exact,
 * waits cannot be read from a mark, and the index has no complete states. Returns 0 or an error. */
int cli_index_add_waits(int file, const char *path, const struct probity_range *trace,
                        const struct probity_index_marks *marks,
                        const struct probity_reader_options *options);

#endif
