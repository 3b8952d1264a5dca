/* SPDX-License-Identifier: MIT
 *
 * heap.c: a program with known allocations, in scopes: a list that is freed, one whose strings are
 * not, blocks that another thread frees, and a block that grows. Arguments: the length of the
 * lists; if there is a second argument, only one thread runs. Prints the expected result:
 * allocations, bytes, blocks and bytes live at the end.
 */
#define FN_INSTRUMENT
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "FnTrace.h"

enum { TEXT_BYTES = 20, GIVEN = 50, GIVEN_BYTES = 64 };

struct node {
    struct node *next;
    char *text;
};

static struct node *first;
static void *given[GIVEN];

__attribute__((__noinline__)) static char *copy(void)
{
    char *text = NULL;

    FN_FUNC_RETVAL(char *, text, FN_1);
    text = malloc(TEXT_BYTES);
    memset(text, 'x', TEXT_BYTES);
    return text;
}

static void add(void)
{
    FN_FUNC(void, FN_1);
    struct node *node = calloc(1, sizeof *node);

    node->text = copy();
    node->next = first;
    first = node;
}

static void load(int count)
{
    FN_FUNC(void, FN_1);

    for (int i = 0; i < count; i++)
        add();
}

static void drop(int with_texts)
{
    FN_FUNC(void, FN_1);

    while (first != NULL) {
        struct node *next = first->next;
        if (with_texts)
            free(first->text);
        free(first);
        first = next;
    }
}

static void *free_given(void *unused)
{
    (void)unused;
    for (int i = 0; i < GIVEN; i++)
        free(given[i]);
    return NULL;
}

static void give(int is_alone)
{
    FN_FUNC(void, FN_1);
    pthread_t thread;

    for (int i = 0; i < GIVEN; i++)
        given[i] = malloc(GIVEN_BYTES);
    if (is_alone) {
        free_given(NULL);
        return;
    }
    pthread_create(&thread, NULL, free_given, NULL);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    FN_FUNC(int, FN_1);
    int count = argc > 1 ? atoi(argv[1]) : 100;

    load(count);
    drop(1);
    load(count);
    drop(0);
    give(argc > 2);
    /* Volatile: compilers remove unused code. */
    volatile char *large = malloc(100000);
    large[99999] = 1;
    large = realloc((char *)(uintptr_t)large, 200000);
    large[199999] = 1;
    free((char *)(uintptr_t)large);
    fprintf(stderr, "%d %zu %d %d\n", 4 * count + GIVEN + 2,
            2 * (size_t)count * (TEXT_BYTES + sizeof(struct node)) + GIVEN * GIVEN_BYTES + 300000,
            count, count * TEXT_BYTES);
    return 0;
}
