/* SPDX-License-Identifier: MIT
 *
 * io_wait.c: replacements for functions that wait for descriptors. select() without
 * descriptors is a sleep.
 */
#include "calls/scopes.h"

#define SITE(type, name, parameters) PROBITY_CALLS_SITE("io", type, name, parameters)
#define IO(site, type, name, parameters, arguments, enter)                                         \
    PROBITY_CALLS_SCOPE(PROBITY_CALLS_IO, site, type, name, parameters, arguments, enter)

/* Converts a timeout in milliseconds; negative: none. */
static int64_t limit_of(int milliseconds)
{
    return milliseconds < 0 ? -1 : (int64_t)milliseconds * 1000000;
}

/* ---- poll --------------------------------------------------------------------------------------
 */

#define POLL(site, name, parameters, arguments, limit_ns)                                          \
    IO(site, int, name, parameters, arguments,                                                     \
       probity_call_enter_numbers(&call, &probity_calls_count_limit, count, (uint64_t)(limit_ns)))

SITE(int, poll, (struct pollfd *polled, nfds_t count, int timeout));
POLL(site_poll, poll, (struct pollfd *polled, nfds_t count, int timeout),
     (polled, count, timeout), limit_of(timeout))
POLL(site_poll, __poll_chk, (struct pollfd *polled, nfds_t count, int timeout, size_t room),
     (polled, count, timeout, room), limit_of(timeout))

SITE(int, ppoll, (struct pollfd *polled, nfds_t count, const struct timespec *limit,
                  const sigset_t *mask));
POLL(site_ppoll, ppoll,
     (struct pollfd *polled, nfds_t count, const struct timespec *limit, const sigset_t *mask),
     (polled, count, limit, mask), probity_calls_limit_ns(limit))
POLL(site_ppoll, __ppoll_chk,
     (struct pollfd *polled, nfds_t count, const struct timespec *limit, const sigset_t *mask,
      size_t room),
     (polled, count, limit, mask, room), probity_calls_limit_ns(limit))

/* ---- select ------------------------------------------------------------------------------------
 */

static int64_t limit_of_timeval(const struct timeval *limit)
{
    if (limit == NULL || !probity_calls_can_read(limit, sizeof *limit))
        return -1;
    return (int64_t)limit->tv_sec * 1000000000 + (int64_t)limit->tv_usec * 1000;
}

/* Recorded in both families: the second site of each pair is the sleep. The recorded number is the
 * number of descriptors examined. */
#define SELECT(name, parameters, arguments, limit_ns)                                              \
    PROBITY_CALLS_WRAP_SYSTEM(PROBITY_CALLS_IO | PROBITY_CALLS_SLEEP, int, name, parameters,       \
                              arguments)                                                           \
    {                                                                                              \
        struct probity_call call;                                                                  \
        int is_sleep = count == 0 || (read == NULL && write == NULL && except == NULL);            \
        uint32_t family = is_sleep ? PROBITY_CALLS_SLEEP : PROBITY_CALLS_IO;                       \
                                                                                                   \
        if (!(__atomic_load_n(&probity_calls_shared.on, __ATOMIC_RELAXED) & family) ||             \
            !probity_call_begin(&call, is_sleep ? &sleep_##name : &site_##name))                   \
            return probity_calls_next.name arguments;                                              \
        if (is_sleep)                                                                              \
            probity_call_enter_number(&call, &probity_calls_limit, (uint64_t)(limit_ns));          \
        else                                                                                       \
            probity_call_enter_numbers(&call, &probity_calls_count_limit, (uint64_t)count,         \
                                       (uint64_t)(limit_ns));                                      \
        int result = probity_calls_next.name arguments;                                            \
        probity_call_leave_errno(&call, result);                                                   \
        return result;                                                                             \
    }

#define SELECT_SIGNATURE                                                                           \
    "int select(int count, fd_set *read, fd_set *write, fd_set *except, struct timeval *limit)"
static struct probity_site_function site_select = {
    "select", "libc/io", SELECT_SIGNATURE, "int", 0, 1, 0, 0, 0, 0};
static struct probity_site_function sleep_select = {
    "select", "libc/sleep", SELECT_SIGNATURE, "int", 0, 1, 0, 0, 0, 0};
SELECT(select,
       (int count, fd_set *read, fd_set *write, fd_set *except, struct timeval *limit),
       (count, read, write, except, limit), limit_of_timeval(limit))

#define PSELECT_SIGNATURE                                                                          \
    "int pselect(int count, fd_set *read, fd_set *write, fd_set *except, "                         \
    "const struct timespec *limit, const sigset_t *mask)"
static struct probity_site_function site_pselect = {
    "pselect", "libc/io", PSELECT_SIGNATURE, "int", 0, 1, 0, 0, 0, 0};
static struct probity_site_function sleep_pselect = {
    "pselect", "libc/sleep", PSELECT_SIGNATURE, "int", 0, 1, 0, 0, 0, 0};
SELECT(pselect,
       (int count, fd_set *read, fd_set *write, fd_set *except, const struct timespec *limit,
        const sigset_t *mask),
       (count, read, write, except, limit, mask), probity_calls_limit_ns(limit))

/* ---- epoll -------------------------------------------------------------------------------------
 */

#define EPOLL(site, name, parameters, arguments, limit_ns)                                         \
    IO(site, int, name, parameters, arguments,                                                     \
       probity_call_enter_fd_number(&call, &probity_calls_fd_limit, fd, (uint64_t)(limit_ns)))

SITE(int, epoll_wait, (int fd, struct epoll_event *events, int count, int timeout));
EPOLL(site_epoll_wait, epoll_wait,
      (int fd, struct epoll_event *events, int count, int timeout),
      (fd, events, count, timeout), limit_of(timeout))

SITE(int, epoll_pwait, (int fd, struct epoll_event *events, int count, int timeout,
                        const sigset_t *mask));
EPOLL(site_epoll_pwait, epoll_pwait,
      (int fd, struct epoll_event *events, int count, int timeout, const sigset_t *mask),
      (fd, events, count, timeout, mask), limit_of(timeout))

SITE(int, epoll_pwait2, (int fd, struct epoll_event *events, int count,
                         const struct timespec *limit, const sigset_t *mask));
EPOLL(site_epoll_pwait2, epoll_pwait2,
      (int fd, struct epoll_event *events, int count, const struct timespec *limit,
       const sigset_t *mask),
      (fd, events, count, limit, mask), probity_calls_limit_ns(limit))

SITE(int, epoll_ctl, (int fd, int operation, int watched, struct epoll_event *event));
IO(site_epoll_ctl, int, epoll_ctl,
   (int fd, int operation, int watched, struct epoll_event *event),
   (fd, operation, watched, event), probity_call_enter_fd(&call, fd))

SITE(int, epoll_create, (int size));
IO(site_epoll_create, int, epoll_create, (int size), (size), probity_call_enter(&call))

SITE(int, epoll_create1, (int flags));
IO(site_epoll_create1, int, epoll_create1, (int flags), (flags), probity_call_enter(&call))
