/* SPDX-License-Identifier: MIT
 *
 * sleds.c: see sleds.h. Keeps a list of the objects that were loaded, and gives ids to their
 * functions. One thread at a time; another one that arrives makes the first one look again, so that
 * no thread waits, and a forked child does not wait for a thread that it does not have.
 */
#include "functions/sleds.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
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
#include "functions/functions.h"
#include "functions/patchable.h"
#include "functions/rules.h"
#include "functions/sled_patch.h"

/* After the constructor of libprobity, which decides whether to record, and before those of the
 * program. */
enum { SECOND_PRIORITY = 102 };

struct object {
    struct object *next;
    const char *path;
    uintptr_t offset;
    struct probity_sled_change *changes; /* those that were replaced */
    size_t change_count, change_bytes;   /* bytes: of the memory */
    struct probity_patchable patchable;
    uint32_t first_id, id_count;
    uint32_t is_loaded, is_seen;
};

/* What was found when the program started. */
struct totals {
    uint32_t objects, functions, selected, foreign, replaced, damaged;
    uint32_t patchable_objects, patchable_functions, patchable_selected;
    int why; /* errno, if sleds could not be replaced */
};

struct probity_sled_function *probity_sled_functions;
static struct object *objects;
static uint32_t ids_used = 1, own_process;

/* Once a recording has begun on request, the calls of all functions are known, selected or not,
 * because the next one may select others. ASLEEP: between two recordings, all are removed. */
enum wake { NEVER_WOKEN, AWAKE, ASLEEP };
static uint32_t wake;

static enum wake wake_now(void)
{
    return (enum wake)__atomic_load_n(&wake, __ATOMIC_RELAXED);
}
static struct totals totals;

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
    /* Pairs with the load in probity_sled_enter(). */
    if (__atomic_load_n(&sled->function, __ATOMIC_RELAXED) == NULL)
        __atomic_store_n(&sled->function, probity_function_at_once(sled->address),
                         __ATOMIC_RELEASE);
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

/* Number of entries of the function that begins there, and whether its calls can be recorded: all
 * its sleds are as the compiler made them, one of them at its beginning. */
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
    totals.functions++;
    totals.foreign += !is_valid || enters == 0;
    totals.replaced += is_valid && replaced > 0;
    return i - from;
}

/* With rules, a function is looked up now; otherwise when it is called. */
static int is_selected(uintptr_t function)
{
    return wake_now() != NEVER_WOKEN || !probity_functions_are_selected() ||
           probity_function_find(function) != &probity_function_left_out;
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
                changes[count++] =
                    (struct probity_sled_change){sled.at, sled.function, sled.kind, *ret_functions};
        }
        (*ret_functions)++;
    }
    return count;
}

/* ---- Ids ---------------------------------------------------------------------------------------
 */

/* Whether the ids of an object now belong to another one. */
static int are_taken(const struct object *object)
{
    for (const struct object *other = objects; other != NULL; other = other->next) {
        if (other != object && other->is_loaded && other->id_count > 0 &&
            other->first_id == object->first_id)
            return 1;
    }
    return 0;
}

/* Ids of an unloaded object, if it had as many: a program that loads and unloads a library many
 * times must not use them up. Returns 0, or -1 if there are none. */
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

static int patch(struct object *object, const struct probity_object *loaded,
                 struct probity_sled_change *changes, size_t count, uint32_t functions)
{
    if (map_functions() != 0 || take_ids(object, functions) != 0) {
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        changes[i].id += object->first_id;
        probity_sled_functions[changes[i].id] =
            (struct probity_sled_function){.address = changes[i].function};
    }
    if (probity_sleds_patch(loaded, changes, count) != 0)
        return -1;
    totals.selected += functions;
    return 0;
}

static void forget_changes(struct object *object)
{
    if (object->changes != NULL)
        probity_arena_unmap(object->changes, object->change_bytes);
    object->changes = NULL;
    object->change_count = 0;
}

/* An object that was not seen before. */
static void take_map(struct object *object, const struct probity_sled_map *map)
{
    size_t bytes = map->count * sizeof(struct probity_sled_change);
    struct probity_sled_change *changes = probity_arena_map(bytes);
    uint32_t functions;

    totals.objects++;
    if (changes == NULL) {
        totals.why = ENOMEM;
        return;
    }
    size_t count = choose(map, changes, &functions);
    object->changes = changes;
    object->change_bytes = bytes;
    if (count > 0 && patch(object, map->object, changes, count, functions) != 0)
        totals.why = errno;
    else
        object->change_count = count;
    if (object->change_count == 0)
        forget_changes(object);
}

/* Switches sleds that are not in the desired state on or off. */
static void switch_sleds(const struct object *object, const struct probity_object *loaded,
                         int is_on)
{
    enum probity_cpu_sled_state now = is_on ? PROBITY_CPU_SLED_REMOVED : PROBITY_CPU_SLED_ON;
    struct probity_sled_change *chosen = NULL;
    size_t count = 0;

    for (size_t i = 0; i < object->change_count; i++) {
        const struct probity_sled_change *change = &object->changes[i];
        if ((int)probity_sled_functions[change->id].is_removed == is_on ||
            probity_cpu_sled_state(change->at, change->kind) != now)
            continue;
        if (chosen == NULL && (chosen = probity_arena_map(object->change_bytes)) == NULL)
            return;
        chosen[count++] = *change;
    }
    if (chosen == NULL)
        return;
    (void)probity_sleds_switch(loaded, chosen, count, is_on);
    probity_arena_unmap(chosen, object->change_bytes);
}

/* By number: whether its calls must not even be counted, and whether it is already in that
 * state. */
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
    const struct probity_sled_change *first = object->changes;

    if (!object->is_loaded || object->offset != loaded->offset ||
        strcmp(object->path, loaded->path) != 0 ||
        !probity_patchable_is_there(&object->patchable, loaded))
        return 0;
    return first == NULL ||
           (probity_object_bytes(loaded, first->at) >= PROBITY_CPU_SLED_BYTES &&
            probity_cpu_sled_state(first->at, first->kind) >= PROBITY_CPU_SLED_ON);
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

/* One of this name that was unloaded is used again, with its ids. */
static struct object *add_object(const struct probity_object *loaded)
{
    struct object *object = objects;

    while (object != NULL && (object->is_loaded || strcmp(object->path, loaded->path) != 0))
        object = object->next;
    if (object == NULL)
        object = new_object(loaded->path);
    if (object == NULL)
        return NULL;
    forget_changes(object);
    probity_patchable_forget(&object->patchable);
    object->offset = loaded->offset;
    object->is_loaded = object->is_seen = 1;
    return object;
}

static void take_patchable(struct object *object, const struct probity_object *loaded,
                           const char *path)
{
    long found = probity_patchable_take(loaded, path, wake_now() != NEVER_WOKEN,
                                        &object->patchable);

    if (found < 0)
        totals.why = errno;
    if (found <= 0)
        return;
    totals.patchable_objects++;
    totals.patchable_functions += (uint32_t)found;
    totals.patchable_selected += (uint32_t)object->patchable.count;
}

static void take_object(void *context, const struct probity_object *loaded)
{
    const char *path = *loaded->path != '\0' ? loaded->path : "/proc/self/exe";
    struct probity_sled_map map;

    (void)context;
    /* The kernel's own object has a name, but no file. */
    if (strchr(path, '/') == NULL)
        return;
    for (struct object *object = objects; object != NULL; object = object->next) {
        if (is_known(object, loaded)) {
            object->is_seen = 1;
            switch_sleds(object, loaded, 0);
            switch_sleds(object, loaded, 1);
            probity_patchable_update(&object->patchable, loaded, is_removed);
            return;
        }
    }
    struct object *added = add_object(loaded);
    int found = added != NULL ? probity_sled_map_find(loaded, path, &map) : 0;
    if (found > 0)
        take_map(added, &map);
    totals.damaged += found < 0;
    if (added != NULL)
        take_patchable(added, loaded, path);
}

/* Takes out the sleds of functions that the rules leave out. */
static void select_sleds(void)
{
    for (uint32_t id = 1; probity_sled_functions != NULL && id < ids_used; id++) {
        struct probity_sled_function *sled = &probity_sled_functions[id];
        int is_out = wake_now() == ASLEEP ||
                     (probity_functions_are_selected() && sled->address != 0 &&
                      probity_function_find(sled->address) == &probity_function_left_out);
        if (is_out)
            __atomic_store_n(&sled->is_removed, 1, __ATOMIC_RELAXED);
    }
}

static void look_once(void)
{
    uint64_t loads = 0;

    for (struct object *object = objects; object != NULL; object = object->next)
        object->is_seen = 0;
    probity_objects_each(&loads, take_object, NULL);
    for (struct object *object = objects; object != NULL; object = object->next)
        object->is_loaded = object->is_seen;
}

/* The ids of an object that is seen for the first time are known only after that. */
static void look(void)
{
    int is_woken = wake_now() != NEVER_WOKEN;

    if (is_woken)
        select_sleds();
    look_once();
    if (!is_woken)
        return;
    select_sleds();
    look_once();
}

/* Returns whether another thread looks, which then looks again. is_changing: also if nothing is to
 * be recorded. */
static int update(int is_changing)
{
    static uint64_t looking; /* process id << 1 | whether to look again; 0: no thread is looking */
    uint64_t own = (uint64_t)getpid() << 1;
    uint64_t now = __atomic_load_n(&looking, __ATOMIC_RELAXED);
    struct probity_os_signals signals;
    int before = errno;

    if ((!__atomic_load_n(&probity_active, __ATOMIC_RELAXED) && !is_changing) ||
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

/* ---- The budget --------------------------------------------------------------------------------
 */

/* Of a forked child, the thread that held the dynamic linker's lock may be missing. */
static int may_change(void)
{
    return own_process == (uint32_t)getpid();
}

/* While the writer thread changes code, it holds the dynamic linker's lock, which a forked child
 * would find locked forever. So a fork waits, but for a limited time, since its caller may hold
 * that lock. Each side stores its own flag and then loads the other's. */
static uint32_t is_removing, forks;

static int begin_removing(void)
{
    __atomic_store_n(&is_removing, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&forks, __ATOMIC_SEQ_CST) == 0)
        return 1;
    __atomic_store_n(&is_removing, 0, __ATOMIC_SEQ_CST);
    return 0;
}

static void before_fork(void)
{
    enum { TRIES = 1000 };
    const struct timespec pause = {0, 100000};
    int before = errno;

    __atomic_fetch_add(&forks, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < TRIES && __atomic_load_n(&is_removing, __ATOMIC_SEQ_CST); i++)
        nanosleep(&pause, NULL);
    errno = before;
}

static void after_fork_in_parent(void)
{
    __atomic_fetch_sub(&forks, 1, __ATOMIC_SEQ_CST);
}

static void after_fork_in_child(void)
{
    __atomic_store_n(&forks, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&is_removing, 0, __ATOMIC_SEQ_CST);
}

/* Sets the desired state of the sleds of functions with this number; 0: of all functions.
 * Returns whether there are any. */
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
    if (!may_change() || number == 0 || number > PROBITY_LIMIT_SITES || !begin_removing())
        return 0;
    int is_found = set_removed(number, 1);
    __atomic_store_n(&removed[number], REMOVED, __ATOMIC_RELAXED);
    /* Sleds that another thread finds later are considered removed: their count is a lower bound
     * in any case. */
    is_found |= update(0);
    __atomic_store_n(&is_removing, 0, __ATOMIC_SEQ_CST);
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

/* A fork that is in progress may take a moment. Returns whether changing may begin. */
static int begin_patiently(void)
{
    enum { TRIES = 200 };
    const struct timespec pause = {0, 500000};

    if (!may_change())
        return 0;
    for (int i = 0; i < TRIES; i++) {
        if (begin_removing())
            return 1;
        nanosleep(&pause, NULL);
    }
    return 0;
}

int probity_hooked_wake(const char *rules)
{
    int before = errno;

    if (!begin_patiently()) {
        errno = EAGAIN;
        return -1;
    }
    int is_different = probity_functions_select(rules);
    if (is_different > 0) {
        for (uint32_t id = 1; probity_sled_functions != NULL && id < ids_used; id++)
            __atomic_store_n(&probity_sled_functions[id].function, NULL, __ATOMIC_RELEASE);
    }
    totals.why = 0;
    __atomic_store_n(&wake, AWAKE, __ATOMIC_RELAXED);
    forget_removed();
    (void)update(1);
    __atomic_store_n(&is_removing, 0, __ATOMIC_SEQ_CST);
    errno = totals.why != 0 ? totals.why : before;
    return totals.why != 0 ? -1 : 0;
}

void probity_hooked_sleep(void)
{
    if (wake_now() != AWAKE || !begin_patiently())
        return;
    __atomic_store_n(&wake, ASLEEP, __ATOMIC_RELAXED);
    (void)update(1);
    __atomic_store_n(&is_removing, 0, __ATOMIC_SEQ_CST);
}

/* ---- Messages ----------------------------------------------------------------------------------
 */

/* With commas between groups of three digits. */
static const char *number_text(uint32_t number, char room[16])
{
    char *at = room + 15;

    *at = '\0';
    for (int digits = 0; digits == 0 || number > 0; digits++, number /= 10) {
        if (digits > 0 && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + number % 10);
    }
    return at;
}

/* Whether `probity record` started this process; programs started by this one do not report. */
static int is_recorders_child(void)
{
    const char *recorder = probity_os_is_privileged() ? NULL : getenv("PROBITY_RECORDER");

    return recorder != NULL && strtol(recorder, NULL, 10) == (long)getppid();
}

enum { PROBLEM_BYTES = 160 };

/* The most serious problem. Returns whether there is any. */
static int find_problem(char ret_problem[PROBLEM_BYTES])
{
    ret_problem[0] = '\0';
    if (totals.why != 0)
        snprintf(ret_problem, PROBLEM_BYTES, "; cannot change their code: %.99s",
                 strerror(totals.why));
    else if (totals.replaced > 0)
        snprintf(ret_problem, PROBLEM_BYTES, "; not recorded because XRay's runtime has patched "
                 "them (XRAY_OPTIONS): %u", totals.replaced);
    else if (totals.foreign > 0)
        snprintf(ret_problem, PROBLEM_BYTES, "; not recorded because their sleds are damaged: %u",
                 totals.foreign);
    else if (totals.damaged > 0)
        snprintf(ret_problem, PROBLEM_BYTES, "; not recorded because their tables of sleds are "
                 "damaged: objects: %u", totals.damaged);
    return ret_problem[0] != '\0';
}

/* One line. */
static void say_what_was_found(void)
{
    uint32_t usable = totals.functions - totals.foreign - totals.replaced;
    char line[512], number[16], part[64] = "", more[64] = "", problem[PROBLEM_BYTES];
    int is_sleds = totals.objects > 0 || totals.patchable_objects == 0;
    uint32_t count = is_sleds ? totals.objects : totals.patchable_objects;

    if (!find_problem(problem) && (count == 0 || !is_recorders_child()))
        return;
    if (totals.why == 0 && (is_sleds ? totals.selected < usable
                                     : totals.patchable_selected < totals.patchable_functions))
        snprintf(part, sizeof part, ", %s selected",
                 number_text(is_sleds ? totals.selected : totals.patchable_selected, number));
    if (is_sleds && totals.patchable_objects > 0)
        snprintf(more, sizeof more, ", and %s by patchable entries in %u",
                 number_text(totals.patchable_functions, number), totals.patchable_objects);
    uint32_t functions = is_sleds ? totals.functions : totals.patchable_functions;
    int length = snprintf(line, sizeof line, "probity: %s function%s by %s in %u object%s%s%s%s\n",
                          number_text(functions, number), functions == 1 ? "" : "s",
                          is_sleds ? "XRay sleds" : "patchable entries", count,
                          count == 1 ? "" : "s", part, more, problem);
    probity_os_say(line, (size_t)length);
}

__attribute__((constructor(SECOND_PRIORITY))) static void at_load(void)
{
    int before = errno;

    own_process = (uint32_t)getpid();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    probity_arguments_load();
    probity_arguments_update();
    probity_sleds_update();
    say_what_was_found();
    errno = before;
}
