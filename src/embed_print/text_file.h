/* SPDX-License-Identifier: MIT
 *
 * text_file.h: the files to which the traced program prints its log and its summary.
 */
#ifndef PROBITY_EMBED_PRINT_TEXT_FILE_H
#define PROBITY_EMBED_PRINT_TEXT_FILE_H

#include <signal.h>

/* Opens the file at `path` for appending, or returns the standard stream if one is given (0 or
 * more). Returns a descriptor, or -1 with errno set. */
int probity_text_file_open(int stream, const char *path);

/* Closes the file, unless it is a standard stream. */
void probity_text_file_close(int descriptor);

/* Limits the effect of a closed pipe or of a file size limit to the log or summary; without it, the
 * program would get a signal. */
struct probity_text_guard {
    sigset_t held, before;
};

/* Blocks SIGPIPE and SIGXFSZ. */
void probity_text_guard_begin(struct probity_text_guard *ret_guard);

/* Discards those pending, unless the program blocks them itself, and restores the signal mask. */
void probity_text_guard_end(struct probity_text_guard *guard);

#endif
