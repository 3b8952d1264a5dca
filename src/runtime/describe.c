/* SPDX-License-Identifier: MIT
 *
 * describe.c: makes the description of a function from its note, at its first call. Descriptions
 * are kept for the life of the process. Their memory is allocated without a lock, because a forked
 * child could find that locked. A library that is loaded again at the same address gets its
 * previous descriptions. Async-signal-safe.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/limits.h"
#include "runtime/budget.h"
#include "runtime/declare.h"
#include "runtime/scope.h"
#include "runtime/values.h"

enum {
    ROOM_BYTES = 64 * 1024,
    BUCKETS = 256, /* a power of two */
    NOTE_HAS_VALUES = 3, NOTE_LINE = 4, NOTE_NAME = 12, NOTE_FILE = 16, NOTE_SIGNATURE = 20,
    NOTE_RETURNS = 24, NOTE_COUNT = 28, NOTE_RET_TYPE = 29, NOTE_TYPES = 32, NOTE_SOURCE = 40,
    NOTE_EXPANDED = 44, NOTE_RET_TEXT = 48,
    VALUES_MAX = PROBITY_SCOPE_VALUES_MAX,
    TEXT_MAX = 512, SOURCE_MAX = 4096
};

/* Values and their texts, of which `kept` holds copies. */
struct values {
    struct probity_scope_values values;
    uint8_t type[VALUES_MAX + 1]; /* the last one is the return value's */
    const char *text[VALUES_MAX + 1];
    char kept[];
};

struct described {
    struct probity_scope_described description;
    const uint8_t *note;
    uint64_t hash; /* that of the note, whose library may have been unloaded */
    struct described *next;
};

enum { BYTES_OF_ROOM = ROOM_BYTES - 64 };

struct room {
    uint32_t taken; /* bytes; may exceed BYTES_OF_ROOM */
    _Alignas(64) uint8_t bytes[BYTES_OF_ROOM];
};

static struct room *newest;
static struct described *buckets[BUCKETS]; /* keyed by the note's address */

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

/* bytes: less than BYTES_OF_ROOM. */
static void *take(size_t bytes)
{
    struct room *room = __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
    uint32_t rounded = (uint32_t)(bytes + 7) & ~UINT32_C(7);

    probity_assert(bytes > 0 && bytes < BYTES_OF_ROOM);
    for (;;) {
        uint32_t at = BYTES_OF_ROOM;
        /* Once full, it stays full: the number must not wrap. */
        if (room != NULL && __atomic_load_n(&room->taken, __ATOMIC_RELAXED) < BYTES_OF_ROOM)
            at = __atomic_fetch_add(&room->taken, rounded, __ATOMIC_RELAXED);
        if (at <= BYTES_OF_ROOM - rounded)
            return &room->bytes[at];
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

/* Returns a text, stored as its distance from the word that contains the distance. */
static const char *text_at(const uint8_t *at)
{
    return (const char *)at + (int32_t)word_at(at);
}

static void read_note(const uint8_t *note, struct probity_site_function *ret_function)
{
    const char *signature = text_at(note + NOTE_SIGNATURE);

    probity_assert(note != NULL);
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

/* Continues an FNV-1a hash. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text != NULL && *text != 0; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(1099511628211);
    return hash * UINT64_C(1099511628211);
}

static uint64_t hash_of(const struct probity_site_function *function, const uint8_t *note)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    hash ^= (uint64_t)function->line << 16 | (uint64_t)function->level << 8 | function->flags;
    hash = hash_text(hash, function->name);
    hash = hash_text(hash, function->file);
    hash = hash_text(hash, function->signature);
    hash = hash_text(hash, function->returns);
    if (!note[NOTE_HAS_VALUES])
        return hash;
    for (int i = NOTE_COUNT; i < NOTE_SOURCE; i++)
        hash = (hash ^ note[i]) * UINT64_C(1099511628211);
    hash = hash_text(hash, text_at(note + NOTE_SOURCE));
    hash = hash_text(hash, text_at(note + NOTE_EXPANDED));
    return hash_text(hash, text_at(note + NOTE_RET_TEXT));
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

/* Copies a text to *at, and advances *at. */
static const char *keep_text(char **at, const char *text, size_t most)
{
    char *kept = *at;

    if (text == NULL)
        return NULL;
    while ((size_t)(*at - kept) < most && text[*at - kept] != 0) {
        **at = text[*at - kept];
        (*at)++;
    }
    *(*at)++ = 0;
    return kept;
}

static size_t length_of(const char *text, size_t most)
{
    return text != NULL ? strnlen(text, most) : 0;
}

/* Copies the texts of "n, a, b" that follow n. */
static void keep_texts(struct values *values, char **at, const char *expanded)
{
    const char *end = probity_argument_end(expanded);

    for (uint32_t i = 0; i < values->values.enter.count; i++) {
        const char *begin = *end == ',' ? end + 1 : end;
        begin += strspn(begin, " ");
        end = probity_argument_end(begin);
        size_t length = (size_t)(end - begin);
        values->text[i] = keep_text(at, begin, length < TEXT_MAX ? length : TEXT_MAX);
    }
}

/* Returns NULL if out of memory. */
static struct values *make_values(const uint8_t *note, uint32_t line)
{
    const char *source = text_at(note + NOTE_SOURCE), *expanded = text_at(note + NOTE_EXPANDED);
    const char *ret_text = text_at(note + NOTE_RET_TEXT);
    uint32_t count = note[NOTE_COUNT] < VALUES_MAX ? note[NOTE_COUNT] : VALUES_MAX;
    size_t texts = strlen(expanded) < TEXT_MAX ? strlen(expanded) + count : count * (TEXT_MAX + 1);
    struct values *made = take(sizeof *made + length_of(source, SOURCE_MAX) + 1 + texts +
                               length_of(ret_text, TEXT_MAX) + 1);

    if (made == NULL)
        return NULL;
    char *at = made->kept;
    memcpy(made->type, note + NOTE_TYPES, VALUES_MAX);
    made->type[VALUES_MAX] = note[NOTE_RET_TYPE];
    made->values.enter = (struct probity_site_format){
        made->type, made->text, keep_text(&at, source, SOURCE_MAX), count, line, 0};
    made->values.leave = (struct probity_site_format){&made->type[VALUES_MAX],
                                                      &made->text[VALUES_MAX], NULL, 1, line, 0};
    keep_texts(made, &at, expanded);
    made->text[VALUES_MAX] = keep_text(&at, ret_text, TEXT_MAX);
    for (uint32_t i = 0; i < count; i++)
        made->values.bytes += (uint32_t)probity_bytes_of_type(made->type[i]);
    made->values.ret_bytes = (uint32_t)probity_bytes_of_type(made->type[VALUES_MAX]);
    return made;
}

static struct described *make(const struct probity_site_function *function, const uint8_t *note,
                              uint64_t hash)
{
    size_t texts = length_of(function->name, PROBITY_LIMIT_NAME) +
                   length_of(function->file, PROBITY_LIMIT_NAME) +
                   length_of(function->signature, PROBITY_LIMIT_SIGNATURE) +
                   length_of(function->returns, PROBITY_LIMIT_NAME) + 4;
    struct values *values = note[NOTE_HAS_VALUES] ? make_values(note, function->line) : NULL;
    struct described *made = take(sizeof *made + texts), **bucket = bucket_of(note);

    if (made == NULL || (note[NOTE_HAS_VALUES] && values == NULL))
        return NULL;
    char *at = (char *)(made + 1);
    made->description = (struct probity_scope_described){
        *function, values != NULL ? &values->values : NULL};
    struct probity_site_function *kept = &made->description.function;
    kept->name = keep_text(&at, function->name, PROBITY_LIMIT_NAME);
    kept->file = keep_text(&at, function->file, PROBITY_LIMIT_NAME);
    kept->signature = keep_text(&at, function->signature, PROBITY_LIMIT_SIGNATURE);
    kept->returns = keep_text(&at, function->returns, PROBITY_LIMIT_NAME);
    kept->reserved = PROBITY_FUNCTION_NOTED;
    probity_assert(at <= (char *)(made + 1) + texts);
    made->note = note;
    made->hash = hash;
    made->next = __atomic_load_n(bucket, __ATOMIC_RELAXED);
    /* Release: pairs with find(). */
    while (!__atomic_compare_exchange_n(bucket, &made->next, made, 0, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        continue;
    return made;
}

const void *probity_scope_note_of(const struct probity_site_function *function)
{
    probity_assert(function->reserved == PROBITY_FUNCTION_NOTED);
    return ((const struct described *)function)->note;
}

void probity_scope_clear_codes(void)
{
    for (uint32_t i = 0; i < BUCKETS; i++) {
        struct described *at = __atomic_load_n(&buckets[i], __ATOMIC_ACQUIRE);
        for (; at != NULL; at = at->next)
            probity_budget_clear_code(&at->description.function);
    }
}

struct probity_site_function *probity_scope_describe(struct probity_site_function **function,
                                                     const void *note)
{
    struct probity_site_function *before = NULL, read;

    read_note(note, &read);
    uint64_t hash = hash_of(&read, note);
    struct described *described = find(note, hash);
    if (described == NULL)
        described = make(&read, note, hash);
    if (described == NULL) {
        probity_declare_dropped();
        return NULL;
    }
    /* Release: a thread that loads the address sees the description. */
    struct probity_site_function *made = &described->description.function;
    if (__atomic_compare_exchange_n(function, &before, made, 0, __ATOMIC_RELEASE,
                                    __ATOMIC_ACQUIRE))
        return made;
    return before;
}
