/* SPDX-License-Identifier: MIT
 *
 * frames.c: the stack of open scopes, used to detect jumps. Runs in the traced thread, in signal
 * handlers too. The inline path of probity_scope.h stores the places of the outermost scopes;
 * deeper scopes take the slow path, which keeps their places in a table that is allocated when a
 * thread first needs it.
 *
 * Relative to the code that is running, an open scope is in one of these states:
 *
 *     its frame is above ours        it is a caller, or is in a frame that was not reused: where
 *                                    frames are linked, the links lead past it
 *     its frame is below ours        it was jumped over
 *     same frame, called elsewhere    it was jumped over: the frame belongs to another call
 *     same frame, called here         it is a caller, inlined into the same function; or a
 *                                    function called by the same instruction (through a
 *                                    pointer) and jumped over: then the two are compiled
 *                                    separately
 */
#include "runtime/frames.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/cpu.h"
#include "base/functions.h"
#include "base/os.h"
#include "base/thread_local.h"
#include "probity_scope.h"
#include "runtime/profile.h"
#include "runtime/record.h"
#include "runtime/scope.h"

enum { DEEP_FRAMES = 65536 };

PROBITY_THREAD_LOCAL(PROBITY_API, uint32_t, probity_scope_depth);
typedef struct probity_scope_place near_frames[PROBITY_SCOPE_FRAMES + 1];
PROBITY_THREAD_LOCAL(PROBITY_API, near_frames, probity_scope_frame);

/* Scopes from place PROBITY_SCOPE_FRAMES on; NULL if there were none, or out of memory. */
PROBITY_THREAD_LOCAL(static, struct probity_scope_place *, deep_frame);

/* ---- Places ------------------------------------------------------------------------------------
 */

/* Returns the frame of the scope at place `count` - 1; [0] is unused. count: at most
 * places_known(). */
static struct probity_scope_place *frame_at(uint32_t count)
{
    probity_assert(count <= PROBITY_SCOPE_FRAMES || deep_frame != NULL);
    return count <= PROBITY_SCOPE_FRAMES ? &probity_scope_frame[count]
                                         : &deep_frame[count - PROBITY_SCOPE_FRAMES - 1];
}

static uint32_t places_known(uint32_t depth)
{
    uint32_t most = PROBITY_SCOPE_FRAMES;

    if (deep_frame != NULL)
        most += DEEP_FRAMES;
    return depth < most ? depth : most;
}

void probity_frames_free(uint32_t place)
{
    uint32_t known = places_known(probity_scope_depth);

    for (uint32_t i = place; i < known; i++)
        __atomic_store_n(&frame_at(i + 1)->minus, 0, __ATOMIC_RELAXED);
}

static struct probity_scope_place *map_deep_frames(void)
{
    struct probity_scope_place *frames;
    int before = errno;

    frames = mmap(NULL, DEEP_FRAMES * sizeof *frames, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    errno = before;
    return frames != MAP_FAILED ? frames : NULL;
}

PROBITY_API void probity_scope_take_deep(uint32_t place, uint64_t minus, uint64_t where)
{
    /* A signal handler that ran in between may allocate a table too, which is then lost with its
     * frames. */
    if (deep_frame == NULL)
        deep_frame = map_deep_frames();
    __atomic_store_n(&probity_scope_depth, place + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (places_known(place + 1) <= place)
        return;
    struct probity_scope_place *frame = frame_at(place + 1);
    frame->where = where;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&frame->minus, minus, __ATOMIC_RELAXED);
}

PROBITY_API void probity_scope_free_deep(uint32_t place)
{
    if (places_known(place + 1) > place)
        __atomic_store_n(&frame_at(place + 1)->minus, 0, __ATOMIC_RELAXED);
}

void probity_frames_thread_ends(void)
{
    struct probity_scope_place *frames = deep_frame;
    int before = errno;

    deep_frame = NULL;
    if (frames != NULL)
        munmap(frames, DEEP_FRAMES * sizeof *frames);
    errno = before;
}

/* ---- Jumps -------------------------------------------------------------------------------------
 */

/* Records that the innermost `count` scopes ended without a leave. */
static __attribute__((noinline)) void record_unwound(uint32_t count)
{
    uint8_t payload[4];
    int before = errno;

    if (__atomic_load_n(&probity_scope_profiles, __ATOMIC_RELAXED) & 1) {
        probity_profile_unwind(count);
    } else {
        probity_put_u32(payload, count);
        probity_record_values(PROBITY_EVENT_UNWOUND, payload, sizeof payload);
    }
    errno = before;
}

/* Drops the scopes from this place on. */
static void cut_off(uint32_t alive)
{
    probity_assert(alive < probity_scope_depth);
    record_unwound(probity_scope_depth - alive);
    probity_frames_free(alive);
    probity_scope_depth = alive;
}

struct probity_pairs probity_frames_pairs;

static uint64_t frame_part(uint64_t minus)
{
    return minus & ~UINT64_C(0xffff);
}

static uintptr_t frame_address(uint64_t minus)
{
    return (uintptr_t)probity_scope_frame_of(minus);
}

/* Frames of coroutines, and of signal handlers on an alternate stack, are not comparable. */
static int is_own_frame(uint64_t minus)
{
    return probity_os_is_own_stack(frame_address(minus));
}

static int are_compiled_apart(uint64_t one, uint64_t other)
{
    static struct probity_functions_cache cache;

    return one != 0 && other != 0 &&
           probity_functions_differ(&cache, (uintptr_t)one, (uintptr_t)other);
}

/* Returns whether an open scope, whose frame is at ours or below, must have ended if a scope begins
 * here. */
static int is_over(const struct probity_scope_place *frame, uint64_t minus, uint64_t where)
{
    uint64_t change = frame->where ^ where;

    return frame_part(frame->minus) > frame_part(minus) || /* below ours */
           frame->minus != minus ||                        /* called from elsewhere */
           (change & 0xffff) == 0 ||                       /* its variable is where ours is */
           are_compiled_apart(frame->where >> 16, where >> 16);
}

/* Returns whether the return address in the frame of an open scope above ours has changed: a
 * function called after a jump has overwritten it. *checked: the page known to be readable. */
static int is_overwritten(uint64_t minus, uintptr_t *checked)
{
    enum { PAGE = 4096 };
    uintptr_t at = frame_address(minus) + 8;

    if (at / PAGE != *checked && probity_os_readable_bytes((const void *)at) < 2)
        return 0;
    *checked = at / PAGE;
    return probity_frame_is_overwritten(minus);
}

/* Returns the number of scopes still open among those with a frame at ours or below. */
static uint32_t count_below(uint32_t known, uint64_t minus, uint64_t where)
{
    uint32_t alive = known;

    probity_assert(known <= places_known(known));
    /* If a scope has ended, so have the scopes above it. */
    for (uint32_t i = known; i > 0 && frame_at(i)->minus >= frame_part(minus); i--) {
        if (is_over(frame_at(i), minus, where))
            alive = i - 1;
    }
    return alive;
}

/* Returns the lowest place that is checked among scopes with a frame above ours: the search is
 * limited. */
static uint32_t least_of(uint32_t known)
{
    enum { SEARCHED = 1024 };

    return known > SEARCHED ? known - SEARCHED : 0;
}

/* Returns the same for scopes with a frame above ours, by their return addresses. */
static uint32_t count_unchanged(uint32_t known)
{
    uint32_t least = least_of(known), alive = known;
    uintptr_t checked = 0;

    probity_assert(known <= places_known(known));
    for (uint32_t i = known; i > least; i--) {
        uint64_t minus = frame_at(i)->minus;
        if (minus != 0 && is_overwritten(minus, &checked))
            alive = i - 1;
    }
    return alive;
}

/* Returns the first linked frame, from this one on, that is at `wanted` or above; 0 if the links
 * are broken or end before. */
static uintptr_t follow(uintptr_t frame, uintptr_t wanted)
{
    while (frame != 0 && frame < wanted) {
        uintptr_t next = (uintptr_t)probity_frame_next(frame);
        int is_link = next > frame && next % sizeof next == 0 && probity_os_is_own_stack(next);
        frame = is_link ? next : 0;
    }
    return frame;
}

/* Returns whether the links lead from this frame to the thread's first one, which has a return
 * address and no next frame. */
static int is_whole(uintptr_t frame)
{
    while (frame != 0) {
        uintptr_t next = (uintptr_t)probity_frame_next(frame);
        if (next == 0)
            return probity_frame_next(frame + sizeof next) != 0;
        frame = follow(frame, frame + 1);
    }
    return 0;
}

/* Counts the same by the links between frames. Functions that use the frame pointer for something
 * else break the links, maybe unnoticed: these are trusted only if they reach the frame of an open
 * scope, or the thread's first frame. Returns 0 if they do not. *ret_alive: the number. */
static int count_linked(uint32_t known, uint64_t minus, uint32_t *ret_alive)
{
    uint32_t least = least_of(known), alive = known;
    uintptr_t frame = frame_address(minus);

    for (uint32_t i = known; i > least; i--) {
        uint64_t other = frame_at(i)->minus;
        uintptr_t open = frame_address(other);
        if (other == 0)
            continue;
        frame = is_own_frame(other) ? follow(frame, open) : 0;
        *ret_alive = alive;
        if (frame == 0 || (frame == open && !probity_frame_is_overwritten(other)))
            return frame != 0;
        alive = i - 1;
    }
    *ret_alive = alive;
    return is_whole(frame);
}

static uint32_t count_above(uint32_t known, uint64_t minus)
{
    uint32_t alive;

    if (PROBITY_FRAMES_ARE_LINKED && count_linked(known, minus, &alive))
        return alive;
    return count_unchanged(known);
}

/* Call if none of the open scopes in this frame was jumped over. */
static void keep_pairs(uint32_t known, uint64_t minus, uint64_t where)
{
    for (uint32_t i = known; i > 0 && frame_at(i)->minus == minus; i--)
        probity_pairs_keep(&probity_frames_pairs, frame_at(i)->where >> 16, where >> 16);
}

/* Returns how many of the scopes with known frames have not been left by a jump. top: the frame of
 * the innermost one. */
static uint32_t count_alive(uint32_t known, uint64_t top, uint64_t minus, uint64_t where)
{
    uint32_t alive = count_below(known, minus, where);

    if (alive == known && top >= frame_part(minus)) {
        keep_pairs(known, minus, where); /* inlined */
        return known;
    }
    if (!is_own_frame(minus) || !is_own_frame(top))
        return known;
    return count_above(alive, minus);
}

PROBITY_API uint32_t probity_scope_jumped(uint32_t place, uint64_t minus, uint64_t where)
{
    struct probity_cpu_registers kept;
    uint32_t known = places_known(place);
    probity_assert(known <= place);
    uint64_t top = frame_at(known)->minus;

    if (!probity_scope_may_be_over(top, frame_part(minus)))
        return place;
    probity_cpu_keep(&kept);
    uint32_t alive = count_alive(known, top, minus, where);
    if (alive < known)
        cut_off(alive);
    probity_cpu_restore(&kept);
    return alive < known ? alive : place;
}

/* In a lambda or a nested function, the macro may refer to a scope of the enclosing function: then
 * the functions called in between also continue. */
static int is_in_function_of(const struct probity_scope_here *scope, const char *in)
{
    return strcmp(scope->function->name, in) == 0 && strcmp(in, "operator()") != 0;
}

void probity_scope_continues(const struct probity_scope_here *scope, uint64_t minus,
                                         const char *in)
{
    uint32_t depth = probity_scope_depth, alive = depth;
    uint32_t first = (scope->place & ~PROBITY_SCOPE_WATCHED) + 1;
    int is_innermost = is_in_function_of(scope, in);

    /* Otherwise the scope is on another stack, which continues in this thread. */
    if (depth <= first || !is_own_frame(minus))
        return;
    for (uint32_t i = places_known(depth); i > first; i--) {
        uint64_t other = frame_at(i)->minus;
        if (!is_own_frame(other))
            return;
        if (is_innermost || frame_part(other) > minus)
            alive = i - 1;
    }
    if (is_innermost)
        alive = first;
    if (alive < depth)
        cut_off(alive);
}

void probity_frames_leave(uint32_t place)
{
    struct probity_cpu_registers kept;

    /* Otherwise the scope is on another stack, which continued in this thread. */
    if (probity_scope_depth <= place + 1)
        return;
    probity_cpu_keep(&kept);
    cut_off(place + 1);
    probity_cpu_restore(&kept);
}
