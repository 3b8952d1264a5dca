/* SPDX-License-Identifier: MIT
 *
 * text_file.h: where the traced program prints what was recorded: its log, its summary.
 */
#ifndef PROBITY_LIBRARY_TEXT_FILE_H
#define PROBITY_LIBRARY_TEXT_FILE_H

/* Opens the file at `path` to add to it; wanted "stderr": that. Returns a descriptor, or -1 with
 * errno set. */
int probity_text_file_open(const char *wanted, const char *path);

#endif
