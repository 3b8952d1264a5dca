/* SPDX-License-Identifier: MIT
 *
 * waits_objects.c: tracks locks and other objects: which threads hold them, which held them while
 * another thread waited, and which thread notified which.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/waits_parts.h"
#include "base/array_grow.h"
#include "base/hash.h"
#include "probity_typed.h"

enum {
    PAST_FIRST = 8,
    TOKENS_MAX = PROBITY_WAITS_TOKENS_MAX,
    HOLDS_MAX = PROBITY_WAITS_HOLDERS_MAX
};

/* ---- The table ---------------------------------------------------------------------------------
 */

static uint64_t hash_of(uint32_t trace, uint64_t id)
{
    return probity_hash(probity_hash(id) ^ trace);
}

static void unlink_used(struct probity_waits *waits, struct wait_object *object)
{
    *(object->older != NULL ? &object->older->newer : &waits->oldest) = object->newer;
    *(object->newer != NULL ? &object->newer->older : &waits->newest) = object->older;
}

static void link_newest(struct probity_waits *waits, struct wait_object *object)
{
    object->older = waits->newest;
    object->newer = NULL;
    *(waits->newest != NULL ? &waits->newest->newer : &waits->oldest) = object;
    waits->newest = object;
}

static void take_from_table(struct probity_waits *waits, struct wait_object *object)
{
    struct probity_link **place =
        &waits->objects.first[object->link.hash & (waits->objects.chains - 1)];

    while (*place != &object->link)
        place = &(*place)->next;
    *place = object->link.next;
    waits->objects.items--;
}

void waits_object_remove(struct probity_waits *waits, struct wait_object *object)
{
    take_from_table(waits, object);
    unlink_used(waits, object);
    free(object->holds);
    free(object->past);
    free(object->tokens);
    free(object);
}

/* Evicts an object that no thread waits for, the longest unused first. */
static void make_room(struct probity_waits *waits)
{
    struct wait_object *object = waits->oldest;

    while (object != NULL && object->waiter_count > 0)
        object = object->newer;
    if (object == NULL)
        return;
    waits->has_evicted = 1;
    waits->facts.objects_forgotten += object->hold_count > 0;
    waits_object_remove(waits, object);
}

/* Returns the name of a site without its role, or of a numbered probe. NULL if out of memory. */
static const char *name_of(struct probity_waits *waits, const struct probity_event *event)
{
    const char *bytes = event->name != NULL ? event->name : "";
    const char *colon = memrchr(bytes, ':', event->name != NULL ? event->name_bytes : 0);
    size_t length = colon != NULL ? (size_t)(colon - bytes)
                                  : event->name != NULL ? event->name_bytes : 0;
    uint64_t hash = probity_hash(length);

    for (size_t i = 0; i < length; i++)
        hash = probity_hash(hash ^ (unsigned char)bytes[i]);
    struct wait_name *name = probity_hashtable_at(&waits->names, hash);
    while (name != NULL && (name->bytes != length || memcmp(name->text, bytes, length) != 0))
        name = (struct wait_name *)name->link.next;
    if (name != NULL)
        return name->text;
    name = calloc(1, sizeof *name + length + 1);
    if (name == NULL || probity_hashtable_add(&waits->names, name, hash) != 0) {
        free(name);
        return NULL;
    }
    name->bytes = length;
    memcpy(name->text, bytes, length);
    return name->text;
}

struct wait_object *waits_object_find(const struct probity_waits *waits, uint32_t trace,
                                      uint64_t id)
{
    struct wait_object *object = probity_hashtable_at(&waits->objects, hash_of(trace, id));

    while (object != NULL && (object->public.id != id || object->public.trace != trace))
        object = (struct wait_object *)object->link.next;
    return object;
}

struct wait_object *waits_object_at(struct probity_waits *waits, const struct probity_event *event)
{
    struct wait_object *object = waits_object_find(waits, event->trace, event->object);

    if (object == NULL)
        return waits_object_add(waits, event);
    unlink_used(waits, object);
    link_newest(waits, object);
    return object;
}

struct wait_object *waits_object_add(struct probity_waits *waits,
                                     const struct probity_event *event)
{
    uint64_t hash = hash_of(event->trace, event->object);
    struct wait_object *object;

    if (waits->objects.items >= PROBITY_WAITS_OBJECTS_MAX)
        make_room(waits);
    object = calloc(1, sizeof *object);
    const char *name = object != NULL ? name_of(waits, event) : NULL;
    if (name == NULL || probity_hashtable_add(&waits->objects, object, hash) != 0) {
        free(object);
        return NULL;
    }
    object->public.trace = event->trace;
    object->public.id = event->object;
    object->public.name = name;
    object->public.place = event->has_place ? event->place : 0;
    object->public.place_tick = event->tick;
    object->released_slot = PROBITY_WAITS_NO_THREAD;
    link_newest(waits, object);
    if (waits->objects.items > waits->objects_most)
        waits->objects_most = waits->objects.items;
    return object;
}

void waits_object_reset(struct probity_waits *waits, struct wait_object *object)
{
    object->hold_count = 0;
    object->past_count = 0;
    object->past_lost_ns = waits->now_ns;
    object->token_count = 0;
    object->released_slot = PROBITY_WAITS_NO_THREAD;
}

void waits_objects_release(struct probity_waits *waits)
{
    while (waits->oldest != NULL)
        waits_object_remove(waits, waits->oldest);
    probity_hashtable_release(&waits->objects);
}

/* ---- Holdings ----------------------------------------------------------------------------------
 */

static struct object_held *held_at(const struct wait_object *object, uint32_t index)
{
    return &object->past[(object->past_first + index) & (object->past_capacity - 1)];
}

static int grow_past(struct wait_object *object)
{
    uint32_t capacity = object->past_capacity > 0 ? 2 * object->past_capacity : PAST_FIRST;
    struct object_held *past = malloc(capacity * sizeof *past);

    if (past == NULL)
        return PROBITY_ERROR_MEMORY;
    for (uint32_t i = 0; i < object->past_count; i++)
        past[i] = *held_at(object, i);
    free(object->past);
    object->past = past;
    object->past_first = 0;
    object->past_capacity = capacity;
    return 0;
}

static void drop_first(struct wait_object *object)
{
    object->past_first++;
    object->past_count--;
}

/* Returns the beginning of the first wait. The first waiter is the last in the list. */
static uint64_t oldest_wait_ns(const struct wait_object *object)
{
    uint64_t oldest_ns = UINT64_MAX;

    for (const struct open_wait *wait = object->waiters; wait != NULL; wait = wait->next_waiter)
        oldest_ns = wait->from_ns < oldest_ns ? wait->from_ns : oldest_ns;
    return oldest_ns;
}

/* Stores a hold that ended while a thread waits. */
static int keep_held(struct probity_waits *waits, struct wait_object *object,
                     const struct object_held *held)
{
    if (object->past_count == object->past_capacity) {
        uint64_t oldest_ns = oldest_wait_ns(object);
        while (object->past_count > 0 && held_at(object, 0)->to_ns < oldest_ns)
            drop_first(object);
    }
    if (object->past_count == PROBITY_WAITS_HOLDS_MAX) {
        object->past_lost_ns = held_at(object, 0)->to_ns;
        waits->facts.holds_forgotten++;
        drop_first(object);
    }
    if (object->past_count == object->past_capacity && grow_past(object) != 0)
        return PROBITY_ERROR_MEMORY;
    object->past_count++;
    *held_at(object, object->past_count - 1) = *held;
    return 0;
}

static struct object_hold *find_hold(struct wait_object *object, uint32_t slot)
{
    for (size_t i = 0; i < object->hold_count; i++) {
        if (object->holds[i].slot == slot)
            return &object->holds[i];
    }
    return NULL;
}

/* Marks other holds as doubtful. Only shared holds can coexist: either the release of the other
 * holds was lost, or the lock is shared but not marked as such. In both cases their end is
 * unknown. */
static void doubt_others(struct wait_object *object, int is_shared)
{
    for (size_t i = 0; i < object->hold_count; i++)
        object->holds[i].is_doubtful |= !(is_shared && object->holds[i].is_shared);
}

int waits_object_hold(struct probity_waits *waits, struct wait_object *object,
                      const struct wait_thread *thread, int is_shared)
{
    struct object_hold *hold = find_hold(object, thread->wait.slot);

    if (hold != NULL && hold->epoch == thread->epoch && !hold->is_doubtful) {
        hold->depth++;
        return 0;
    }
    if (hold == NULL) {
        if (object->hold_count == HOLDS_MAX) {
            waits->facts.holds_forgotten++;
            object->holds[0] = object->holds[--object->hold_count];
        }
        hold = probity_array_room(object->holds, sizeof *hold, object->hold_count,
                                  &object->hold_capacity);
        if (hold == NULL)
            return PROBITY_ERROR_MEMORY;
        object->holds = hold;
        hold += object->hold_count++;
    }
    *hold = (struct object_hold){thread->wait.slot, thread->tid, 0, thread->epoch, waits->now_ns,
                                 waits_place_of(waits->event), (uint8_t)is_shared, 0};
    doubt_others(object, is_shared);
    hold->is_doubtful = 0;
    hold->depth = 1;
    return 0;
}

int waits_object_release(struct probity_waits *waits, struct wait_object *object,
                         const struct wait_thread *thread, int is_counted)
{
    struct object_hold *hold = find_hold(object, thread->wait.slot);
    struct object_held held = {.slot = thread->wait.slot, .tid = thread->tid,
                               .from_ns = waits->now_ns, .to_ns = waits->now_ns};

    object->released_slot = thread->wait.slot;
    object->released_place = (struct probity_wait_place){0, 0};
    if (hold != NULL && hold->epoch == thread->epoch && --hold->depth > 0)
        return 0;
    if (hold != NULL && hold->epoch == thread->epoch && !hold->is_doubtful) {
        held.from_ns = hold->from_ns;
        held.place = object->released_place = hold->place;
        held.is_shared = hold->is_shared;
    } else {
        waits->facts.orphans += !is_counted;
    }
    if (hold != NULL)
        *hold = object->holds[--object->hold_count];
    if (object->waiter_count == 0 || (is_counted && held.from_ns == held.to_ns))
        return 0;
    return keep_held(waits, object, &held);
}

/* ---- Waiters -----------------------------------------------------------------------------------
 */

void waits_object_add_waiter(struct wait_object *object, struct open_wait *wait)
{
    wait->object = object;
    wait->previous_waiter = NULL;
    wait->next_waiter = object->waiters;
    if (object->waiters != NULL)
        object->waiters->previous_waiter = wait;
    object->waiters = wait;
    object->waiter_count++;
    object->unassigned++;
}

void waits_object_remove_waiter(struct wait_object *object, struct open_wait *wait)
{
    *(wait->previous_waiter != NULL ? &wait->previous_waiter->next_waiter : &object->waiters) =
        wait->next_waiter;
    if (wait->next_waiter != NULL)
        wait->next_waiter->previous_waiter = wait->previous_waiter;
    object->unassigned -= wait->waker_slot == PROBITY_WAITS_NO_THREAD;
    wait->object = NULL;
    if (--object->waiter_count > 0)
        return;
    object->past_count = 0;
    object->token_count = 0;
}

static int may_wake(const struct object_token *token, const struct open_wait *wait)
{
    return (token->left > 0 || token->is_doubtful) && token->at_ns >= wait->from_ns;
}

static void drop_used_tokens(struct wait_object *object)
{
    size_t kept = 0;

    for (size_t i = 0; i < object->token_count; i++) {
        if (object->tokens[i].left > 0 || object->tokens[i].is_doubtful)
            object->tokens[kept++] = object->tokens[i];
    }
    object->token_count = kept;
}

/* Stores a notify that cannot be assigned yet. */
static int keep_token(struct probity_waits *waits, struct wait_object *object,
                      const struct object_token *token)
{
    drop_used_tokens(object);
    if (object->token_count == TOKENS_MAX) {
        object->token_lost_ns = object->tokens[0].at_ns;
        object->token_lost_tick = object->tokens[0].place.tick;
        memmove(object->tokens, object->tokens + 1, (TOKENS_MAX - 1) * sizeof *object->tokens);
        object->token_count--;
        waits->facts.holds_forgotten++;
    }
    struct object_token *tokens = probity_array_room(object->tokens, sizeof *tokens,
                                                     object->token_count, &object->token_capacity);
    if (tokens == NULL)
        return PROBITY_ERROR_MEMORY;
    object->tokens = tokens;
    tokens[object->token_count++] = *token;
    return 0;
}

static int is_same_waker(const struct object_token *a, const struct object_token *b)
{
    return a->slot == b->slot && a->doing.function == b->doing.function &&
           a->doing.call == b->doing.call;
}

/* Whether another notify, from another place, may have woken a waiter. */
static int has_other_place(const struct wait_object *object, const struct open_wait *wait,
                           const struct object_token *token)
{
    for (size_t i = 0; i < object->token_count; i++) {
        const struct object_token *other = &object->tokens[i];
        if (may_wake(other, wait) && other->place.address != token->place.address)
            return 1;
    }
    return 0;
}

static void set_waker(const struct wait_object *object, struct open_wait *wait,
                      const struct object_token *token)
{
    wait->waker_slot = token->slot;
    wait->waker_ns = token->at_ns;
    wait->waker_doing = token->doing;
    wait->waker_place = token->place;
    if (has_other_place(object, wait, token))
        wait->waker_place.address = 0;
}

/* Whether an earlier notify, by another thread or in another function, may have woken a waiter. */
static int is_rivalled(const struct wait_object *object, const struct open_wait *wait,
                       const struct object_token *token)
{
    for (size_t i = 0; i < object->token_count; i++) {
        const struct object_token *other = &object->tokens[i];
        if (may_wake(other, wait) && !is_same_waker(other, token))
            return 1;
    }
    return object->token_count > 0 && object->token_lost_ns >= wait->from_ns;
}

int waits_object_notify(struct probity_waits *waits, struct wait_object *object, uint32_t slot,
                        uint64_t limit)
{
    struct object_token token = {slot, waits->now_ns, limit,
                                 probity_past_now(&waits->past, slot),
                                 waits_place_of(waits->event), 0};

    if (waits->event->role == PROBITY_ROLE_THREAD_END) /* its place: where the thread was created */
        token.place.address = 0;

    if (object->unassigned == 0 || limit == 0)
        return 0;
    if (limit < object->unassigned)
        return keep_token(waits, object, &token);
    for (struct open_wait *wait = object->waiters; wait != NULL; wait = wait->next_waiter) {
        if (wait->waker_slot != PROBITY_WAITS_NO_THREAD || wait->slot == slot)
            continue;
        wait->is_ambiguous = is_rivalled(object, wait, &token);
        set_waker(object, wait, &token);
        object->unassigned--;
    }
    return 0;
}

/* Returns a notify by the thread that the kernel reports as the waker; NULL if it reports none of
 * the notifying threads. */
static struct object_token *token_of(struct wait_object *object, const struct open_wait *wait,
                                     const struct thread_wake *wake)
{
    for (size_t i = 0; i < object->token_count && wake->at_ns != 0; i++) {
        struct object_token *token = &object->tokens[i];
        if (token->slot == wake->slot && may_wake(token, wait))
            return token;
    }
    return NULL;
}

/* Chooses the notify that woke the waiter. If it is uncertain which of several did, each of them
 * may still wake another waiter. */
static struct object_token *choose_token(struct wait_object *object, struct open_wait *wait)
{
    struct object_token *first = NULL, *any = NULL;

    wait->is_ambiguous = object->token_count > 0 && object->token_lost_ns >= wait->from_ns;
    for (size_t i = 0; i < object->token_count; i++) {
        struct object_token *token = &object->tokens[i];
        if (!may_wake(token, wait))
            continue;
        any = any != NULL ? any : token;
        first = first == NULL && token->left > 0 ? token : first;
        wait->is_ambiguous |= !is_same_waker(any, token);
    }
    for (size_t i = 0; i < object->token_count && wait->is_ambiguous; i++)
        object->tokens[i].is_doubtful |= may_wake(&object->tokens[i], wait);
    return first != NULL ? first : any;
}

void waits_object_find_waker(struct wait_object *object, struct open_wait *wait,
                             const struct thread_wake *wake)
{
    struct object_token *token = token_of(object, wait, wake);
    int is_assigned = wait->waker_slot != PROBITY_WAITS_NO_THREAD;

    int is_reported = wake->at_ns != 0 && (token != NULL || wake->slot == wait->waker_slot);

    if (is_assigned && (!wait->is_ambiguous || !is_reported))
        return;
    if (is_assigned || token != NULL) { /* the kernel reports which */
        const struct object_token by = {
            .slot = wake->slot, .at_ns = wake->at_ns, .doing = wake->doing,
            .place = token != NULL ? token->place : wait->waker_place};
        set_waker(object, wait, &by);
        wait->is_ambiguous = 0;
    } else {
        token = choose_token(object, wait);
        if (token == NULL)
            return;
        set_waker(object, wait, token);
    }
    if (token != NULL && token->left > 0)
        token->left--;
    object->unassigned -= !is_assigned;
}
