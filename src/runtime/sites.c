/* SPDX-License-Identifier: MIT
 *
 * sites.c: turns notes into rows. The compiler duplicates notes when it copies inline functions or
 * unrolls loops, so duplicates are detected with a table, which is kept while an object is listed.
 * All memory is mapped, because recording may start in a signal handler that interrupted malloc().
 */
#include "runtime/sites.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/checksum.h"
#include "base/limits.h"
#include "base/objects.h"
#include "format/block.h"
#include "probity.h"

enum { NOTE_TYPE = 1, NOTE_BYTES = 28, NOTE_TEXTS = 12 };

/* A note as stored in a table. */
struct place {
    const uint8_t *note; /* NULL: free */
    uint32_t hash;
};

/* Identifies an object that was listed. Its address is not included, because a plugin may be
 * reloaded elsewhere. */
struct seen {
    uint32_t path, notes; /* hashes */
};

/* Survives a fork: a child lists what its parent found. */
static struct {
    uint32_t is_taken; /* 1: being searched; may stay so in a forked child */
    uint32_t pid;      /* the process whose libraries may be searched */
    uint64_t loads;
    struct probity_sites_part *first, *last;
    uint32_t listed, left_out;
    struct seen seen[PROBITY_LIMIT_LISTED_OBJECTS]; /* objects that have notes */
    uint32_t seen_count;
} sites;

/* An object being listed. */
struct listing {
    struct place *places;
    size_t count, capacity; /* capacity: a power of two */
    uint32_t notes;         /* hash of all notes; texts are hashed by their distances */
    struct probity_listed before; /* the previous row */
    struct probity_sites_part *part; /* not linked yet; NULL: not begun */
    size_t used; /* size of its payload */
};

static void *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at != MAP_FAILED ? at : NULL;
}

/* ---- Parts -------------------------------------------------------------------------------------
 */

static void part_finish(struct listing *listing)
{
    struct probity_sites_part *part = listing->part, **link;
    probity_assert(part == NULL || part->rows > 0);

    if (part == NULL)
        return;
    probity_assert(listing->used <= PROBITY_LIMIT_BATCH_BYTES);
    part->payload_bytes = (uint32_t)listing->used;
    probity_sites_head_put(part->block + PROBITY_BLOCK_HEADER_BYTES, part->rows, sites.left_out);
    link = sites.last != NULL ? &sites.last->next : &sites.first;
    /* Release: complete for any thread that finds it, even in a child. */
    __atomic_store_n(link, part, __ATOMIC_RELEASE);
    sites.last = part;
    listing->part = NULL;
}

static int part_begin(struct listing *listing)
{
    probity_assert(listing->part == NULL);
    listing->part = map(sizeof *listing->part + PROBITY_BLOCK_HEADER_BYTES +
                        PROBITY_LIMIT_BATCH_BYTES);
    listing->used = PROBITY_SITES_FIXED_BYTES;
    return listing->part != NULL;
}

static void add_row(struct listing *listing, const struct probity_listed *row)
{
    if (listing->part != NULL &&
        PROBITY_LIMIT_BATCH_BYTES - listing->used < PROBITY_SITES_ROW_BYTES_MAX)
        part_finish(listing);
    if (sites.listed >= PROBITY_LIMIT_LISTED || (listing->part == NULL && !part_begin(listing))) {
        sites.left_out++;
        return;
    }
    uint8_t *payload = listing->part->block + PROBITY_BLOCK_HEADER_BYTES;
    const struct probity_listed *before = listing->part->rows > 0 ? &listing->before : NULL;
    probity_assert(PROBITY_LIMIT_BATCH_BYTES - listing->used >= PROBITY_SITES_ROW_BYTES_MAX);
    listing->used =
        (size_t)(probity_sites_row_put(payload + listing->used, row, before) - payload);
    listing->part->rows++;
    listing->before = *row;
    sites.listed++;
}

/* ---- Notes -------------------------------------------------------------------------------------
 */

static uint32_t word_at(const uint8_t *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* Stores a text; one outside its object is treated as empty. */
static void take_text(const struct probity_object *object, const uint8_t *at, size_t most,
                      struct probity_listed *row, int text)
{
    const char *start = (const char *)at + (int32_t)word_at(at);
    size_t bytes = probity_object_bytes(object, start);

    probity_assert(text >= 0 && text < PROBITY_LISTED_TEXTS);
    row->text[text] = start;
    row->length[text] = bytes > 0 ? strnlen(start, bytes < most ? bytes : most) : 0;
    probity_assert(row->length[text] <= most);
}

static void row_of(const struct probity_object *object, const uint8_t *note,
                   struct probity_listed *ret_row)
{
    int is_function = note[0] == PROBITY_LISTED_FUNCTION;
    static const int texts[] = {PROBITY_LISTED_NAME, PROBITY_LISTED_FILE, PROBITY_LISTED_WITHIN,
                                PROBITY_LISTED_RETURNS};

    *ret_row = (struct probity_listed){.kind = note[0],
                                       .level = note[1],
                                       .flags = note[2],
                                       .line = word_at(note + 4),
                                       .number = word_at(note + 8)};
    for (int i = 0; i < 4; i++)
        take_text(object, note + NOTE_TEXTS + 4 * i,
                  is_function && texts[i] == PROBITY_LISTED_WITHIN ? PROBITY_LIMIT_SIGNATURE
                                                                   : PROBITY_LIMIT_NAME,
                  ret_row, texts[i]);
    ret_row->text[PROBITY_LISTED_OBJECT] = object->path;
    ret_row->length[PROBITY_LISTED_OBJECT] = strnlen(object->path, PROBITY_LIMIT_SIGNATURE);
}

static uint32_t hash_of(const struct probity_listed *row)
{
    uint32_t hash = row->kind ^ row->line << 8 ^ row->number * 2654435761u;

    for (int i = 0; i <= PROBITY_LISTED_WITHIN; i++)
        hash = probity_checksum(hash, row->text[i], row->length[i]);
    return hash;
}

static int is_same(const struct probity_listed *row, const struct probity_listed *other)
{
    if (row->kind != other->kind || row->line != other->line || row->number != other->number)
        return 0;
    for (int i = 0; i <= PROBITY_LISTED_WITHIN; i++) {
        if (row->length[i] != other->length[i] ||
            (row->text[i] != other->text[i] &&
             memcmp(row->text[i], other->text[i], row->length[i]) != 0))
            return 0;
    }
    return 1;
}

/* Adds a row to the table. Returns whether it was new. */
static int enter_row(struct listing *listing, const struct probity_object *object,
                     const uint8_t *note, const struct probity_listed *row)
{
    uint32_t hash = hash_of(row);
    size_t mask = listing->capacity - 1, at = hash & mask;
    struct probity_listed other;

    probity_assert((listing->capacity & mask) == 0 && 2 * listing->count <= listing->capacity);
    for (; listing->places[at].note != NULL; at = (at + 1) & mask) {
        if (listing->places[at].hash != hash)
            continue;
        row_of(object, listing->places[at].note, &other);
        if (is_same(row, &other))
            return 0;
    }
    listing->places[at] = (struct place){note, hash};
    return 1;
}

static int is_known(const uint8_t *note, size_t bytes)
{
    return bytes >= NOTE_BYTES && note[0] >= PROBITY_LISTED_NAMED &&
           note[0] <= PROBITY_LISTED_FUNCTION;
}

static void count_note(void *context, const struct probity_object *object, const uint8_t *note,
                       size_t bytes)
{
    struct listing *listing = context;

    (void)object;
    listing->count += (size_t)is_known(note, bytes);
    listing->notes = probity_checksum(listing->notes, note, bytes);
}

static void take_note(void *context, const struct probity_object *object, const uint8_t *note,
                      size_t bytes)
{
    struct probity_listed row;

    if (!is_known(note, bytes))
        return;
    row_of(object, note, &row);
    if (enter_row(context, object, note, &row))
        add_row(context, &row);
}

/* ---- Objects -----------------------------------------------------------------------------------
 */

/* Returns whether the object, with `count` sites, was listed before; marks it as listed. If there
 * is no room to mark an object, it is skipped, because it would be listed again with each library
 * that is loaded. */
static int was_seen(const struct probity_object *object, uint32_t notes, size_t count)
{
    struct seen now = {probity_checksum(0, object->path, strlen(object->path)), notes};

    probity_assert(sites.seen_count <= PROBITY_LIMIT_LISTED_OBJECTS && count > 0);
    for (uint32_t i = 0; i < sites.seen_count; i++) {
        if (sites.seen[i].path == now.path && sites.seen[i].notes == now.notes)
            return 1;
    }
    if (sites.seen_count == PROBITY_LIMIT_LISTED_OBJECTS) {
        sites.left_out += (uint32_t)count;
        return 1;
    }
    sites.seen[sites.seen_count++] = now;
    return 0;
}

static void take_object(void *context, const struct probity_object *object)
{
    enum { FEW = 64 };
    struct place few[FEW]; /* usually enough, and faster than a mapping */
    struct listing listing = {.places = few, .capacity = FEW};

    (void)context;
    probity_object_notes(object, "Probity", NOTE_TYPE, count_note, &listing);
    if (listing.count == 0 || was_seen(object, listing.notes, listing.count))
        return;
    while (listing.capacity < 2 * listing.count)
        listing.capacity *= 2;
    memset(few, 0, sizeof few);
    if (listing.capacity > FEW)
        listing.places = map(listing.capacity * sizeof *listing.places);
    if (listing.places == NULL) {
        sites.left_out += (uint32_t)listing.count;
        return;
    }
    probity_object_notes(object, "Probity", NOTE_TYPE, take_note, &listing);
    part_finish(&listing);
    if (listing.places != few)
        munmap(listing.places, listing.capacity * sizeof *listing.places);
}

void probity_sites_at_load(void)
{
    __atomic_store_n(&sites.pid, (uint32_t)getpid(), __ATOMIC_RELAXED);
}

void probity_sites_find(int has_linker)
{
    uint32_t pid = __atomic_load_n(&sites.pid, __ATOMIC_RELAXED);
    int is_child = pid != 0 && pid != (uint32_t)getpid(), before = errno;
    struct probity_object executable;

    if ((is_child && probity_sites_next(NULL) != NULL) ||
        __atomic_exchange_n(&sites.is_taken, 1, __ATOMIC_ACQUIRE) != 0)
        return;
    if (has_linker && !is_child)
        probity_objects_each(&sites.loads, take_object, NULL);
    else if (probity_object_executable(&executable) == 0)
        take_object(NULL, &executable);
    __atomic_store_n(&sites.is_taken, 0, __ATOMIC_RELEASE);
    errno = before;
}

struct probity_sites_part *probity_sites_next(const struct probity_sites_part *part)
{
    return part != NULL ? __atomic_load_n(&part->next, __ATOMIC_ACQUIRE)
                        : __atomic_load_n(&sites.first, __ATOMIC_ACQUIRE);
}
