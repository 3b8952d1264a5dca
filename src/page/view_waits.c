/* SPDX-License-Identifier: MIT
 *
 * view_waits.c: keeps waits within the limit, and writes them as arrays of numbers:
 *
 *     [slot, from, length, name, is given up, waker, since from, holder, since from, length, ...]
 *
 * where `from` is relative to that of the previous wait, slots are indices into `threads`, and -1
 * is an unknown waker; -1 - TID is a holder of which only the thread id is known. Slots are
 * numbered in the order in which waits refer to them, since the reader's numbers depend on where
 * reading starts.
 */
#include "page/view_waits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/hash.h"
#include "base/hashtable.h"
#include "print/json.h"
#include "probity.h"

/* The object of a wait. */
struct wait_name {
    struct probity_link link;
    enum probity_wait_what what;
    uint64_t object;
    size_t number;
    char text[];
};

struct kept_wait {
    uint64_t from_ns, to_ns, waker_ns;
    uint32_t slot, waker_slot;
    uint32_t name;
    int is_given_up;
    struct probity_wait_holder *holders;
    size_t holder_count;
};

struct wait_slot {
    uint32_t trace, thread, tid;
    uint8_t is_known, is_wanted;
    uint32_t number; /* in `threads`, + 1; 0: no wait refers to it */
};

struct probity_view_waits {
    struct probity_view_waits_options options;
    uint64_t to_ns, least_ns; /* least_ns: shorter waits are left out */
    size_t count, capacity;
    uint64_t dropped;
    struct kept_wait *kept;
    struct probity_waits *analysis;
    struct probity_wait_names names;
    int is_idle; /* the traces have no waits */
    struct probity_hashtable texts;
    struct wait_name **by_number;
    size_t name_capacity;
    struct wait_slot *slots; /* by the reader's slots */
    uint32_t slot_count;
    uint32_t *threads; /* slots, by their numbers */
    size_t thread_count, thread_capacity;
};

/* ---- Names -------------------------------------------------------------------------------------
 */

static struct wait_name *add_name(struct probity_view_waits *waits, uint64_t hash,
                                  const struct probity_wait_name *wanted)
{
    size_t count = waits->texts.items, bytes = strlen(wanted->text) + 1;
    void *numbers = probity_array_room(waits->by_number, sizeof(struct wait_name *), count,
                                       &waits->name_capacity);

    if (numbers == NULL)
        return NULL;
    waits->by_number = numbers;
    struct wait_name *name = malloc(sizeof *name + bytes);
    if (name == NULL)
        return NULL;
    name->what = wanted->what;
    name->object = wanted->object;
    name->number = count;
    memcpy(name->text, wanted->text, bytes);
    if (probity_hashtable_add(&waits->texts, name, hash) != 0) {
        free(name);
        return NULL;
    }
    waits->by_number[count] = name;
    return name;
}

static struct wait_name *name_of(struct probity_view_waits *waits, uint32_t trace,
                                 const struct probity_wait *wait)
{
    const struct probity_wait_name wanted = probity_wait_names_of(&waits->names, trace, wait);
    uint64_t hash = probity_hash_text(wanted.object ^ (uint64_t)wanted.what, wanted.text);
    struct wait_name *name = probity_hashtable_at(&waits->texts, hash);

    for (; name != NULL; name = (struct wait_name *)(void *)name->link.next) {
        if (name->link.hash == hash && name->what == wanted.what &&
            name->object == wanted.object && strcmp(name->text, wanted.text) == 0)
            return name;
    }
    return add_name(waits, hash, &wanted);
}

/* ---- Waits -------------------------------------------------------------------------------------
 */

/* Halves the number of waits by doubling the minimum length as often as necessary. */
static void drop_short(struct probity_view_waits *waits)
{
    while (waits->count > waits->options.waits_max / 2) {
        size_t kept = 0;
        waits->least_ns = waits->least_ns * 2 + 1;
        for (size_t i = 0; i < waits->count; i++) {
            struct kept_wait *wait = &waits->kept[i];
            if (wait->to_ns - wait->from_ns >= waits->least_ns)
                waits->kept[kept++] = *wait;
            else
                free(wait->holders);
        }
        waits->dropped += waits->count - kept;
        waits->count = kept;
    }
}

static int take_wait(void *context, const struct probity_wait *wait,
                     const struct probity_event *event)
{
    struct probity_view_waits *waits = context;
    size_t bytes = wait->holder_count * sizeof *wait->holders;

    (void)event;
    if (wait->from_ns < waits->options.from_ns || wait->from_ns >= waits->to_ns || wait->is_open ||
        !waits->slots[wait->thread_slot].is_wanted)
        return 0;
    if (wait->to_ns - wait->from_ns < waits->least_ns) {
        waits->dropped++;
        return 0;
    }
    struct kept_wait *kept =
        probity_array_room(waits->kept, sizeof *kept, waits->count, &waits->capacity);
    if (kept == NULL)
        return PROBITY_ERROR_MEMORY;
    waits->kept = kept;
    const struct wait_name *name = name_of(waits, waits->slots[wait->thread_slot].trace, wait);
    struct probity_wait_holder *holders = bytes > 0 ? malloc(bytes) : NULL;
    if (name == NULL || (bytes > 0 && holders == NULL)) {
        free(holders);
        return PROBITY_ERROR_MEMORY;
    }
    if (bytes > 0)
        memcpy(holders, wait->holders, bytes);
    kept[waits->count++] = (struct kept_wait){
        wait->from_ns, wait->to_ns, wait->waker_ns, wait->thread_slot, wait->waker_slot,
        (uint32_t)name->number, wait->error != 0, holders, wait->holder_count};
    if (waits->count > waits->options.waits_max)
        drop_short(waits);
    return 0;
}

static int know_slot(struct probity_view_waits *waits, const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;

    if (slot >= waits->slot_count) {
        void *slots = probity_array_grow(waits->slots, sizeof *waits->slots, slot,
                                         &waits->slot_count);
        if (slots == NULL)
            return PROBITY_ERROR_MEMORY;
        waits->slots = slots;
    }
    if (waits->slots[slot].is_known)
        return 0;
    int is_wanted = waits->options.is_wanted == NULL ||
                    waits->options.is_wanted(waits->options.wanted_context, event->tid);
    waits->slots[slot] =
        (struct wait_slot){event->trace, event->thread, event->tid, 1, is_wanted != 0, 0};
    return 0;
}

int probity_view_waits_is_idle(const struct probity_view_waits *waits)
{
    return waits->is_idle;
}

int probity_view_waits_put(struct probity_view_waits *waits, const struct probity_event *event)
{
    if (waits->is_idle)
        return 0;
    int error = know_slot(waits, event);
    return error == 0 ? probity_wait_names_put(&waits->names, waits->analysis, event) : error;
}

uint64_t probity_view_waits_pending(const struct probity_view_waits *waits)
{
    uint64_t pending = 0;

    if (waits->options.is_wanted == NULL)
        return probity_waits_pending(waits->analysis);
    for (uint32_t slot = 0; slot < waits->slot_count; slot++) {
        if (waits->slots[slot].is_wanted)
            pending += (uint64_t)probity_waits_is_pending(waits->analysis, slot);
    }
    return pending;
}

static int number_slot(struct probity_view_waits *waits, uint32_t slot)
{
    if (slot == PROBITY_WAITS_NO_THREAD || waits->slots[slot].number != 0 ||
        !waits->slots[slot].is_wanted)
        return 0;
    uint32_t *threads = probity_array_room(waits->threads, sizeof *threads, waits->thread_count,
                                           &waits->thread_capacity);
    if (threads == NULL)
        return PROBITY_ERROR_MEMORY;
    waits->threads = threads;
    threads[waits->thread_count++] = slot;
    waits->slots[slot].number = (uint32_t)waits->thread_count;
    return 0;
}

int probity_view_waits_finish(struct probity_view_waits *waits)
{
    int error = probity_waits_finish(waits->analysis);

    for (size_t i = 0; error == 0 && i < waits->count; i++) {
        const struct kept_wait *wait = &waits->kept[i];
        error = number_slot(waits, wait->slot);
        if (error == 0)
            error = number_slot(waits, wait->waker_slot);
        for (size_t j = 0; error == 0 && j < wait->holder_count; j++)
            error = number_slot(waits, wait->holders[j].thread_slot);
    }
    return error;
}

size_t probity_view_waits_count(const struct probity_view_waits *waits)
{
    return waits->count;
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

static int put_names(FILE *stream, const struct probity_view_waits *waits)
{
    int error = 0;

    fputs("], \"names\": [", stream);
    for (size_t i = 0; error == 0 && i < waits->texts.items; i++) {
        const struct wait_name *name = waits->by_number[i];
        fprintf(stream, "%s\n[\"%s\", ", i > 0 ? "," : "", probity_wait_what_name(name->what));
        error = probity_json_put_text(stream, name->text);
        fprintf(stream, ", \"0x%" PRIx64 "\"]", name->object);
    }
    return error;
}

/* -1: unknown, or not among the threads of the page. */
static int64_t number_of(const struct probity_view_waits *waits, uint32_t slot)
{
    return slot != PROBITY_WAITS_NO_THREAD ? (int64_t)waits->slots[slot].number - 1 : -1;
}

static int64_t holder_of(const struct probity_view_waits *waits,
                         const struct probity_wait_holder *holder)
{
    uint32_t slot = holder->thread_slot;

    if (slot == PROBITY_WAITS_NO_THREAD)
        return -1 - (int64_t)holder->tid;
    return waits->slots[slot].is_wanted ? number_of(waits, slot)
                                        : -1 - (int64_t)waits->slots[slot].tid;
}

static void put_holder(FILE *stream, const struct probity_view_waits *waits,
                       const struct kept_wait *wait, const struct probity_wait_holder *holder)
{
    fprintf(stream, ",%" PRId64 ",%" PRId64 ",%" PRIu64, holder_of(waits, holder),
            (int64_t)(holder->from_ns - wait->from_ns),
            holder->to_ns > holder->from_ns ? holder->to_ns - holder->from_ns : 0);
}

static void put_wait(FILE *stream, const struct probity_view_waits *waits,
                     const struct kept_wait *wait, uint64_t before_ns)
{
    int has_waker = wait->waker_slot != PROBITY_WAITS_NO_THREAD;

    fprintf(stream,
            "[%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu32 ",%d,%" PRId64 ",%" PRId64,
            number_of(waits, wait->slot), (int64_t)(wait->from_ns - before_ns),
            wait->to_ns - wait->from_ns, wait->name, wait->is_given_up,
            number_of(waits, wait->waker_slot),
            has_waker ? (int64_t)(wait->waker_ns - wait->from_ns) : 0);
    for (size_t i = 0; i < wait->holder_count; i++)
        put_holder(stream, waits, wait, &wait->holders[i]);
    fputc(']', stream);
}

int probity_view_waits_json(FILE *stream, const struct probity_view_waits *waits,
                            uint64_t first_ns)
{
    uint64_t before_ns = first_ns;

    fprintf(stream, "{\"dropped\": %" PRIu64 ", \"least_ns\": %" PRIu64 ", \"threads\": [",
            waits->dropped, waits->least_ns);
    for (size_t i = 0; i < waits->thread_count; i++) {
        const struct wait_slot *slot = &waits->slots[waits->threads[i]];
        fprintf(stream, "%s[%" PRIu32 ",%" PRIu32 "]", i > 0 ? "," : "", slot->trace,
                slot->thread);
    }
    int error = put_names(stream, waits);
    fputs("], \"list\": [", stream);
    for (size_t i = 0; i < waits->count; i++) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        put_wait(stream, waits, &waits->kept[i], before_ns);
        before_ns = waits->kept[i].from_ns;
    }
    fputs("]}", stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}

/* ---- Open and close ----------------------------------------------------------------------------
 */

int probity_view_waits_open(const struct probity_view_waits_options *options,
                            struct probity_view_waits **ret_waits)
{
    struct probity_view_waits *waits = calloc(1, sizeof *waits);

    if (waits == NULL || probity_waits_open(take_wait, waits, &waits->analysis) != 0) {
        free(waits);
        return PROBITY_ERROR_MEMORY;
    }
    if (probity_wait_names_resume(&waits->names, waits->analysis, options->resumed) != 0) {
        probity_view_waits_close(waits);
        return PROBITY_ERROR_MEMORY;
    }
    probity_waits_set_range(waits->analysis, options->from_ns, options->to_ns);
    waits->is_idle = options->resumed != NULL && !probity_reader_may_wait(options->resumed);
    waits->options = *options;
    waits->to_ns = options->to_ns > 0 ? options->to_ns : UINT64_MAX;
    waits->names.symbols = options->symbols;
    *ret_waits = waits;
    return 0;
}

void probity_view_waits_close(struct probity_view_waits *waits)
{
    for (size_t i = 0; i < waits->count; i++)
        free(waits->kept[i].holders);
    for (struct wait_name *name; (name = probity_hashtable_take(&waits->texts)) != NULL;)
        free(name);
    probity_waits_close(waits->analysis);
    probity_wait_names_release(&waits->names);
    free(waits->by_number);
    free(waits->threads);
    free(waits->slots);
    free(waits->kept);
    free(waits);
}
