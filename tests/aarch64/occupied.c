/* SPDX-License-Identifier: MIT
 *
 * occupied.c: preloaded before the library: maps all free memory within reach of a branch in the
 * executable. CODE is the executable's address.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

__attribute__((constructor)) static void occupy(void)
{
    enum { REACH = 130 << 20, PAGE = 4096, IF_FREE = 0x100000 /* MAP_FIXED_NOREPLACE */ };
    const char *text = getenv("CODE");
    uintptr_t code = text != NULL ? strtoull(text, NULL, 0) : 0;

    for (uintptr_t at = code - REACH; at < code + REACH; at += PAGE)
        (void)mmap((void *)at, PAGE, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | IF_FREE, -1, 0);
}
