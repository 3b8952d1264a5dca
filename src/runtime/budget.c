/* SPDX-License-Identifier: MIT
 *
 * budget.c: decides which functions, and which calls to libc, are only counted. Runs in the writer
 * thread, for which the program does not wait; the program's threads only read the state of a
 * function.
 *
 *     cost  = records × cost of one + readings of the CPU clock × cost of one
 *           + counted calls × cost of one + CPU time of this thread for records
 *           + cost of calls to libc, measured by libprobity-calls
 *     share = cost / (CPU time of the process - cost)
 */
#include "runtime/budget.h"

#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/called.h"
#include "base/hooked.h"
#include "base/ticks.h"
#include "format/stream.h"
#include "runtime/levels.h"
#include "runtime/profile_set.h"
#include "runtime/scope.h"
#include "runtime/session_mapping.h"
#include "runtime/watch.h"
#include "writer/pass.h"
#include "writer/tally.h"
#include "writer/watch.h"

enum {
    SITES_FIRST = 1024,         /* of the first interval */
    CPU_NS_MIN = 1000000,       /* of the process: a shorter interval is joined with the next one */
    CREDIT_NS_MAX = 1000000000, /* budget not used within this time may be used later */
    COST_NS_DEFAULT = 40,       /* of a scope, if it could not be measured */
    COUNT_NS_DEFAULT = 4,
    READING_FACTOR = 2, /* reading the CPU clock costs more than in the measurement */
    PACK_NS_MAX = 80, /* of a record, in this thread, on a slow machine */
    MARGIN_PERCENT = 115,
    WORTH_PART = 50, /* of the budget: functions that cost less stay recorded */
    TARGET_PERCENT = 70 /* of the budget: the target once it is exceeded */
};

uint16_t probity_budget_state[PROBITY_LIMIT_SITES + 1];

/* All functions and sites have lower numbers. Usually far below the limit, so searches end here. */
static uint32_t site_end;
static uint32_t number_count, list_lock;

/* Cost of each, in ns or, if the name says so, in 1/256 ns. */
static struct {
    uint64_t record_256, hooked_256, count_256, hooked_count_256, call_256, reading_ns;
} price;

/* For the interval being evaluated. */
struct interval {
    uint64_t ns, cpu_ns, writer_ns; /* CPU time of the process, of this thread */
    uint64_t records, cost_ns;
    uint64_t shared_ns;  /* part of the cost: this thread's, and readings of the CPU clock */
    uint64_t fixed_ns;   /* the rest of this thread's time, spent without records, too */
    uint64_t program_ns; /* without the cost */
};

static struct {
    struct probity_tally tally;
    uint64_t tick, cpu_ns, writer_ns; /* at the end of the last interval */
    int64_t credit_ns;
    uint64_t cost_ns, program_ns; /* since the recording began, or the budget was changed */
    int is_slow, is_settling; /* functions were marked at this call; at the last one */
    int has_new; /* sites were first hit since the last call: their records are among the others */
    int is_exceeded;
} budget;

/* Apart from the variables above, which the start of each recording touches. */
static uint32_t hits[PROBITY_LIMIT_SITES], numbers[PROBITY_LIMIT_SITES];
/* For each of these numbers: calls counted since the recording began, and in the interval. */
static uint64_t counts[PROBITY_LIMIT_SITES], latest_counts[PROBITY_LIMIT_SITES];

/* ---- Functions ---------------------------------------------------------------------------------
 */

/* Descriptors that stay in memory, of functions without a note (describe.c), by half of the site
 * number. */
static struct probity_site_function *lasting[PROBITY_LIMIT_SITES / 2 + 1];

static int is_of_libc(const char *file)
{
    return file != NULL && strncmp(file, "libc/", 5) == 0;
}

void probity_budget_declared(struct probity_site_function *function)
{
    uint32_t number = __atomic_load_n(&function->number, __ATOMIC_RELAXED);
    uint16_t state = PROBITY_BUDGET_FUNCTION;

    probity_assert(number > 0 && number <= PROBITY_LIMIT_SITES);
    if (function->flags & PROBITY_FUNCTION_DEFERRED)
        return; /* recorded by its checkpoints */
    if (function->flags & PROBITY_FUNCTION_ADDRESSED)
        state |= PROBITY_BUDGET_ADDRESSED;
    if (function->flags & PROBITY_FUNCTION_ENTRIES)
        state |= PROBITY_BUDGET_ENTRIES;
    if (is_of_libc(function->file))
        state |= PROBITY_BUDGET_CALL;
    if (state & (PROBITY_BUDGET_ADDRESSED | PROBITY_BUDGET_CALL))
        __atomic_store_n(&lasting[(number - 1) / 2], function, __ATOMIC_RELEASE);
    __atomic_fetch_or(&probity_budget_state[number], state, __ATOMIC_RELAXED);
    /* Under declare_lock. The leave's site is the next one. */
    if (number + 1 > site_end)
        __atomic_store_n(&site_end, number + 1, __ATOMIC_RELEASE);
}

void probity_budget_declared_site(const struct probity_site *site, uint32_t number)
{
    probity_assert(number < PROBITY_LIMIT_SITES);
    if (is_of_libc(site->file))
        __atomic_fetch_or(&probity_budget_state[number + 1], PROBITY_BUDGET_HITS,
                          __ATOMIC_RELAXED);
    if (number + 1 > site_end)
        __atomic_store_n(&site_end, number + 1, __ATOMIC_RELEASE);
}

static uint32_t listed(void)
{
    return __atomic_load_n(&number_count, __ATOMIC_ACQUIRE);
}

const uint32_t *probity_budget_numbers(uint32_t *ret_count)
{
    *ret_count = listed();
    return numbers;
}

static int is_call(uint32_t site)
{
    probity_assert(site < PROBITY_LIMIT_SITES);
    return (__atomic_load_n(&probity_budget_state[site + 1], __ATOMIC_RELAXED) &
            PROBITY_BUDGET_CALL) != 0;
}

/* Whether the site is that of a function or of hits that may still be counted instead of
 * recorded. */
static int is_candidate(uint32_t site)
{
    uint32_t state = __atomic_load_n(&probity_budget_state[site + 1], __ATOMIC_RELAXED);

    probity_assert(site < PROBITY_LIMIT_SITES);
    return (state & (PROBITY_BUDGET_FUNCTION | PROBITY_BUDGET_HITS)) &&
           !(state & PROBITY_BUDGET_COUNTED);
}

static int is_of_hits(uint32_t site)
{
    return (__atomic_load_n(&probity_budget_state[site + 1], __ATOMIC_RELAXED) &
            PROBITY_BUDGET_HITS) != 0;
}

static int is_hooked(uint32_t site)
{
    probity_assert(site < PROBITY_LIMIT_SITES);
    return (__atomic_load_n(&probity_budget_state[site + 1], __ATOMIC_RELAXED) &
            PROBITY_BUDGET_ADDRESSED) != 0;
}

/* One function's enters and leaves in the interval, or a site's hits. */
static uint64_t records_of(uint32_t site)
{
    if (is_of_hits(site))
        return hits[site];
    return (uint64_t)hits[site] + (site + 1 < budget.tally.sites ? hits[site + 1] : 0);
}

static uint64_t calls_of(uint32_t site)
{
    if (is_of_hits(site))
        return hits[site] / PROBITY_TALLY_EVENT_HITS;
    return records_of(site) / (probity_budget_state[site + 1] & PROBITY_BUDGET_ENTRIES ? 1 : 2);
}

/* ---- Prices ------------------------------------------------------------------------------------
 */

/* In 1/256 ns; 0: not measured. In a program, other work hides most of the cost of an addition. It
 * hides less of the cost of a record than in the measuring loop, because the caches also hold other
 * data. */
static uint64_t measured(const struct probity_cost *cost, enum probity_cost_kind kind)
{
    uint64_t most = 0, least = UINT64_MAX;

    for (uint32_t i = 0; i < cost->rows; i++) {
        const struct probity_cost_row *row = &cost->row[i];
        if (row->kind != kind)
            continue;
        most = row->median > most ? row->median : most;
        least = row->least < least ? row->least : least;
    }
    if (kind == PROBITY_COST_COUNTED || kind == PROBITY_COST_HOOKED_COUNTED)
        return least != UINT64_MAX ? least : 0;
    return most * MARGIN_PERCENT / 100;
}

static void find_prices(const struct probity_session *session)
{
    const struct probity_cost *cost = &session->cost;
    uint64_t scope = measured(cost, PROBITY_COST_SCOPE);
    uint64_t hooked = measured(cost, PROBITY_COST_HOOKED);
    uint64_t counted = measured(cost, PROBITY_COST_COUNTED);
    uint64_t hooked_counted = measured(cost, PROBITY_COST_HOOKED_COUNTED);

    price.record_256 = (scope != 0 ? scope : COST_NS_DEFAULT * PROBITY_COST_UNITS) / 2;
    price.call_256 = price.record_256;
    price.hooked_256 = hooked != 0 ? hooked / 2 : price.record_256;
    price.count_256 = counted != 0 ? counted : COUNT_NS_DEFAULT * PROBITY_COST_UNITS;
    probity_assert(price.record_256 > 0 && price.hooked_256 > 0);
    price.hooked_count_256 = hooked_counted != 0 ? hooked_counted : price.count_256;
    price.reading_ns = READING_FACTOR *
        probity_ns_of_ticks(session->cpu_cost_ticks, probity_live_rate(&session->live));
}

/* Starts counting: finds the costs, and reads the CPU time to compare with. */
static void begin_counting(struct probity_session *session)
{
    uint32_t known = __atomic_load_n(&site_end, __ATOMIC_ACQUIRE);

    memset(hits, 0, sizeof hits);
    find_prices(session);
    /* The first functions are declared before the first interval ends. */
    budget.tally = (struct probity_tally){
        .hits = hits, .sites = known > SITES_FIRST ? known : SITES_FIRST};
    budget.cpu_ns = probity_clock_read(session->live.clock, CLOCK_PROCESS_CPUTIME_ID);
    budget.tick = probity_clock_ticks(session->live.clock);
    session->writer.judge_cost = probity_budget_look;
    session->writer.tally = &budget.tally;
}

void probity_budget_begin(struct probity_session *session)
{
    const uint16_t of_recording =
        PROBITY_BUDGET_COUNTED | PROBITY_BUDGET_REMOVED | PROBITY_BUDGET_FIXED |
        PROBITY_BUDGET_TRIED | PROBITY_BUDGET_LISTED | PROBITY_BUDGET_OFF |
        PROBITY_BUDGET_CHANGED;

    /* Clears the states of the last recording, or those inherited from a forking parent. */
    for (uint32_t number = 0; number <= site_end; number++) {
        if (probity_budget_state[number] & of_recording) /* avoids touching unused pages */
            probity_budget_state[number] &= (uint16_t)~of_recording;
    }
    if (probity_calls_count_hits != NULL)
        probity_calls_count_hits(PROBITY_CALLS_ALL_SITES);
    if (number_count > 0 && probity_hooked_restore != NULL)
        probity_hooked_restore();
    number_count = list_lock = 0;
    probity_levels_set_slow(0);
    memset(&budget, 0, sizeof budget);
    if (session->settings.budget != 0)
        begin_counting(session);
}

/* ---- The interval ------------------------------------------------------------------------------
 */

static uint64_t count_price_256(uint32_t site)
{
    return is_hooked(site) ? price.hooked_count_256 : price.count_256;
}

/* In all threads, since the recording began; also at its end, when no thread has counters. */
static uint64_t count_of(const struct probity_session *session, uint32_t number)
{
    const struct probity_profile_set *set = session->profile.first;
    uint64_t sum = 0;

    for (; set != NULL; set = set->next) {
        const struct probity_profile_cell *cell =
            __atomic_load_n(&set->entry[number].cell, __ATOMIC_RELAXED);
        if (set->session == session->number && cell != NULL)
            sum += __atomic_load_n(&cell->untimed, __ATOMIC_RELAXED);
    }
    return sum;
}

/* The cost of counting in the interval. */
static uint64_t counting_ns(struct probity_session *session)
{
    uint64_t sum_256 = 0;

    if (listed() == 0)
        return 0;
    probity_os_lock(&session->profile.lock);
    for (uint32_t i = 0; i < listed(); i++) {
        uint64_t count = count_of(session, numbers[i]);
        latest_counts[i] = count > counts[i] ? count - counts[i] : 0;
        counts[i] += latest_counts[i];
        sum_256 += latest_counts[i] * count_price_256(numbers[i] - 1);
    }
    probity_os_unlock(&session->profile.lock);
    return sum_256 / PROBITY_COST_UNITS;
}

/* Of a record of a function, in 1/256 ns. */
static uint64_t record_price_256(uint32_t site)
{
    if (__atomic_load_n(&probity_budget_state[site + 1], __ATOMIC_RELAXED) &
        (PROBITY_BUDGET_CALL | PROBITY_BUDGET_HITS))
        return price.call_256;
    return is_hooked(site) ? price.hooked_256 : price.record_256;
}

/* Of calls to libc that were only counted in the interval. Updates the price of the others, which
 * includes their readings of the CPU clock. */
static uint64_t counted_calls_ns(const struct probity_session *session)
{
    uint64_t event_256 = 0, ns = 0;

    if (probity_calls_cost != NULL)
        ns = probity_calls_cost(probity_live_rate(&session->live), &event_256);
    if (event_256 != 0) {
        price.call_256 = event_256 / PROBITY_TALLY_EVENT_HITS;
        price.reading_ns = 0;
    }
    return ns;
}

/* Adds up the records of all sites, and their cost. */
static uint64_t recording_ns(uint64_t *ret_records)
{
    uint64_t records = budget.tally.others, sum_256 = records * price.record_256;

    for (uint32_t site = 0; site < budget.tally.sites; site++) {
        if (hits[site] == 0)
            continue;
        int is_leave = site > 0 && (is_hooked(site - 1) || is_call(site - 1));
        records += hits[site];
        sum_256 += hits[site] * record_price_256(is_leave ? site - 1 : site);
    }
    *ret_records = records;
    return sum_256 / PROBITY_COST_UNITS;
}

/* Returns 0 if it is too short to be evaluated. */
static int measure(struct probity_session *session, int is_last, struct interval *ret_interval)
{
    uint32_t clock = session->live.clock;
    uint64_t cpu_ns = probity_clock_read(clock, CLOCK_PROCESS_CPUTIME_ID);
    uint64_t tick = probity_clock_ticks(clock);

    if (cpu_ns - budget.cpu_ns < CPU_NS_MIN && !is_last)
        return 0;
    /* At the end, this may be another thread. */
    uint64_t writer_ns = is_last ? budget.writer_ns
                                 : probity_clock_read(clock, CLOCK_THREAD_CPUTIME_ID);
    struct interval interval = {
        .ns = probity_ns_of_ticks(tick - budget.tick, probity_live_rate(&session->live)),
        .cpu_ns = cpu_ns - budget.cpu_ns,
        .writer_ns = writer_ns - budget.writer_ns};
    interval.cost_ns = counted_calls_ns(session) + counting_ns(session);
    interval.cost_ns += recording_ns(&interval.records);
    uint64_t packing_ns = interval.records * PACK_NS_MAX;
    if (packing_ns > interval.writer_ns)
        packing_ns = interval.writer_ns;
    interval.fixed_ns = interval.writer_ns - packing_ns;
    interval.shared_ns = packing_ns + budget.tally.readings * price.reading_ns;
    interval.cost_ns += interval.shared_ns;
    uint64_t least = interval.cpu_ns / 8 + 1;
    interval.program_ns = interval.cpu_ns > interval.cost_ns + least
                              ? interval.cpu_ns - interval.cost_ns
                              : least;
    budget.tick = tick;
    budget.cpu_ns = cpu_ns;
    budget.writer_ns = writer_ns;
    probity_assert(interval.program_ns > 0 && interval.fixed_ns <= interval.writer_ns);
    *ret_interval = interval;
    return 1;
}

static uint32_t share_of(uint64_t cost_ns, uint64_t program_ns)
{
    uint64_t share = program_ns != 0 ? (uint64_t)((probity_wide)cost_ns * PROBITY_BUDGET_UNITS /
                                                  program_ns)
                                     : 0;

    return share < UINT32_MAX ? (uint32_t)share : UINT32_MAX;
}

/* ---- Decisions ---------------------------------------------------------------------------------
 */

static int write_event(struct probity_session *session, struct probity_pass *pass,
                       struct probity_budget_event event)
{
    uint8_t payload[PROBITY_BUDGET_EVENT_BYTES];

    probity_assert(event.what != 0);
    event.budget = session->settings.budget;
    probity_budget_event_put(payload, &event);
    return probity_pass_event(pass, probity_clock_ticks(session->live.clock), PROBITY_EVENT_BUDGET,
                              payload, sizeof payload, session->writer.thread_numbers);
}

/* The time saved by counting the function: its records, and their part of the shared cost. */
static int64_t saving_of(const struct interval *interval, uint32_t site)
{
    uint64_t records = records_of(site);
    uint64_t record_256 = record_price_256(site);
    uint64_t part_ns = interval->records != 0
                           ? (uint64_t)((probity_wide)interval->shared_ns * records /
                                        interval->records)
                           : 0;

    return (int64_t)(records * record_256 / PROBITY_COST_UNITS + part_ns) -
           (int64_t)(calls_of(site) * count_price_256(site) / PROBITY_COST_UNITS);
}

/* A short first interval has a few calls that open and close descriptors. Names depend on these,
 * and counting so few would save nothing. */
static int is_frequent(uint32_t site)
{
    enum { CALLS_LEAST = 16 };

    return hits[site] != 0 && (!is_call(site) || calls_of(site) >= CALLS_LEAST);
}

/* Gaps and rates would take calls that are not recorded for no calls at all, and durations are
 * compared only for calls that are recorded. */
static int is_named_by_condition(const struct probity_session *session, uint32_t site)
{
    const struct probity_watch *watch = session->dumps.watch;

    return (!is_of_hits(site) && probity_trigger_of(site) != 0) ||
           (watch != NULL && probity_watch_names(watch, site));
}

/* The function with the most calls; PROBITY_LIMIT_SITES if no function is left that is worth
 * counting. */
static uint32_t find_most(const struct probity_session *session, const struct interval *interval,
                          uint64_t allowed_ns)
{
    uint32_t most = PROBITY_LIMIT_SITES;

    for (uint32_t site = 0; site < budget.tally.sites; site++) {
        if (is_frequent(site) && is_candidate(site) && !is_named_by_condition(session, site) &&
            (most == PROBITY_LIMIT_SITES || records_of(site) > records_of(most)))
            most = site;
    }
    return most < PROBITY_LIMIT_SITES &&
                   saving_of(interval, most) > (int64_t)(allowed_ns / WORTH_PART)
               ? most
               : PROBITY_LIMIT_SITES;
}

/* Signals are blocked, so that the lock is never held for long. A function that was counted before
 * is in the list already. */
void probity_budget_mark(uint32_t site)
{
    const uint16_t marks = PROBITY_BUDGET_COUNTED | PROBITY_BUDGET_LISTED;

    if (!is_candidate(site) || is_of_hits(site))
        return;
    probity_os_lock(&list_lock);
    if (!(__atomic_fetch_or(&probity_budget_state[site + 1], marks, __ATOMIC_SEQ_CST) &
          PROBITY_BUDGET_LISTED)) {
        probity_assert(number_count < PROBITY_LIMIT_SITES);
        numbers[number_count] = site + 1;
        counts[number_count] = latest_counts[number_count] = 0;
        __atomic_store_n(&number_count, number_count + 1, __ATOMIC_RELEASE);
    }
    probity_os_unlock(&list_lock);
}

void probity_budget_clear_code(struct probity_site_function *function)
{
    uint32_t number = __atomic_load_n(&function->number, __ATOMIC_RELAXED);

    if (number != 0 && (probity_budget_counts(function) || probity_trigger_of(number - 1) != 0))
        __atomic_store_n(&function->code, 0, __ATOMIC_RELAXED);
}

void probity_budget_clear_codes(void)
{
    uint32_t end = __atomic_load_n(&site_end, __ATOMIC_ACQUIRE);

    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* pairs with enter_first() */
    probity_scope_clear_codes();
    for (uint32_t i = 0; i <= end / 2; i++) {
        struct probity_site_function *function = __atomic_load_n(&lasting[i], __ATOMIC_ACQUIRE);
        if (function != NULL)
            probity_budget_clear_code(function);
    }
}

static uint64_t calls_per_second(const struct interval *interval, uint64_t calls)
{
    return interval->ns != 0 ? (uint64_t)((probity_wide)calls * 1000000000 / interval->ns) : 0;
}

/* Makes libprobity-calls count these calls instead of recording hits. The event comes after the
 * last hit. */
static int demote_hits(struct probity_session *session, struct probity_pass *pass,
                       const struct interval *interval, uint32_t site, int64_t *excess_ns)
{
    struct probity_budget_event event = {
        .what = PROBITY_BUDGET_WHAT_HITS, .site = site,
        .cost = share_of(interval->cost_ns, interval->program_ns),
        .calls = calls_per_second(interval, calls_of(site))};
    int is_counted = probity_calls_count_hits != NULL ? probity_calls_count_hits(site) : 0;

    __atomic_fetch_or(&probity_budget_state[site + 1], PROBITY_BUDGET_COUNTED, __ATOMIC_RELAXED);
    if (is_counted)
        *excess_ns -= saving_of(interval, site);
    if (is_counted)
        budget.is_slow = 1;
    return is_counted == 1 ? write_event(session, pass, event) : 0;
}

/* Switches the most frequent functions to counting until the rest is within the target. Returns 0
 * or PROBITY_ERROR_WRITE, as does the next function. */
static int demote(struct probity_session *session, struct probity_pass *pass,
                  const struct interval *interval, uint64_t allowed_ns, int64_t *excess_ns)
{
    uint32_t share = share_of(interval->cost_ns, interval->program_ns);
    int result = 0;

    probity_assert(*excess_ns > 0);
    while (result == 0 && *excess_ns > 0) {
        uint32_t site = find_most(session, interval, allowed_ns);
        if (site == PROBITY_LIMIT_SITES)
            break;
        if (is_of_hits(site)) {
            result = demote_hits(session, pass, interval, site, excess_ns);
            continue;
        }
        struct probity_budget_event event = {
            .what = PROBITY_BUDGET_WHAT_COUNTED, .site = site, .cost = share,
            .calls = calls_per_second(interval, calls_of(site))};
        *excess_ns -= saving_of(interval, site);
        probity_budget_mark(site);
        if (numbers[listed() - 1] == site + 1)
            latest_counts[listed() - 1] = calls_of(site);
        result = write_event(session, pass, event);
        budget.is_slow = 1;
    }
    return result;
}

/* ns of counting in the interval. */
static uint64_t count_ns(uint32_t index)
{
    return latest_counts[index] * count_price_256(numbers[index] - 1) / PROBITY_COST_UNITS;
}

/* Index of the function with hooks that costs most to count; PROBITY_LIMIT_SITES if none is worth
 * it. */
static uint32_t find_dearest(uint64_t allowed_ns)
{
    uint32_t count = listed(), dearest = count;

    for (uint32_t i = 0; i < count; i++) {
        if (is_hooked(numbers[i] - 1) &&
            !(probity_budget_state[numbers[i]] & PROBITY_BUDGET_FIXED) &&
            (dearest == count || count_ns(i) > count_ns(dearest)))
            dearest = i;
    }
    return dearest < count && count_ns(dearest) > allowed_ns / WORTH_PART ? dearest
                                                                          : PROBITY_LIMIT_SITES;
}

/* Removes the hooks of counted functions until the rest is within the target. */
static int remove_hooks(struct probity_session *session, struct probity_pass *pass,
                        const struct interval *interval, uint64_t allowed_ns, int64_t *excess_ns)
{
    uint32_t share = share_of(interval->cost_ns, interval->program_ns);
    int result = 0;

    while (result == 0 && *excess_ns > 0) {
        uint32_t index = find_dearest(allowed_ns);
        if (index == PROBITY_LIMIT_SITES)
            break;
        uint16_t *state = &probity_budget_state[numbers[index]];
        if (probity_hooked_remove == NULL || !probity_hooked_remove(numbers[index])) {
            *state |= *state & PROBITY_BUDGET_TRIED ? PROBITY_BUDGET_FIXED : PROBITY_BUDGET_TRIED;
            latest_counts[index] = 0;
            continue;
        }
        struct probity_budget_event event = {
            .what = PROBITY_BUDGET_WHAT_REMOVED, .site = numbers[index] - 1, .cost = share,
            .calls = calls_per_second(interval, latest_counts[index])};
        *excess_ns -= (int64_t)count_ns(index);
        latest_counts[index] = 0;
        if (!(*state & PROBITY_BUDGET_REMOVED))
            result = write_event(session, pass, event);
        *state |= PROBITY_BUDGET_REMOVED;
        budget.is_slow = 1;
    }
    return result;
}

/* Whether a function to be counted is still recorded. Calls to libc that wait are recorded
 * nevertheless: a thread can make only a few of them. */
static int is_still_recorded(const struct interval *interval, uint32_t index)
{
    enum { WAIT_NS = 50000 }; /* as in src/calls/scopes.c */
    uint32_t number = numbers[index];

    if (number > budget.tally.sites || hits[number - 1] == 0)
        return 0;
    return !(probity_budget_state[number] & PROBITY_BUDGET_CALL) ||
           (latest_counts[index] == 0 && calls_of(number - 1) > interval->ns / WAIT_NS);
}

/* If a thread still records a function that is to be counted, it has not called it since the
 * notification, or the function's library was loaded again. */
static void ask_to_look(const struct interval *interval)
{
    int is_slow = budget.is_slow;

    for (uint32_t i = 0, count = listed(); !is_slow && i < count; i++)
        is_slow = __atomic_load_n(&probity_budget_state[numbers[i]], __ATOMIC_RELAXED) &
                      PROBITY_BUDGET_COUNTED &&
                  is_still_recorded(interval, i);
    probity_levels_set_slow(is_slow);
    budget.is_settling = budget.is_slow;
    budget.is_slow = 0;
}

void probity_budget_share_readings(struct probity_session *session)
{
    uint32_t share = session->settings.cpu_budget_permille * 65536 / 1000;
    uint32_t most = (session->settings.budget + 60) / 61; /* a quarter, from millionths to 2^-16 */

    /* Other threads may read it at the same time. */
    __atomic_store_n(&session->budget, most != 0 && most < share ? most : share, __ATOMIC_RELAXED);
}

/* Nothing is decided in the first interval, which also has records from before it. */
static void begin_late(struct probity_session *session)
{
    probity_assert(session->writer.pass != NULL);
    begin_counting(session);
    budget.writer_ns = probity_clock_read(session->live.clock, CLOCK_THREAD_CPUTIME_ID);
    counted_calls_ns(session); /* those made so far are not part of the interval */
    counting_ns(session);
    session->writer.pass->tally = &budget.tally;
    budget.is_settling = 1;
}

void probity_budget_change(struct probity_session *session, uint32_t share)
{
    probity_assert(share != 0);
    if (session->settings.budget == 0)
        begin_late(session);
    __atomic_store_n(&session->settings.budget, share, __ATOMIC_RELAXED);
    probity_budget_share_readings(session);
    budget.credit_ns = 0;
    budget.cost_ns = budget.program_ns = 0;
    budget.is_exceeded = 0;
}

static int judge(struct probity_session *session, struct probity_pass *pass,
                 const struct interval *interval)
{
    uint64_t share = session->settings.budget;
    uint64_t allowed_ns = (uint64_t)((probity_wide)interval->program_ns * share /
                                     PROBITY_BUDGET_UNITS);
    int64_t credit_max = (int64_t)(CREDIT_NS_MAX / PROBITY_BUDGET_UNITS * share);

    probity_assert(share > 0);
    budget.credit_ns += (int64_t)allowed_ns - (int64_t)interval->cost_ns;
    if (budget.credit_ns > credit_max)
        budget.credit_ns = credit_max;
    if (budget.credit_ns >= 0 || interval->cost_ns <= allowed_ns)
        return 0;
    int64_t excess_ns = (int64_t)(interval->cost_ns - allowed_ns * TARGET_PERCENT / 100);
    int result = demote(session, pass, interval, allowed_ns, &excess_ns);
    if (result == 0)
        result = remove_hooks(session, pass, interval, allowed_ns, &excess_ns);
    if ((result | budget.is_slow | budget.is_exceeded | budget.has_new) != 0 ||
        find_most(session, interval, allowed_ns) != PROBITY_LIMIT_SITES)
        return result;
    budget.is_exceeded = 1;
    return write_event(session, pass, (struct probity_budget_event){
                           .what = PROBITY_BUDGET_WHAT_EXCEEDED, .site = UINT32_MAX,
                           .cost = share_of(interval->cost_ns, interval->program_ns)});
}

int probity_budget_look(void *owner, struct probity_pass *pass, int is_last)
{
    struct probity_session *session = owner;
    struct interval interval;
    int result = 0;

    if (!measure(session, is_last, &interval))
        return 0;
    budget.cost_ns += interval.cost_ns + interval.fixed_ns;
    budget.program_ns += interval.program_ns;
    budget.has_new = __atomic_load_n(&site_end, __ATOMIC_ACQUIRE) > budget.tally.sites;
    /* Records made before a decision arrive after it. */
    if (!is_last && !budget.is_settling)
        result = judge(session, pass, &interval);
    if (!is_last)
        ask_to_look(&interval);
    session->writer.judge_soon = budget.is_settling | budget.has_new;
    probity_assert(budget.tally.sites <= PROBITY_LIMIT_SITES);
    memset(hits, 0, budget.tally.sites * sizeof *hits);
    budget.tally.others = budget.tally.readings = 0;
    uint32_t known = __atomic_load_n(&site_end, __ATOMIC_ACQUIRE);
    budget.tally.sites = known < PROBITY_LIMIT_SITES ? known : PROBITY_LIMIT_SITES;
    if (is_last && result == 0)
        result = write_event(session, pass, (struct probity_budget_event){
                                 .what = PROBITY_BUDGET_WHAT_TOTAL, .site = UINT32_MAX,
                                 .cost = share_of(budget.cost_ns, budget.program_ns)});
    return result;
}
