/* SPDX-License-Identifier: MIT
 *
 * program_file.h: the file of the program that a command is about to run.
 */
#ifndef PROBITY_CLI_PROGRAM_FILE_H
#define PROBITY_CLI_PROGRAM_FILE_H

#include <limits.h>

struct cli_program_file {
    int is_static;      /* an executable without a dynamic linker: nothing is preloaded */
    char sanitizer[64]; /* AddressSanitizer's library, if linked with it; "": none */
};

/* Finds a program as execvp() does. Returns 1, or 0 if there is none. */
int cli_program_find(const char *program, char ret_path[PATH_MAX]);

/* Reads these facts from the program's file. All zeros for a script, or if it cannot be read. */
void cli_program_inspect(const char *program, struct cli_program_file *ret_file);

#endif
