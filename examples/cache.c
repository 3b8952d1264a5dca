/* SPDX-License-Identifier: MIT
 *
 * cache.c: a program without probes whose threads wait for each other, for README.md. Compile it
 * with -finstrument-functions and record it with `probity record --functions --calls locks,sleep`.
 */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begun, done;

static void rebuild(void)
{
    pthread_mutex_lock(&cache_lock);
    pthread_barrier_wait(&begun);
    usleep(20000);
    pthread_mutex_unlock(&cache_lock);
}

static void lookup(void)
{
    pthread_mutex_lock(&cache_lock);
    pthread_mutex_unlock(&cache_lock);
}

static void *maintain(void *unused)
{
    for (int i = 0; i < 3; i++) {
        rebuild();
        pthread_barrier_wait(&done);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_barrier_init(&begun, NULL, 2);
    pthread_barrier_init(&done, NULL, 2);
    pthread_create(&thread, NULL, maintain, NULL);
    for (int i = 0; i < 3; i++) {
        pthread_barrier_wait(&begun);
        lookup();
        pthread_barrier_wait(&done);
    }
    return pthread_join(thread, NULL);
}
