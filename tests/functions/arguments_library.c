/* SPDX-License-Identifier: MIT
 *
 * arguments_library.c: a shared library for arguments.c that prints its call.
 */
int do_library(int a, const char *b);

int do_library(int a, const char *b)
{
    return b[0] == 'i' ? a : 0;
}
