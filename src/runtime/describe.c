/* SPDX-License-Identifier: MIT
 *
 * describe.c: makes the description of a function from its note, at its first call. Descriptions
 * are kept for the life of the process, in memory that is given out without a lock, which a forked
 * child could find taken. Async-signal-safe.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/scope.h"

enum {
    ROOM_BYTES = 64 * 1024,
    ROOM = (ROOM_BYTES - 64) / sizeof(struct probity_site_function),
    NOTE_LINE = 4, NOTE_NAME = 12, NOTE_FILE = 16, NOTE_SIGNATURE = 20, NOTE_RETURNS = 24
};

struct room {
    uint32_t taken; /* may exceed ROOM */
    struct probity_site_function function[ROOM];
};

_Static_assert(sizeof(struct room) <= ROOM_BYTES, "a room fits");

static struct room *newest;

static struct room *make_room(struct room *full)
{
    int before = errno;
    struct room *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    errno = before;
    if (made == MAP_FAILED)
        return NULL;
    /* Release: pairs with the load in take(). */
    if (__atomic_compare_exchange_n(&newest, &full, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    munmap(made, sizeof *made);
    errno = before;
    return full; /* another thread's */
}

static struct probity_site_function *take(void)
{
    struct room *room = __atomic_load_n(&newest, __ATOMIC_ACQUIRE);

    for (;;) {
        uint32_t index =
            room != NULL ? __atomic_fetch_add(&room->taken, 1, __ATOMIC_RELAXED) : ROOM;
        if (index < ROOM)
            return &room->function[index];
        room = make_room(room);
        if (room == NULL)
            return NULL;
    }
}

static uint32_t word_at(const uint8_t *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* Texts are at a distance from the word that holds it. */
static const char *text_at(const uint8_t *at)
{
    return (const char *)at + (int32_t)word_at(at);
}

struct probity_site_function *probity_scope_describe(struct probity_site_function **function,
                                                     const void *note)
{
    const uint8_t *at = note;
    struct probity_site_function *made = take(), *before = NULL;

    if (made == NULL)
        return NULL;
    made->level = at[1];
    made->flags = at[2];
    made->line = word_at(at + NOTE_LINE);
    made->name = text_at(at + NOTE_NAME);
    made->file = text_at(at + NOTE_FILE);
    made->signature = text_at(at + NOTE_SIGNATURE);
    if (made->signature[0] == 0)
        made->signature = NULL;
    made->returns = text_at(at + NOTE_RETURNS);
    /* Release: whoever loads the address sees the description. */
    if (__atomic_compare_exchange_n(function, &before, made, 0, __ATOMIC_RELEASE,
                                    __ATOMIC_ACQUIRE))
        return made;
    return before;
}
