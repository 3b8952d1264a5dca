/* SPDX-License-Identifier: MIT
 *
 * windows/posix.h: declarations shared by the files in this directory. The functions of posix/ have
 * the contracts of POSIX as far as Probity needs them (doc/porting.md).
 */
#ifndef PROBITY_BASE_WINDOWS_POSIX_H
#define PROBITY_BASE_WINDOWS_POSIX_H

#include <stddef.h>

/* A descriptor for output to the debugger. */
enum { PROBITY_POSIX_DEBUGGER = 3 };

/* Sets errno from the system's last error; returns -1. */
int probity_posix_fail(void);

/* The system's handle of a descriptor (a HANDLE). */
void *probity_posix_handle(int descriptor);

/* Writes the path of a name in an open directory, or of the name itself if it is absolute or the
 * directory is AT_FDCWD. Room for PATH_MAX bytes is needed. Returns 0 or -1. */
int probity_posix_path_in(int directory, const char *name, char *ret_path);

/* Paths and other texts are UTF-8 here. A text that is not valid UTF-8 is read in the system's code
 * page: programs may pass texts from main() and getenv(). These two functions return the length, or
 * -1 with errno and the system's last error: EILSEQ if the text is valid in neither, or is not
 * valid UTF-16; or ENAMETOOLONG. */
int probity_posix_wide(const char *text, wchar_t *ret_wide, size_t room);
int probity_posix_narrow(const wchar_t *text, char *ret_text, size_t room);

/* Size of the path of the directory below: three bytes for each of MAX_PATH units, and the
 * terminating zero. */
enum { PROBITY_POSIX_TEMPORARY_BYTES = 3 * 260 + 1 };

/* Writes the user's directory for temporary files, with slashes and a slash at its end. Returns its
 * length, or -1 with errno and the system's last error. */
int probity_posix_temporary_directory(char *ret_path, size_t room);

/* Replaces backslashes with slashes. */
void probity_posix_slashes(char *path);

/* Whether the calling thread has the loader's lock, as the one that exits the process has. */
int probity_posix_has_loader_lock(void);

/* Creates a file that the system need not write to the disk, for reading and writing. */
int probity_posix_open_temporary(const char *path);

/* Returns another descriptor of the same open file. */
int probity_posix_open_again(int descriptor);

#endif
