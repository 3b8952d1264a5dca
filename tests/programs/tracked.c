/* SPDX-License-Identifier: MIT
 *
 * tracked.c ROUNDS: passes ROUNDS requests from one thread to another, through a queue of at most
 * 8, with a lock that both take. A page on it has many spans in its tracks.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "probity_typed.h"

enum { LENGTH_MAX = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t room, items;
static int queue; /* only its address is used */

static void work(void)
{
    PROBITY_LOCK_WAIT("lock", &lock);
    pthread_mutex_lock(&lock);
    PROBITY_LOCK_HOLD("lock", &lock);
    PROBITY_LOCK_RELEASE("lock", &lock);
    pthread_mutex_unlock(&lock);
}

static void *serve(void *rounds)
{
    for (unsigned long i = 1; i <= *(unsigned long *)rounds; i++) {
        while (sem_wait(&items) != 0)
            continue;
        PROBITY_QUEUE_GET("work", &queue, i);
        sem_post(&room);
        work();
        PROBITY_REQUEST_END("request", i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    pthread_t thread;

    if (sem_init(&room, 0, LENGTH_MAX) != 0 || sem_init(&items, 0, 0) != 0 ||
        pthread_create(&thread, NULL, serve, &rounds) != 0)
        return 1;
    for (unsigned long i = 1; i <= rounds; i++) {
        while (sem_wait(&room) != 0)
            continue;
        PROBITY_REQUEST_BEGIN("request", i);
        work();
        PROBITY_QUEUE_PUT("work", &queue, i);
        sem_post(&items);
    }
    pthread_join(thread, NULL);
    return 0;
}
