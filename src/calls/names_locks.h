/* SPDX-License-Identifier: MIT
 *
 * names_locks.h: the functions of the family `locks`, for names.h.
 */
#ifndef PROBITY_CALLS_NAMES_LOCKS_H
#define PROBITY_CALLS_NAMES_LOCKS_H

#define PROBITY_CALLS_NAMES_LOCKS(X)

#endif
