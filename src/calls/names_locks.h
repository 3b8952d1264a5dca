/* SPDX-License-Identifier: MIT
 *
 * names_locks.h: the functions of the family `locks`, for names.h.
 */
#ifndef PROBITY_CALLS_NAMES_LOCKS_H
#define PROBITY_CALLS_NAMES_LOCKS_H

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <unistd.h>

#define PROBITY_CALLS_NAMES_LOCKS(X)                                                               \
    X(pthread_mutex_init) X(pthread_mutex_destroy) X(pthread_mutex_lock) X(pthread_mutex_trylock)  \
    X(pthread_mutex_timedlock) X(pthread_mutex_clocklock) X(pthread_mutex_unlock)                  \
    X(pthread_rwlock_init) X(pthread_rwlock_destroy) X(pthread_rwlock_rdlock)                      \
    X(pthread_rwlock_tryrdlock) X(pthread_rwlock_timedrdlock) X(pthread_rwlock_clockrdlock)        \
    X(pthread_rwlock_wrlock) X(pthread_rwlock_trywrlock) X(pthread_rwlock_timedwrlock)             \
    X(pthread_rwlock_clockwrlock) X(pthread_rwlock_unlock)                                         \
    X(pthread_spin_init) X(pthread_spin_destroy) X(pthread_spin_lock) X(pthread_spin_trylock)      \
    X(pthread_spin_unlock)                                                                         \
    X(sem_init) X(sem_destroy) X(sem_wait) X(sem_trywait) X(sem_timedwait) X(sem_clockwait)        \
    X(sem_post)                                                                                    \
    X(pthread_cond_init) X(pthread_cond_destroy) X(pthread_cond_wait) X(pthread_cond_timedwait)    \
    X(pthread_cond_clockwait) X(pthread_cond_signal) X(pthread_cond_broadcast)                     \
    X(pthread_barrier_init) X(pthread_barrier_destroy) X(pthread_barrier_wait)                     \
    X(pthread_once) X(call_once) X(syscall)                                                        \
    X(mtx_init) X(mtx_destroy) X(mtx_lock) X(mtx_trylock) X(mtx_timedlock) X(mtx_unlock)           \
    X(cnd_init) X(cnd_destroy) X(cnd_wait) X(cnd_timedwait) X(cnd_signal) X(cnd_broadcast)

#endif
