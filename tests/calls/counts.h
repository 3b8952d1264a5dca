/* SPDX-License-Identifier: MIT
 *
 * counts.h: a program's own count of its calls, by name.
 */
#ifndef TESTS_CALLS_COUNTS_H
#define TESTS_CALLS_COUNTS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *names[64];
static int counts[64];

static void count(const char *name)
{
    int i = 0;

    while (names[i] != NULL && strcmp(names[i], name) != 0)
        i++;
    names[i] = name;
    counts[i]++;
}

/* Prints lines "NAME CALLS". */
static void print_counts(void)
{
    for (int i = 0; names[i] != NULL; i++)
        printf("%s %d\n", names[i], counts[i]);
}

/* Calls a function by name, and counts the call. */
#define CALL(name, ...) (count(#name), name(__VA_ARGS__))
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, strerror(errno));          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#endif
