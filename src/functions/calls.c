/* SPDX-License-Identifier: MIT
 *
 * calls.c: see calls.h. An open call whose frame is below that of a new one was abandoned; so was
 * one above it whose return address has changed. If both have the same frame, the older one is
 * still open only if both are in one physical function, that is, if one was inlined into the other.
 */
#include "functions/calls.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "base/functions.h"
#include "base/hooked.h"
#include "base/os.h"
#include "base/pairs.h"
#include "functions/arena.h"
#include "functions/arguments.h"
#include "functions/call_stack.h"
#include "functions/functions.h"

enum { ENTERING = PROBITY_CALL_ENTERING, CALLS_MAX = PROBITY_CALLS_MAX,
       CALLS_MORE = PROBITY_CALLS_MORE };

__thread struct probity_calls probity_calls __attribute__((tls_model("initial-exec")));
static pthread_key_t end_key;
static int has_end_key;

static uint32_t raised(void)
{
    void *globals = probity_scope_exceptions;

    if (__cxa_get_globals == NULL)
        return 0;
    if (__builtin_expect(globals == NULL, 0))
        globals = probity_scope_exceptions = __cxa_get_globals();
    return ((const uint32_t *)globals)[sizeof(void *) / sizeof(uint32_t)];
}

/* ---- The stack ---------------------------------------------------------------------------------
 */

/* Other destructors may still call functions, so this one waits for the last round of destructors.
 * Later calls are not paired. */
static void end_thread(void *unused)
{
    struct probity_call *call = probity_calls.call;

    (void)unused;
    if (++probity_calls.destructor_runs < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(end_key, call);
        return;
    }
    probity_calls.call = NULL;
    probity_arena_unmap(call, CALLS_MAX * sizeof *call);
    if (probity_calls.more != NULL)
        probity_arena_unmap(probity_calls.more, CALLS_MORE * sizeof *call);
    probity_calls.more = NULL;
}

/* In a static program, the program's constructors run first. */
__attribute__((constructor)) static void make_end_key(void)
{
    if (!has_end_key)
        has_end_key = pthread_key_create(&end_key, end_thread) == 0;
}

/* A signal handler that runs in between may map a table too: with signals blocked, there is only
 * one. */
static __attribute__((noinline)) void map_calls(void)
{
    struct probity_os_signals before;
    int saved = errno;

    if (probity_calls.destructor_runs > 0)
        return;
    probity_os_signals_block(&before);
    make_end_key();
    if (probity_calls.call == NULL && has_end_key)
        probity_calls.call = probity_arena_map(CALLS_MAX * sizeof *probity_calls.call);
    if (probity_calls.call != NULL)
        pthread_setspecific(end_key, probity_calls.call);
    if (probity_calls.count == CALLS_MAX && probity_calls.more == NULL)
        probity_calls.more = probity_arena_map(CALLS_MORE * sizeof *probity_calls.more);
    probity_os_signals_restore(&before);
    errno = saved;
}

/* Returns the number of calls for which there is room. */
static uint32_t room(void)
{
    if (probity_calls.call == NULL)
        return 0;
    return probity_calls.more == NULL ? CALLS_MAX : CALLS_MAX + CALLS_MORE;
}

static uint32_t known(void)
{
    uint32_t most = room();

    return probity_calls.count < most ? probity_calls.count : most;
}

/* Returns whether there is room for one more call. The second table must be filled from its first
 * place on: skipped places would look like open calls. */
static int make_room(void)
{
    int is_full = probity_calls.count == CALLS_MAX && probity_calls.more == NULL;

    if (probity_calls.call == NULL || is_full)
        map_calls();
    return probity_calls.count < room();
}

/* Returns the call at an index below known(). */
static struct probity_call *call_at(uint32_t index)
{
    return index < CALLS_MAX ? &probity_calls.call[index] : &probity_calls.more[index - CALLS_MAX];
}

/* Clears PROBITY_CALL_VALUED. A signal handler that jumps away may have left `valued` too low,
 * which is slower, but never too high, which would lose results. */
static void forget_result(struct probity_call *call)
{
    call->place &= ~PROBITY_CALL_VALUED;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (probity_calls.valued < 0)
        probity_calls.valued++;
}

/* Drops the calls from this one on, without recording anything. */
static void cut(uint32_t alive)
{
    for (uint32_t i = known(); i > alive; i--) {
        struct probity_call *call = call_at(i - 1);
        __atomic_store_n(&call->site.stack, 0, __ATOMIC_RELAXED);
        if (__builtin_expect((call->place & PROBITY_CALL_VALUED) != 0, 0))
            forget_result(call);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    probity_calls.count = alive;
    if (alive == 0)
        probity_calls.valued = 0;
}

static uint32_t place_of(const struct probity_call *call)
{
    return call->place & ~(PROBITY_CALL_VALUED | PROBITY_CALL_WATCHED);
}

/* ---- Jumps -------------------------------------------------------------------------------------
 */

static int is_over(const struct probity_call *call, const struct probity_call_site *site)
{
    static struct probity_functions_cache cache;

    return call->site.stack < site->stack || call->site.back != site->back ||
           call->site.from == site->from ||
           probity_functions_differ(&cache, call->site.from, site->from);
}

/* Closes the recorded ones among the calls from this one on, which were abandoned. */
static __attribute__((noinline)) void abandon(uint32_t alive)
{
    for (uint32_t i = alive; i < known(); i++) {
        const struct probity_call *call = call_at(i);
        if (call->site.stack == 0 || call->code == 0)
            continue;
        /* As if the enclosing scope ended now: the scopes inside it are left. */
        if (probity_scope_depth > place_of(call))
            probity_scope_leave_slow(PROBITY_CODE_FIRST, call->depth, place_of(call) - 1);
        break;
    }
    cut(alive);
}

/* For open calls in one frame, because one function was inlined into the other: pairs of the places
 * from which their hooks are called. */
static struct probity_pairs pairs;

/* Call if none of the open calls in this frame was abandoned. */
static void keep_pairs(const struct probity_call_site *site)
{
    for (uint32_t i = known(); i > 0 && call_at(i - 1)->site.stack == site->stack; i--)
        probity_pairs_keep(&pairs, call_at(i - 1)->site.from, site->from);
}

/* Returns whether count_open() has already found that the open calls in this frame belong to
 * functions into which this one was inlined. count: the number of calls in the first table. */
static inline int is_inlined(uint32_t count, uintptr_t back, uintptr_t from, uintptr_t stack)
{
    for (uint32_t i = count; i > 0; i--) {
        const struct probity_call *call = &probity_calls.call[i - 1];
        if (call->site.stack > stack)
            break;
        if (call->site.stack != stack || call->site.back != back || call->site.from == from ||
            !probity_pairs_has(&pairs, call->site.from, from))
            return 0;
    }
    return 1;
}

/* Returns the number of calls that are still open when a call begins there. A frame on another
 * stack gives no information. */
static __attribute__((noinline)) uint32_t count_open(const struct probity_call_site *site)
{
    uint32_t count = known(), alive = count;

    for (uint32_t i = count; i > 0; i--) {
        const struct probity_call *call = call_at(i - 1);
        if (call->site.stack > site->stack)
            break;
        if (call->site.stack != 0 && is_over(call, site))
            alive = i - 1;
    }
    if (alive < count && (!probity_os_is_own_stack(site->stack) ||
                          !probity_os_is_own_stack(call_at(alive)->site.stack)))
        return count;
    if (alive == count)
        keep_pairs(site);
    return alive;
}

/* Returns the same, by the return addresses of calls whose frames are above that of the new one. */
static uint32_t count_unchanged(uint32_t count, const struct probity_call_site *site)
{
    enum { SEARCHED = 64 };
    uint32_t least = count > SEARCHED ? count - SEARCHED : 0, alive = count;

    for (uint32_t i = count; i > least; i--) {
        if (probity_calls_is_overwritten(call_at(i - 1), site->stack))
            alive = i - 1;
    }
    if (alive < count && (!probity_os_is_own_stack(site->stack) ||
                          !probity_os_is_own_stack(call_at(alive)->site.stack)))
        return count;
    return alive;
}

/* Finds calls that were abandoned, when a call begins there. */
static void find_abandoned(const struct probity_call_site *site)
{
    uint32_t count = known(), alive = count;
    const struct probity_call *top = count > 0 ? call_at(count - 1) : NULL;

    if (top == NULL || (__builtin_expect(top->site.stack > site->stack, 1) &&
                        !probity_calls_is_overwritten(top, site->stack)))
        return;
    if (top->site.stack <= site->stack)
        alive = count_open(site);
    if (alive < count || top->site.stack > site->stack)
        alive = count_unchanged(alive, site);
    if (alive < count)
        abandon(alive);
}

/* ---- Calls -------------------------------------------------------------------------------------
 */

/* Returns the part of a tick that a call's depth holds, rounded up so that no call seems longer
 * than it was. */
static uint32_t tick_after(uint64_t tick)
{
    return (uint32_t)((tick >> PROBITY_CALL_TICK_SHIFT) + 1);
}

/* Sets code last: a signal handler that jumps away meanwhile leaves an ENTERING call. */
static void begin(struct probity_call *call, struct probity_site_function *function)
{
    uint32_t code = __atomic_load_n(&function->code, __ATOMIC_RELAXED);
    uint64_t entered = 0;

    call->raised = raised();
    if (__builtin_expect(code == 0 || probity_scope_profiles, 0)) {
        entered = probity_scope_enter_slow(function);
        code = (uint32_t)entered;
        call->depth = (uint32_t)(entered >> 32);
    }
    /* probity_scope.h has no frame for it, and therefore compares none. */
    if (code != 0)
        probity_scope_take(call->place, 0, 0);
    if (entered & PROBITY_SCOPE_ENTERED_WATCHED)
        call->place |= PROBITY_CALL_WATCHED;
    call->code = code;
}

/* Records the enter or leave of a call without values. Returns the record's tick if the call's
 * duration is compared. */
static uint64_t hit(const struct probity_call *call, uint32_t code)
{
    if (__builtin_expect((call->place & PROBITY_CALL_WATCHED) != 0, 0))
        return probity_scope_watch_hit(code);
    probity_hit(code);
    return 0;
}

/* Stores the tick at which a call whose duration is compared began; 0: it was not recorded. */
static void set_entered(struct probity_call *call, uint64_t tick)
{
    if ((call->place & PROBITY_CALL_WATCHED) == 0)
        return;
    call->depth = tick_after(tick);
    if (tick == 0)
        call->place &= ~PROBITY_CALL_WATCHED;
}

/* Records that a call of this function begins, with its arguments if requested. */
static void record_enter(struct probity_call *call, struct probity_site_function *found,
                         const struct probity_registers *registers)
{
    struct probity_valued_function *valued = probity_function_valued(found);

    if (__builtin_expect(valued == NULL || registers == NULL, 1)) {
        set_entered(call, hit(call, call->code));
        return;
    }
    if (valued->description->results > 0 && probity_calls.count <= CALLS_MAX &&
        !(found->flags & PROBITY_FUNCTION_ENTRIES)) {
        probity_calls.valued--;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        call->place |= PROBITY_CALL_VALUED;
    }
    set_entered(call, valued->description->arguments > 0
                          ? probity_arguments_record(valued, call->code, registers)
                          : hit(call, call->code));
}

/* Takes a place on the stack; the call is complete once `stack` is set. */
static struct probity_call *push(const struct probity_call_site *site,
                                 struct probity_call *unpaired)
{
    uint32_t index = probity_calls.count;
    struct probity_call *call = unpaired;

    __atomic_store_n(&probity_calls.count, index + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (index < known())
        call = call_at(index);
    call->site.function = site->function;
    call->site.back = site->back;
    call->site.from = site->from;
    call->place = call->depth = probity_scope_depth;
    call->code = ENTERING;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&call->site.stack, site->stack, __ATOMIC_RELAXED);
    return call;
}

void probity_call_enter_unusual(const struct probity_call_site *site,
                                const struct probity_registers *registers)
{
    int is_on = probity_scope_is_on(PROBITY_FUNCTIONS_LEVEL);
    struct probity_call unpaired;

    find_abandoned(site);
    /* The function of a call that cannot be kept is looked up anyway, as at the leave. */
    int is_kept = make_room();
    struct probity_site_function *function =
        is_on || !is_kept ? probity_function_find(site->function) : NULL;
    if (function == &probity_function_left_out)
        return;
    struct probity_call *call = push(site, &unpaired);
    if (function != NULL && is_on)
        begin(call, probity_function_own(function));
    else
        call->code = 0;
    if (call->code > PROBITY_SCOPE_PROFILED)
        record_enter(call, function, registers);
}

/* Enters a function with hooks of -finstrument-functions. */
static __attribute__((noinline)) void enter_unusual(uintptr_t function_at, uintptr_t back,
                                                    uintptr_t from, uintptr_t stack)
{
    const struct probity_call_site site = {function_at, back, from, stack};
    const struct probity_site_function *function = probity_function_at_once(function_at);

    probity_call_enter_unusual(&site, NULL);
    if (function != NULL && function->reserved == PROBITY_FUNCTION_VALUED)
        probity_arguments_report_unseen(function);
}

/* The usual call: its frame is below the enclosing one, and its function is known. Does the same as
 * enter_unusual(), in the same order, without calling another function. */
static inline __attribute__((__always_inline__)) void
enter(int is_on, uintptr_t function_at, uintptr_t back, uintptr_t from, uintptr_t stack)
{
    uint32_t count = probity_calls.count, depth = probity_scope_depth, in_flight;
    struct probity_site_function *function = probity_function_at_once(function_at);

    if (!is_on && count == 0)
        return;
    if (__builtin_expect(!is_on || function == NULL || !probity_calls_have_room() ||
                             probity_scope_profiles || depth >= PROBITY_SCOPE_FRAMES ||
                             !probity_is_raised_known(&in_flight) ||
                             (count > 0 && probity_calls.call[count - 1].site.stack <= stack &&
                              !is_inlined(count, back, from, stack)), 0)) {
        enter_unusual(function_at, back, from, stack);
        return;
    }
    if (function == &probity_function_left_out)
        return;
    uint32_t code = __atomic_load_n(&function->code, __ATOMIC_RELAXED);
    int is_counted = 0;
    if (__builtin_expect(code == 0, 0)) {
        is_counted = probity_calls_count(function);
        if (!is_counted) {
            enter_unusual(function_at, back, from, stack);
            return;
        }
    }
    struct probity_call *call = &probity_calls.call[count];
    __atomic_store_n(&probity_calls.count, count + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    call->site.function = function_at;
    call->site.back = back;
    call->site.from = from;
    call->place = call->depth = depth;
    call->raised = in_flight;
    call->code = is_counted ? 0 : ENTERING;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&call->site.stack, stack, __ATOMIC_RELAXED);
    if (is_counted)
        return;
    probity_scope_take(depth, 0, 0);
    call->code = code;
    probity_hit(code);
}

void probity_call_enter(uintptr_t function_at, uintptr_t back, uintptr_t from, uintptr_t stack)
{
    enter(probity_scope_is_on(PROBITY_FUNCTIONS_LEVEL), function_at, back, from, stack);
}

/* Handles a leave while calls are open that could not be kept: each leave belongs to the innermost
 * call. */
static void leave_unpaired(const struct probity_call_site *site)
{
    struct probity_site_function *function = probity_function_find(site->function);

    if (function == &probity_function_left_out)
        return;
    probity_calls.count--;
    uint32_t code = 0;
    if (function != NULL)
        code = __atomic_load_n(&probity_function_own(function)->code, __ATOMIC_RELAXED);
    if (code == 0 || probity_scope_depth == 0 || (probity_scope_profiles & 1) ||
        !probity_scope_is_on(PROBITY_FUNCTIONS_LEVEL))
        return;
    probity_scope_free(probity_scope_depth - 1);
    probity_hit(code + 2);
}

/* Returns the function of a call whose result is recorded; NULL: it has none, or the level has
 * changed. */
static struct probity_valued_function *valued_of(const struct probity_call *call)
{
    struct probity_site_function *found =
        call->place & PROBITY_CALL_VALUED ? probity_function_at_once(call->site.function) : NULL;

    if (found == NULL && (call->place & PROBITY_CALL_VALUED))
        found = probity_function_find(call->site.function);
    return found != NULL ? probity_function_valued(found) : NULL;
}

/* registers: NULL if the result is not available. Returns the same as hit(). */
static uint64_t record_leave(const struct probity_call *call,
                             const struct probity_registers *registers)
{
    struct probity_valued_function *valued = registers != NULL ? valued_of(call) : NULL;

    if (__builtin_expect(raised() > call->raised, 0))
        return probity_scope_leave_raised(call->code);
    if (valued != NULL)
        return probity_results_record(valued, call->code, registers);
    return hit(call, call->code + 2);
}

/* Compares the duration of a call whose end was recorded at this tick; 0: it was not recorded. */
static __attribute__((noinline)) void watch_end(const struct probity_call *call, uint64_t left)
{
    struct probity_site_function *found = probity_function_at_once(call->site.function);
    /* The rounded beginning may be after `left`. */
    uint64_t since = (uint64_t)(tick_after(left) - call->depth) << PROBITY_CALL_TICK_SHIFT;
    uint64_t next = ((left >> PROBITY_CALL_TICK_SHIFT) + 1) << PROBITY_CALL_TICK_SHIFT;

    if (found == NULL)
        found = probity_function_find(call->site.function);
    if (found != NULL && found != &probity_function_left_out)
        probity_scope_watch_end(probity_function_own(found), next - since, left);
}

static void end(const struct probity_call *call, const struct probity_registers *registers)
{
    uint32_t place = place_of(call);

    if (call->code == 0 || call->code == ENTERING)
        return;
    if (__builtin_expect(call->code == PROBITY_SCOPE_PROFILED || probity_scope_depth != place + 1,
                         0))
        probity_scope_leave_slow(call->code, call->depth, place);
    probity_scope_free(place);
    if (call->code == PROBITY_SCOPE_PROFILED)
        return;
    uint64_t left = record_leave(call, registers);
    if (__builtin_expect((call->place & PROBITY_CALL_WATCHED) != 0, 0))
        watch_end(call, left);
}

/* Returns whether an open call may be the one that ends. At its end, a function with a
 * variable-length array is lower on the stack than at its beginning; a function that jumps to the
 * hook, as its last call, has left its frame, and is higher. */
static int is_ending(const struct probity_call_site *open, const struct probity_call_site *site)
{
    int is_last_call = site->from == site->back;

    return open->function == site->function && open->back == site->back &&
           (is_last_call ? open->stack < site->stack : open->stack >= site->stack);
}

/* Returns the index of the call that ends; UINT32_MAX if its enter was not seen, because nothing
 * was recorded. A frame on another stack, such as a coroutine's, gives no information. */
static uint32_t find_ending(const struct probity_call_site *site)
{
    for (uint32_t i = known(); i > 0; i--) {
        const struct probity_call_site *open = &call_at(i - 1)->site;
        if (is_ending(open, site))
            return i - 1;
        if (open->stack > site->stack && probity_os_is_own_stack(open->stack) &&
            probity_os_is_own_stack(site->stack))
            break;
    }
    return UINT32_MAX;
}

/* Handles the end of a function that is not recorded. Calls made in it that are still open were
 * jumped over, or left by an exception that clang's hooks do not report. */
static void abandon_below(const struct probity_call_site *site)
{
    uint32_t count = known(), alive = count;

    while (alive > 0 && call_at(alive - 1)->site.stack < site->stack)
        alive--;
    if (alive < count && site->from != site->back && probity_os_is_own_stack(site->stack) &&
        probity_os_is_own_stack(call_at(alive)->site.stack))
        abandon(alive);
}

void probity_call_leave_unusual(const struct probity_call_site *site,
                                const struct probity_registers *registers)
{
    if (probity_calls.count > known()) {
        leave_unpaired(site);
        return;
    }
    uint32_t index = probity_calls.count - 1;
    if (__builtin_expect(!is_ending(&call_at(index)->site, site), 0)) {
        /* The enter was omitted, too, and find_ending() makes system calls. */
        if (probity_function_find(site->function) == &probity_function_left_out) {
            abandon_below(site);
            return;
        }
        index = find_ending(site);
    }
    if (index == UINT32_MAX)
        return;
    struct probity_call ended = *call_at(index);
    if (__builtin_expect(index + 1 < probity_calls.count, 0))
        abandon(index + 1);
    cut(index);
    end(&ended, registers);
}

/* Leaves a function with hooks of -finstrument-functions. */
static __attribute__((noinline)) void leave_unusual(uintptr_t function_at, uintptr_t back,
                                                    uintptr_t from, uintptr_t stack)
{
    const struct probity_call_site site = {function_at, back, from, stack};

    probity_call_leave_unusual(&site, NULL);
}

/* The usual leave belongs to the innermost call. */
void probity_call_leave(uintptr_t function_at, uintptr_t back, uintptr_t from, uintptr_t stack)
{
    const struct probity_call_site site = {function_at, back, from, stack};
    uint32_t count = probity_calls.count, in_flight;

    if (count == 0)
        return;
    struct probity_call *call = probity_calls_top(count);
    if (call != NULL && call->code == 0 && is_ending(&call->site, &site)) {
        __atomic_store_n(&call->site.stack, 0, __ATOMIC_RELAXED);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        probity_calls.count = count - 1;
        return;
    }
    if (__builtin_expect(call == NULL || !is_ending(&call->site, &site) ||
                             call->code <= ENTERING || probity_scope_depth != call->place + 1 ||
                             call->place >= PROBITY_SCOPE_FRAMES ||
                             !probity_is_raised_known(&in_flight) || in_flight > call->raised, 0)) {
        leave_unusual(function_at, back, from, stack);
        return;
    }
    probity_calls_end(call, count);
}

/* ---- __fentry__ and __return__ -----------------------------------------------------------------
 *
 * A call has `from` 0, and its stack position is that of its return address: the same when it
 * begins and when it ends, and different from that of any other open call.
 */

/* Records a call whose end will not be reported, so that it is not kept as open. Profile mode
 * cannot count it. */
static void enter_only(struct probity_site_function *function,
                       const struct probity_registers *registers)
{
    struct probity_call call = {.code = 0};

    if (probity_scope_profiles & 1)
        return;
    call.code = __atomic_load_n(&function->code, __ATOMIC_RELAXED);
    if (call.code == 0 || probity_scope_profiles)
        call.code = (uint32_t)probity_scope_enter_slow(function);
    if (call.code > PROBITY_SCOPE_PROFILED)
        record_enter(&call, function, registers);
}

void probity_fentry_enter_unusual(uintptr_t from, uintptr_t stack, const uint64_t *general,
                                  const uint8_t *vectors)
{
    const struct probity_call_site site = {
        .function = from, .back = *(const uintptr_t *)stack, .stack = stack};
    const struct probity_registers registers = {general, vectors, stack};
    int is_on = probity_scope_is_on(PROBITY_FUNCTIONS_LEVEL);

    find_abandoned(&site);
    struct probity_site_function *function = probity_function_find_inside(from);
    if (function != NULL && (function->flags & PROBITY_FUNCTION_ENTRIES)) {
        if (is_on)
            enter_only(function, general != NULL ? &registers : NULL);
        return;
    }
    if (!make_room())
        return;
    /* Even for calls that are not recorded: otherwise their leaves would be searched for. */
    struct probity_call *call = push(&site, NULL);
    if (function != NULL && function != &probity_function_left_out && is_on)
        begin(call, probity_function_own(function));
    else
        call->code = 0;
    call->raised = PROBITY_CALL_RAISED_NEVER;
    if (call->code > PROBITY_SCOPE_PROFILED)
        record_enter(call, function, general != NULL ? &registers : NULL);
}

/* Returns the index of the call that ends; UINT32_MAX if it began when nothing was recorded. */
static uint32_t find_returning(uintptr_t stack)
{
    for (uint32_t i = known(); i > 0; i--) {
        const struct probity_call_site *open = &call_at(i - 1)->site;
        if (open->stack == stack && open->from == 0)
            return i - 1;
        if (open->stack > stack && probity_os_is_own_stack(open->stack) &&
            probity_os_is_own_stack(stack))
            break;
    }
    return UINT32_MAX;
}

/* Returns whether the hook was called before a return, and not before a jump to another function,
 * whose result becomes this function's. */
static int is_before_return(uintptr_t from)
{
    enum { RET = 0xc3, REP = 0xf3, BND = 0xf2 };
    const uint8_t *code = (const uint8_t *)from;

    return code[0] == RET || ((code[0] == REP || code[0] == BND) && code[1] == RET);
}

void probity_fentry_leave_unusual(uintptr_t from, uintptr_t stack, const uint64_t *general,
                                  const uint8_t *vectors)
{
    const struct probity_call_site site = {.from = 1, .stack = stack};
    const struct probity_registers registers = {general, vectors, stack};
    uint32_t index = find_returning(stack);

    if (index == UINT32_MAX) {
        abandon_below(&site);
        return;
    }
    struct probity_call ended = *call_at(index);
    if (index + 1 < probity_calls.count)
        abandon(index + 1);
    cut(index);
    end(&ended, general != NULL && is_before_return(from) ? &registers : NULL);
}

/* ---- The cost of a call ------------------------------------------------------------------------
 */

/* In the memory of a trial: the stack of the thread's calls, saved, and a stack for a single
 * call. */
struct aside {
    struct probity_calls own;
    struct probity_call call[1];
};

_Static_assert(sizeof(struct aside) <= sizeof(uint64_t[PROBITY_HOOKED_ROOM]), "fits in the room");

/* Stands in for a function of the program; never called. */
static void function_of_trial(void)
{
}

/* A hook with which functions are on at any level. */
static __attribute__((noinline)) void enter_trial(void *function, void *back)
{
    if (!probity_calls_enter_counted(PROBITY_NUMBER(function)))
        enter(1, PROBITY_NUMBER(function), PROBITY_NUMBER(back),
              PROBITY_NUMBER(__builtin_return_address(0)), PROBITY_NUMBER(PROBITY_FRAME));
}

int probity_hooked_trial_begin(struct probity_hooked_trial *ret_trial, uint32_t code)
{
    static struct probity_site_function function = {.name = "", .file = "", .returns = ""};
    void *address = (void *)(uintptr_t)function_of_trial;
    struct aside *aside = (struct aside *)ret_trial->room;

    __atomic_store_n(&function.code, code, __ATOMIC_RELAXED);
    if (probity_function_put(PROBITY_NUMBER(address), &function) != 0)
        return -1;
    /* From now on, usual calls find the count without calling a function. */
    raised();
    ret_trial->enter = enter_trial;
    ret_trial->leave = __cyg_profile_func_exit;
    ret_trial->function = address;
    memset(aside, 0, sizeof *aside);
    aside->own = probity_calls;
    probity_calls = (struct probity_calls){.call = aside->call};
    return 0;
}

void probity_hooked_trial_end(struct probity_hooked_trial *trial)
{
    probity_calls = ((const struct aside *)trial->room)->own;
}
