/* SPDX-License-Identifier: MIT
 *
 * cost.c: measures short windows of probes and scopes, each followed by the same window without
 * them. While signals are blocked, the inline path runs on a private thread state and chunk instead
 * of the calling thread's. Windows are so short that the thread is preempted in few of them; the
 * minimum and the median are reported.
 */
#include "runtime/cost.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/cpu.h"
#include "base/hooked.h"
#include "base/os.h"
#include "base/ticks.h"
#include "probity_scope.h"
#include "runtime/inside.h"
#include "runtime/profile_set.h"
#include "runtime/record.h"
#include "runtime/scope.h"
#include "runtime/thread.h"

enum {
    WINDOWS = 20,
    WINDOWS_OF_START = 4, /* if a long recording measures again at its end */
    WARM_UP = 1, /* an extra window at the beginning, not counted */
    CALLS = 16,
    COUNTED_TIMES = 16, /* factor for calls that record nothing, because they are cheap */
    CALLS_OF_SLOW_CLOCK = 40, /* with fewer, a window would last only a few ticks */
    SLOW_CLOCK_NS = 2,        /* of a tick */
    WORK_ROUNDS = 16,
    CODE = PROBITY_CODE_FIRST + 1,
    LEVEL = -2, /* below any current level, even while scopes are off */
    KIND_ENTER = 7, KIND_MESSAGE = 9
};

/* The code around a measurement is compiled for size. */
#define ONCE __attribute__((cold))

struct trial {
    struct probity_session *session;
    struct probity_thread_state slot;
    uint64_t chunk_bytes, words; /* words: address of the first */
    uint32_t calls, rounds;
    int windows;
    int is_fast; /* probes take the fast path */
    uint64_t work[4];
    struct probity_site_function function, *described;
    struct probity_site_format format;
    struct probity_profile_set *set;
    struct probity_profile_cell cell;
    struct probity_hooked_trial hooked;
    uint64_t counted, *counter[2]; /* of the functions with number 0 and 1 */
    uint64_t with[WINDOWS], without[2][WINDOWS], inner[WINDOWS]; /* without: bare, amid work */
};

/* Words recorded by one call: in total, and by the enter; words 0: counted in a cell. */
struct subject {
    enum probity_cost_kind kind, inner_kind; /* inner_kind 0: no scope */
    void (*call)(struct trial *trial), (*plain)(struct trial *trial);
    uint32_t words, enter_words;
};

/* The caller's state, to be restored. */
struct kept {
    struct probity_os_signals signals;
    struct probity_thread *self;
    struct probity_profile_set *set;
    uint64_t **counters;
    uint32_t depth;
    struct probity_scope_place frame[3];
    int error;
};

/* Keeps several execution units busy, so that the cost of a probe is not entirely hidden by this
 * work. */
static inline __attribute__((__always_inline__)) void work(struct trial *trial)
{
    uint64_t a = trial->work[0], b = trial->work[1], c = trial->work[2], d = trial->work[3];

    for (uint32_t i = 0; i < trial->rounds; i++) {
        a = (a ^ a >> 7) * UINT64_C(0x9e3779b97f4a7c15);
        b = (b ^ b >> 9) * UINT64_C(0xbf58476d1ce4e5b9);
        c += c >> 3 ^ a;
        d ^= d << 5 ^ b;
    }
    trial->work[0] = a;
    trial->work[1] = b;
    trial->work[2] = c;
    trial->work[3] = d;
}

static inline __attribute__((__always_inline__)) void hit(struct trial *trial, uint32_t code)
{
    if (__builtin_expect(trial->is_fast, 1))
        probity_hit(code);
    else
        probity_record_trial(trial->session, &trial->slot, code);
}

/* ---- The code measured, and the same without probes --------------------------------------------
 *
 * Functions like those that programs instrument: not inlined, and called in a loop.
 */

static __attribute__((noinline)) void plain_hit(struct trial *trial)
{
    __asm__ volatile("" : : "r"(trial) : "memory");
}

static __attribute__((noinline)) void call_hit(struct trial *trial)
{
    hit(trial, CODE);
}

static __attribute__((noinline)) void plain_scope(struct trial *trial)
{
    work(trial);
}

/* Does what FN_FUNC does, without a note, since the program has no such function. */
#if PROBITY_SCOPE_NOTED
#define ENTER(scope, function) enter(scope, function)
static inline __attribute__((__always_inline__)) void enter(struct probity_scope_here *scope,
                                                            struct probity_site_function **function)
{
    register struct probity_scope_here *r10 __asm__("r10") = scope;
    register struct probity_site_function **r11 __asm__("r11") = function;
    register uintptr_t rax __asm__("rax") = probity_scope_frame_at();

    __asm__ volatile(PROBITY_HOOK_CALL("probity_scope_enter_hook")
                     : "+r"(rax), "+r"(r10), "+r"(r11), "+m"(*scope)
                     :
                     : "memory", "cc", "r8", "r9", PROBITY_HOOK_VECTORS);
    if (__builtin_expect(rax != 0, 0))
        probity_scope_never();
}
#else
#define ENTER(scope, function)                                                                     \
    probity_scope_enter_frame(scope, function, probity_scope_frame_at(), NULL)
#endif

/* Does what FN_FUNC does, but without a cleanup, which would require libgcc's unwinder; static
 * programs lack it. */
static __attribute__((noinline)) void call_scope(struct trial *trial)
{
    struct probity_scope_here scope;

    probity_scope_off(&scope);
    if (probity_scope_is_on(LEVEL))
        ENTER(&scope, &trial->described);
    work(trial);
    __asm__ volatile("" : "+m"(scope) : : "memory");
    probity_scope_leave(&scope);
}

/* The same if probes do not take the fast path. */
static __attribute__((noinline)) void call_scope_slow(struct trial *trial)
{
    struct probity_scope_here scope;

    probity_record_trial(trial->session, &trial->slot,
                         probity_scope_begin_frame(&scope, &trial->described,
                                                   probity_scope_frame_at(), NULL));
    work(trial);
    probity_scope_free(scope.place);
    probity_record_trial(trial->session, &trial->slot, scope.code + 2);
}

/* Stores four values after the head of an event. */
static inline __attribute__((__always_inline__)) void put_values(struct trial *trial, uint32_t kind,
                                                                 uint32_t code)
{
    const int values[4] = {(int)trial->work[0], (int)trial->work[1], (int)trial->work[2],
                           (int)trial->work[3]};
    struct probity_event_room room;
    uint8_t *at = probity_event_begin(&room, kind, probity_head_bytes(kind) + sizeof values);

    if (__builtin_expect(at == NULL, 0))
        return;
    at = probity_put_head(at, kind, code, trial->format.number, 0);
    for (int i = 0; i < 4; i++)
        at = probity_put_bytes(at, &values[i], sizeof values[i]);
    probity_event_publish(&room);
}

static __attribute__((noinline)) void call_values(struct trial *trial)
{
    struct probity_scope_here scope;
    int result = 0;

    probity_scope_off(&scope);
    if (probity_scope_is_on(LEVEL)) {
        uint32_t code = probity_scope_begin_frame(&scope, &trial->described,
                                                  probity_scope_frame_at(), NULL);
        if (__builtin_expect(code != 0, 1))
            put_values(trial, KIND_ENTER, code);
    }
    probity_scope_returns(&scope, &result, &trial->format, 1, sizeof result, NULL, NULL,
                          PROBITY_AT_VALUE);
    work(trial);
    probity_scope_leave(&scope);
}

static __attribute__((noinline)) void call_message(struct trial *trial)
{
    put_values(trial, KIND_MESSAGE, 0);
}

/* Does what probity_scope_begin() does in profile mode, which is not on yet. */
static __attribute__((noinline)) void call_profiled(struct trial *trial)
{
    uint64_t minus = probity_scope_minus();
    struct probity_scope_here scope;

    uint64_t entered = probity_profile_enter(&trial->function);
    scope.code = (uint32_t)entered;
    scope.depth = (uint32_t)(entered >> 32);
    scope.place = probity_scope_depth;
    scope.is_open = 1;
    probity_scope_take(scope.place, minus, PROBITY_NUMBER(&scope));
    work(trial);
    probity_scope_leave(&scope);
}

/* A function that the compiler has put hooks into. The second argument is where it returns to. */
static __attribute__((noinline)) void call_hooked(struct trial *trial)
{
    void *back = __builtin_return_address(0);

    trial->hooked.enter(trial->hooked.function, back);
    work(trial);
    trial->hooked.leave(trial->hooked.function, back);
    /* So that leave is called, not jumped to: with the stack pointer that enter had. */
    __asm__ volatile("" : : : "memory");
}

/* ---- Windows -----------------------------------------------------------------------------------
 */

static uint64_t ticks(const struct trial *trial)
{
    return probity_clock_ticks(trial->session->live.clock);
}

static __attribute__((noinline)) uint64_t window(struct trial *trial,
                                                 void (*call)(struct trial *trial))
{
    probity_assert(trial->calls > 0);
    trial->slot.hot.cursor = trial->words;
    trial->slot.hot.last_tick = ticks(trial);
    uint64_t first = ticks(trial);
    for (uint32_t i = 0; i < trial->calls; i++) {
        work(trial);
        call(trial);
    }
    return ticks(trial) - first;
}

/* Time between the ticks of enter and leave, from the records of the last window. */
static uint64_t recorded_inside(const struct trial *trial, const struct subject *subject)
{
    const uint64_t mask = (UINT64_C(1) << 40) - 1;
    const uint64_t *word = (const uint64_t *)trial->words;
    uint64_t sum = 0;

    probity_assert(subject->words > subject->enter_words);
    for (uint32_t i = 0; i < trial->calls; i++, word += subject->words)
        sum += ((word[subject->enter_words] >> 24) - (word[0] >> 24)) & mask;
    return sum;
}

static ONCE void measure(struct trial *trial, const struct subject *subject, int context)
{
    probity_assert(trial->windows > 0 && trial->windows <= WINDOWS);
    /* The same code runs in both contexts. */
    for (int i = context == 0 ? -WARM_UP : 0; i < trial->windows; i++) {
        uint64_t total = trial->cell.total;
        uint64_t without = window(trial, subject->plain);
        uint64_t with = window(trial, subject->call);
        if (i < 0)
            continue;
        trial->with[i] = with;
        trial->without[context][i] = without;
        if (subject->inner_kind != 0)
            trial->inner[i] = subject->words != 0 ? recorded_inside(trial, subject)
                                                  : trial->cell.total - total;
    }
}

static ONCE void sort(uint64_t *values, int count)
{
    for (int i = 1; i < count; i++) {
        uint64_t value = values[i];
        int at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

/* Cost of one call in 1/256 ns; negative values, caused by noise, become 0. */
static uint32_t figure(const struct trial *trial, uint64_t window_ticks, uint64_t without)
{
    const uint32_t unit_bits = 24; /* keeps 8 of a rate's 32 bits */
    probity_wide rate = (probity_wide)probity_live_rate(&trial->session->live);

    if (window_ticks <= without)
        return 0;
    uint64_t units = (uint64_t)((probity_wide)(window_ticks - without) * rate >> unit_bits);
    units = (units + trial->calls / 2) / trial->calls;
    return units > UINT32_MAX ? UINT32_MAX : (uint32_t)units;
}

static ONCE struct probity_cost_row *add_row(struct trial *trial, struct probity_cost *cost,
                                             int kind)
{
    struct probity_cost_row *row = &cost->row[cost->rows++];

    probity_assert(cost->rows <= PROBITY_COST_ROWS_MAX);
    row->kind = (uint16_t)kind;
    row->context = trial->rounds != 0 ? PROBITY_COST_AMID_WORK : PROBITY_COST_BARE;
    row->windows = (uint16_t)trial->windows;
    row->calls = (uint16_t)trial->calls;
    return row;
}

/* Half of the time that `work` adds to windows without probes is spent inside the scope. */
static ONCE void add_rows(struct trial *trial, const struct subject *subject,
                          int context, struct probity_cost *cost)
{
    const uint64_t *bare = trial->without[0], *without = trial->without[context];
    int middle = trial->windows / 2;
    probity_assert(middle < WINDOWS);
    struct probity_cost_row *row = add_row(trial, cost, subject->kind);

    row->least = figure(trial, trial->with[0], without[0]);
    row->median = figure(trial, trial->with[middle], without[middle]);
    if (subject->inner_kind == 0)
        return;
    uint64_t least = without[0] > bare[0] ? (without[0] - bare[0]) / 2 : 0;
    uint64_t median =
        without[middle] > bare[middle] ? (without[middle] - bare[middle]) / 2 : 0;
    row = add_row(trial, cost, subject->inner_kind);
    row->least = figure(trial, trial->inner[0], least);
    row->median = figure(trial, trial->inner[middle], median);
}

static ONCE void measure_subject(struct trial *trial, const struct subject *subject,
                            struct probity_cost *cost)
{
    for (int context = 0; context < 2; context++) {
        trial->rounds = (uint32_t)context * WORK_ROUNDS;
        measure(trial, subject, context);
        sort(trial->with, trial->windows);
        sort(trial->without[context], trial->windows);
        sort(trial->inner, trial->windows);
        add_rows(trial, subject, context, cost);
    }
}

/* ---- The calling thread's state and its private substitute --------------------------------------
 */

static ONCE void state_take(struct trial *trial, struct kept *ret_kept)
{
    ret_kept->error = errno;
    probity_inside_begin(&ret_kept->signals);
    ret_kept->self = probity_thread_self;
    ret_kept->set = probity_profile_own;
    ret_kept->counters = probity_scope_counters;
    ret_kept->depth = probity_scope_depth;
    memcpy(ret_kept->frame, probity_scope_frame, sizeof ret_kept->frame);
    /* An outer scope, whose frame is above any of ours. */
    probity_scope_depth = 1;
    probity_scope_frame[1] = (struct probity_scope_place){.minus = 1};
    probity_scope_frame[2] = (struct probity_scope_place){.minus = 0};
    probity_thread_self = trial->is_fast ? &trial->slot.hot : NULL;
    probity_profile_own = trial->set;
    probity_scope_counters = trial->counter;
}

static ONCE void state_give(const struct kept *kept)
{
    probity_thread_self = kept->self;
    probity_profile_own = kept->set;
    probity_scope_counters = kept->counters;
    memcpy(probity_scope_frame, kept->frame, sizeof kept->frame);
    probity_scope_depth = kept->depth;
    probity_inside_end(&kept->signals);
    errno = kept->error;
}

/* A set like that of a thread with one function and its cell. */
static ONCE void set_prepare(struct trial *trial)
{
    struct probity_profile_set *set = trial->set;

    probity_assert(trial->function.number <= PROBITY_LIMIT_SITES);
    set->in_use = 1;
    set->session = trial->session->number;
    set->clock = trial->session->live.clock;
    set->depth_max = PROBITY_PROFILE_DEPTH_MAX;
    set->fast_depth_max = trial->is_fast ? PROBITY_PROFILE_DEPTH_MAX : 0;
    set->slot.hot.gap_ticks = UINT64_MAX;
    set->entry[trial->function.number].cell = &trial->cell;
}

static ONCE void trial_prepare(struct trial *trial, struct probity_session *session, uint64_t space)
{
    uint64_t rate = probity_live_rate(&session->live);

    probity_assert(probity_chunk_words_is_valid(session->live.pool.chunk_words));
    trial->session = session;
    trial->chunk_bytes = (uint64_t)session->live.pool.chunk_words * 8;
    /* The upper half of a window of twice its size (struct probity_thread). */
    trial->words = (space | (2 * trial->chunk_bytes - 1)) + 1 + trial->chunk_bytes;
    probity_assert((trial->words & trial->chunk_bytes) != 0);
    trial->calls = rate >> 32 < SLOW_CLOCK_NS ? CALLS : CALLS_OF_SLOW_CLOCK;
    trial->is_fast = PROBITY_HAS_FAST_PATH && probity_clock_is_inline(session->live.clock);
    trial->function.code = CODE;
    trial->function.number = 1;
    trial->described = &trial->function;
    trial->format.number = 1;
    trial->counter[0] = trial->counter[1] = &trial->counted;
    trial->slot.session = session->number;
    trial->slot.hot.valid_bit = trial->is_fast ? trial->chunk_bytes : 0;
    trial->slot.hot.gap_ticks = UINT64_MAX;
    for (uint64_t i = 0; i < 4; i++)
        trial->work[i] = 0x1234567 + i;
    if (trial->set != NULL)
        set_prepare(trial);
}

/* ---- How early the clock is read ---------------------------------------------------------------
 */

enum { EARLY_WINDOWS = 3, EARLY_CALLS = 2, EARLY_MEDIAN = EARLY_WINDOWS / 2 };

/* Time from before the chain to after it. Everything before the first reading has finished;
 * otherwise the first reading would be as early as the last. */
static __attribute__((noinline)) uint64_t chain_window(enum probity_cpu_chain kind, uint32_t clock)
{
    uint64_t sum = 0;

    for (int i = 0; i < EARLY_CALLS; i++) {
        probity_cpu_counter_ordered();
        uint64_t first = probity_clock_ticks(clock);
        probity_cpu_chain(kind);
        sum += probity_clock_ticks(clock) - first;
    }
    return sum;
}

/* The difference between a chain measured with ordered and with unordered readings. */
static ONCE void measure_early(struct trial *trial, enum probity_cpu_chain kind,
                          struct probity_cost *cost)
{
    uint32_t clock = trial->session->live.clock;
    uint64_t early[EARLY_WINDOWS], ordered[EARLY_WINDOWS];
    uint32_t before = trial->calls;

    chain_window(kind, clock);
    for (int i = 0; i < EARLY_WINDOWS; i++) {
        early[i] = chain_window(kind, clock);
        ordered[i] = chain_window(kind, clock | PROBITY_CLOCK_ORDERED);
    }
    sort(early, EARLY_WINDOWS);
    sort(ordered, EARLY_WINDOWS);
    trial->rounds = 0;
    trial->calls = EARLY_CALLS;
    struct probity_cost_row *row =
        add_row(trial, cost, PROBITY_COST_EARLY_INTEGERS + (int)kind);
    row->windows = EARLY_WINDOWS;
    row->least = figure(trial, ordered[0], early[0]);
    row->median = figure(trial, ordered[EARLY_MEDIAN], early[EARLY_MEDIAN]);
    trial->calls = before;
}

/* For calls that are only counted. */
static ONCE void measure_many(struct trial *trial, const struct subject *subject,
                              struct probity_cost *cost)
{
    trial->calls *= COUNTED_TIMES;
    measure_subject(trial, subject, cost);
    trial->calls /= COUNTED_TIMES;
}

/* As if the function's calls were only counted. */
static ONCE void measure_counted(struct trial *trial, struct probity_cost *cost)
{
    const struct subject counted = {PROBITY_COST_COUNTED, 0, call_scope, plain_scope, 0, 0};

    probity_assert(trial->calls > 0);
    trial->function.code = 0;
    measure_many(trial, &counted, cost);
    trial->function.code = CODE;
}

static ONCE void measure_all(struct trial *trial, struct probity_cost *cost)
{
    /* Not static: pointers in static data need relocations. */
    struct subject recorded[] = {
        {PROBITY_COST_HIT, 0, call_hit, plain_hit, 1, 0},
        {PROBITY_COST_SCOPE, PROBITY_COST_SCOPE_INNER, call_scope, plain_scope, 2, 1},
        {PROBITY_COST_VALUES, PROBITY_COST_VALUES_INNER, call_values, plain_scope, 11, 6},
        {PROBITY_COST_MESSAGE, 0, call_message, plain_hit, 6, 0}};
    const struct subject profiled = {PROBITY_COST_PROFILED, PROBITY_COST_PROFILED_INNER,
                                     call_profiled, plain_scope, 0, 0};
    size_t count = trial->is_fast ? sizeof recorded / sizeof *recorded : 2;
    struct kept kept;

    if (!trial->is_fast)
        recorded[1].call = call_scope_slow;
    state_take(trial, &kept);
    if (trial->set != NULL)
        measure_subject(trial, &profiled, cost);
    for (size_t i = 0; trial->set == NULL && i < count; i++)
        measure_subject(trial, &recorded[i], cost);
    if (trial->session->settings.budget != 0)
        measure_counted(trial, cost);
    for (int kind = 0; trial->is_fast && kind < PROBITY_CPU_CHAINS; kind++)
        measure_early(trial, kind, cost);
    state_give(&kept);
}

/* The hooks put their calls on the stack of scopes, too. */
static ONCE void measure_hooked(struct trial *trial, struct probity_cost *cost)
{
    const struct subject subject = {PROBITY_COST_HOOKED, PROBITY_COST_HOOKED_INNER,
                                    call_hooked, plain_scope, 2, 1};
    const struct subject counted = {PROBITY_COST_HOOKED_COUNTED, 0, call_hooked, plain_scope,
                                    0, 0};
    struct kept kept;

    if (!trial->is_fast || trial->set != NULL || probity_hooked_price_begin == NULL)
        return;
    state_take(trial, &kept);
    if (probity_hooked_price_begin(&trial->hooked, CODE) == 0) {
        measure_subject(trial, &subject, cost);
        probity_hooked_price_end(&trial->hooked);
    }
    if (trial->session->settings.budget != 0 &&
        probity_hooked_price_begin(&trial->hooked, 0) == 0) {
        measure_many(trial, &counted, cost);
        probity_hooked_price_end(&trial->hooked);
    }
    state_give(&kept);
}

ONCE void probity_cost_measure(struct probity_session *session, enum probity_cost_moment moment,
                          struct probity_cost *ret_cost)
{
    uint64_t first = probity_clock_ticks(session->live.clock);
    uint64_t rate = probity_live_rate(&session->live);
    size_t own_bytes = (sizeof(struct trial) + 63) & ~(size_t)63;
    size_t set_bytes = session->settings.profile ? sizeof(struct probity_profile_set) : 0;
    size_t bytes = own_bytes + set_bytes + (size_t)session->live.pool.chunk_words * 8 * 4;
    /* A set must be zero at first. */
    int is_mapped = set_bytes != 0 || bytes > PROBITY_SESSION_WORK_BYTES, before = errno;

    memset(ret_cost, 0, sizeof *ret_cost);
    ret_cost->moment = moment;
    char *at = is_mapped ? mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                         : session->work;
    if (rate != 0 && at != MAP_FAILED) {
        struct trial *trial = (struct trial *)at;
        memset(trial, 0, sizeof *trial);
        if (set_bytes != 0)
            trial->set = (struct probity_profile_set *)(at + own_bytes);
        trial->windows = moment == PROBITY_COST_START &&
                                 session->settings.cost == PROBITY_SETTINGS_COST_LONG
                             ? WINDOWS_OF_START
                             : WINDOWS;
        trial_prepare(trial, session, (uint64_t)(at + own_bytes + set_bytes));
        measure_all(trial, ret_cost);
        measure_hooked(trial, ret_cost);
        uint64_t took = probity_clock_ticks(session->live.clock) - first;
        ret_cost->took_ns = (uint32_t)probity_ns_of_ticks(took, rate);
    }
    if (is_mapped && at != MAP_FAILED)
        munmap(at, bytes);
    errno = before;
}

void probity_cost_begin(struct probity_session *session, int is_child,
                        struct probity_cost *ret_cost)
{
    static struct probity_cost of_parent; /* survives a fork */

    memset(ret_cost, 0, sizeof *ret_cost);
    if (!session->settings.cost)
        return;
    if (is_child && of_parent.rows > 0) {
        *ret_cost = of_parent;
        ret_cost->moment = PROBITY_COST_PARENT;
        ret_cost->took_ns = 0;
        return;
    }
    probity_cost_measure(session, PROBITY_COST_START, ret_cost);
    of_parent = *ret_cost;
}
