/* SPDX-License-Identifier: MIT
 *
 * One request that passes through a queue, and a lock that one thread holds while the other waits,
 * always in the same order. The first thread holds the lock, begins request 7, puts two items and
 * releases the lock once the second thread waits for it; the second thread gets both items and ends
 * the request.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "probity_typed.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_waiting;
static int queue; /* only its address is used */

static void *serve(void *unused)
{
    (void)unused;
    PROBITY_LOCK_WAIT("items", &lock);
    atomic_store(&is_waiting, 1);
    pthread_mutex_lock(&lock);
    PROBITY_LOCK_HOLD("items", &lock);
    PROBITY_QUEUE_GET("work", &queue, 7);
    PROBITY_QUEUE_GET("work", &queue, 8);
    PROBITY_REQUEST_END("request", 7);
    PROBITY_LOCK_RELEASE("items", &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;

    pthread_mutex_lock(&lock);
    PROBITY_LOCK_HOLD("items", &lock);
    PROBITY_REQUEST_BEGIN("request", 7);
    PROBITY_QUEUE_PUT("work", &queue, 7);
    PROBITY_QUEUE_PUT("work", &queue, 8);
    if (pthread_create(&thread, NULL, serve, NULL) != 0)
        return 1;
    while (!atomic_load(&is_waiting))
        continue;
    PROBITY_LOCK_RELEASE("items", &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
