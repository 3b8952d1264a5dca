/* SPDX-License-Identifier: MIT
 *
 * names_threads.h: the functions of the family `threads`, for names.h.
 */
#ifndef PROBITY_CALLS_NAMES_THREADS_H
#define PROBITY_CALLS_NAMES_THREADS_H

#define PROBITY_CALLS_NAMES_THREADS(X)

#endif
