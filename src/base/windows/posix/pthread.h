/* SPDX-License-Identifier: MIT
 *
 * posix/pthread.h: threads and their ends, without winpthreads.
 */
#ifndef PROBITY_POSIX_PTHREAD_H
#define PROBITY_POSIX_PTHREAD_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    void *handle;
    uint32_t id;
} pthread_t;
typedef int pthread_attr_t;
typedef uint32_t pthread_key_t;
enum { PTHREAD_CANCEL_DISABLE = 1, PTHREAD_EXPLICIT_SCHED = 1, PTHREAD_CREATE_DETACHED = 1 };

int pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes,
                   void *(*start)(void *), void *argument) __asm__("probity_posix_thread_create");
int pthread_join(pthread_t thread, void **ret_result) __asm__("probity_posix_thread_join");
pthread_t pthread_self(void) __asm__("probity_posix_thread_self");
/* The destructor runs at the end of each thread that has set a value: a fiber-local slot, so that
 * DLL_THREAD_DETACH is not relied upon. */
int pthread_key_create(pthread_key_t *ret_key, void (*destructor)(void *))
    __asm__("probity_posix_key_create");
int pthread_key_delete(pthread_key_t key) __asm__("probity_posix_key_delete");
int pthread_setspecific(pthread_key_t key, const void *value)
    __asm__("probity_posix_setspecific");

static inline int pthread_equal(pthread_t one, pthread_t other)
{
    return one.id == other.id;
}

static inline int pthread_attr_init(pthread_attr_t *attributes)
{
    *attributes = 0;
    return 0;
}

static inline int pthread_attr_destroy(pthread_attr_t *attributes)
{
    (void)attributes;
    return 0;
}

static inline int pthread_attr_setinheritsched(pthread_attr_t *attributes, int how)
{
    (void)attributes;
    (void)how;
    return 0;
}

static inline int pthread_attr_setdetachstate(pthread_attr_t *attributes, int how)
{
    (void)attributes;
    (void)how;
    return 0;
}

/* There is no cancellation. */
static inline int pthread_setcancelstate(int state, int *ret_before)
{
    (void)state;
    if (ret_before != NULL)
        *ret_before = 0;
    return 0;
}

/* There is no fork. */
static inline int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    (void)prepare;
    (void)parent;
    (void)child;
    return 0;
}

#endif
