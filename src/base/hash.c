/* SPDX-License-Identifier: MIT
 *
 * hash.c: the object whose address is the secret for all hash functions.
 */
#include "base/hash.h"

const char probity_hash_place = 0;
