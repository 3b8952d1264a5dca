/* SPDX-License-Identifier: MIT
 *
 * text_file.h: where the traced program prints what was recorded: its log, its summary.
 */
#ifndef PROBITY_LIBRARY_TEXT_FILE_H
#define PROBITY_LIBRARY_TEXT_FILE_H

#include <signal.h>

/* Opens the file at `path` to add to it; wanted "stderr": that. Returns a descriptor, or -1 with
 * errno set. */
int probity_text_file_open(const char *wanted, const char *path);

/* A reader that is gone, or a file size limit, must end the text and not the program. */
struct probity_text_guard {
    sigset_t held, before;
};

/* Holds back the signals of both from here on. */
void probity_text_guard_begin(struct probity_text_guard *ret_guard);

/* Takes off what has come of them, and lets further ones through as before. */
void probity_text_guard_end(struct probity_text_guard *guard);

#endif
