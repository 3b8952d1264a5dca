/* SPDX-License-Identifier: MIT
 *
 * price.h: measures how much CPU time the kernel takes to record a switch. This depends on the
 * machine, and the prices of duty.h depend on it.
 */
#ifndef PROBITY_SCHED_PRICE_H
#define PROBITY_SCHED_PRICE_H

#include <stdint.h>

/* Returns the additional CPU time of a switch to or from a thread because it is recorded, in ns; 0
 * if it cannot be measured: there is no permission, or the CPU is too busy. Takes less than a
 * millisecond of CPU time, and at most 20 ms. */
uint32_t probity_sched_price_ns(void);

#endif
