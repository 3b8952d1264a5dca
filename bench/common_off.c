/* SPDX-License-Identifier: MIT
 *
 * common_off.c: the loop of off.c with the probe compiled out.
 */
#define PROBITY_DISABLE 1
#include "common.h"

__attribute__((aligned(64))) uint64_t bench_compiled_out_window(void *context, uint64_t hits)
{
    (void)context;
    uint64_t first = probity_ticks();
    for (uint64_t i = 0; i < hits; i++) {
        PROBITY_PROBE(7);
        __asm__ volatile("" : : : "memory");
    }
    return probity_ticks() - first;
}
