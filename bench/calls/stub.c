/* SPDX-License-Identifier: MIT
 *
 * stub.c: the minimum cost of recording the calls of a web server, as a library to be preloaded:
 * each replacement for a function of libc reads the counter and stores RECORD_WORDS words in the
 * thread's buffer of BUFFER_WORDS words, before and after a call that waits for the kernel, and
 * once for a lock. Nothing reads the buffers. RECORD_WORDS=0: it only calls libc's.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>
#include <x86intrin.h>

static __thread uint64_t words[BUFFER_WORDS], at;

static inline void record(uint64_t what)
{
    if (RECORD_WORDS == 0)
        return;
    words[at % BUFFER_WORDS] = __rdtsc();
    for (int i = 1; i < RECORD_WORDS; i++)
        words[(at + (uint64_t)i) % BUFFER_WORDS] = what;
    at += RECORD_WORDS;
}

#define NAMES(each)                                                                                \
    each(recv) each(send) each(openat) each(sendfile) each(close) each(epoll_ctl)                  \
        each(epoll_wait) each(pthread_mutex_lock) each(pthread_mutex_trylock)                      \
            each(pthread_mutex_unlock) each(pthread_cond_signal) each(pthread_cond_wait)

#define MEMBER(name) __typeof__(name) *name;
static struct { NAMES(MEMBER) } next;

#define FIND(name) *(void **)&next.name = dlsym(RTLD_NEXT, #name);
__attribute__((constructor)) static void find(void)
{
    NAMES(FIND)
    /* There is an older version of these, with a different layout. */
    *(void **)&next.pthread_cond_signal = dlvsym(RTLD_NEXT, "pthread_cond_signal", "GLIBC_2.3.2");
    *(void **)&next.pthread_cond_wait = dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2");
}

#define REPLACE(type, name, parameters, arguments)                                                 \
    type name parameters                                                                           \
    {                                                                                              \
        record(1);                                                                                 \
        type result = next.name arguments;                                                         \
        record((uint64_t)result);                                                                  \
        return result;                                                                             \
    }

REPLACE(ssize_t, recv, (int fd, void *buffer, size_t bytes, int flags), (fd, buffer, bytes, flags))
REPLACE(ssize_t, send, (int fd, const void *buffer, size_t bytes, int flags),
        (fd, buffer, bytes, flags))
REPLACE(int, openat, (int fd, const char *path, int flags, ...), (fd, path, flags, 0))
REPLACE(ssize_t, sendfile, (int fd, int from, off_t *offset, size_t bytes),
        (fd, from, offset, bytes))
REPLACE(int, close, (int fd), (fd))
REPLACE(int, epoll_ctl, (int fd, int operation, int watched, struct epoll_event *event),
        (fd, operation, watched, event))
REPLACE(int, epoll_wait, (int fd, struct epoll_event *events, int count, int timeout),
        (fd, events, count, timeout))
REPLACE(int, pthread_cond_wait, (pthread_cond_t *condition, pthread_mutex_t *mutex),
        (condition, mutex))

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    int error = next.pthread_mutex_lock(mutex);

    record((uintptr_t)mutex);
    return error;
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    int error = next.pthread_mutex_trylock(mutex);

    if (error == 0)
        record((uintptr_t)mutex);
    return error;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    record((uintptr_t)mutex);
    return next.pthread_mutex_unlock(mutex);
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    record((uintptr_t)condition);
    return next.pthread_cond_signal(condition);
}
