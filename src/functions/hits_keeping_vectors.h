/* SPDX-License-Identifier: MIT
 *
 * hits_keeping_vectors.h: probity_scope.h for code that runs while vector registers are in use
 * (sled_calls.c, site_calls.c): functions called in unusual cases save these registers.
 */
#ifndef PROBITY_FUNCTIONS_HITS_KEEPING_VECTORS_H
#define PROBITY_FUNCTIONS_HITS_KEEPING_VECTORS_H

#ifdef PROBITY_H
#error "probity.h was included before this: its functions would change vector registers"
#endif

#define probity_probe_slow probity_sled_probe_slow
#define probity_probe_gap probity_sled_probe_gap
#define probity_event_refused probity_site_event_refused
#define probity_event_gap probity_site_event_gap
#include "probity_scope.h"
#undef probity_probe_slow
#undef probity_probe_gap
#undef probity_event_refused
#undef probity_event_gap

PROBITY_API void probity_probe_slow(uint32_t code);
PROBITY_API void probity_probe_gap(uint32_t code, uint64_t slot, uint64_t tick);
PROBITY_API void probity_event_refused(uint64_t slot, uint32_t words);

#endif
