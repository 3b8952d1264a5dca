/* SPDX-License-Identifier: MIT
 *
 * main.c: one program for all death tests. Runs in an empty working directory, with
 * PROBITY_SPOOL_DIR set to another empty one. Exit status 1 if a record is lost, torn, invented or
 * duplicated, or if files remain that cannot be cleaned up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "death/death.h"

static uint64_t state = 1;

void death_seed(uint64_t seed)
{
    state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

/* splitmix64 */
uint64_t death_random(void)
{
    uint64_t mixed = state += UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

void death_die(const char *what)
{
    perror(what);
    exit(99);
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";

    death_truth_map();
    if (strcmp(part, "steps") == 0)
        return death_steps_main(argc, argv);
    if (strcmp(part, "calls") == 0)
        return death_calls_main(argc, argv);
    if (strcmp(part, "random") == 0)
        return death_random_main(argc, argv);
    if (strcmp(part, "storm") == 0 || strcmp(part, "jump") == 0)
        return death_storm_main(argc, argv);
    return death_life_main(argc, argv);
}
