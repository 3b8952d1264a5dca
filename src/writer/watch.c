/* SPDX-License-Identifier: MIT
 *
 * watch.c: reads the words of chunks that are still in use. Runs in the writer thread of the traced
 * program: no malloc(). Does not change the chunks; how far each has been read is kept in private
 * memory.
 */
#include "writer/watch.h"

#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/ticks.h"
#include "format/dump.h"
#include "format/stream.h"
#include "writer/watch_gaps.h"
#include "writer/watch_rates.h"
#include "writer/watch_requests.h"

enum {
    EVENT_HEAD_WORDS = 3,
    MARGIN_NS = 100000,      /* as for the watermark in pass.c */
    PATIENCE_NS = 1000000000 /* wait for a probe in progress before evaluating later records */
};

/* ---- Notices -----------------------------------------------------------------------------------
 */

static struct probity_notice notice_of(const struct probity_watch *watch, uint32_t condition)
{
    const struct probity_watch_state *state = &watch->state[condition];
    struct probity_notice notice;

    memset(&notice, 0, sizeof notice);
    notice.kind = watch->conditions[condition].kind;
    notice.condition = (int32_t)condition;
    notice.thread = state->thread;
    notice.tid = state->tid;
    notice.number = state->code;
    notice.from = (uint32_t)PROBITY_DUMP_NONE;
    notice.flags = watch->conditions[condition].is_below         ? PROBITY_DUMP_IS_LEAST
                   : watch->conditions[condition].percentile != 0 ? PROBITY_DUMP_IS_PERCENTILE
                                                                  : 0;
    notice.limit = state->limit;
    return notice;
}

/* Returns which conditions the request has met. */
static uint64_t report_request(void *context, const struct probity_watch_request *request)
{
    struct probity_watch *watch = context;
    uint64_t met = 0;

    for (uint64_t set = request->conditions; set != 0; set &= set - 1) {
        uint32_t condition = (uint32_t)__builtin_ctzll(set);
        if (watch->conditions[condition].percentile != 0 && request->is_over)
            probity_durations_add(&watch->durations[condition], request->end - request->begin);
        if (request->met >> condition & 1 ||
            request->end - request->begin <= watch->state[condition].limit)
            continue;
        struct probity_notice notice = notice_of(watch, condition);
        notice.thread = request->thread;
        notice.tid = request->tid;
        notice.number = request->code;
        notice.from = request->from;
        notice.flags |= request->has_begun_there ? PROBITY_DUMP_IS_ONE_THREAD : 0;
        notice.start = request->begin;
        notice.end = request->end;
        notice.id = request->id;
        probity_notices_post(watch->notices, &notice);
        met |= UINT64_C(1) << condition;
    }
    return met;
}

static void compare_value(struct probity_watch *watch, uint32_t condition, uint64_t tick,
                          uint64_t value)
{
    struct probity_watch_state *state = &watch->state[condition];

    if (state->was_reported ||
        !probity_watch_is_beyond(&watch->conditions[condition], (int64_t)value))
        return;
    struct probity_notice notice = notice_of(watch, condition);
    notice.start = notice.end = tick;
    notice.limit = (uint64_t)watch->conditions[condition].number;
    notice.id = value;
    probity_notices_post(watch->notices, &notice);
    state->was_reported = 1;
}

/* ---- Records -----------------------------------------------------------------------------------
 */

/* Where a record is, and the thread's previous record, if that is a hit. */
struct place {
    uint64_t tick;
    uint32_t thread, tid;
    struct probity_pool_watched *before;
};

/* Returns the conditions on a site. code: 2 × probe number, or 2 × site number + 1. */
static uint64_t conditions_of(const struct probity_watch *watch, uint64_t code)
{
    if (code % 2 == 1)
        return code / 2 < PROBITY_LIMIT_SITES
                   ? __atomic_load_n(&watch->sites[code / 2], __ATOMIC_RELAXED)
                   : 0;
    uint64_t set = 0, maybe = watch->numbered[code / 2 % PROBITY_WATCH_NUMBERED];
    for (; maybe != 0; maybe &= maybe - 1) {
        uint32_t condition = (uint32_t)__builtin_ctzll(maybe);
        if (watch->conditions[condition].name.number == code / 2)
            set |= UINT64_C(1) << condition;
    }
    return set;
}

static void note_latest(struct probity_watch_state *state, uint64_t code, const struct place *place)
{
    if (state->last != 0 && (int64_t)(place->tick - state->last) <= 0)
        return;
    state->last = place->tick;
    state->thread = place->thread;
    state->tid = place->tid;
    state->code = (uint32_t)code;
}

/* Returns whether the record is ignored because it precedes the first condition. */
static int is_before(const struct probity_watch *watch, uint64_t tick)
{
    return (int64_t)(tick - watch->begin) < 0;
}

static void forget(struct probity_pool_watched *before)
{
    before->conditions = 0;
    before->role = 0;
}

static int is_end(const struct probity_watch *watch, uint32_t condition, uint64_t code)
{
    const struct probity_condition_name *to = &watch->conditions[condition].to;

    if (to->is_number)
        return code == 2 * (uint64_t)to->number;
    return code % 2 == 1 && code / 2 < PROBITY_LIMIT_SITES &&
           (__atomic_load_n(&watch->sites_to[code / 2], __ATOMIC_RELAXED) >> condition & 1);
}

static void count_block(struct probity_watch *watch, uint64_t conditions, uint64_t code,
                        struct place *place)
{
    struct probity_pool_watched *before = place->before;

    for (uint64_t set = before->conditions; set != 0; set &= set - 1) {
        uint32_t condition = (uint32_t)__builtin_ctzll(set);
        if (is_end(watch, condition, code))
            probity_durations_add(&watch->durations[condition], place->tick - before->tick);
    }
    before->conditions = conditions & watch->blocks;
    before->tick = place->tick;
    before->role = 0;
}

static void count_wait(struct probity_watch *watch, uint64_t conditions,
                       const struct probity_hit_with *hit, const struct place *place)
{
    const struct probity_pool_watched *before = place->before;

    if (!probity_role_is_wait(before->role, hit->role) || before->object != hit->object)
        return;
    for (uint64_t set = (conditions | watch->unnamed) & watch->waits; set != 0; set &= set - 1)
        probity_durations_add(&watch->durations[__builtin_ctzll(set)], place->tick - before->tick);
}

static void take_hits(struct probity_watch *watch, uint64_t conditions, uint64_t code,
                      struct place *place)
{
    const struct probity_watch_stretch hit = {place->tick, place->tick, place->thread,
                                              place->tid, (uint32_t)code};

    if (is_before(watch, place->tick))
        return;
    count_block(watch, conditions, code, place);
    for (uint64_t set = conditions & watch->gaps; set != 0; set &= set - 1)
        probity_watch_gaps_hit(watch, (uint32_t)__builtin_ctzll(set), &hit);
    for (uint64_t set = conditions & watch->rates; set != 0; set &= set - 1) {
        uint32_t condition = (uint32_t)__builtin_ctzll(set);
        probity_watch_rates_hit(watch, condition, place->tick);
        note_latest(&watch->state[condition], code, place);
    }
}

static void take_hit_with(struct probity_watch *watch, const uint64_t *words, uint32_t count,
                          struct place *place)
{
    uint64_t bytes = words[2] >> 16 & 0xffff, room = 8 * (uint64_t)(count - EVENT_HEAD_WORDS);
    struct probity_hit_with hit;

    if (!probity_hit_with_parse((const uint8_t *)(words + EVENT_HEAD_WORDS),
                                bytes < room ? bytes : room, &hit))
        return;
    uint64_t code = hit.code, set = conditions_of(watch, code);
    count_wait(watch, set, &hit, place);
    take_hits(watch, set, code, place);
    place->before->role = hit.role;
    place->before->object = hit.object;
    if (!hit.has_correlation || !probity_role_is_of_work(hit.role) ||
        is_before(watch, place->tick))
        return;
    for (uint64_t values = set & watch->values; values != 0; values &= values - 1) {
        uint32_t condition = (uint32_t)__builtin_ctzll(values);
        note_latest(&watch->state[condition], code, place);
        compare_value(watch, condition, place->tick, hit.correlation);
    }
    if (watch->open == NULL)
        return;
    const struct probity_watch_hit of_request = {
        place->tick, hit.correlation, (set | watch->unnamed) & watch->requests,
        (uint32_t)code, hit.role, place->thread, place->tid};
    probity_watch_requests_hit(watch->open, &of_request);
}

/* Takes the enter of a function that records its parameters. first: that of its payload. */
static void take_enter_with(struct probity_watch *watch, uint64_t first, struct place *place)
{
    uint64_t code = 2 * (uint64_t)probity_get_u32((const uint8_t *)&first) + 1;

    take_hits(watch, conditions_of(watch, code), code, place);
}

static uint64_t full_tick(uint64_t word, uint64_t near)
{
    int64_t delta = (int64_t)((word & ~PROBITY_WORD_CODE_MASK) - (near << PROBITY_WORD_CODE_BITS));

    return near + (uint64_t)(delta >> PROBITY_WORD_CODE_BITS);
}

/* Takes a record of more than one word. Returns the number of words; 0: a probe is in progress. */
static uint32_t take_long(struct probity_watch *watch, const uint64_t *words, uint32_t room,
                          struct place *place)
{
    uint64_t head = __atomic_load_n(words, __ATOMIC_ACQUIRE);
    uint32_t kind = head & 15, count = (uint32_t)(head >> 4) & 255;

    if (head == 0 || kind == PROBITY_WORD_PENDING)
        return 0;
    if (count == 0 || count > room)
        return 1;
    if (kind == PROBITY_WORD_CPU && count >= 2) {
        place->tick = words[1];
    } else if (kind == PROBITY_WORD_HIT && count >= 2) {
        place->tick = full_tick(head, place->tick);
        take_hits(watch, conditions_of(watch, words[1]), words[1], place);
    } else if (kind == PROBITY_WORD_EVENT && count >= EVENT_HEAD_WORDS) {
        place->tick = words[1];
        if ((words[2] & 0xffff) == PROBITY_EVENT_HIT_WITH)
            take_hit_with(watch, words, count, place);
        else if ((words[2] & 0xffff) == PROBITY_EVENT_ENTER && count > EVENT_HEAD_WORDS)
            take_enter_with(watch, words[EVENT_HEAD_WORDS], place);
        else
            forget(place->before);
    }
    return count;
}

/* Returns the number of words of a probe in progress to skip; 0: keep waiting for it. */
static uint32_t take_hole(const struct probity_watch *watch, struct probity_pool_chunk *own,
                          const uint64_t *words, uint32_t at, uint32_t end)
{
    uint64_t head = __atomic_load_n(&words[at], __ATOMIC_ACQUIRE);
    uint32_t count = (uint32_t)(head >> 4) & 255;

    if (own->stuck != at + 1) {
        own->stuck = at + 1;
        own->stuck_tick = watch->now;
    }
    if (watch->now - own->stuck_tick < watch->patience)
        return 0;
    if (head != 0)
        return count > 0 && count <= end - at ? count : 1;
    for (count = 1; count < end - at; count++) {
        if (__atomic_load_n(&words[at + count], __ATOMIC_ACQUIRE) != 0)
            break;
    }
    return count;
}

uint32_t probity_watch_chunk(struct probity_watch *watch, struct probity_pass *pass, uint32_t chunk,
                             uint32_t end)
{
    struct probity_pool *pool = &pass->live->pool;
    struct probity_pool_chunk *own = probity_pool_private(pool, chunk);
    const struct probity_chunk_header *header = probity_pool_header(pool, chunk);
    const uint64_t *words = probity_pool_words(pool, chunk);

    if (own->watched_serial != header->serial) {
        own->watched_serial = header->serial;
        own->watched = own->stuck = 0;
        own->watched_tick = header->base_tick;
        forget(&own->watched_hit);
    }
    probity_watch_gaps_begin(watch);
    struct place place = {own->watched_tick, header->thread, header->tid, &own->watched_hit};
    uint32_t at = own->watched;
    while (at < end) {
        uint64_t word = __atomic_load_n(&words[at], __ATOMIC_ACQUIRE);
        uint32_t code = (uint32_t)(word & PROBITY_WORD_CODE_MASK), count = 1;
        if (__builtin_expect(code >= PROBITY_WORD_CODE_FIRST, 1)) {
            place.tick = full_tick(word, place.tick);
            uint64_t set = conditions_of(watch, code - PROBITY_WORD_CODE_FIRST);
            if (set != 0 || own->watched_hit.conditions != 0 || own->watched_hit.role != 0)
                take_hits(watch, set, code - PROBITY_WORD_CODE_FIRST, &place);
        } else {
            count = take_long(watch, &words[at], end - at, &place);
        }
        if (count == 0)
            count = take_hole(watch, own, words, at, end);
        if (count == 0)
            break;
        at += count;
    }
    pass->looked += at - own->watched;
    own->watched = at;
    own->watched_tick = place.tick;
    return at;
}

/* ---- Passes ------------------------------------------------------------------------------------
 */

static void hold(struct probity_watch *watch, uint64_t tick)
{
    if ((int64_t)(tick - watch->pass_horizon) < 0)
        watch->pass_horizon = tick;
}

/* Reads an open chunk, like slot_drain() in pass.c. */
static void read_open(struct probity_watch *watch, struct probity_pass *pass,
                      const struct probity_thread_state *slot)
{
    struct probity_pool *pool = &pass->live->pool;
    uint32_t chunk = __atomic_load_n(&slot->chunk, __ATOMIC_ACQUIRE);

    if (chunk != PROBITY_POOL_NONE &&
        __atomic_load_n(&probity_pool_header(pool, chunk)->state, __ATOMIC_ACQUIRE) ==
            PROBITY_CHUNK_OPEN) {
        uint64_t start = (uint64_t)probity_pool_words(pool, chunk);
        uint64_t stored = (__atomic_load_n(&slot->hot.cursor, __ATOMIC_ACQUIRE) - start) / 8;
        uint32_t end = stored < pool->chunk_words ? (uint32_t)stored : pool->chunk_words;
        if (probity_watch_chunk(watch, pass, chunk, end) < end)
            hold(watch, probity_pool_private(pool, chunk)->watched_tick);
    }
    /* The chunk is in no list yet. */
    if (__atomic_load_n(&slot->releasing, __ATOMIC_ACQUIRE))
        hold(watch, watch->horizon);
}

static void read_full(struct probity_watch *watch, struct probity_pass *pass)
{
    struct probity_pool *pool = &pass->live->pool;
    uint32_t *tail = &pass->waiting;

    while (*tail != PROBITY_POOL_NONE)
        tail = &probity_pool_private(pool, *tail)->next;
    __atomic_store_n(tail, probity_pool_collect(pool), __ATOMIC_RELAXED);
    for (uint32_t chunk = pass->waiting; chunk != PROBITY_POOL_NONE;
         chunk = probity_pool_private(pool, chunk)->next) {
        uint32_t used = probity_pool_header(pool, chunk)->used;
        if (probity_watch_chunk(watch, pass, chunk, used) < used)
            hold(watch, probity_pool_private(pool, chunk)->watched_tick);
    }
}

static void report_gap(struct probity_watch *watch, uint32_t condition, uint64_t end)
{
    struct probity_notice notice = notice_of(watch, condition);

    notice.start = watch->state[condition].last;
    notice.end = end;
    probity_notices_post(watch->notices, &notice);
    watch->state[condition].is_met = 1;
}

static void judge_gaps(struct probity_watch *watch)
{
    for (uint64_t set = watch->gaps; set != 0; set &= set - 1) {
        uint32_t condition = (uint32_t)__builtin_ctzll(set);
        const struct probity_watch_state *state = &watch->state[condition];
        probity_watch_gaps_follow(watch, condition, report_gap);
        if (!state->is_met && state->last != 0 &&
            (int64_t)(watch->horizon - state->last) > (int64_t)state->limit)
            report_gap(watch, condition, watch->horizon);
    }
}

static void report_rate(struct probity_watch *watch, uint32_t condition,
                        const struct probity_watch_period *period)
{
    struct probity_notice notice = notice_of(watch, condition);

    notice.start = period->begin;
    notice.end = period->end;
    notice.limit = (uint64_t)watch->conditions[condition].number;
    notice.id = period->hits;
    probity_notices_post(watch->notices, &notice);
}

static void judge(struct probity_watch *watch)
{
    judge_gaps(watch);
    for (uint64_t set = watch->rates; set != 0; set &= set - 1)
        probity_watch_rates_judge(watch, (uint32_t)__builtin_ctzll(set), report_rate);
    for (uint64_t set = watch->values; set != 0; set &= set - 1)
        watch->state[__builtin_ctzll(set)].was_reported = 0;
    if (watch->open != NULL)
        probity_watch_requests_follow(watch->open, watch->horizon);
}

void probity_watch_pass(struct probity_watch *watch, struct probity_pass *pass, int is_last)
{
    const struct probity_live *live = pass->live;
    uint64_t now = probity_clock_ticks(live->clock);
    uint64_t oldest = now - watch->patience;
    uint32_t slots = __atomic_load_n(&live->slots, __ATOMIC_ACQUIRE);

    pass->looked = 0;
    watch->now = now;
    watch->pass_horizon = is_last ? now : now - watch->margin / 2;
    for (uint32_t i = 0; i < slots; i++) {
        if (__atomic_load_n(&live->slot[i].in_use, __ATOMIC_ACQUIRE))
            read_open(watch, pass, &live->slot[i]);
    }
    read_full(watch, pass);
    hold(watch, watch->pass_horizon);
    uint64_t horizon = (int64_t)(watch->pass_horizon - oldest) > 0 ? watch->pass_horizon : oldest;
    if ((int64_t)(horizon - watch->horizon) > 0)
        watch->horizon = horizon;
    judge(watch);
}

uint64_t probity_watch_due(const struct probity_watch *watch)
{
    uint64_t due = UINT64_MAX;

    for (uint64_t set = watch->gaps | watch->rates; set != 0; set &= set - 1) {
        uint32_t condition = (uint32_t)__builtin_ctzll(set);
        const struct probity_watch_state *state = &watch->state[condition];
        int is_gap = watch->conditions[condition].kind == PROBITY_CONDITION_GAP;
        if (state->last == 0 || state->is_met ||
            (!is_gap && !watch->conditions[condition].is_below))
            continue;
        uint64_t end = is_gap ? state->last + state->limit
                              : watch->begin + (state->period + 1) * state->limit;
        due = end + watch->margin < due ? end + watch->margin : due;
    }
    /* While a probe is in progress, the horizon does not advance. */
    if (due != UINT64_MAX && (int64_t)(due - (watch->now + watch->margin)) < 0)
        due = watch->now + watch->margin;
    return due;
}

/* ---- Beginning ---------------------------------------------------------------------------------
 */

static void take_condition(struct probity_watch *watch, uint32_t number, uint64_t rate)
{
    const struct probity_condition *condition = &watch->conditions[number];
    uint64_t bit = UINT64_C(1) << number;

    if (!probity_condition_is_read(condition))
        return;
    watch->state[number].limit = condition->percentile != 0
                                     ? UINT64_MAX
                                     : probity_ticks_of_ns((int64_t)condition->limit_ns, rate);
    if (condition->kind == PROBITY_CONDITION_REQUEST)
        watch->requests |= bit;
    else if (condition->kind == PROBITY_CONDITION_BLOCK)
        watch->blocks |= bit;
    else if (condition->kind == PROBITY_CONDITION_WAIT)
        watch->waits |= bit;
    else if (condition->kind == PROBITY_CONDITION_VALUE)
        watch->values |= bit;
    else if (condition->kind == PROBITY_CONDITION_GAP)
        watch->gaps |= bit;
    else
        watch->rates |= bit;
    if (condition->name.is_number)
        watch->numbered[condition->name.number % PROBITY_WATCH_NUMBERED] |= bit;
    else if (condition->name.name[0] == 0)
        watch->unnamed |= bit;
}

static uint64_t least_of_requests(const struct probity_watch *watch)
{
    uint64_t least = UINT64_MAX;

    for (uint64_t set = watch->requests; set != 0; set &= set - 1) {
        uint32_t condition = (uint32_t)__builtin_ctzll(set);
        uint64_t limit = watch->state[condition].limit;
        /* All requests are counted for a percentile. */
        limit = watch->conditions[condition].percentile != 0 ? 0 : limit;
        least = limit < least ? limit : least;
    }
    return least;
}

static void set_least(struct probity_watch *watch)
{
    if (watch->open != NULL)
        probity_watch_requests_limit(watch->open, least_of_requests(watch));
}

int probity_watch_make_room(struct probity_watch *watch, enum probity_condition_kind kind)
{
    if (kind != PROBITY_CONDITION_REQUEST || watch->open != NULL)
        return 0;
    watch->open = probity_watch_requests_open(UINT64_MAX, report_request, watch);
    return watch->open != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

struct probity_watch *probity_watch_open(const struct probity_condition *conditions, uint32_t count,
                                         uint64_t rate, uint64_t begin,
                                         struct probity_notices *notices)
{
    int result = 0;
    struct probity_watch *watch = mmap(NULL, sizeof *watch, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    probity_assert(count <= PROBITY_CONDITIONS_MAX);
    if (watch == MAP_FAILED)
        return NULL;
    watch->conditions = conditions;
    watch->notices = notices;
    watch->begin = watch->horizon = watch->now = begin;
    watch->patience = probity_ticks_of_ns(PATIENCE_NS, rate);
    watch->margin = 2 * probity_ticks_of_ns(MARGIN_NS, rate);
    for (uint32_t i = 0; i < count && result == 0; i++) {
        take_condition(watch, i, rate);
        result = probity_watch_make_room(watch, conditions[i].kind);
    }
    set_least(watch);
    if (result == 0)
        return watch;
    probity_watch_close(watch);
    return NULL;
}

void probity_watch_close(struct probity_watch *watch)
{
    if (watch->open != NULL)
        probity_watch_requests_close(watch->open);
    munmap(watch, sizeof *watch);
}

void probity_watch_site(struct probity_watch *watch, uint32_t number, uint64_t conditions)
{
    if (number < PROBITY_LIMIT_SITES)
        __atomic_fetch_or(&watch->sites[number], conditions, __ATOMIC_RELAXED);
}

void probity_watch_add(struct probity_watch *watch, uint32_t number, uint64_t rate)
{
    memset(&watch->state[number], 0, sizeof watch->state[number]);
    take_condition(watch, number, rate);
    probity_watch_rates_begin(watch, number);
    set_least(watch);
}

void probity_watch_limit(struct probity_watch *watch, uint32_t number, uint64_t limit)
{
    watch->state[number].limit = limit;
    watch->state[number].is_met = 0;
    set_least(watch);
}
