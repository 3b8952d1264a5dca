/* SPDX-License-Identifier: MIT
 *
 * scatter.c: the place whose address is the secret of all hash tables.
 */
#include "base/scatter.h"

const char probity_scatter_place = 0;
