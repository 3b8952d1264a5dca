/* SPDX-License-Identifier: MIT
 *
 * names_memory.h: the functions of the family `memory`, for names.h.
 */
#ifndef PROBITY_CALLS_NAMES_MEMORY_H
#define PROBITY_CALLS_NAMES_MEMORY_H

#define PROBITY_CALLS_NAMES_MEMORY(X)

#endif
