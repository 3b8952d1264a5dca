/* SPDX-License-Identifier: MIT
 *
 * arguments_library.c: a shared library for arguments.c, which prints the call.
 */
int do_library(int a, const char *b);

int do_library(int a, const char *b)
{
    return b[0] == 'i' ? a : 0;
}
