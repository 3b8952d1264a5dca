/* SPDX-License-Identifier: MIT
 *
 * names.h: the functions of libc that this library replaces, by family. X(name) is used for the
 * table of libc's functions. Declares the functions that no header of libc declares.
 */
#ifndef PROBITY_CALLS_NAMES_H
#define PROBITY_CALLS_NAMES_H

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "calls/names_locks.h"
#include "calls/names_memory.h"
#include "calls/names_threads.h"

/* Functions that compiled code calls with -D_FORTIFY_SOURCE. The last argument other than flags is
 * the size of the buffer. */
ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *buffer, size_t bytes, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *buffer, size_t bytes, off64_t offset, size_t room);
ssize_t __recv_chk(int fd, void *buffer, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buffer, size_t bytes, size_t room, int flags,
                       __SOCKADDR_ARG address, socklen_t *length);
int __poll_chk(struct pollfd *polled, nfds_t count, int timeout, size_t room);
int __ppoll_chk(struct pollfd *polled, nfds_t count, const struct timespec *limit,
                const sigset_t *mask, size_t room);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int directory, const char *path, int flags);
int __openat64_2(int directory, const char *path, int flags);
int epoll_pwait2(int fd, struct epoll_event *events, int count, const struct timespec *limit,
                 const sigset_t *mask);
int close_range(unsigned first, unsigned last, int flags);
void closefrom(int first);

#define PROBITY_CALLS_NAMES_LOADING(X) X(dlopen) X(dlsym)

#define PROBITY_CALLS_NAMES_IO(X)                                                                  \
    X(read) X(__read_chk) X(pread) X(pread64) X(__pread_chk) X(__pread64_chk) X(readv) X(preadv)   \
    X(preadv64) X(preadv2) X(preadv64v2) X(write) X(pwrite) X(pwrite64) X(writev) X(pwritev)       \
    X(pwritev64) X(send) X(sendto) X(sendmsg) X(sendmmsg) X(recv) X(__recv_chk) X(recvfrom)        \
    X(__recvfrom_chk) X(recvmsg) X(recvmmsg) X(sendfile) X(sendfile64) X(splice) X(tee)            \
    X(vmsplice) X(copy_file_range) X(pwritev2) X(pwritev64v2) X(accept) X(accept4) X(connect)      \
    X(socket) X(socketpair) X(listen) X(bind) X(shutdown) X(poll) X(__poll_chk) X(ppoll)           \
    X(__ppoll_chk) X(select) X(pselect) X(epoll_wait) X(epoll_pwait) X(epoll_pwait2) X(epoll_ctl)  \
    X(epoll_create) X(epoll_create1) X(eventfd) X(timerfd_create) X(signalfd) X(inotify_init)      \
    X(inotify_init1) X(memfd_create) X(fclose) X(closedir) X(open) X(open64) X(openat)             \
    X(openat64) X(__open_2) X(__open64_2) X(__openat_2) X(__openat64_2) X(creat) X(creat64)        \
    X(close) X(close_range) X(closefrom) X(dup) X(dup2) X(dup3) X(pipe) X(pipe2) X(fcntl)          \
    X(fcntl64) X(fsync) X(fdatasync)

#define PROBITY_CALLS_NAMES_SLEEP(X)                                                               \
    X(nanosleep) X(clock_nanosleep) X(usleep) X(sleep) X(sched_yield) X(thrd_sleep) X(thrd_yield)

#define PROBITY_CALLS_NAMES(X)                                                                     \
    PROBITY_CALLS_NAMES_LOADING(X)                                                                 \
    PROBITY_CALLS_NAMES_IO(X)                                                                      \
    PROBITY_CALLS_NAMES_SLEEP(X)                                                                   \
    PROBITY_CALLS_NAMES_MEMORY(X)                                                                  \
    PROBITY_CALLS_NAMES_LOCKS(X)                                                                   \
    PROBITY_CALLS_NAMES_THREADS(X)

#endif
