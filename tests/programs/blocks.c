/* SPDX-License-Identifier: MIT
 *
 * blocks.c: threads that pass probes, and work or wait in between, for `probity blocks`. The names
 * of probes and sites need quotes in CSV.
 *
 *     blocks [alike]    alike: probe 3 and a site named "3", three hits each
 */
#include <probity.h>

#include <pthread.h>
#include <stdint.h>
#include <time.h>

enum { THREADS = 4, STEPS = 5000 };

static void spend(uint32_t random)
{
    volatile uint32_t spin = random % 7 == 0 ? random % 20000 : random % 300;

    while (spin > 0)
        spin--;
    if (random % 61 == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1 + random % 200000}, NULL);
}

static void *walk(void *argument)
{
    uint32_t random = 1 + (uint32_t)(intptr_t)argument;

    for (int step = 0; step < STEPS; step++) {
        random = random * 1664525u + 1013904223u;
        uint32_t drawn = random >> 8;
        switch (drawn % 5) {
        case 0: PROBITY_PROBE(1); break;
        case 1: PROBITY_PROBE(2); break;
        case 2: PROBITY_PROBE(1026); break; /* same cache slot as 2 */
        case 3: PROBITY_PROBE_NAMED("queue"); break;
        default: PROBITY_PROBE_NAMED("a, \"b\""); break;
        }
        if (drawn % 11 == 0)
            PROBITY_PROBE_NAMED("queue"); /* another site of the same name */
        spend(drawn / 5);
    }
    return NULL;
}

/* A site's name may be a number. */
static void hit_alike(void)
{
    for (int i = 0; i < 3; i++) {
        PROBITY_PROBE(3);
        PROBITY_PROBE_NAMED("3");
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];

    (void)argv;
    if (argc > 1) {
        hit_alike();
        return 0;
    }
    probity_probe_set_name(2, "two");
    for (intptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, walk, (void *)i) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
