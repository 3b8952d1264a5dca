/* SPDX-License-Identifier: MIT
 *
 * waits_state.c: saves the state of the waits analysis at a mark of an index, and resumes from it
 * (doc/trace-format.md, "Index"). The past of threads is not saved: only waits for locks that are
 * open at the mark depend on it. Input is untrusted.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/waits_bytes.h"
#include "analysis/waits_open.h"
#include "analysis/waits_parts.h"
#include "analysis/waits_state.h"
#include "base/array_grow.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "reader/index.h"

/* ---- Saving ------------------------------------------------------------------------------------
 */

struct saved {
    const struct probity_waits *waits;
    struct waits_bytes to;
    uint32_t *numbers; /* by slot: the number of the thread in the state */
    int is_late;       /* there are times after that of the state, which cannot be encoded */
};

static void put(struct saved *saved, uint64_t value)
{
    waits_bytes_put(&saved->to, value);
}

/* Writes how long before the state's time it was, + 1; 0: none. */
static void put_time(struct saved *saved, uint64_t at_ns)
{
    saved->is_late |= at_ns > saved->waits->now_ns;
    put(saved, at_ns != 0 ? saved->waits->now_ns - at_ns + 1 : 0);
}

static void put_thread(struct saved *saved, uint32_t slot)
{
    put(saved, slot != PROBITY_WAITS_NO_THREAD ? UINT64_C(1) + saved->numbers[slot] : 0);
}

static void put_place(struct saved *saved, const struct probity_wait_place *place)
{
    put(saved, place->address);
    put(saved, place->tick);
}

static void put_function(struct saved *saved, const struct probity_function *function)
{
    put(saved, function != NULL ? UINT64_C(1) + function->number : 0);
}

static void put_doing(struct saved *saved, const struct probity_past_doing *doing)
{
    put_function(saved, doing->function);
    put_function(saved, doing->call);
}

static void put_holds(struct saved *saved, const struct wait_object *object)
{
    put(saved, object->hold_count);
    for (size_t i = 0; i < object->hold_count; i++) {
        const struct object_hold *hold = &object->holds[i];
        put_thread(saved, hold->slot);
        put(saved, hold->depth);
        put(saved, hold->epoch);
        put_time(saved, hold->from_ns);
        put_place(saved, &hold->place);
        put(saved, (uint64_t)hold->is_shared | (uint64_t)hold->is_doubtful << 1);
    }
}

static void put_tokens(struct saved *saved, const struct wait_object *object)
{
    put(saved, object->token_count);
    for (size_t i = 0; i < object->token_count; i++) {
        const struct object_token *token = &object->tokens[i];
        put_thread(saved, token->slot);
        put_time(saved, token->at_ns);
        put(saved, token->left);
        put_doing(saved, &token->doing);
        put_place(saved, &token->place);
        put(saved, (uint64_t)token->is_doubtful);
    }
    put_time(saved, object->token_lost_ns);
}

static void put_object(struct saved *saved, const struct wait_object *object)
{
    const struct probity_wait_object *public = &object->public;
    size_t length = strlen(public->name);
    uint8_t *name;

    put(saved, public->id);
    put(saved, length + 1);
    name = waits_bytes_room(&saved->to, length + 1);
    if (name != NULL) { /* name of the site, without the role */
        memcpy(name, public->name, length);
        name[length] = ':';
        saved->to.used += length + 1;
    }
    put(saved, public->place);
    put(saved, public->place_tick);
    put(saved, (uint64_t)public->is_place_made);
    put_thread(saved, object->released_slot);
    put_place(saved, &object->released_place);
    put_holds(saved, object);
    put_tokens(saved, object);
}

static void put_wait(struct saved *saved, const struct open_wait *wait)
{
    put(saved, wait->object != NULL);
    if (wait->object == NULL)
        return;
    put(saved, wait->object->public.id);
    put(saved, (uint64_t)wait->kind);
    put(saved, wait->depth);
    put_time(saved, wait->from_ns);
    put(saved, wait->correlation);
    put(saved, (uint64_t)(wait->has_correlation != 0) | (uint64_t)(wait->is_shared != 0) << 1 |
                   (uint64_t)(wait->is_ambiguous != 0) << 2);
    put_thread(saved, wait->waker_slot);
    put_time(saved, wait->waker_ns);
    put_doing(saved, &wait->doing);
    put_doing(saved, &wait->waker_doing);
    put_place(saved, &wait->place);
    put_place(saved, &wait->waker_place);
}

/* Numbers the threads, and writes what identifies each of them. */
static void put_threads(struct saved *saved)
{
    const struct probity_waits *waits = saved->waits;
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < waits->thread_count; slot++)
        saved->numbers[slot] = waits->threads[slot] != NULL ? count++ : 0;
    put(saved, count);
    for (uint32_t slot = 0; slot < waits->thread_count; slot++) {
        const struct wait_thread *thread = waits->threads[slot];
        if (thread == NULL)
            continue;
        put(saved, thread->number);
        put(saved, thread->tid);
        put(saved, thread->epoch);
        put_time(saved, thread->ended_ns);
    }
}

/* Writes the ticks of times that are written without them. */
static void put_ticks(struct saved *saved)
{
    const struct probity_waits *waits = saved->waits;

    for (uint32_t slot = 0; slot < waits->thread_count; slot++) {
        if (waits->threads[slot] != NULL)
            put(saved, waits->threads[slot]->ended_tick);
    }
    for (const struct wait_object *object = waits->oldest; object != NULL; object = object->newer)
        put(saved, object->token_lost_tick);
}

static void put_wake(struct saved *saved, const struct thread_wake *wake)
{
    put(saved, wake->at_ns != 0 ? wake->tick : 0);
    if (wake->at_ns == 0)
        return;
    put_time(saved, wake->at_ns);
    put_thread(saved, wake->slot);
    put_doing(saved, &wake->doing);
}

/* Writes what the scheduler reported. */
static void put_wakes(struct saved *saved)
{
    const struct probity_waits *waits = saved->waits;

    for (uint32_t slot = 0; slot < waits->thread_count; slot++) {
        const struct wait_thread *thread = waits->threads[slot];
        if (thread == NULL)
            continue;
        put(saved, thread->state);
        put_wake(saved, &thread->first_wake);
        put_wake(saved, &thread->latest_wake);
    }
}

/* Tokens refer to threads and waits to objects. */
static void put_all(struct saved *saved)
{
    const struct probity_waits *waits = saved->waits;

    put_threads(saved);
    put(saved, waits->objects.items);
    for (const struct wait_object *object = waits->oldest; object != NULL; object = object->newer)
        put_object(saved, object);
    for (uint32_t slot = 0; slot < waits->thread_count; slot++) {
        if (waits->threads[slot] != NULL)
            put_wait(saved, &waits->threads[slot]->wait);
    }
    put_ticks(saved);
    put_wakes(saved);
}

/* Returns the beginning of the oldest wait whose past matters. */
static uint64_t oldest_ns(const struct probity_waits *waits)
{
    uint64_t oldest_ns = waits->oldest_wait != NULL ? waits->oldest_wait->from_ns : UINT64_MAX;

    for (uint32_t slot = 0; slot < waits->thread_count; slot++) {
        uint64_t call_ns = waits->threads[slot] != NULL
                               ? waits_oldest_call_ns(waits, waits->threads[slot]) : UINT64_MAX;
        oldest_ns = call_ns < oldest_ns ? call_ns : oldest_ns;
    }
    return oldest_ns;
}

int probity_waits_save(const struct probity_waits *waits, uint64_t tick, uint8_t **ret_bytes,
                       size_t *ret_count)
{
    struct saved saved = {.waits = waits, .to.used = PROBITY_INDEX_WAITS_BYTES};

    if (waits->has_evicted || waits->past.forgotten > 0)
        return 0;
    saved.numbers = calloc((size_t)waits->thread_count + 1, sizeof *saved.numbers);
    saved.to.bytes = probity_array_fit(NULL, 1, saved.to.used, &saved.to.capacity);
    saved.to.error = saved.numbers == NULL || saved.to.bytes == NULL ? PROBITY_ERROR_MEMORY : 0;
    if (saved.to.error == 0)
        put_all(&saved);
    free(saved.numbers);
    if (saved.to.error != 0 || saved.is_late) {
        free(saved.to.bytes);
        *ret_bytes = NULL;
        *ret_count = 0;
        return saved.to.error != 0 ? saved.to.error : 1;
    }
    probity_put_u64(saved.to.bytes, tick);
    probity_put_u64(saved.to.bytes + 8, waits->now_ns);
    probity_put_u64(saved.to.bytes + 16, oldest_ns(waits));
    *ret_bytes = saved.to.bytes;
    *ret_count = saved.to.used;
    return 1;
}

/* ---- Resuming ----------------------------------------------------------------------------------
 */

struct known_function {
    struct probity_link link;
    const struct probity_function *function;
};

struct waits_resumed {
    struct waits_cursor from;
    uint64_t tick, now_ns;
    uint32_t trace;
    const struct probity_reader *clock;
    int has_wakes; /* thread states were among the events before it */
    struct wait_object *oldest; /* of the state, as are those after it in order of use */
    struct probity_hashtable functions; /* declared before the state */
    uint32_t *slots;                    /* by number in the state */
    uint64_t slot_count;
};

static int resume_at(struct probity_waits *waits, const struct probity_waits_state *state)
{
    if (state->trace >= waits->resumed_count) {
        void *grown = probity_array_grow(waits->resumed, sizeof(struct waits_resumed *),
                                         state->trace, &waits->resumed_count);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        waits->resumed = grown;
    }
    struct waits_resumed *resumed = calloc(1, sizeof *resumed);
    if (resumed == NULL)
        return PROBITY_ERROR_MEMORY;
    *resumed = (struct waits_resumed){.from.at = state->bytes + PROBITY_INDEX_WAITS_BYTES,
                                      .from.end = state->bytes + state->byte_count,
                                      .tick = state->tick, .now_ns = state->now_ns,
                                      .trace = state->trace, .clock = state->clock,
                                      .has_wakes = state->has_wakes};
    waits->resumed[state->trace] = resumed;
    waits->resumed_left++;
    return 0;
}

int probity_waits_resume(struct probity_waits *waits, const struct probity_waits_state *state)
{
    struct probity_waits_facts *totals = &waits->totals;

    waits->has_totals = 1;
    totals->lost += state->totals.lost;
    totals->orphans += state->totals.orphans;
    totals->ambiguous += state->totals.ambiguous;
    totals->holds_forgotten += state->totals.holds_forgotten;
    return state->bytes != NULL ? resume_at(waits, state) : 0;
}

int probity_waits_resume_all(struct probity_waits *waits, const struct probity_reader *reader)
{
    size_t count = reader != NULL ? probity_reader_traces(reader) : 0;
    int error = 0;

    for (size_t i = 0; error == 0 && i < count; i++) {
        const struct probity_index *index = probity_reader_waits_index(reader, i);
        if (index == NULL)
            continue;
        struct probity_waits_state state = {
            .trace = (uint32_t)i, .clock = count > 1 ? reader : NULL,
            .has_wakes = index->states_count > 0,
            .totals = {.lost = index->lost, .orphans = index->orphans,
                       .ambiguous = index->ambiguous, .holds_forgotten = index->holds_forgotten}};
        const struct probity_index_waits *at = index->chosen_waits;
        if (at != NULL) {
            state.bytes = index->waits_payload;
            state.byte_count = at->payload_bytes;
            state.tick = at->tick;
            state.now_ns = at->now_ns;
        }
        error = probity_waits_resume(waits, &state);
    }
    return error;
}

static const struct probity_function *find_function(const struct waits_resumed *resumed,
                                                    uint64_t number)
{
    const struct known_function *known =
        probity_hashtable_at(&resumed->functions, probity_hash(number));

    while (known != NULL && known->function->number != number)
        known = (const struct known_function *)known->link.next;
    return known != NULL ? known->function : NULL;
}

/* Functions are known before the state refers to them. */
static int learn_function(struct waits_resumed *resumed, const struct probity_function *function)
{
    if (function == NULL || find_function(resumed, function->number) != NULL)
        return 0;
    struct known_function *known = calloc(1, sizeof *known);
    if (known == NULL ||
        probity_hashtable_add(&resumed->functions, known, probity_hash(function->number)) != 0) {
        free(known);
        return PROBITY_ERROR_MEMORY;
    }
    known->function = function;
    return 0;
}

static uint64_t get(struct waits_resumed *resumed)
{
    return waits_cursor_get(&resumed->from);
}

static uint64_t get_time(struct waits_resumed *resumed)
{
    uint64_t value = get(resumed);

    resumed->from.is_damaged |= value > resumed->now_ns;
    return value != 0 ? resumed->now_ns - value + 1 : 0;
}

/* Converts a tick, which is never later than the state, to a time in the clock of the reader. */
static uint64_t time_of(struct waits_resumed *resumed, uint64_t saved_ns, uint64_t tick)
{
    if (saved_ns == 0 || resumed->clock == NULL)
        return saved_ns;
    resumed->from.is_damaged |= tick > resumed->tick;
    return probity_reader_wall_ns(resumed->clock, resumed->trace, tick);
}

/* Reads a number of items, each of at least one byte. */
static uint64_t get_count(struct waits_resumed *resumed)
{
    uint64_t count = get(resumed);

    if (count <= (uint64_t)(resumed->from.end - resumed->from.at))
        return count;
    resumed->from.is_damaged = 1;
    return 0;
}

static uint32_t get_thread(struct waits_resumed *resumed)
{
    uint64_t number = get(resumed);

    resumed->from.is_damaged |= number > resumed->slot_count;
    return number == 0 || number > resumed->slot_count ? PROBITY_WAITS_NO_THREAD
                                                       : resumed->slots[number - 1];
}

static struct probity_wait_place get_place(struct waits_resumed *resumed)
{
    uint64_t address = get(resumed);

    return (struct probity_wait_place){address, get(resumed)};
}

static const struct probity_function *get_function(struct waits_resumed *resumed)
{
    uint64_t number = get(resumed);
    const struct probity_function *function =
        number != 0 ? find_function(resumed, number - 1) : NULL;

    resumed->from.is_damaged |= number != 0 && function == NULL;
    return function;
}

static struct probity_past_doing get_doing(struct waits_resumed *resumed)
{
    const struct probity_function *function = get_function(resumed);

    return (struct probity_past_doing){function, get_function(resumed)};
}

static int get_holds(struct probity_waits *waits, struct waits_resumed *resumed,
                     struct wait_object *object)
{
    uint64_t count = get_count(resumed);

    if (count > PROBITY_WAITS_HOLDERS_MAX)
        return PROBITY_ERROR_DAMAGED;
    object->holds = count > 0 ? calloc(count, sizeof *object->holds) : NULL;
    if (count > 0 && object->holds == NULL)
        return PROBITY_ERROR_MEMORY;
    object->hold_capacity = count;
    for (uint64_t i = 0; i < count && !resumed->from.is_damaged; i++) {
        struct object_hold *hold = &object->holds[i];
        hold->slot = get_thread(resumed);
        hold->depth = (uint32_t)get(resumed);
        hold->epoch = (uint32_t)get(resumed);
        hold->from_ns = get_time(resumed);
        hold->place = get_place(resumed);
        hold->from_ns = time_of(resumed, hold->from_ns, hold->place.tick);
        uint64_t flags = get(resumed);
        hold->is_shared = flags & 1;
        hold->is_doubtful = flags >> 1 & 1;
        if (hold->slot == PROBITY_WAITS_NO_THREAD || hold->depth == 0)
            return PROBITY_ERROR_DAMAGED;
        hold->tid = waits->threads[hold->slot]->tid;
        object->hold_count = i + 1;
    }
    return 0;
}

static int get_tokens(struct waits_resumed *resumed, struct wait_object *object)
{
    uint64_t count = get_count(resumed);

    if (count > PROBITY_WAITS_TOKENS_MAX)
        return PROBITY_ERROR_DAMAGED;
    object->tokens = count > 0 ? calloc(count, sizeof *object->tokens) : NULL;
    if (count > 0 && object->tokens == NULL)
        return PROBITY_ERROR_MEMORY;
    object->token_capacity = object->token_count = count;
    for (uint64_t i = 0; i < count; i++) {
        struct object_token *token = &object->tokens[i];
        token->slot = get_thread(resumed);
        token->at_ns = get_time(resumed);
        token->left = get(resumed);
        token->doing = get_doing(resumed);
        token->place = get_place(resumed);
        token->at_ns = time_of(resumed, token->at_ns, token->place.tick);
        token->is_doubtful = get(resumed) != 0;
        if (token->slot == PROBITY_WAITS_NO_THREAD)
            return PROBITY_ERROR_DAMAGED;
    }
    object->token_lost_ns = get_time(resumed);
    return 0;
}

static int get_object(struct probity_waits *waits, struct waits_resumed *resumed)
{
    uint32_t trace = resumed->trace;
    struct probity_event event = {.trace = trace, .object = get(resumed), .has_place = 1};

    event.name_bytes = get_count(resumed);
    event.name = (const char *)resumed->from.at;
    resumed->from.at += event.name_bytes;
    event.place = get(resumed);
    event.tick = get(resumed);
    if (waits_object_find(waits, trace, event.object) != NULL || resumed->from.is_damaged)
        return PROBITY_ERROR_DAMAGED;
    struct wait_object *object = waits_object_add(waits, &event);
    if (object == NULL)
        return PROBITY_ERROR_MEMORY;
    resumed->oldest = resumed->oldest != NULL ? resumed->oldest : object;
    object->public.is_place_made = get(resumed) != 0;
    object->released_slot = get_thread(resumed);
    object->released_place = get_place(resumed);
    int error = get_holds(waits, resumed, object);
    return error == 0 ? get_tokens(resumed, object) : error;
}

static int get_wait(struct probity_waits *waits, struct waits_resumed *resumed,
                    struct wait_thread *thread)
{
    struct open_wait *wait = &thread->wait;

    if (get(resumed) == 0 || resumed->from.is_damaged)
        return 0;
    struct wait_object *object = waits_object_find(waits, thread->trace, get(resumed));
    uint64_t kind = get(resumed);
    if (object == NULL || kind > PROBITY_WAIT_CONDITION || wait->object != NULL)
        return PROBITY_ERROR_DAMAGED;
    wait->kind = (enum probity_wait_kind)kind;
    wait->depth = (uint32_t)get(resumed);
    wait->from_ns = get_time(resumed);
    wait->correlation = get(resumed);
    uint64_t flags = get(resumed);
    wait->has_correlation = flags & 1;
    wait->is_shared = flags >> 1 & 1;
    wait->is_ambiguous = flags >> 2 & 1;
    wait->waker_slot = get_thread(resumed);
    wait->waker_ns = get_time(resumed);
    wait->doing = get_doing(resumed);
    wait->waker_doing = get_doing(resumed);
    wait->place = get_place(resumed);
    wait->waker_place = get_place(resumed);
    wait->from_ns = time_of(resumed, wait->from_ns, wait->place.tick);
    wait->waker_ns = time_of(resumed, wait->waker_ns, wait->waker_place.tick);
    waits_open_begin(waits, object, wait);
    return 0;
}

static int is_thread(const struct wait_thread *thread, uint32_t trace, uint64_t number,
                     uint64_t tid)
{
    return thread != NULL && thread->trace == trace && thread->number == number &&
           thread->tid == tid;
}

/* Finds a thread. Threads are in order of their slots, so that the next one usually matches. */
static struct wait_thread *find_thread(const struct probity_waits *waits, uint32_t trace,
                                       uint32_t next, uint64_t number, uint64_t tid)
{
    for (uint32_t i = 0; i < waits->thread_count; i++) {
        uint32_t slot = (uint32_t)(((uint64_t)next + i) % waits->thread_count);
        if (is_thread(waits->threads[slot], trace, number, tid))
            return waits->threads[slot];
    }
    return NULL;
}

struct probity_waits_thread_id probity_waits_thread_id(const struct probity_waits *waits,
                                                       uint32_t thread_slot)
{
    const struct wait_thread *thread =
        thread_slot < waits->thread_count ? waits->threads[thread_slot] : NULL;

    return thread != NULL ? (struct probity_waits_thread_id){thread->number, thread->tid}
                          : (struct probity_waits_thread_id){0, 0};
}

uint32_t probity_waits_slot_of(const struct probity_waits *waits, uint32_t trace, uint64_t number,
                               uint64_t tid)
{
    const struct wait_thread *thread =
        waits->thread_count > 0 ? find_thread(waits, trace, 0, number, tid) : NULL;

    return thread != NULL ? thread->wait.slot : PROBITY_WAITS_NO_THREAD;
}

static int get_threads(struct probity_waits *waits, struct waits_resumed *resumed)
{
    uint64_t count = get_count(resumed);
    uint32_t next = 0;

    if (count > waits->thread_count)
        return PROBITY_ERROR_DAMAGED;
    resumed->slots = calloc(count + 1, sizeof *resumed->slots);
    if (resumed->slots == NULL)
        return PROBITY_ERROR_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = get(resumed), tid = get(resumed);
        struct wait_thread *thread = find_thread(waits, resumed->trace, next, number, tid);
        if (thread == NULL)
            return PROBITY_ERROR_DAMAGED;
        thread->epoch = (uint32_t)get(resumed);
        thread->ended_ns = get_time(resumed);
        resumed->slots[resumed->slot_count++] = thread->wait.slot;
        next = thread->wait.slot + 1;
    }
    return 0;
}

/* Reads the ticks. The objects of the state were added last. */
static void get_ticks(struct probity_waits *waits, struct waits_resumed *resumed)
{
    for (uint64_t i = 0; i < resumed->slot_count; i++) {
        struct wait_thread *thread = waits->threads[resumed->slots[i]];
        thread->ended_tick = get(resumed);
        thread->ended_ns = time_of(resumed, thread->ended_ns, thread->ended_tick);
    }
    for (struct wait_object *object = resumed->oldest; object != NULL; object = object->newer) {
        object->token_lost_tick = get(resumed);
        object->token_lost_ns = time_of(resumed, object->token_lost_ns, object->token_lost_tick);
    }
}

static struct thread_wake get_wake(struct waits_resumed *resumed)
{
    struct thread_wake wake = {.tick = get(resumed), .slot = PROBITY_WAITS_NO_THREAD};

    if (wake.tick == 0)
        return wake;
    wake.at_ns = get_time(resumed);
    wake.at_ns = time_of(resumed, wake.at_ns, wake.tick);
    wake.slot = get_thread(resumed);
    wake.doing = get_doing(resumed);
    return wake;
}

static void get_wakes(struct probity_waits *waits, struct waits_resumed *resumed)
{
    for (uint64_t i = 0; i < resumed->slot_count; i++) {
        struct wait_thread *thread = waits->threads[resumed->slots[i]];
        thread->state = (uint32_t)get(resumed);
        thread->first_wake = get_wake(resumed);
        thread->latest_wake = get_wake(resumed);
    }
}

static int get_all(struct probity_waits *waits, struct waits_resumed *resumed)
{
    int error = get_threads(waits, resumed);

    if (error != 0 || resumed->slot_count == 0)
        return error != 0 ? error : PROBITY_ERROR_DAMAGED;
    uint64_t count = get_count(resumed);
    if (count + waits->objects.items > PROBITY_WAITS_OBJECTS_MAX)
        return PROBITY_ERROR_DAMAGED;
    for (uint64_t i = 0; error == 0 && i < count; i++)
        error = resumed->from.is_damaged ? PROBITY_ERROR_DAMAGED : get_object(waits, resumed);
    for (uint64_t i = 0; error == 0 && i < resumed->slot_count; i++)
        error = get_wait(waits, resumed, waits->threads[resumed->slots[i]]);
    if (error == 0 && (resumed->clock != NULL || resumed->has_wakes))
        get_ticks(waits, resumed);
    if (error == 0 && resumed->has_wakes)
        get_wakes(waits, resumed);
    return error == 0 && resumed->from.is_damaged ? PROBITY_ERROR_DAMAGED : error;
}

static void drop_state(struct probity_waits *waits, uint32_t trace)
{
    struct waits_resumed *resumed = waits->resumed[trace];

    if (resumed == NULL)
        return;
    for (void *item; (item = probity_hashtable_take(&resumed->functions)) != NULL;)
        free(item);
    free(resumed->slots);
    free(resumed);
    waits->resumed[trace] = NULL;
    waits->resumed_left--;
}

/* Takes the state, after all events of the trace up to its tick have been put. */
static int take_state(struct probity_waits *waits, uint32_t trace)
{
    struct waits_resumed *resumed = waits->resumed[trace];
    int error = get_all(waits, resumed);

    if (resumed->clock == NULL && waits->now_ns < resumed->now_ns)
        waits->now_ns = resumed->now_ns;
    drop_state(waits, trace);
    return error;
}

int waits_follow_to_state(struct probity_waits *waits, const struct probity_event *event)
{
    struct waits_resumed *resumed = waits->resumed[event->trace];

    return event->tick > resumed->tick ? take_state(waits, event->trace)
                                       : learn_function(resumed, event->function);
}

const struct probity_function *probity_waits_saved_function(const struct probity_waits *waits,
                                                           uint32_t trace, uint64_t number)
{
    return waits_is_resuming(waits, trace) ? find_function(waits->resumed[trace], number) : NULL;
}

int waits_take_states(struct probity_waits *waits)
{
    int error = 0;

    for (uint32_t trace = 0; error == 0 && trace < waits->resumed_count; trace++) {
        if (waits->resumed[trace] != NULL)
            error = take_state(waits, trace);
    }
    return error;
}

void waits_drop_states(struct probity_waits *waits)
{
    for (uint32_t trace = 0; trace < waits->resumed_count; trace++)
        drop_state(waits, trace);
    free(waits->resumed);
}

uint64_t probity_waits_objects_most(const struct probity_waits *waits)
{
    return waits->objects_most;
}
