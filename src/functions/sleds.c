/* SPDX-License-Identifier: MIT
 *
 * sleds.c: see sleds.h. Keeps a list of the loaded objects, and assigns ids to their functions. One
 * thread at a time does this. A thread that arrives meanwhile does not wait but makes the first one
 * look again: a forked child must not wait for a thread that it does not have.
 */
#include "functions/sleds.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hooked.h"
#include "base/limits.h"
#include "base/objects.h"
#include "base/os.h"
#include "functions/arena.h"
#include "functions/arguments.h"
#include "functions/calls.h"
#include "functions/found.h"
#include "functions/functions.h"
#include "functions/patchable.h"
#include "functions/rules.h"
#include "functions/scope_sites.h"
#include "functions/sled_patch.h"

/* Runs after the constructor of libprobity, which decides whether to record, and before those of
 * the program. */
enum { SECOND_PRIORITY = 102 };

struct object {
    struct object *next;
    const char *path;
    uintptr_t offset;
    struct probity_sleds sleds;
    struct probity_patchable patchable;
    struct probity_scope_sites sites;
    uint32_t first_id, id_count;
    uint32_t is_loaded, is_seen;
    uint32_t is_incomplete; /* it could not be examined for lack of memory */
};

struct probity_sled_function *probity_sled_functions;
static struct object *objects;
static uint32_t ids_used = 1, own_process;
static uint64_t looking; /* process id << 1 | whether to look again; 0: no thread is looking */

/* Once a recording has begun by request, the sleds of all functions are listed, selected or not,
 * because the next request may select others. ASLEEP: all are removed, between two recordings or in
 * one without functions. */
enum wake { NEVER_WOKEN, AWAKE, ASLEEP };
static uint32_t wake;

static enum wake wake_now(void)
{
    return (enum wake)__atomic_load_n(&wake, __ATOMIC_RELAXED);
}

/* Whether the sites of FN_FUNC must be patched: from the first recording on, but not after a
 * recording that was started by a request. */
static int sites_are_wanted;

static void want_sites(int is_wanted)
{
    if (is_wanted && !sites_are_wanted)
        probity_scope_sites_renew();
    sites_are_wanted = is_wanted;
}

/* Returns whether functions without macros are to be recorded as well. */
static int is_for_functions(void)
{
    int is_profiling = probity_scope_is_on(0) &&
                       (__atomic_load_n(&probity_scope_profiles, __ATOMIC_RELAXED) & 1);

    return __atomic_load_n(&probity_active, __ATOMIC_RELAXED) || is_profiling ||
           wake_now() != NEVER_WOKEN;
}

/* ---- Calls -------------------------------------------------------------------------------------
 */

void probity_sled_enter_unusual(uint32_t id, const uintptr_t *back, uint64_t unused,
                                const uint8_t *vectors)
{
    struct probity_sled_function *sled = &probity_sled_functions[id];
    const struct probity_call_site site = {sled->address, *back, PROBITY_SLED_FROM,
                                           (uintptr_t)back};
    const struct probity_registers registers = {
        (const uint64_t *)back - PROBITY_CPU_SLED_ENTER_WORDS, vectors, (uintptr_t)back};

    (void)unused;
    probity_call_enter_unusual(&site, &registers);
    if (__atomic_load_n(&sled->function, __ATOMIC_RELAXED) != NULL)
        return;
    struct probity_site_function *found = probity_function_at_once(sled->address);
    /* Pairs with the load in probity_sled_enter(). If the rules are replaced meanwhile, the table
     * is cleared before this, so one of the two sees the other's store. */
    __atomic_store_n(&sled->function, found, __ATOMIC_SEQ_CST);
    if (probity_function_at_once(sled->address) != found)
        __atomic_store_n(&sled->function, NULL, __ATOMIC_RELEASE);
}

void probity_sled_leave_unusual(uint32_t id, const uintptr_t *back, uint64_t is_tail,
                                const uint8_t *vectors)
{
    const struct probity_call_site site = {probity_sled_functions[id].address, *back,
                                           PROBITY_SLED_FROM, (uintptr_t)back};
    const struct probity_registers registers = {
        (const uint64_t *)back - PROBITY_CPU_SLED_LEAVE_WORDS, vectors, (uintptr_t)back};

    probity_call_leave_unusual(&site, is_tail ? NULL : &registers);
}

/* ---- Functions ---------------------------------------------------------------------------------
 */

/* Returns the number of entries of the function that begins there, and whether its calls can be
 * recorded: all its sleds must be as compiled, and one must be at its beginning. */
static size_t examine(const struct probity_sled_map *map, size_t from, int *ret_is_usable)
{
    struct probity_sled sled, first = {.at = NULL};
    int is_valid = 1, enters = 0, replaced = 0;
    size_t i = from;

    for (; i < map->count; i++) {
        int found = probity_sled_map_at(map, i, &sled);
        if (i == from)
            first = sled;
        if (sled.function != first.function)
            break;
        if (found == 0)
            continue;
        is_valid &= found > 0;
        enters += found > 0 && sled.kind == PROBITY_CPU_SLED_ENTER;
        replaced += found > 0 && sled.state != PROBITY_CPU_SLED_OFF;
    }
    *ret_is_usable = is_valid && enters > 0 && replaced == 0;
    probity_found.functions++;
    probity_found.foreign += !is_valid || enters == 0;
    probity_found.replaced += is_valid && replaced > 0;
    return i - from;
}

static int is_left_out(uintptr_t function)
{
    return probity_functions_are_selected() &&
           probity_function_find(function) == &probity_function_left_out;
}

/* With rules, a function is looked up now, otherwise when it is called. */
static int is_selected(uintptr_t function)
{
    return wake_now() != NEVER_WOKEN || !is_left_out(function);
}

/* Lists the sleds of the functions to be recorded, with ids from 0. Returns their number. */
static size_t choose(const struct probity_sled_map *map, struct probity_sled_change *changes,
                     uint32_t *ret_functions)
{
    struct probity_sled sled;
    size_t count = 0, bound;
    int is_usable;

    *ret_functions = 0;
    for (size_t i = 0; i < map->count; i += bound) {
        bound = examine(map, i, &is_usable);
        (void)probity_sled_map_at(map, i, &sled);
        if (!is_usable || !is_selected(sled.function))
            continue;
        for (size_t j = i; j < i + bound; j++) {
            if (probity_sled_map_at(map, j, &sled) > 0)
                changes[count++] = (struct probity_sled_change){.at = sled.at,
                                                                .function = sled.function,
                                                                .id = *ret_functions,
                                                                .kind = (uint8_t)sled.kind};
        }
        (*ret_functions)++;
    }
    return count;
}

/* ---- Ids ---------------------------------------------------------------------------------------
 */

/* Returns whether the ids of an object now belong to another object. */
static int are_taken(const struct object *object)
{
    for (const struct object *other = objects; other != NULL; other = other->next) {
        if (other != object && other->is_loaded && other->id_count > 0 &&
            other->first_id == object->first_id)
            return 1;
    }
    return 0;
}

/* Takes the ids of an unloaded object with the same number of ids, so that a program that loads and
 * unloads a library many times does not use them up. Returns 0, or -1 if there are none. */
static int take_ids(struct object *object, uint32_t count)
{
    for (struct object *old = objects; old != NULL; old = old->next) {
        if ((old == object || !old->is_loaded) && old->id_count == count && !are_taken(old)) {
            object->first_id = old->first_id;
            object->id_count = count;
            return 0;
        }
    }
    if (count > PROBITY_SLED_FUNCTIONS_MAX - ids_used)
        return -1;
    object->first_id = ids_used;
    object->id_count = count;
    __atomic_store_n(&ids_used, ids_used + count, __ATOMIC_RELAXED);
    return 0;
}

/* ---- Objects -----------------------------------------------------------------------------------
 */

static int map_functions(void)
{
    if (probity_sled_functions == NULL)
        probity_sled_functions = probity_arena_map(PROBITY_SLED_FUNCTIONS_MAX *
                                                   sizeof *probity_sled_functions);
    return probity_sled_functions != NULL ? 0 : -1;
}

/* Returns whether the sleds of a function must be as compiled because a recording by request does
 * not select it. */
static int is_out(uintptr_t function)
{
    return wake_now() == ASLEEP || (wake_now() == AWAKE && is_left_out(function));
}

/* Assigns ids to the functions of sleds with ids from 0. Returns 0, or -1 with errno. */
static int name_functions(struct object *object, uint32_t functions)
{
    if (map_functions() != 0 || take_ids(object, functions) != 0) {
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < object->sleds.count; i++) {
        struct probity_sled_change *change = &object->sleds.changes[i];
        int is_first = i == 0 || change->id + object->first_id != change[-1].id;
        change->id += object->first_id;
        if (is_first)
            probity_sled_functions[change->id] = (struct probity_sled_function){
                .address = change->function, .is_removed = (uint32_t)is_out(change->function)};
    }
    return 0;
}

/* Lists the sleds of a new object. Changes nothing. Returns 0, or -1 with errno. */
static int take_map(struct object *object, const struct probity_sled_map *map)
{
    size_t bytes = map->count * sizeof(struct probity_sled_change);
    struct probity_sled_change *changes = probity_arena_map(bytes);
    uint32_t functions;

    probity_found.objects++;
    if (changes == NULL) {
        errno = ENOMEM;
        return -1;
    }
    object->sleds = (struct probity_sleds){.changes = changes, .bytes = bytes};
    object->sleds.count = choose(map, changes, &functions);
    int result = object->sleds.count > 0 ? name_functions(object, functions) : 0;
    if (result != 0 || object->sleds.count == 0)
        probity_sleds_forget(&object->sleds);
    else
        probity_found.selected += functions;
    return result;
}

static int is_sled_removed(uint32_t id)
{
    return (int)__atomic_load_n(&probity_sled_functions[id].is_removed, __ATOMIC_RELAXED);
}

/* By number: whether the function's calls must not even be counted, and whether any were found. */
enum { REMOVED = 1, FOUND = 2 };
static uint8_t removed[PROBITY_LIMIT_SITES + 1];

static int is_removed(uintptr_t from)
{
    if (wake_now() == ASLEEP)
        return 1;
    if (wake_now() == AWAKE && probity_functions_are_selected() &&
        probity_function_find_inside(from) == &probity_function_left_out)
        return 1;
    const struct probity_site_function *function = probity_function_at_once(from);
    uint32_t number =
        function != NULL ? __atomic_load_n(&function->number, __ATOMIC_RELAXED) : 0;

    if (number == 0 || number > PROBITY_LIMIT_SITES ||
        !__atomic_load_n(&removed[number], __ATOMIC_RELAXED))
        return 0;
    __atomic_store_n(&removed[number], REMOVED | FOUND, __ATOMIC_RELAXED);
    return 1;
}

static int is_known(struct object *object, const struct probity_object *loaded)
{
    return object->is_loaded && object->offset == loaded->offset &&
           strcmp(object->path, loaded->path) == 0 &&
           probity_sleds_are_there(&object->sleds, loaded) &&
           probity_patchable_is_there(&object->patchable, loaded) &&
           probity_scope_sites_are_there(&object->sites, loaded);
}

/* Frees memory used only by its code, which no thread executes any more. */
static void forget_code(struct object *object)
{
    probity_sleds_forget(&object->sleds);
    probity_patchable_forget(&object->patchable);
}

static struct object *new_object(const char *path)
{
    size_t bytes = strlen(path) + 1;
    struct object *object = probity_arena_take(sizeof *object);
    char *copy = probity_arena_take(bytes);

    if (object == NULL || copy == NULL)
        return NULL;
    object->path = memcpy(copy, path, bytes);
    object->next = objects;
    objects = object;
    return object;
}

/* Reuses an unloaded object of this name, with its ids. */
static struct object *add_object(const struct probity_object *loaded)
{
    struct object *object = objects;

    while (object != NULL && (object->is_loaded || strcmp(object->path, loaded->path) != 0))
        object = object->next;
    if (object == NULL)
        object = new_object(loaded->path);
    if (object == NULL)
        return NULL;
    object->offset = loaded->offset;
    object->is_loaded = object->is_seen = 1;
    object->is_incomplete = 0;
    return object;
}

/* Returns 0, or -1 with errno. */
static int take_patchable(struct object *object, const struct probity_object *loaded,
                          const char *path)
{
    long found = probity_patchable_take(loaded, path, wake_now() != NEVER_WOKEN,
                                        &object->patchable);

    if (found > 0) {
        probity_found.patchable_objects++;
        probity_found.patchable_functions += (uint32_t)found;
        probity_found.patchable_selected += (uint32_t)object->patchable.count;
    }
    return found < 0 ? -1 : 0;
}

static void note_failure(int result)
{
    if (result != 0)
        probity_found.why = errno;
}

/* Finds what can be recorded in an object that was not examined before, or not completely. */
static struct object *examine_object(struct object *object, const struct probity_object *loaded)
{
    const char *path = *loaded->path != '\0' ? loaded->path : "/proc/self/exe";
    struct probity_sled_map map;

    if (object == NULL)
        object = add_object(loaded);
    if (object == NULL) {
        probity_found.why = ENOMEM;
        return NULL;
    }
    int is_whole = is_for_functions(), found = 0;
    if (object->sites.table == NULL)
        probity_scope_sites_take(loaded, path, &object->sites);
    object->is_incomplete = !is_whole;
    if (!is_whole)
        return object;
    if (object->sleds.changes == NULL)
        found = probity_sled_map_find(loaded, path, &map);
    if (found > 0 && take_map(object, &map) != 0) {
        is_whole = 0;
        note_failure(-1);
    }
    probity_found.damaged += found < 0;
    if (object->patchable.entries == NULL && take_patchable(object, loaded, path) != 0) {
        is_whole = 0;
        note_failure(-1);
    }
    object->is_incomplete = !is_whole;
    return object;
}

/* While a request changes code: its rules, if they name functions whose ends must be recorded. */
static const char *rules_of_ends;

/* Changes patchable entries. They do not record when calls end. */
static int change_patchable(struct object *object, const struct probity_object *loaded)
{
    const char *rules = __atomic_load_n(&rules_of_ends, __ATOMIC_SEQ_CST);

    if (rules != NULL && probity_patchable_lacks_ends(&object->patchable, is_removed, rules)) {
        errno = ENOTSUP;
        return -1;
    }
    return probity_patchable_update(&object->patchable, loaded, is_removed);
}

static void take_object(void *context, const struct probity_object *loaded)
{
    struct object *object = objects;

    (void)context;
    /* The kernel's own object has a name, but no file. */
    if (*loaded->path != '\0' && strchr(loaded->path, '/') == NULL)
        return;
    while (object != NULL && !is_known(object, loaded))
        object = object->next;
    if (object == NULL || object->is_incomplete)
        object = examine_object(object, loaded);
    if (object == NULL)
        return;
    object->is_seen = 1;
    if (is_for_functions()) {
        note_failure(probity_sleds_change(&object->sleds, loaded, is_sled_removed));
        note_failure(change_patchable(object, loaded));
    }
    if (probity_scope_sites_change(&object->sites, loaded, sites_are_wanted) != 0)
        probity_found.sites_why = errno;
}

/* Restores the sleds of functions that the rules exclude. */
static void select_sleds(void)
{
    for (uint32_t id = 1; probity_sled_functions != NULL && id < ids_used; id++) {
        struct probity_sled_function *sled = &probity_sled_functions[id];
        if (sled->address != 0 && is_out(sled->address))
            __atomic_store_n(&sled->is_removed, 1, __ATOMIC_RELAXED);
    }
}

/* Returns whether the same object is still loaded, but its code was changed by something else. */
static int has_successor(const struct object *object)
{
    for (const struct object *other = objects; other != NULL; other = other->next) {
        if (other != object && other->is_seen && other->offset == object->offset &&
            strcmp(other->path, object->path) == 0)
            return 1;
    }
    return 0;
}

/* Discards the code of an object that is no longer loaded. If another object may use the same code,
 * a thread may be executing memory that this code calls, so that memory is kept. */
static void discard_code(struct object *object)
{
    object->sites = (struct probity_scope_sites){.table = NULL};
    if (has_successor(object)) {
        object->sleds = (struct probity_sleds){.changes = NULL};
        object->patchable = (struct probity_patchable){.entries = NULL};
    } else {
        forget_code(object);
    }
}

static void look(void)
{
    uint64_t loads = 0;

    if (wake_now() != NEVER_WOKEN)
        select_sleds();
    for (struct object *object = objects; object != NULL; object = object->next)
        object->is_seen = 0;
    probity_objects_each(&loads, take_object, NULL);
    for (struct object *object = objects; object != NULL; object = object->next) {
        if (object->is_loaded && !object->is_seen)
            discard_code(object);
        object->is_loaded = object->is_seen;
    }
}

/* Returns whether another thread is looking, which then looks again. is_changing: to look even if
 * nothing is to be recorded. */
static int update(int is_changing)
{
    uint64_t own = (uint64_t)getpid() << 1;
    uint64_t now = __atomic_load_n(&looking, __ATOMIC_RELAXED);
    struct probity_os_signals signals;
    int before = errno;

    if ((!__atomic_load_n(&probity_active, __ATOMIC_RELAXED) && !sites_are_wanted &&
         !is_changing) ||
        !probity_cpu_sleds_are_usable())
        return 0;
    probity_os_signals_block(&signals);
    while (!__atomic_compare_exchange_n(&looking, &now, (now | 1) == (own | 1) ? own | 1 : own, 0,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        continue;
    if ((now | 1) != (own | 1)) {
        /* Release: pairs with the acquire of the next thread that looks. */
        for (look(); !__atomic_compare_exchange_n(&looking, &(uint64_t){own}, 0, 0,
                                                  __ATOMIC_RELEASE, __ATOMIC_RELAXED); look())
            __atomic_store_n(&looking, own, __ATOMIC_RELAXED);
    }
    probity_os_signals_restore(&signals);
    errno = before;
    return (now | 1) == (own | 1);
}

void probity_sleds_update(void)
{
    (void)update(0);
}

PROBITY_API void probity_scope_sites_loaded(void)
{
    __atomic_store_n(&probity_found.are_sites_loaded, 1, __ATOMIC_RELAXED);
    if (__atomic_load_n(&sites_are_wanted, __ATOMIC_RELAXED))
        probity_sleds_update();
}

/* ---- The budget --------------------------------------------------------------------------------
 */

/* Returns whether code may be changed: a forked child may lack the thread that held the dynamic
 * linker's lock. */
static int may_change(void)
{
    return own_process == (uint32_t)getpid();
}

/* While a thread changes code, it holds the dynamic linker's lock, which a forked child would find
 * locked forever. So a fork waits for the change, but only for a limited time, since its caller may
 * hold that lock; and a change waits for forks in progress. Each side increments its own number and
 * then loads the other's; a fork that must wait decrements its number again, so that the two do not
 * wait for each other. */
static uint32_t changing, forks;
static uint32_t may_child_change; /* for the child of the last fork */
static uint32_t is_owed;          /* code could not be restored because of a fork */

enum { FORK_TRIES = 1000, CHANGE_TRIES = 10000 };
static const struct timespec a_moment = {0, 100000};

/* Returns whether the change may begin, after at most this many attempts. */
static int begin_change(int tries)
{
    __atomic_fetch_add(&changing, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; __atomic_load_n(&forks, __ATOMIC_SEQ_CST) != 0; i++) {
        if (i == tries) {
            __atomic_fetch_sub(&changing, 1, __ATOMIC_SEQ_CST);
            return 0;
        }
        nanosleep(&a_moment, NULL);
    }
    return 1;
}

static void end_change(void)
{
    __atomic_fetch_sub(&changing, 1, __ATOMIC_SEQ_CST);
}

static void before_fork(void)
{
    int before = errno;

    for (int i = 0;; i++) {
        __atomic_fetch_add(&forks, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&changing, __ATOMIC_SEQ_CST) == 0 || i == FORK_TRIES)
            break;
        __atomic_fetch_sub(&forks, 1, __ATOMIC_SEQ_CST);
        nanosleep(&a_moment, NULL);
    }
    /* If there is no other thread, none holds the lock. */
    may_child_change = may_change() && probity_os_is_single_threaded();
    errno = before;
}

static void after_fork_in_parent(void)
{
    int before = errno;

    if (__atomic_sub_fetch(&forks, 1, __ATOMIC_SEQ_CST) == 0 &&
        __atomic_exchange_n(&is_owed, 0, __ATOMIC_SEQ_CST)) {
        if (begin_change(0)) {
            (void)update(1);
            end_change();
        } else {
            __atomic_store_n(&is_owed, 1, __ATOMIC_SEQ_CST); /* left to the fork in progress */
        }
    }
    errno = before;
}

static void after_fork_in_child(void)
{
    __atomic_store_n(&forks, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&changing, 0, __ATOMIC_SEQ_CST);
    if (may_child_change)
        own_process = (uint32_t)getpid();
}

/* Sets the desired state of the sleds of functions with this number, or of all functions if it is
 * 0. Returns whether there are any. */
static int set_removed(uint32_t number, uint32_t is_wanted)
{
    int is_found = 0;

    for (uint32_t id = 1; probity_sled_functions != NULL &&
                          id < __atomic_load_n(&ids_used, __ATOMIC_RELAXED); id++) {
        struct probity_sled_function *sled = &probity_sled_functions[id];
        const struct probity_site_function *function =
            __atomic_load_n(&sled->function, __ATOMIC_ACQUIRE);
        if (number != 0 && (function == NULL ||
                            __atomic_load_n(&function->number, __ATOMIC_RELAXED) != number))
            continue;
        __atomic_store_n(&sled->is_removed, is_wanted, __ATOMIC_RELAXED);
        is_found = 1;
    }
    return is_found;
}

int probity_hooked_remove(uint32_t number)
{
    if (!may_change() || number == 0 || number > PROBITY_LIMIT_SITES || !begin_change(0))
        return 0;
    int is_found = set_removed(number, 1);
    __atomic_store_n(&removed[number], REMOVED, __ATOMIC_RELAXED);
    /* Sleds that another thread finds later count as removed: the count of calls is a lower bound
     * in any case. */
    is_found |= update(0);
    end_change();
    return is_found || (__atomic_load_n(&removed[number], __ATOMIC_RELAXED) & FOUND) != 0;
}

/* Restores the sleds removed for the budget of another recording. */
static void forget_removed(void)
{
    set_removed(0, 0);
    for (uint32_t number = 0; number <= PROBITY_LIMIT_SITES; number++)
        __atomic_store_n(&removed[number], 0, __ATOMIC_RELAXED);
}

void probity_hooked_restore(void)
{
    if (!may_change())
        return;
    forget_removed();
    probity_sleds_update();
}

/* ---- Requests from outside ---------------------------------------------------------------------
 */

/* Returns 0 if all objects are in the desired state, or -1 with errno. */
static int change_all(void)
{
    probity_found.why = 0;
    int is_looked_at = update(1);
    for (int i = 0; is_looked_at && __atomic_load_n(&looking, __ATOMIC_ACQUIRE) != 0; i++) {
        if (i == CHANGE_TRIES) {
            errno = EAGAIN;
            return -1;
        }
        nanosleep(&a_moment, NULL);
    }
    errno = probity_found.why != 0 ? probity_found.why : errno;
    return probity_found.why != 0 ? -1 : 0;
}

int probity_hooked_wake(const char *rules)
{
    if (may_change() && probity_rules_lack_sources(rules)) {
        errno = ENODATA;
        return -1;
    }
    if (!may_change() || !begin_change(CHANGE_TRIES)) {
        errno = may_change() ? EAGAIN : ECHILD;
        return -1;
    }
    __atomic_store_n(&is_owed, 0, __ATOMIC_RELAXED);
    int is_different = probity_functions_select(rules);
    for (uint32_t id = 1; is_different > 0 && probity_sled_functions != NULL && id < ids_used; id++)
        __atomic_store_n(&probity_sled_functions[id].function, NULL, __ATOMIC_SEQ_CST);
    int result = -1;
    if (is_different >= 0) {
        __atomic_store_n(&wake, AWAKE, __ATOMIC_RELAXED);
        forget_removed();
        __atomic_store_n(&rules_of_ends, probity_rules_have_ends(rules) ? rules : NULL,
                         __ATOMIC_SEQ_CST);
        result = change_all();
        __atomic_store_n(&rules_of_ends, NULL, __ATOMIC_SEQ_CST);
    } else {
        errno = ENOMEM;
    }
    int why = errno;
    end_change();
    errno = why;
    return result;
}

int probity_hooked_start(int from_outside)
{
    int why = may_change() ? EAGAIN : ECHILD;

    if (!may_change() && sites_are_wanted) {
        why = probity_found.sites_why; /* as left by the parent */
    } else if (may_change() && begin_change(CHANGE_TRIES)) {
        want_sites(1);
        if (from_outside && wake_now() == NEVER_WOKEN)
            __atomic_store_n(&wake, ASLEEP, __ATOMIC_RELAXED);
        probity_found.sites_why = 0;
        why = change_all() != 0 && probity_found.sites_why == 0 ? EAGAIN : probity_found.sites_why;
        end_change();
    }
    probity_found.sites_why = why;
    probity_found_report_sites();
    errno = why;
    return why != 0 && probity_found_has_sites() ? -1 : 0;
}

int probity_hooked_take_out(void)
{
    int before = errno;

    if ((wake_now() == NEVER_WOKEN && !sites_are_wanted) || !may_change())
        return 0;
    if (wake_now() != NEVER_WOKEN)
        __atomic_store_n(&wake, ASLEEP, __ATOMIC_RELAXED);
    sites_are_wanted = 0;
    /* Set before the attempt, so that a fork that prevents it restores the code once the fork is
     * done. */
    __atomic_store_n(&is_owed, 1, __ATOMIC_SEQ_CST);
    if (!begin_change(CHANGE_TRIES)) {
        errno = EAGAIN;
        return -1;
    }
    __atomic_store_n(&is_owed, 0, __ATOMIC_SEQ_CST);
    int result = change_all(), why = errno;
    end_change();
    errno = result != 0 ? why : before;
    return result;
}

/* ---- Load --------------------------------------------------------------------------------------
 */

__attribute__((constructor(SECOND_PRIORITY))) static void at_load(void)
{
    int before = errno;

    own_process = (uint32_t)getpid();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    probity_arguments_load();
    probity_arguments_update();
    /* In profile mode, only scopes are on. If another copy of this library, the executable's or a
     * plugin's, has already patched sites, the scopes that they opened stay open. */
    if (__atomic_load_n(&probity_active, __ATOMIC_RELAXED) || probity_scope_is_on(0)) {
        sites_are_wanted = probity_scope_sites_are_calls();
        want_sites(1);
    }
    probity_sleds_update();
    probity_found_report();
    probity_found_report_sites();
    errno = before;
}
