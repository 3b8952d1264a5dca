/* SPDX-License-Identifier: MIT
 *
 * scopes.c: see scopes.h. Handles the unusual cases: texts, errors, a new thread or format, profile
 * mode, scopes that were jumped over.
 */
#include "calls/scopes.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>

#include "base/os.h"

enum { VECTOR_MAX = 1024 }; /* the kernel's limit: beyond it, nothing is read or written */

/* ---- Formats -----------------------------------------------------------------------------------
 */

#define TYPES(...) ((const uint8_t[]){__VA_ARGS__})
#define TEXTS(...) ((const char *const[]){__VA_ARGS__})
#define FORMAT(name, count, types, texts)                                                          \
    struct probity_site_format probity_calls_##name = {types, texts, NULL, count, 0, 0}

FORMAT(fd, 1, TYPES(PROBITY_CALLS_I32), TEXTS("fd"));
FORMAT(fd_last, 2, TYPES(PROBITY_CALLS_I32, PROBITY_CALLS_I32), TEXTS("fd", "last"));
FORMAT(fd_bytes, 2, TYPES(PROBITY_CALLS_I32, PROBITY_CALLS_U64), TEXTS("fd", "bytes"));
FORMAT(fd_count, 2, TYPES(PROBITY_CALLS_I32, PROBITY_CALLS_U64), TEXTS("fd", "count"));
FORMAT(fd_limit, 2, TYPES(PROBITY_CALLS_I32, PROBITY_CALLS_I64), TEXTS("fd", "limit_ns"));
FORMAT(count_limit, 2, TYPES(PROBITY_CALLS_U64, PROBITY_CALLS_I64), TEXTS("count", "limit_ns"));
FORMAT(limit, 1, TYPES(PROBITY_CALLS_I64), TEXTS("limit_ns"));
FORMAT(path, 1, TYPES(PROBITY_CALLS_TEXT), TEXTS("path"));
FORMAT(fd_peer, 2, TYPES(PROBITY_CALLS_I32, PROBITY_CALLS_TEXT), TEXTS("fd", "peer"));
FORMAT(result, 1, TYPES(PROBITY_CALLS_I64), TEXTS("result"));
FORMAT(result_errno, 2, TYPES(PROBITY_CALLS_I64, PROBITY_CALLS_I32), TEXTS("result", "errno"));
FORMAT(result_peer, 2, TYPES(PROBITY_CALLS_I64, PROBITY_CALLS_TEXT), TEXTS("result", "peer"));
FORMAT(result_pair, 3, TYPES(PROBITY_CALLS_I64, PROBITY_CALLS_I32, PROBITY_CALLS_I32),
       TEXTS("result", "fd", "fd2"));

/* ---- Enter and leave ---------------------------------------------------------------------------
 */

enum { EVENT_ENTER = 7, EVENT_LEAVE = 8 };

/* Returns the record's tick, or 0 if it is dropped. */
static uint64_t record(uint32_t kind, uint32_t code, struct probity_site_format *format,
                       const struct probity_value *values)
{
    int saved = errno;

    probity_thread_inside++;
    uint64_t tick = probity_values_slow(kind, code, 0, format, values);
    probity_thread_inside--;
    errno = saved;
    return tick;
}

/* ---- Calls that a budget only counts -----------------------------------------------------------
 *
 * A call that waits is worth recording, but only its end shows that it waited. So some calls are
 * timed, and after a long one, the thread's calls of that function are recorded until one is short.
 * Most calls jump to libc's function: code after a system call is expensive, since the kernel has
 * replaced the contents of the caches.
 */

enum { WAIT_NS = 50000, CALIBRATE_NS = 5000000 };

/* Two readings of both clocks, which give the rate of ticks. */
static uint64_t first_tick, first_ns, wait_ticks;

static uint64_t bit_of(const struct probity_site_function *function)
{
    return probity_calls_bit_of(__atomic_load_n(&function->number, __ATOMIC_RELAXED));
}

static uint64_t now_ns(void)
{
    struct timespec now = {0, 0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Estimates the rate. Until some time has passed, no call is considered long. */
static void calibrate(uint64_t tick)
{
    int saved = errno;
    uint64_t ns = now_ns(), first = __atomic_load_n(&first_ns, __ATOMIC_ACQUIRE);

    if (first == 0) {
        __atomic_store_n(&first_tick, tick, __ATOMIC_RELAXED);
        __atomic_store_n(&first_ns, ns, __ATOMIC_RELEASE);
    } else if (ns - first >= CALIBRATE_NS) {
        uint64_t ticks = tick - __atomic_load_n(&first_tick, __ATOMIC_RELAXED);
        __atomic_store_n(&wait_ticks, (uint64_t)((double)ticks / (double)(ns - first) * WAIT_NS),
                         __ATOMIC_RELAXED);
    }
    errno = saved;
}

static void note_wait(const struct probity_call *call)
{
    uint64_t least = __atomic_load_n(&wait_ticks, __ATOMIC_RELAXED);
    uint64_t tick = probity_scope_watch_begin();

    if (least == 0)
        calibrate(tick);
    if (least != 0 && tick - call->since >= least)
        probity_calls_local.has_waited |= bit_of(call->scope.function);
    else
        probity_calls_local.has_waited &= ~bit_of(call->scope.function);
}

/* Begins a recorded call. The function's description no longer has the code of its records. The
 * leave takes the slow path. In an unusual case, libprobity counts the call. */
static void begin_recorded(struct probity_call *call, struct probity_site_function *function,
                          uint32_t number, uintptr_t frame)
{
    struct probity_site_function recorded = *function, *begun = &recorded;

    recorded.code = PROBITY_CODE_FIRST + 2 * (number - 1) + 1;
    call->code = probity_scope_begin_frame(&call->scope, &begun, frame, NULL);
    call->scope.function = function;
    if (call->code != 0)
        call->scope.place |= PROBITY_SCOPE_WATCHED;
}

/* Begins a call that is only counted, or recorded because it may wait. Returns -1 if it is neither,
 * 0 if its end needs no action, or 1. */
static int begin_counted(struct probity_call *call, struct probity_site_function *function,
                         uintptr_t frame)
{
    uint32_t number = __atomic_load_n(&function->number, __ATOMIC_RELAXED);
    uint64_t **counters = probity_scope_counters;

    if (counters == NULL || __atomic_load_n(&function->code, __ATOMIC_RELAXED) != 0)
        return -1;
    uint64_t *counter = __atomic_load_n(&counters[number], __ATOMIC_RELAXED);
    if (counter == NULL)
        return -1;
    int may_wait = (probity_calls_local.has_waited & bit_of(function)) != 0;
    if (!may_wait && __atomic_load_n(counter, __ATOMIC_RELAXED) % PROBITY_CALLS_TIMED_EVERY != 0) {
        probity_cpu_add(counter, 1);
        return 0;
    }
    call->since = probity_scope_watch_begin();
    if (may_wait) {
        begin_recorded(call, function, number, frame);
        return 1;
    }
    probity_cpu_add(counter, 1);
    call->scope.function = function;
    call->scope.place = probity_scope_depth;
    call->scope.is_open = 0;
    call->code = 0;
    return 1;
}

/* frame: that of the function that this replaces. */
int probity_call_begin_slow(struct probity_call *call, struct probity_site_function *function,
                            uintptr_t frame)
{
    struct probity_site_function *begun = function;

    call->since = 0;
    int result = begin_counted(call, function, frame);
    if (result == 0)
        probity_calls_cost_end(call->timed_since, 0);
    if (result >= 0)
        return result;
    call->scope.is_open = 0;
    call->code = probity_scope_begin_frame(&call->scope, &begun, frame, NULL);
    return call->code != 0 || call->scope.is_open;
}

void probity_call_enter_slow(struct probity_call *call, struct probity_site_format *format,
                             const struct probity_value *values)
{
    probity_scope_entered(&call->scope, record(EVENT_ENTER, call->code, format, values));
}

void probity_call_enter_range(struct probity_call *call, int first, int last)
{
    const struct probity_value values[] = {{&first, sizeof first, NULL, PROBITY_AT_VALUE},
                                           {&last, sizeof last, NULL, PROBITY_AT_VALUE}};

    if (call->code != 0)
        probity_call_enter_slow(call, &probity_calls_fd_last, values);
}

void probity_call_enter_watched(struct probity_call *call)
{
    call->scope.entered = probity_scope_watch_hit(call->code);
}

/* Returns the place, without the bit that marks a call whose duration is compared. */
static uint32_t place_of(const struct probity_call *call)
{
    return call->scope.place & ~PROBITY_SCOPE_WATCHED;
}

void probity_call_close(struct probity_call *call)
{
    call->scope.is_open = 0;
    probity_scope_free(place_of(call));
}

/* Does the same as probity_scope_leave_open(), with values. */
void probity_call_leave_slow(struct probity_call *call, struct probity_site_format *format,
                             const struct probity_value *values)
{
    uint32_t place = place_of(call);

    if (!call->scope.is_open) {
        if (call->since != 0)
            note_wait(call);
        return;
    }
    if (call->code == 0) {
        probity_scope_leave_open(&call->scope);
        return;
    }
    call->scope.is_open = 0;
    if (probity_scope_depth != place + 1)
        probity_scope_leave_slow(call->code, call->scope.depth, place);
    probity_scope_free(place);
    uint64_t left = record(EVENT_LEAVE, call->code, format, values);
    if (call->scope.place != place && call->since != 0)
        note_wait(call);
    else if (call->scope.place != place)
        probity_scope_watch_end(call->scope.function, call->scope.entered, left);
}

void probity_call_leave_error(struct probity_call *call, int64_t result, int error)
{
    const struct probity_value values[] = {{&result, sizeof result, NULL, PROBITY_AT_VALUE},
                                           {&error, sizeof error, NULL, PROBITY_AT_VALUE}};
    struct probity_event_room room;
    uint8_t *at = NULL;

    if (probity_call_ends_usually(call, call->scope.place))
        at = probity_call_room(call, &room, EVENT_LEAVE, &probity_calls_result_errno, 12);
    if (at == NULL) {
        probity_call_leave_slow(call, &probity_calls_result_errno, values);
        return;
    }
    call->scope.is_open = 0;
    probity_scope_free(call->scope.place);
    at = probity_put_bytes(at, &result, 8);
    probity_put_bytes(at, &error, 4);
    probity_event_publish(&room);
}

void probity_call_leave_pair(struct probity_call *call, int64_t result, const int pair[2])
{
    const struct probity_value values[] = {{&result, sizeof result, NULL, PROBITY_AT_VALUE},
                                           {&pair[0], sizeof pair[0], NULL, PROBITY_AT_VALUE},
                                           {&pair[1], sizeof pair[1], NULL, PROBITY_AT_VALUE}};

    probity_call_leave_slow(call, &probity_calls_result_pair, values);
}

/* ---- Pointers of the program -------------------------------------------------------------------
 */

int probity_calls_can_read(const void *at, size_t bytes)
{
    const uint8_t *next = at;

    while (bytes > 0) {
        size_t readable = probity_os_readable_bytes(next);
        if (readable == 0)
            return 0;
        readable = readable < bytes ? readable : bytes;
        next += readable;
        bytes -= readable;
    }
    return 1;
}

uint64_t probity_calls_vector_bytes(const struct iovec *vector, uint64_t count)
{
    uint64_t bytes = 0;

    if (count > VECTOR_MAX || !probity_calls_can_read(vector, count * sizeof *vector))
        return 0;
    for (uint64_t i = 0; i < count; i++)
        bytes += vector[i].iov_len;
    return bytes;
}

uint64_t probity_calls_message_bytes(const struct msghdr *message)
{
    return probity_calls_can_read(message, sizeof *message)
               ? probity_calls_vector_bytes(message->msg_iov, message->msg_iovlen)
               : 0;
}

int64_t probity_calls_limit_ns(const struct timespec *limit)
{
    return probity_calls_can_read(limit, sizeof *limit)
               ? (int64_t)limit->tv_sec * 1000000000 + limit->tv_nsec
               : -1;
}

/* A text that ends on its first page is copied without the slow path. */
void probity_call_enter_path(struct probity_call *call, const char *path)
{
    enum { SHORT_BYTES = 256 };
    const struct probity_value value = {&path, sizeof path, NULL, PROBITY_AT_POINTER};
    struct probity_event_room room;
    uint8_t *at = NULL;
    size_t readable, length = 0;

    if (call->code == 0)
        return;
    readable = path != NULL ? probity_os_readable_bytes(path) : 0;
    readable = readable < SHORT_BYTES ? readable : SHORT_BYTES;
    if (readable > 0)
        length = strnlen(path, readable);
    if (length < readable)
        at = probity_call_room(call, &room, EVENT_ENTER, &probity_calls_path,
                               2 + (uint32_t)length);
    if (at == NULL) {
        probity_call_enter_slow(call, &probity_calls_path, &value);
        return;
    }
    const uint16_t counted = (uint16_t)length;
    at = probity_put_bytes(at, &counted, 2);
    memcpy(at, path, length);
    probity_event_publish(&room);
}

/* ---- Addresses ---------------------------------------------------------------------------------
 */

struct text {
    size_t length;
    char bytes[PROBITY_CALLS_PEER_BYTES];
};

static void put(struct text *text, const char *from, size_t length)
{
    size_t left = sizeof text->bytes - text->length;

    length = length < left ? length : left;
    memcpy(text->bytes + text->length, from, length);
    text->length += length;
}

static void put_number(struct text *text, uint32_t number, uint32_t base)
{
    static const char digit[] = "0123456789abcdef";
    char digits[12];
    size_t first = sizeof digits;

    do {
        digits[--first] = digit[number % base];
        number /= base;
    } while (number != 0);
    put(text, digits + first, sizeof digits - first);
}

static void put_port(struct text *text, in_port_t port)
{
    put(text, ":", 1);
    put_number(text, ntohs(port), 10);
}

static void put_ipv4(struct text *text, const uint8_t bytes[4])
{
    for (int i = 0; i < 4; i++) {
        put(text, ".", i > 0);
        put_number(text, bytes[i], 10);
    }
}

/* Writes an IPv6 address without the longest run of two or more zero groups. */
static void put_ipv6(struct text *text, const uint8_t bytes[16])
{
    int first = 8, most = 1;

    for (int i = 0; i < 8; i++) {
        int count = 0;
        while (i + count < 8 && (bytes[2 * (i + count)] | bytes[2 * (i + count) + 1]) == 0)
            count++;
        if (count > most) {
            first = i;
            most = count;
        }
    }
    for (int i = 0; i < 8; i++) {
        if (i == first) {
            put(text, "::", 2);
            i += most - 1;
            continue;
        }
        put(text, ":", i > 0 && i != first + most);
        put_number(text, (uint32_t)bytes[2 * i] << 8 | bytes[2 * i + 1], 16);
    }
}

static void put_inet6(struct text *text, const struct sockaddr_in6 *address)
{
    put(text, "[", 1);
    put_ipv6(text, address->sin6_addr.s6_addr);
    put(text, "]", 1);
    put_port(text, address->sin6_port);
}

/* Writes the address of a Unix socket: an abstract name begins with a zero, which is shown as @; a
 * socket without a name has none. */
static void put_unix(struct text *text, const struct sockaddr_un *address, size_t length)
{
    size_t bytes = length - offsetof(struct sockaddr_un, sun_path);
    const char *path = address->sun_path;

    put(text, "unix:", 5);
    if (bytes > 0 && path[0] == '\0') {
        put(text, "@", 1);
        put(text, path + 1, bytes - 1);
    } else {
        put(text, path, strnlen(path, bytes));
    }
}

/* Writes an address. Works on a copy, since the program may change the original, which need not be
 * aligned. */
static void put_address(struct text *text, const struct sockaddr *address, socklen_t length)
{
    union {
        struct sockaddr any;
        struct sockaddr_in inet;
        struct sockaddr_in6 inet6;
        struct sockaddr_un local;
    } copy;

    length = length < sizeof copy ? length : (socklen_t)sizeof copy;
    if (length < sizeof(sa_family_t) || !probity_calls_can_read(address, length))
        return;
    memcpy(&copy, address, length);
    if (copy.any.sa_family == AF_INET && length >= sizeof copy.inet) {
        put_ipv4(text, (const uint8_t *)&copy.inet.sin_addr);
        put_port(text, copy.inet.sin_port);
    } else if (copy.any.sa_family == AF_INET6 && length >= sizeof copy.inet6) {
        put_inet6(text, &copy.inet6);
    } else if (copy.any.sa_family == AF_UNIX &&
               length <= offsetof(struct sockaddr_un, sun_path) + sizeof copy.local.sun_path) {
        put_unix(text, &copy.local, length);
    } else {
        put(text, "family ", 7);
        put_number(text, copy.any.sa_family, 10);
    }
}

void probity_call_enter_peer(struct probity_call *call, int fd,
                             const struct sockaddr *address, socklen_t length)
{
    struct text text;

    if (call->code == 0)
        return;
    text.length = 0;
    put_address(&text, address, length);
    const struct probity_value values[] = {{&fd, sizeof fd, NULL, PROBITY_AT_VALUE},
                                           {text.bytes, text.length, NULL, PROBITY_AT_DATA}};
    probity_call_enter_slow(call, &probity_calls_fd_peer, values);
}

void probity_call_leave_peer(struct probity_call *call, int64_t result,
                             const struct sockaddr *address, socklen_t length)
{
    struct text text;

    text.length = 0;
    put_address(&text, address, length);
    const struct probity_value values[] = {{&result, sizeof result, NULL, PROBITY_AT_VALUE},
                                           {text.bytes, text.length, NULL, PROBITY_AT_DATA}};
    probity_call_leave_slow(call, &probity_calls_result_peer, values);
}
