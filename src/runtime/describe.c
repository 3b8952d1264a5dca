/* SPDX-License-Identifier: MIT
 *
 * describe.c: makes the description of a function from its note, at its first call. Descriptions
 * are kept for the life of the process, in memory that is given out without a lock, which a forked
 * child could find taken. A library that is loaded again at the same address gets those that it
 * had. Async-signal-safe.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/scope.h"

enum {
    ROOM_BYTES = 64 * 1024,
    BUCKETS = 256, /* a power of two */
    NOTE_LINE = 4, NOTE_NAME = 12, NOTE_FILE = 16, NOTE_SIGNATURE = 20, NOTE_RETURNS = 24
};

struct described {
    struct probity_site_function function;
    const uint8_t *note;
    uint64_t hash; /* of what the note said; its library may have been unloaded since */
    struct described *next;
};

enum { ROOM = (ROOM_BYTES - 64) / sizeof(struct described) };

struct room {
    uint32_t taken; /* may exceed ROOM */
    struct described described[ROOM];
};

_Static_assert(sizeof(struct room) <= ROOM_BYTES, "a room fits");

static struct room *newest;
static struct described *buckets[BUCKETS]; /* by the address of the note */

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

static struct described *take(void)
{
    struct room *room = __atomic_load_n(&newest, __ATOMIC_ACQUIRE);

    for (;;) {
        uint32_t index =
            room != NULL ? __atomic_fetch_add(&room->taken, 1, __ATOMIC_RELAXED) : ROOM;
        if (index < ROOM)
            return &room->described[index];
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

static void read_note(const uint8_t *note, struct probity_site_function *ret_function)
{
    const char *signature = text_at(note + NOTE_SIGNATURE);

    if (signature[0] == 0)
        signature = NULL;
    *ret_function = (struct probity_site_function){.name = text_at(note + NOTE_NAME),
                                                   .file = text_at(note + NOTE_FILE),
                                                   .signature = signature,
                                                   .returns = text_at(note + NOTE_RETURNS),
                                                   .line = word_at(note + NOTE_LINE),
                                                   .level = note[1],
                                                   .flags = note[2]};
}

/* FNV-1a. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text != NULL && *text != 0; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(1099511628211);
    return hash * UINT64_C(1099511628211);
}

static uint64_t hash_of(const struct probity_site_function *function)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    hash ^= (uint64_t)function->line << 16 | (uint64_t)function->level << 8 | function->flags;
    hash = hash_text(hash, function->name);
    hash = hash_text(hash, function->file);
    hash = hash_text(hash, function->signature);
    return hash_text(hash, function->returns);
}

static struct described **bucket_of(const uint8_t *note)
{
    return &buckets[(PROBITY_NUMBER(note) >> 2) % BUCKETS];
}

static struct described *find(const uint8_t *note, uint64_t hash)
{
    struct described *at = __atomic_load_n(bucket_of(note), __ATOMIC_ACQUIRE);

    while (at != NULL && (at->note != note || at->hash != hash))
        at = at->next;
    return at;
}

static struct described *make(const struct probity_site_function *function, const uint8_t *note,
                              uint64_t hash)
{
    struct described *made = take(), **bucket = bucket_of(note);

    if (made == NULL)
        return NULL;
    made->function = *function;
    made->note = note;
    made->hash = hash;
    made->next = __atomic_load_n(bucket, __ATOMIC_RELAXED);
    /* Release: pairs with find(). */
    while (!__atomic_compare_exchange_n(bucket, &made->next, made, 0, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        continue;
    return made;
}

struct probity_site_function *probity_scope_describe(struct probity_site_function **function,
                                                     const void *note)
{
    struct probity_site_function *before = NULL, read;

    read_note(note, &read);
    uint64_t hash = hash_of(&read);
    struct described *described = find(note, hash);
    if (described == NULL)
        described = make(&read, note, hash);
    if (described == NULL)
        return NULL;
    /* Release: whoever loads the address sees the description. */
    if (__atomic_compare_exchange_n(function, &before, &described->function, 0, __ATOMIC_RELEASE,
                                    __ATOMIC_ACQUIRE))
        return &described->function;
    return before;
}
