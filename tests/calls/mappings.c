/* SPDX-License-Identifier: MIT
 *
 * mappings.c: mappings that overlap, are copied, kept and divided. Prints the bytes that are left.
 */
#include <stdio.h>
#include <sys/mman.h>

enum { PAGE = 4096, PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS, SHARED = MAP_SHARED | MAP_ANONYMOUS };

static char *map(char *where, size_t bytes, int flags)
{
    return mmap(where, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
}

int main(void)
{
    char *all = map(NULL, 256 * PAGE, PRIVATE);
    size_t left = 0;

    if (all == MAP_FAILED || map(all, 128 * PAGE, PRIVATE | MAP_FIXED) != all ||
        munmap(all + PAGE, PAGE) != 0 || munmap(all, 256 * PAGE) != 0)
        return 1;
    /* Copied: both exist. */
    char *shared = map(NULL, 2 * PAGE, SHARED);
    if (mremap(shared, 0, 2 * PAGE, MREMAP_MAYMOVE) != MAP_FAILED)
        left += 2 * PAGE;
    left += 2 * PAGE;
    /* Kept: the old mapping is empty, but still exists. */
    char *kept = map(NULL, 4 * PAGE, PRIVATE);
    if (mremap(kept, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL) != MAP_FAILED)
        left += 4 * PAGE;
    left += 4 * PAGE;
    /* Divided: the first part moves. */
    char *whole = map(NULL, 10 * PAGE, PRIVATE);
    char *moved = mremap(whole, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED || munmap(moved, 4 * PAGE) != 0 ||
        munmap(whole + 2 * PAGE, 7 * PAGE) != 0)
        return 1;
    /* A failure changes nothing. */
    if (mremap(whole + 9 * PAGE, PAGE, 0, MREMAP_MAYMOVE) != MAP_FAILED)
        return 1;
    dprintf(1, "%zu\n", left + PAGE); /* allocates nothing */
    return 0;
}
