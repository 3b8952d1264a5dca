/* SPDX-License-Identifier: MIT
 *
 * windows/posix_sort.c: sorting for posix/, by merging. Memory is allocated only for more rows than
 * the writer thread ever sorts; if out of memory, the order of equal rows is unspecified.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"

enum { FEW_BYTES = 4096 };

typedef int compare_two(const void *, const void *, void *);

struct sorting {
    compare_two *compare;
    void *context;
    size_t bytes;
};

/* Sorts the rows at `at`; room has the same size in bytes. */
static void merge_sort(const struct sorting *sorting, char *at, size_t count, char *room)
{
    size_t bytes = sorting->bytes, half = count / 2;

    if (count < 2)
        return;
    merge_sort(sorting, at, half, room);
    merge_sort(sorting, at + half * bytes, count - half, room);
    char *left = at, *middle = at + half * bytes, *right = middle, *end = at + count * bytes;
    char *to = room;
    while (left < middle && right < end) {
        char **from = sorting->compare(left, right, sorting->context) <= 0 ? &left : &right;
        memcpy(to, *from, bytes);
        *from += bytes;
        to += bytes;
    }
    memcpy(to, left, (size_t)(middle - left));
    to += middle - left;
    memcpy(at, room, (size_t)(to - room)); /* the rest of the right half is in place */
}

static int compare_swapped(void *context, const void *one, const void *other)
{
    const struct sorting *sorting = context;

    return sorting->compare(one, other, sorting->context);
}

void qsort_r(void *rows, size_t count, size_t bytes, compare_two *compare, void *context)
{
    struct sorting sorting = {compare, context, bytes};
    char few[FEW_BYTES], *room = few;

    if (count < 2)
        return;
    if (count > sizeof few / bytes)
        room = malloc(count * bytes);
    if (room == NULL) {
        qsort_s(rows, count, bytes, compare_swapped, &sorting);
        return;
    }
    merge_sort(&sorting, rows, count, room);
    if (room != few)
        free(room);
}

struct plain {
    int (*compare)(const void *, const void *);
};

static int compare_plain(const void *one, const void *other, void *context)
{
    return ((const struct plain *)context)->compare(one, other);
}

void qsort(void *rows, size_t count, size_t bytes, int (*compare)(const void *, const void *))
{
    struct plain plain = {compare};

    qsort_r(rows, count, bytes, compare_plain, &plain);
}
