/* SPDX-License-Identifier: MIT
 *
 * posix/pthread.h: threads and functions called at their ends, without winpthreads.
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
/* The destructor runs at the end of each thread that has set a value. Uses a fiber-local slot, not
 * DLL_THREAD_DETACH. */
int pthread_key_create(pthread_key_t *ret_key, void (*destructor)(void *))
    __asm__("probity_posix_key_create");
int pthread_key_delete(pthread_key_t key) __asm__("probity_posix_key_delete");
int pthread_setspecific(pthread_key_t key, const void *value)
    __asm__("probity_posix_setspecific");

/* Each is one word of the system; zeros mean an unlocked mutex without waiters. */
typedef struct {
    void *word;
} pthread_mutex_t;
typedef struct {
    void *word;
} pthread_cond_t;
#define PTHREAD_MUTEX_INITIALIZER {0}
#define PTHREAD_COND_INITIALIZER {0}

int pthread_mutex_lock(pthread_mutex_t *mutex) __asm__("probity_posix_mutex_lock");
int pthread_mutex_unlock(pthread_mutex_t *mutex) __asm__("probity_posix_mutex_unlock");
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
    __asm__("probity_posix_cond_wait");
int pthread_cond_signal(pthread_cond_t *condition) __asm__("probity_posix_cond_signal");
int pthread_cond_broadcast(pthread_cond_t *condition) __asm__("probity_posix_cond_broadcast");

static inline int pthread_mutex_init(pthread_mutex_t *ret_mutex, const void *attributes)
{
    (void)attributes;
    ret_mutex->word = NULL;
    return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_cond_init(pthread_cond_t *ret_condition, const void *attributes)
{
    (void)attributes;
    ret_condition->word = NULL;
    return 0;
}

static inline int pthread_cond_destroy(pthread_cond_t *condition)
{
    (void)condition;
    return 0;
}

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
