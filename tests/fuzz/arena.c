/* SPDX-License-Identifier: MIT
 *
 * arena.c: the allocator for code that the fast driver tests: a single piece of memory, used from
 * its start for each execution. It takes a few instructions, whereas libc's takes a quarter of the
 * time, and detects errors that libc's would miss: writes past the end, memory freed twice or
 * never. The linker replaces libc's functions with these (--wrap) in all objects of the target.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fast_driver.h"

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void __wrap_free(void *memory);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t bytes);
int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int file);

enum { ROOM = 64 << 20, ALIGNED = 16 };

#define MARK_USED UINT64_C(0x9d2c5680efc60000)
#define MARK_FREE UINT64_C(0x5bd1e995a3c59ac3)

/* Precedes each piece. The same mark follows it, possibly unaligned. */
struct head {
    size_t bytes;
    uint64_t mark;
};

static struct {
    uint8_t memory[ROOM] __attribute__((aligned(ALIGNED)));
    size_t used;
    size_t pieces; /* how many are not yet freed */
} arena;

static size_t whole_bytes(size_t bytes)
{
    return (sizeof(struct head) + bytes + sizeof(uint64_t) + ALIGNED - 1) & ~(size_t)(ALIGNED - 1);
}

static void set_mark(struct head *head)
{
    uint64_t mark = MARK_USED ^ head->bytes;

    head->mark = mark;
    memcpy((uint8_t *)(head + 1) + head->bytes, &mark, sizeof mark);
}

static struct head *head_of(void *memory)
{
    struct head *head = (struct head *)memory - 1;
    uint64_t behind;

    if (head->mark != (MARK_USED ^ head->bytes))
        fast_driver_found("memory is freed that is not allocated");
    memcpy(&behind, (uint8_t *)memory + head->bytes, sizeof behind);
    if (behind != head->mark)
        fast_driver_found("a write past the end of allocated memory");
    return head;
}

static int is_last(const struct head *head)
{
    return (const uint8_t *)head + whole_bytes(head->bytes) == arena.memory + arena.used;
}

void *__wrap_malloc(size_t bytes)
{
    struct head *head = (void *)(arena.memory + arena.used);

    if (bytes > ROOM - 4 * ALIGNED - arena.used)
        return NULL;
    arena.used += whole_bytes(bytes);
    arena.pieces++;
    head->bytes = bytes;
    set_mark(head);
    return head + 1;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    void *memory = count == 0 || bytes <= ROOM / count ? __wrap_malloc(count * bytes) : NULL;

    return memory != NULL ? memset(memory, 0, count * bytes) : NULL;
}

void __wrap_free(void *memory)
{
    if (memory == NULL)
        return;
    struct head *head = head_of(memory);
    if (is_last(head))
        arena.used -= whole_bytes(head->bytes);
    head->mark = MARK_FREE;
    arena.pieces--;
}

void *__wrap_realloc(void *old, size_t bytes)
{
    void *memory = __wrap_malloc(bytes);

    if (old == NULL || memory == NULL)
        return memory;
    size_t kept = head_of(old)->bytes;
    memcpy(memory, old, kept < bytes ? kept : bytes);
    __wrap_free(old);
    return memory;
}

char *__wrap_strndup(const char *text, size_t bytes)
{
    size_t length = strnlen(text, bytes);
    char *copy = __wrap_malloc(length + 1);

    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *__wrap_strdup(const char *text)
{
    return __wrap_strndup(text, SIZE_MAX);
}

void fast_driver_memory_anew(void)
{
    size_t pieces = arena.pieces;

    arena.used = arena.pieces = 0;
    if (pieces > 0)
        fast_driver_found("memory is never freed");
}

/* Spools named by traces cannot be opened, and files opened by memory_file.c have no descriptor. */
int __wrap_open(const char *path, int flags, ...)
{
    (void)path;
    (void)flags;
    errno = ENOENT;
    return -1;
}

int __wrap_close(int file)
{
    (void)file;
    return 0;
}
