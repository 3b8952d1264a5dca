/* SPDX-License-Identifier: MIT
 *
 * open_sums.h: sums by period (a minute, an hour) to which calls may still be added, in order of
 * creation. The rows of a period are written when it has ended, or when too many sums are open.
 * Each sum has an owner, such as a function in a thread, through which it is found.
 */
#ifndef PROBITY_FLEET_OPEN_SUMS_H
#define PROBITY_FLEET_OPEN_SUMS_H

#include <stddef.h>
#include <stdint.h>

#define PROBITY_FLEET_MINUTE_NS UINT64_C(60000000000)
#define PROBITY_FLEET_DAY_NS (1440 * PROBITY_FLEET_MINUTE_NS)

enum { PROBITY_FLEET_DAY_MINUTES = 1440, PROBITY_FLEET_HOUR_MINUTES = 60 };

/* The beginning of each item of sums; the rest depends on its kind. */
struct probity_fleet_open {
    struct probity_fleet_open *of_owner; /* the next item of the same owner */
    struct probity_fleet_open *next;     /* the next item in order */
    struct probity_fleet_open **owner;   /* the first item of the same owner */
    uint64_t period;
};

struct probity_fleet_open_list {
    size_t item_bytes;
    /* Writes the row of a period that has ended, if is_put, and frees the memory of the sums. */
    void (*end)(void *context, struct probity_fleet_open *open, int is_put);
    void *context;
    struct probity_fleet_open *first, *last; /* set and used by these functions */
    size_t count;
};

/* Adds sums of zero. If there are too many, ends all others first. Returns NULL if out of
 * memory. */
void *probity_fleet_open_add(struct probity_fleet_open_list *list,
                             struct probity_fleet_open **owner, uint64_t period);

/* Finds the sums of a period. Returns NULL if there are none. */
static inline void *probity_fleet_open_find(struct probity_fleet_open *open, uint64_t period)
{
    while (open != NULL && open->period != period)
        open = open->of_owner;
    return open;
}

/* Ends all sums. */
void probity_fleet_open_end(struct probity_fleet_open_list *list, int is_put);

/* Returns the start of the period with this number, in seconds, for periods of `minutes`; within
 * the limits of DateTime. */
uint64_t probity_fleet_open_seconds(uint64_t period, unsigned minutes);

#endif
