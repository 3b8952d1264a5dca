/* SPDX-License-Identifier: MIT
 *
 * io_sockets.c: replacements for functions that create and connect sockets.
 */
#include "calls/scopes.h"

#define SITE(type, name, parameters) PROBITY_CALLS_SITE("io", type, name, parameters)
#define IO(site, type, name, parameters, arguments, enter)                                         \
    PROBITY_CALLS_SCOPE(PROBITY_CALLS_IO, site, type, name, parameters, arguments, enter)

/* Data of a call that requests the peer's address even if the program does not. */
struct accepted {
    struct sockaddr_storage own;
    socklen_t own_bytes, room;
    __SOCKADDR_ARG address;
    socklen_t *bytes;
};

static void accept_begin(struct accepted *accepted, struct sockaddr *address, socklen_t *bytes)
{
    accepted->address.__sockaddr__ = address;
    accepted->bytes = bytes;
    accepted->room = 0;
    if (address == NULL && bytes == NULL) {
        accepted->own_bytes = sizeof accepted->own;
        accepted->address.__sockaddr__ = (struct sockaddr *)&accepted->own;
        accepted->bytes = &accepted->own_bytes;
        accepted->room = sizeof accepted->own;
    } else if (address != NULL && probity_calls_can_read(bytes, sizeof *bytes)) {
        accepted->room = *bytes;
    }
}

/* The kernel has stored the address in the program's buffer, and its full length. */
static void accept_end(struct probity_call *call, int result, const struct accepted *accepted)
{
    if (result < 0) {
        probity_call_leave_error(call, result, errno);
        return;
    }
    socklen_t bytes = accepted->room > 0 ? *accepted->bytes : 0;
    probity_call_leave_peer(call, result, accepted->address.__sockaddr__,
                            bytes < accepted->room ? bytes : accepted->room);
}

SITE(int, accept, (int fd, struct sockaddr *address, socklen_t *length));
PROBITY_CALLS_WRAP_SYSTEM(PROBITY_CALLS_IO, int, accept,
                          (int fd, __SOCKADDR_ARG address, socklen_t *length),
                          (fd, address, length))
{
    struct probity_call call;
    struct accepted accepted;

    if (!probity_call_begin(&call, &site_accept))
        return probity_calls_next.accept(fd, address, length);
    accept_begin(&accepted, address.__sockaddr__, length);
    probity_call_enter_fd(&call, fd);
    int result = probity_calls_next.accept(fd, accepted.address, accepted.bytes);
    accept_end(&call, result, &accepted);
    return result;
}

SITE(int, accept4, (int fd, struct sockaddr *address, socklen_t *length, int flags));
PROBITY_CALLS_WRAP_SYSTEM(PROBITY_CALLS_IO, int, accept4,
                          (int fd, __SOCKADDR_ARG address, socklen_t *length, int flags),
                          (fd, address, length, flags))
{
    struct probity_call call;
    struct accepted accepted;

    if (!probity_call_begin(&call, &site_accept4))
        return probity_calls_next.accept4(fd, address, length, flags);
    accept_begin(&accepted, address.__sockaddr__, length);
    probity_call_enter_fd(&call, fd);
    int result = probity_calls_next.accept4(fd, accepted.address, accepted.bytes, flags);
    accept_end(&call, result, &accepted);
    return result;
}

SITE(int, connect, (int fd, const struct sockaddr *address, socklen_t length));
IO(site_connect, int, connect, (int fd, __CONST_SOCKADDR_ARG address, socklen_t length),
   (fd, address, length),
   probity_call_enter_peer(&call, fd, address.__sockaddr__, length))

SITE(int, bind, (int fd, const struct sockaddr *address, socklen_t length));
IO(site_bind, int, bind, (int fd, __CONST_SOCKADDR_ARG address, socklen_t length),
   (fd, address, length),
   probity_call_enter_peer(&call, fd, address.__sockaddr__, length))

SITE(int, socket, (int domain, int type, int protocol));
IO(site_socket, int, socket, (int domain, int type, int protocol), (domain, type, protocol),
   probity_call_enter(&call))

SITE(int, listen, (int fd, int backlog));
IO(site_listen, int, listen, (int fd, int backlog), (fd, backlog),
   probity_call_enter_fd(&call, fd))

SITE(int, shutdown, (int fd, int how));
IO(site_shutdown, int, shutdown, (int fd, int how), (fd, how), probity_call_enter_fd(&call, fd))

SITE(int, socketpair, (int domain, int type, int protocol, int *pair));
PROBITY_CALLS_WRAP_SYSTEM(PROBITY_CALLS_IO, int, socketpair,
                          (int domain, int type, int protocol, int pair[2]),
                          (domain, type, protocol, pair))
{
    struct probity_call call;

    if (!probity_call_begin(&call, &site_socketpair))
        return probity_calls_next.socketpair(domain, type, protocol, pair);
    probity_call_enter(&call);
    int result = probity_calls_next.socketpair(domain, type, protocol, pair);
    if (result == 0)
        probity_call_leave_pair(&call, result, pair);
    else
        probity_call_leave_error(&call, result, errno);
    return result;
}
