/* SPDX-License-Identifier: MIT
 *
 * windows/posix_heap.c: memory of posix/, in any thread: msvcrt's heap, until the process exits and
 * its other threads are gone. One of them may have been ended in that heap, with its lock taken, so
 * the exiting thread, which prints the log, has a separate heap without a lock.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "base/os.h"
#include "base/windows/posix.h"

void *system_malloc(size_t bytes) __asm__("malloc");
void *system_calloc(size_t count, size_t bytes) __asm__("calloc");
void *system_realloc(void *memory, size_t bytes) __asm__("realloc");
void system_free(void *memory) __asm__("free");

enum { LEAST_POWER = 5, LARGEST_POWER = 31, STEP_BYTES = 1 << 20 };
/* Reserved; pages are added as they are needed. */
#define LATE_BYTES (UINT64_C(4) << 30)

/* Before each piece, whose size, with this, is a power of two. Pieces are aligned to 16 bytes. */
struct piece {
    struct piece *next; /* while it is free */
    uint64_t power;
};

static struct {
    char *begin, *at, *committed;
    struct piece *free[LARGEST_POWER + 1];
} late;

/* Under Wine, other threads run for a moment longer: they keep to msvcrt's heap. */
static int is_exiting(void)
{
    return PROBITY_OS_THREADS_ARE_GONE() && probity_posix_has_loader_lock();
}

static int is_late(const void *memory)
{
    uintptr_t begin = (uintptr_t)late.begin;

    return begin != 0 && (uintptr_t)memory >= begin && (uintptr_t)memory - begin < LATE_BYTES;
}

static struct piece *piece_of(void *memory)
{
    return (struct piece *)memory - 1;
}

static size_t late_bytes(void *memory)
{
    return ((size_t)1 << piece_of(memory)->power) - sizeof(struct piece);
}

static struct piece *add_piece(uint64_t power)
{
    size_t bytes = (size_t)1 << power;

    if (late.begin == NULL)
        late.begin = late.at = late.committed =
            VirtualAlloc(NULL, LATE_BYTES, MEM_RESERVE, PAGE_READWRITE);
    if (late.begin == NULL || bytes > LATE_BYTES - (size_t)(late.at - late.begin))
        return NULL;
    struct piece *piece = (struct piece *)(void *)late.at;
    size_t left = (size_t)(late.committed - late.at);
    if (bytes > left) {
        size_t more = (bytes - left + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
        if (VirtualAlloc(late.committed, more, MEM_COMMIT, PAGE_READWRITE) == NULL)
            return NULL;
        late.committed += more;
    }
    late.at += bytes;
    piece->power = power;
    return piece;
}

static void *late_malloc(size_t bytes)
{
    uint64_t power = LEAST_POWER;
    DWORD error = GetLastError();

    while (power <= LARGEST_POWER && ((size_t)1 << power) - sizeof(struct piece) < bytes)
        power++;
    struct piece *piece = power <= LARGEST_POWER ? late.free[power] : NULL;
    if (piece != NULL)
        late.free[power] = piece->next;
    else if (power <= LARGEST_POWER)
        piece = add_piece(power);
    SetLastError(error);
    if (piece == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    return piece + 1;
}

void *malloc(size_t bytes)
{
    return is_exiting() ? late_malloc(bytes) : system_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    if (!is_exiting())
        return system_calloc(count, bytes);
    void *memory = bytes == 0 || count <= SIZE_MAX / bytes ? late_malloc(count * bytes) : NULL;
    return memory != NULL ? memset(memory, 0, count * bytes) : NULL;
}

/* Memory of msvcrt's heap stays there once the threads are gone. */
void free(void *memory)
{
    if (!is_exiting()) {
        system_free(memory);
    } else if (is_late(memory)) {
        struct piece *piece = piece_of(memory);
        piece->next = late.free[piece->power];
        late.free[piece->power] = piece;
    }
}

void *realloc(void *memory, size_t bytes)
{
    if (!is_exiting())
        return system_realloc(memory, bytes);
    size_t before = memory == NULL ? 0 : is_late(memory) ? late_bytes(memory) : _msize(memory);
    if (memory != NULL && bytes <= before)
        return memory;
    void *longer = late_malloc(bytes);
    if (longer != NULL && memory != NULL) {
        memcpy(longer, memory, before);
        free(memory);
    }
    return longer;
}
