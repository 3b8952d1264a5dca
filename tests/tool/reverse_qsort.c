/* SPDX-License-Identifier: MIT
 *
 * reverse_qsort.c: for LD_PRELOAD: reverses the elements before each qsort(). glibc's qsort() is
 * stable only if it can allocate memory, and those of other systems are not stable at all, so an
 * answer that this changes has rows without a defined order. glibc.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef int compare_two(const void *left, const void *right);
typedef int compare_with(const void *left, const void *right, void *context);

static void reverse(void *elements, size_t count, size_t bytes)
{
    for (size_t i = 0; i < count / 2; i++) {
        char *left = (char *)elements + i * bytes;
        char *right = (char *)elements + (count - 1 - i) * bytes;
        for (size_t at = 0; at < bytes; at++) {
            char byte = left[at];
            left[at] = right[at];
            right[at] = byte;
        }
    }
}

void qsort(void *elements, size_t count, size_t bytes, compare_two *compare)
{
    void (*sort)(void *, size_t, size_t, compare_two *);

    *(void **)&sort = dlsym(RTLD_NEXT, "qsort");
    reverse(elements, count, bytes);
    sort(elements, count, bytes, compare);
}

void qsort_r(void *elements, size_t count, size_t bytes, compare_with *compare, void *context)
{
    void (*sort)(void *, size_t, size_t, compare_with *, void *);

    *(void **)&sort = dlsym(RTLD_NEXT, "qsort_r");
    reverse(elements, count, bytes);
    sort(elements, count, bytes, compare, context);
}
