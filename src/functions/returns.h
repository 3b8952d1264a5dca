/* SPDX-License-Identifier: MIT
 *
 * returns.h: whether the code of an object calls __return__. Without -minstrument-return=call a
 * function calls only __fentry__, and its end is not known.
 */
#ifndef PROBITY_FUNCTIONS_RETURNS_H
#define PROBITY_FUNCTIONS_RETURNS_H

#include "base/objects.h"

/* Reads relocations; reads code only in an object into which this library was linked. Any thread,
 * async-signal-safe. */
int probity_object_calls_return(const struct probity_object *object);

#endif
