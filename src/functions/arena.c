/* SPDX-License-Identifier: MIT
 *
 * arena.c: blocks, each with a cursor that is incremented atomically. A thread that finds no room
 * installs a new block; if two threads do so at the same time, the second one frees its own.
 */
#include "functions/arena.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

enum { BLOCK_BYTES = 256 * 1024, ALIGNMENT = 16 };

struct block {
    uint64_t used, unused;
    uint8_t bytes[BLOCK_BYTES - 16];
};

static struct block *current;

void *probity_arena_map(size_t bytes)
{
    int before = errno;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    errno = before;
    return at != MAP_FAILED ? at : NULL;
}

void probity_arena_unmap(void *at, size_t bytes)
{
    int before = errno;

    munmap(at, bytes);
    errno = before;
}

/* Replaces a full block, the rest of which remains unused. */
static int replace(struct block *full)
{
    struct block *made = probity_arena_map(sizeof *made);

    if (made == NULL)
        return -1;
    if (!__atomic_compare_exchange_n(&current, &full, made, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        probity_arena_unmap(made, sizeof *made);
    return 0;
}

void *probity_arena_take(size_t bytes)
{
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > sizeof current->bytes)
        return probity_arena_map(bytes);
    for (;;) {
        struct block *block = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
        if (block != NULL) {
            uint64_t at = __atomic_fetch_add(&block->used, bytes, __ATOMIC_RELAXED);
            if (at + bytes <= sizeof block->bytes)
                return block->bytes + at;
        }
        if (replace(block) != 0)
            return NULL;
    }
}
