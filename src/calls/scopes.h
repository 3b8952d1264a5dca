/* SPDX-License-Identifier: MIT
 *
 * scopes.h: a call to libc as a scope with values. The usual case is inline: an enter and a leave
 * of one event each, as made by FnTrace.h. A call left by a cancellation, an exception or a jump
 * has no leave, which is detected by the thread's next scope.
 */
#ifndef PROBITY_CALLS_SCOPES_H
#define PROBITY_CALLS_SCOPES_H

#include <errno.h>

#include "calls/calls.h"
#include "calls/cost.h"

/* Types of values, from doc/trace-format.md. Plain text is PROBITY_AT_DATA. LITERAL: as for arrays
 * in probity_values.h, which may be string literals. */
enum {
    PROBITY_CALLS_I32 = 7,
    PROBITY_CALLS_I64 = 9,
    PROBITY_CALLS_U64 = 10,
    PROBITY_CALLS_TEXT = 17,
    PROBITY_CALLS_LITERAL = 117
};

/* Declares a function of libc that is recorded as a scope with its name. No body follows. */
#define PROBITY_CALLS_SITE(family, type, name, parameters)                                         \
    static struct probity_site_function site_##name = {                                            \
        #name, "libc/" family, #type " " #name #parameters, #type, 0, 1, 0, 0, 0, 0}

/* A replacement for `name`: if `condition` is true, it records a scope of `site`, in which `enter`
 * records the values. A result of -1 is an error. */
#define PROBITY_CALLS_SCOPE_IF(families, site, type, name, parameters, arguments, condition,       \
                               enter)                                                              \
    PROBITY_CALLS_SCOPE_AS(0, families, site, type, name, parameters, arguments, condition, enter)

#define PROBITY_CALLS_SCOPE_AS(done, families, site, type, name, parameters, arguments, condition, \
                               enter)                                                              \
    PROBITY_CALLS_WRAP_AS(PROBITY_CPU_RETURNS_BY_JUMP, done, families, type, name, parameters,     \
                          arguments)                                                               \
    {                                                                                              \
        struct probity_call call;                                                                  \
                                                                                                   \
        if (!(condition) || !probity_call_begin(&call, &site))                                     \
            return probity_calls_next.name arguments;                                              \
        enter;                                                                                     \
        probity_calls_cost_end(call.timed_since, call.code != 0);                                  \
        type result = probity_calls_next.name arguments;                                           \
        uint64_t since = probity_calls_cost_begin();                                               \
        probity_call_leave_errno(&call, result);                                                   \
        probity_calls_cost_end(since, call.code != 0);                                             \
        return result;                                                                             \
    }

#define PROBITY_CALLS_SCOPE(families, site, type, name, parameters, arguments, enter)              \
    PROBITY_CALLS_SCOPE_AS(probity_call_counts(&site, __builtin_return_address(0)), families,      \
                           site, type, name, parameters, arguments, 1, enter)

/* Returns whether the caller is not a child of vfork(), which has its own descriptors and program
 * but runs in its parent's thread. Makes a system call, so it is for rare calls only. */
int probity_calls_is_own_process(void) __attribute__((visibility("hidden")));

/* One call. */
struct probity_call {
    struct probity_scope_here scope;
    uint32_t code;  /* that of the enter; 0: no values are recorded */
    uint64_t since; /* set by the slow path: tick of the beginning, if a budget only counts the
                       function's calls; else 0 */
    uint64_t timed_since; /* result of probity_calls_cost_begin() */
};

/* The contents of an event. */
#define PROBITY_CALLS_FORMAT(name)                                                                 \
    extern struct probity_site_format probity_calls_##name __attribute__((visibility("hidden")))
PROBITY_CALLS_FORMAT(fd);
PROBITY_CALLS_FORMAT(fd_last);
PROBITY_CALLS_FORMAT(fd_bytes);
PROBITY_CALLS_FORMAT(fd_count);
PROBITY_CALLS_FORMAT(fd_limit);
PROBITY_CALLS_FORMAT(count_limit);
PROBITY_CALLS_FORMAT(limit);
PROBITY_CALLS_FORMAT(path);
PROBITY_CALLS_FORMAT(fd_peer);
PROBITY_CALLS_FORMAT(result);
PROBITY_CALLS_FORMAT(result_errno);
PROBITY_CALLS_FORMAT(result_peer);
PROBITY_CALLS_FORMAT(result_pair);
#undef PROBITY_CALLS_FORMAT

/* Returns the value at a pointer of the program, if it can be read, otherwise 0 or -1: libc's
 * function fails for such a pointer, but this function must not fault. */
uint64_t probity_calls_vector_bytes(const struct iovec *vector, uint64_t count)
    __attribute__((visibility("hidden")));
uint64_t probity_calls_message_bytes(const struct msghdr *message)
    __attribute__((visibility("hidden")));
int64_t probity_calls_limit_ns(const struct timespec *limit) __attribute__((visibility("hidden")));

/* Returns whether `bytes` bytes can be read. Makes a system call, unless they are on the current
 * page of the stack. */
int probity_calls_can_read(const void *at, size_t bytes) __attribute__((visibility("hidden")));

/* Size of the address of a peer as text, with its zero, in bytes. */
enum { PROBITY_CALLS_PEER_BYTES = 128 };

/* The slow paths. Preserve errno. */
int probity_call_begin_slow(struct probity_call *call, struct probity_site_function *function,
                            uintptr_t frame) __attribute__((cold, visibility("hidden")));
void probity_call_enter_slow(struct probity_call *call, struct probity_site_format *format,
                             const struct probity_value *values)
    __attribute__((cold, visibility("hidden")));
void probity_call_enter_watched(struct probity_call *call)
    __attribute__((cold, visibility("hidden")));
void probity_call_leave_slow(struct probity_call *call, struct probity_site_format *format,
                             const struct probity_value *values)
    __attribute__((cold, visibility("hidden")));

/* Closes the scope without a record. */
void probity_call_close(struct probity_call *call) __attribute__((cold, visibility("hidden")));

/* Does what probity_scope_begin_frame() does in the usual case. Inline, like the whole usual path:
 * after a system call, each return is mispredicted. Returns 0 in an unusual case: the first call of
 * a function, a jump over scopes, many open scopes, profile mode. */
static inline __attribute__((always_inline)) int
probity_call_begin_usually(struct probity_call *call, const struct probity_site_function *function,
                           const void *back)
{
    uint64_t minus = probity_scope_minus();

    call->code = __atomic_load_n(&function->code, __ATOMIC_RELAXED);
    call->scope.place = probity_scope_depth;
    if (__builtin_expect(call->code == 0 ||
                             __atomic_load_n(&probity_scope_profiles, __ATOMIC_RELAXED) != 0 ||
                             call->scope.place >= PROBITY_SCOPE_FRAMES ||
                             probity_scope_is_suspect(call->scope.place, minus), 0))
        return 0;
    call->scope.is_open = 1;
    probity_scope_take(call->scope.place, minus | ((uintptr_t)back & 0xffff),
                       probity_code_address() << 16 | ((uintptr_t)&call->scope & 0xffff));
    return 1;
}

/* Begins the scope; only for the function that records the call. Returns 0 if nothing about the
 * call is recorded. */
static inline __attribute__((always_inline)) int
probity_call_begin(struct probity_call *call, struct probity_site_function *function)
{
    const void *back = __builtin_return_address(0);

    if (!probity_calls_are_of_program(back) ||
        !__builtin_expect(1 <= __atomic_load_n(&probity_scope_level, __ATOMIC_RELAXED), 1))
        return 0;
    call->timed_since = probity_calls_cost_begin();
    return probity_call_begin_usually(call, function, back) ||
           probity_call_begin_slow(call, function, probity_scope_frame_at());
}

/* One in this number of calls that a budget only counts is timed. */
enum { PROBITY_CALLS_TIMED_EVERY = 8 };

/* Returns the bit of a function in probity_calls_local.has_waited. Functions may share a bit. */
static inline uint64_t probity_calls_bit_of(uint32_t number)
{
    return UINT64_C(1) << (number / 2 % 64);
}

/* Counts the call if nothing else has to be done for it: a budget only counts the function's calls,
 * and the thread does not time this one. Runs in the function that the program calls, which then
 * jumps to libc's: after a system call, each cache line it uses may be a miss. */
static inline __attribute__((always_inline)) int
probity_call_counts(const struct probity_site_function *function, const void *back)
{
    uint64_t **counters = probity_scope_counters;
    uint32_t number = __atomic_load_n(&function->number, __ATOMIC_RELAXED);

    if (__atomic_load_n(&function->code, __ATOMIC_RELAXED) != 0 || counters == NULL ||
        probity_calls_local.cost_left == 0 || !probity_calls_are_of_program(back) ||
        __atomic_load_n(&probity_scope_level, __ATOMIC_RELAXED) < 1)
        return 0;
    uint64_t *counter = __atomic_load_n(&counters[number], __ATOMIC_RELAXED);
    if (counter == NULL || probity_calls_local.has_waited & probity_calls_bit_of(number) ||
        __atomic_load_n(counter, __ATOMIC_RELAXED) % PROBITY_CALLS_TIMED_EVERY == 0)
        return 0;
    probity_calls_local.cost_left--;
    probity_cpu_add(counter, 1);
    return 1;
}

/* Returns whether the ticks of the enter and leave are needed: only the slow path returns them. */
static inline __attribute__((always_inline)) int
probity_call_is_watched(const struct probity_call *call)
{
    return (call->scope.place & PROBITY_SCOPE_WATCHED) != 0;
}

/* Returns room for the enter's values, of `bytes` bytes; NULL: they are recorded on the slow
 * path. */
static inline __attribute__((always_inline)) uint8_t *
probity_call_room(const struct probity_call *call, struct probity_event_room *room, uint32_t kind,
                  const struct probity_site_format *format, uint32_t bytes)
{
    uint32_t number = probity_site_format_number(format);
    uint8_t *at = NULL;

    if (__builtin_expect(number != 0 && !probity_call_is_watched(call), 1))
        at = probity_event_reserve(room, kind, 8 + bytes);
    return __builtin_expect(at != NULL, 1) ? probity_put_head(at, kind, call->code, number, 0)
                                           : NULL;
}

/* Enters a call without parameters. */
static inline __attribute__((always_inline)) void
probity_call_enter(struct probity_call *call)
{
    if (__builtin_expect(call->code == 0, 0))
        return;
    if (__builtin_expect(probity_call_is_watched(call), 0))
        probity_call_enter_watched(call);
    else
        probity_hit(call->code);
}

/* Enters a call with a number of 64 bits. */
static inline __attribute__((always_inline)) void
probity_call_enter_number(struct probity_call *call, struct probity_site_format *format,
                          uint64_t number)
{
    struct probity_event_room room;

    if (__builtin_expect(call->code == 0, 0))
        return;
    uint8_t *at = probity_call_room(call, &room, 7, format, 8);
    if (__builtin_expect(at != NULL, 1)) {
        probity_put_bytes(at, &number, 8);
        probity_event_publish(&room);
        return;
    }
    const struct probity_value value = {&number, 8, NULL, PROBITY_AT_VALUE};
    probity_call_enter_slow(call, format, &value);
}

/* Enters a call with a descriptor. */
static inline __attribute__((always_inline)) void
probity_call_enter_fd(struct probity_call *call, int fd)
{
    struct probity_event_room room;

    if (__builtin_expect(call->code == 0, 0))
        return;
    uint8_t *at = probity_call_room(call, &room, 7, &probity_calls_fd, 4);
    if (__builtin_expect(at != NULL, 1)) {
        probity_put_bytes(at, &fd, 4);
        probity_event_publish(&room);
        return;
    }
    const struct probity_value value = {&fd, 4, NULL, PROBITY_AT_VALUE};
    probity_call_enter_slow(call, &probity_calls_fd, &value);
}

/* Enters a call with a descriptor and a number of 64 bits. */
static inline __attribute__((always_inline)) void
probity_call_enter_fd_number(struct probity_call *call, struct probity_site_format *format,
                             int fd, uint64_t number)
{
    struct probity_event_room room;

    if (__builtin_expect(call->code == 0, 0))
        return;
    uint8_t *at = probity_call_room(call, &room, 7, format, 12);
    if (__builtin_expect(at != NULL, 1)) {
        at = probity_put_bytes(at, &fd, 4);
        probity_put_bytes(at, &number, 8);
        probity_event_publish(&room);
        return;
    }
    const struct probity_value values[] = {{&fd, 4, NULL, PROBITY_AT_VALUE},
                                           {&number, 8, NULL, PROBITY_AT_VALUE}};
    probity_call_enter_slow(call, format, values);
}

/* Enters a call with two numbers of 64 bits. */
static inline __attribute__((always_inline)) void
probity_call_enter_numbers(struct probity_call *call, struct probity_site_format *format,
                           uint64_t one, uint64_t two)
{
    struct probity_event_room room;

    if (__builtin_expect(call->code == 0, 0))
        return;
    uint8_t *at = probity_call_room(call, &room, 7, format, 16);
    if (__builtin_expect(at != NULL, 1)) {
        at = probity_put_bytes(at, &one, 8);
        probity_put_bytes(at, &two, 8);
        probity_event_publish(&room);
        return;
    }
    const struct probity_value values[] = {{&one, 8, NULL, PROBITY_AT_VALUE},
                                           {&two, 8, NULL, PROBITY_AT_VALUE}};
    probity_call_enter_slow(call, format, values);
}

/* Enters an unusual call with a range of descriptors, up to `last`. */
void probity_call_enter_range(struct probity_call *call, int first, int last)
    __attribute__((cold, visibility("hidden")));

/* Enters a call with a zero-terminated text, which may be unreadable. */
void probity_call_enter_path(struct probity_call *call, const char *path)
    __attribute__((visibility("hidden")));

/* Enters a call with a descriptor and an address. */
void probity_call_enter_peer(struct probity_call *call, int fd,
                             const struct sockaddr *address, socklen_t length)
    __attribute__((visibility("hidden")));

/* Returns whether the scope at this place ends in the usual way. */
static inline __attribute__((always_inline)) int
probity_call_ends_usually(const struct probity_call *call, uint32_t place)
{
    return __builtin_expect(call->code != 0 && probity_scope_depth == place + 1 &&
                                place < PROBITY_SCOPE_FRAMES, 1);
}

/* Leaves with a result that is not an error. */
static inline __attribute__((always_inline)) void
probity_call_leave(struct probity_call *call, int64_t result)
{
    const uint32_t place = call->scope.place;
    struct probity_event_room room;

    if (probity_call_ends_usually(call, place)) {
        uint8_t *at = probity_call_room(call, &room, 8, &probity_calls_result, 8);
        if (__builtin_expect(at != NULL, 1)) {
            probity_scope_free(place);
            probity_put_bytes(at, &result, 8);
            probity_event_publish(&room);
            return;
        }
    }
    const struct probity_value value = {&result, 8, NULL, PROBITY_AT_VALUE};
    probity_call_leave_slow(call, &probity_calls_result, &value);
}

/* Leaves with a result that is an error. */
void probity_call_leave_error(struct probity_call *call, int64_t result, int error)
    __attribute__((visibility("hidden")));

/* Leaves with a result; -1 is an error, given by errno. */
static inline __attribute__((always_inline)) void
probity_call_leave_errno(struct probity_call *call, int64_t result)
{
    if (__builtin_expect(result != -1, 1))
        probity_call_leave(call, result);
    else
        probity_call_leave_error(call, result, errno);
}

/* Leaves with a new descriptor and the address of its other end. */
void probity_call_leave_peer(struct probity_call *call, int64_t result,
                             const struct sockaddr *address, socklen_t length)
    __attribute__((visibility("hidden")));

/* Leaves with two new descriptors. */
void probity_call_leave_pair(struct probity_call *call, int64_t result, const int pair[2])
    __attribute__((visibility("hidden")));

#endif
