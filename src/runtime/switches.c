/* SPDX-License-Identifier: MIT
 *
 * switches.c: two sets of rules, one of which is in effect. The writer thread fills the other one,
 * puts it into effect, and waits until no thread reads the old one.
 */
#include "runtime/switches.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/os.h"
#include "format/stream.h"
#include "runtime/budget.h"
#include "runtime/declare.h"
#include "runtime/profile_set.h"
#include "runtime/record.h"
#include "runtime/trigger.h"
#include "writer/pass.h"
#include "writer/watch.h"

struct rules {
    uint32_t count;
    struct {
        int is_off;
        char pattern[PROBITY_SWITCH_BYTES];
    } rule[PROBITY_SWITCHES_MAX];
};

static struct rules sets[2];
static struct rules *in_force = &sets[0]; /* unchanged while `readers` is above 0 */
static uint32_t readers;

void probity_switches_begin(int is_child)
{
    readers = 0; /* the parent of a forked child may have had readers */
    if (!is_child)
        in_force->count = 0;
}

/* Descriptors of sites in the executable, which is never unloaded. Appended to under declare_lock;
 * survives a fork. */
static struct probity_site *listed[PROBITY_LIMIT_SITES];
static uint32_t listed_count;

static int is_off(const struct rules *rules, const struct probity_site_function *function)
{
    for (uint32_t i = rules->count; i > 0; i--) {
        if (probity_trigger_parts()->is_function(rules->rule[i - 1].pattern, function))
            return rules->rule[i - 1].is_off;
    }
    return 0;
}

/* Returns whether the site may be switched off: a function named by a condition stays recorded.
 * number: that of its site. */
static int may_be_off(uint32_t number)
{
    const struct probity_watch *watch =
        __atomic_load_n(probity_trigger_parts()->watch, __ATOMIC_ACQUIRE);

    return probity_trigger_of(number) == 0 &&
           (watch == NULL || !probity_watch_names(watch, number));
}

/* Sequentially consistent: pairs with put_in_force() and with the fence after it. By then the
 * function is in the list of declarations, and its state marks it as a function. */
void probity_switches_declared(const struct probity_site_function *function, uint32_t number)
{
    __atomic_fetch_add(&readers, 1, __ATOMIC_SEQ_CST);
    const struct rules *rules = __atomic_load_n(&in_force, __ATOMIC_SEQ_CST);
    /* Before later rules are applied to what is already declared. */
    if (is_off(rules, function) && may_be_off(number))
        probity_budget_mark(number);
    __atomic_fetch_sub(&readers, 1, __ATOMIC_SEQ_CST);
}

static uint32_t state_of(uint32_t number)
{
    return __atomic_load_n(&probity_budget_state[number + 1], __ATOMIC_RELAXED);
}

static int is_site_off(const struct rules *rules, const char *name)
{
    for (uint32_t i = rules->count; i > 0; i--) {
        if (probity_trigger_is_site(rules->rule[i - 1].pattern, name))
            return rules->rule[i - 1].is_off;
    }
    return 0;
}

/* Lists the descriptor, so that the writer thread can clear its code. */
static void list(const struct probity_session *session, struct probity_site *site, uint32_t number)
{
    int is_new = (site->line & PROBITY_SITE_SWITCHED) && !site->is_listed;

    if (is_new && listed_count < PROBITY_LIMIT_SITES &&
        probity_os_image_bytes(&session->image, site) >= sizeof *site) {
        listed[listed_count] = site;
        __atomic_store_n(&listed_count, listed_count + 1, __ATOMIC_RELEASE);
        site->is_listed = 1;
    }
    if (!(site->line & PROBITY_SITE_SWITCHED) || !site->is_listed)
        __atomic_fetch_or(&probity_budget_state[number + 1], PROBITY_BUDGET_STAYS,
                          __ATOMIC_RELAXED);
}

/* Returns whether it was off. */
static int unmark_off(uint32_t number)
{
    return (__atomic_fetch_and(&probity_budget_state[number + 1], (uint16_t)~PROBITY_BUDGET_OFF,
                               __ATOMIC_SEQ_CST) & PROBITY_BUDGET_OFF) != 0;
}

/* Marks a site as off, if that is possible. Returns whether it was on. */
static int mark_off(uint32_t number)
{
    const uint16_t stays = PROBITY_BUDGET_STAYS | PROBITY_BUDGET_HITS;

    if ((state_of(number) & stays) || probity_trigger_names_site(number))
        return 0;
    uint16_t before = __atomic_fetch_or(&probity_budget_state[number + 1], PROBITY_BUDGET_OFF,
                                        __ATOMIC_SEQ_CST);
    if (before & stays) /* meanwhile */
        unmark_off(number);
    return !(before & (stays | PROBITY_BUDGET_OFF));
}

/* The writer thread may switch the site on meanwhile: either this thread sees that, and its last
 * event reports it, or the writer's event comes later, since the writer reads the clock for it
 * after it has changed the state. If an event is dropped, the next hit tries again. */
static void record_change(uint32_t number, uint32_t is_off)
{
    uint8_t event[8];
    uint32_t recorded;

    probity_put_u32(event + 4, number);
    do {
        recorded = is_off;
        probity_put_u32(event, !recorded);
        if (probity_record_event_here(PROBITY_EVENT_SITES_SWITCHED, event, sizeof event) != 0 &&
            recorded)
            unmark_off(number);
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* not before the clock was read */
        is_off = state_of(number) & PROBITY_BUDGET_OFF;
    } while (is_off != recorded);
}

/* The code is stored before the writer thread clears codes, or else after new rules take effect:
 * see probity_switches_declared(). */
uint32_t probity_switches_site(struct probity_session *session, struct probity_site *site,
                               uint32_t number, uint32_t code)
{
    int may_be_switched = (site->line & PROBITY_SITE_SWITCHED) != 0, is_change = 0;

    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* the declaration is in the list */
    __atomic_fetch_add(&readers, 1, __ATOMIC_SEQ_CST);
    const struct rules *rules = __atomic_load_n(&in_force, __ATOMIC_SEQ_CST);
    /* Other descriptors of the same site may have been switched off. */
    if (!may_be_switched || state_of(number) & PROBITY_BUDGET_HITS) {
        list(session, site, number);
        is_change = unmark_off(number);
    } else if (is_site_off(rules, site->name)) {
        is_change = mark_off(number);
    }
    uint32_t is_off = state_of(number) & PROBITY_BUDGET_OFF;
    if (is_off)
        code = 0;
    else
        list(session, site, number);
    if (may_be_switched)
        __atomic_store_n(&site->number, number + 1, __ATOMIC_RELAXED);
    /* Release: a thread that probes with this code sees the declaration. */
    __atomic_store_n(&site->code, code, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&readers, 1, __ATOMIC_SEQ_CST);
    if (is_change) /* may wait for a chunk, and thus for the writer thread */
        record_change(number, is_off);
    return code;
}

/* ---- Rules -------------------------------------------------------------------------------------
 */

/* Removes the rules that the new one replaces: those with the same pattern; all if it is "*".
 * Returns how many are left. */
static uint32_t without(struct rules *rules, const char *pattern)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < rules->count && strcmp(pattern, "*") != 0; i++) {
        if (strcmp(rules->rule[i].pattern, pattern) != 0)
            rules->rule[left++] = rules->rule[i];
    }
    rules->count = left;
    return left;
}

static const char *make_rules(struct rules *rules, const struct probity_switching *wanted,
                              uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t bytes = strlen(wanted[i].pattern) + 1;
        if (bytes == 1 || bytes > PROBITY_SWITCH_BYTES)
            return "expected a pattern of 1 to 255 bytes";
        uint32_t at = without(rules, wanted[i].pattern);
        if (!wanted[i].is_off && at == 0)
            continue; /* as without rules */
        if (at == PROBITY_SWITCHES_MAX)
            return "there are 32 patterns already; on=* removes all of them";
        rules->rule[at].is_off = wanted[i].is_off;
        memcpy(rules->rule[at].pattern, wanted[i].pattern, bytes);
        rules->count++;
    }
    return NULL;
}

static void put_in_force(struct rules *rules)
{
    static uint32_t never;

    __atomic_store_n(&in_force, rules, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&readers, __ATOMIC_SEQ_CST) != 0 && !PROBITY_OS_THREADS_ARE_GONE())
        probity_os_wait(&never, 0, 100000);
}

/* ---- Functions and sites -----------------------------------------------------------------------
 */

static int is_counted(uint32_t number)
{
    uint32_t state = state_of(number);

    return (state & PROBITY_BUDGET_FUNCTION) && (state & PROBITY_BUDGET_COUNTED);
}

/* A function whose hooks were removed cannot be recorded. */
static void switch_on(struct probity_session *session, uint32_t number)
{
    struct probity_profile_set *set;

    if (!is_counted(number) || state_of(number) & PROBITY_BUDGET_REMOVED)
        return;
    /* The fence pairs with the one in enter_first(): a thread that is about to count the function
     * either sees that it is on, or has set its counter by now. */
    __atomic_fetch_and(&probity_budget_state[number + 1], (uint16_t)~PROBITY_BUDGET_COUNTED,
                       __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    probity_os_lock(&session->profile.lock);
    for (set = session->profile.first; set != NULL; set = set->next)
        __atomic_store_n(&set->counter[number + 1], NULL, __ATOMIC_RELAXED);
    probity_os_unlock(&session->profile.lock);
}

static void clear_site_codes(void)
{
    uint32_t count = __atomic_load_n(&listed_count, __ATOMIC_ACQUIRE);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = __atomic_load_n(&listed[i]->number, __ATOMIC_RELAXED);
        if (number != 0 && state_of(number - 1) & PROBITY_BUDGET_OFF)
            __atomic_store_n(&listed[i]->code, 0, __ATOMIC_RELAXED);
    }
}

/* State of the writer thread's walk through the declarations. */
static struct {
    struct probity_session *session;
    const struct probity_switching *wanted;
    uint32_t count;
    uint32_t matched; /* a bit for each pattern */
    struct probity_switched *said;
    struct probity_pass *pass;
    uint64_t tick;
    uint32_t is_on;
    size_t bytes; /* size of the event */
    uint8_t event[PROBITY_EVENT_BYTES_MAX];
} walk;
_Static_assert(PROBITY_SWITCHES_MAX <= 32, "bits of `matched`");

/* Reads the name and the number of a declared function or site. Returns 0 for other
 * declarations. */
static int read_name(uint32_t kind, const uint8_t *payload, size_t bytes, uint32_t *ret_number,
                     char ret_name[PROBITY_LIMIT_NAME + 1])
{
    size_t at = kind == PROBITY_EVENT_SITE ? 8 : 12;

    if ((kind != PROBITY_EVENT_SITE && kind != PROBITY_EVENT_FUNCTION) || bytes < at + 2)
        return 0;
    size_t length = probity_get_u16(payload + at);
    *ret_number = probity_get_u32(payload);
    if (length > PROBITY_LIMIT_NAME || length > bytes - at - 2 ||
        *ret_number >= PROBITY_LIMIT_SITES)
        return 0;
    memcpy(ret_name, payload + at + 2, length);
    ret_name[length] = 0;
    return 1;
}

/* Returns which pattern applies to a function or site: the index of the last one that matches, + 1;
 * or 0. */
static uint32_t match(uint32_t kind, const uint8_t *payload, size_t bytes, uint32_t *ret_number)
{
    char name[PROBITY_LIMIT_NAME + 1];
    uint32_t holds = 0;

    if (!read_name(kind, payload, bytes, ret_number, name))
        return 0;
    const struct probity_site_function function = {.name = name, .flags = payload[9]};
    for (uint32_t i = 0; i < walk.count; i++) {
        const char *pattern = walk.wanted[i].pattern;
        if (kind == PROBITY_EVENT_SITE ? !probity_trigger_is_site(pattern, name)
                                       : !probity_trigger_parts()->is_function(pattern, &function))
            continue;
        walk.matched |= 1u << i;
        holds = i + 1;
    }
    return holds;
}

static void switch_declared(uint32_t kind, const uint8_t *payload, size_t bytes)
{
    uint32_t number, holds = match(kind, payload, bytes, &number);

    if (holds == 0)
        return;
    int is_off = walk.wanted[holds - 1].is_off;
    if (kind == PROBITY_EVENT_FUNCTION && is_off && may_be_off(number))
        probity_budget_mark(number);
    else if (kind == PROBITY_EVENT_FUNCTION && !is_off)
        switch_on(walk.session, number);
    else if (kind == PROBITY_EVENT_SITE && (is_off ? mark_off(number) : unmark_off(number)))
        /* When a site is switched on again, its next hit declares it, under the same number. */
        __atomic_fetch_xor(&probity_budget_state[number + 1], PROBITY_BUDGET_CHANGED,
                           __ATOMIC_RELAXED);
}

int probity_switches_turn_on(const struct probity_switching *wanted, uint32_t count, uint32_t kind,
                             const uint8_t *payload, size_t bytes)
{
    uint32_t number;

    walk.wanted = wanted;
    walk.count = count;
    uint32_t holds = match(kind, payload, bytes, &number);
    return holds != 0 && !wanted[holds - 1].is_off &&
           !(state_of(number) & PROBITY_BUDGET_REMOVED);
}

const char *probity_switches_check(const struct probity_session *session,
                                   const struct probity_switching *wanted, uint32_t count)
{
    struct rules *next = in_force == &sets[0] ? &sets[1] : &sets[0];

    if (session->settings.profile)
        return "in profile mode, functions cannot be switched";
    *next = *in_force;
    return make_rules(next, wanted, count);
}

void probity_switches_apply(struct probity_session *session, const struct probity_switching *wanted,
                            uint32_t count)
{
    put_in_force(in_force == &sets[0] ? &sets[1] : &sets[0]);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    walk.session = session;
    walk.wanted = wanted;
    walk.count = count;
    walk.matched = 0;
    probity_declare_each(switch_declared);
    probity_budget_clear_codes();
    clear_site_codes();
}

/* ---- What was switched -------------------------------------------------------------------------
 */

static void count_declared(uint32_t kind, const uint8_t *payload, size_t bytes)
{
    struct probity_switched *said = walk.said;
    char name[PROBITY_LIMIT_NAME + 1];
    uint32_t number;

    if (!read_name(kind, payload, bytes, &number, name))
        return;
    if (kind == PROBITY_EVENT_FUNCTION) {
        said->functions++;
        said->functions_off += (uint32_t)is_counted(number);
        return;
    }
    said->sites++;
    said->sites_off += (state_of(number) & PROBITY_BUDGET_OFF) != 0;
    if (said->stays[0] == 0 && state_of(number) & PROBITY_BUDGET_STAYS &&
        !(state_of(number) & PROBITY_BUDGET_HITS) && is_site_off(in_force, name))
        memcpy(said->stays, name, strlen(name) + 1);
}

void probity_switches_count(struct probity_switched *ret_switched)
{
    *ret_switched = (struct probity_switched){.functions = 0};
    walk.said = ret_switched;
    probity_declare_each(count_declared);
    for (uint32_t i = walk.count; i > 0; i--) {
        if (!(walk.matched >> (i - 1) & 1))
            ret_switched->unmatched = walk.wanted[i - 1].pattern;
    }
}

static void write_event(void)
{
    if (walk.bytes > 4)
        probity_pass_event(walk.pass, walk.tick, PROBITY_EVENT_SITES_SWITCHED, walk.event,
                           walk.bytes, walk.session->writer.thread_numbers);
    probity_put_u32(walk.event, walk.is_on);
    walk.bytes = 4;
}

static void write_changed(uint32_t kind, const uint8_t *payload, size_t bytes)
{
    uint32_t number = bytes >= 4 ? probity_get_u32(payload) : PROBITY_LIMIT_SITES;

    if (kind != PROBITY_EVENT_SITE || number >= PROBITY_LIMIT_SITES ||
        !(state_of(number) & PROBITY_BUDGET_CHANGED) ||
        ((state_of(number) & PROBITY_BUDGET_OFF) == 0) != (walk.is_on != 0))
        return;
    __atomic_fetch_and(&probity_budget_state[number + 1], (uint16_t)~PROBITY_BUDGET_CHANGED,
                       __ATOMIC_RELAXED);
    probity_put_u32(walk.event + walk.bytes, number);
    walk.bytes += 4;
    if (walk.bytes + 4 > sizeof walk.event)
        write_event();
}

void probity_switches_write(void *owner, struct probity_pass *pass, uint64_t tick)
{
    walk.session = owner;
    walk.pass = pass;
    walk.tick = tick;
    for (walk.is_on = 0; walk.is_on <= 1; walk.is_on++) {
        if (walk.is_on) /* see record_change() */
            walk.tick = probity_clock_ticks(walk.session->live.clock);
        walk.bytes = 0;
        write_event();
        probity_declare_each(write_changed);
        write_event();
    }
}
