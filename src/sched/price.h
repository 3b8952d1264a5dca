/* SPDX-License-Identifier: MIT
 *
 * price.h: measures what the kernel takes for a record of a switch, which depends on the machine:
 * the prices of duty.h follow from it.
 */
#ifndef PROBITY_SCHED_PRICE_H
#define PROBITY_SCHED_PRICE_H

#include <stdint.h>

/* The CPU time that a switch to or from a thread takes longer because it is recorded, in ns; or 0
 * if it cannot be measured: there is no permission, or the CPU is too busy. Takes less than a
 * millisecond of CPU time, and 20 ms at most. */
uint32_t probity_sched_price_ns(void);

#endif
