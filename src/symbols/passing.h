/* SPDX-License-Identifier: MIT
 *
 * passing.h: derives, from their types, the places of a function's arguments and results when it is
 * entered and left: System V ABI, AMD64, 3.2.3; AAPCS64; and the Itanium C++ ABI, 3.1.2.
 */
#ifndef PROBITY_SYMBOLS_PASSING_H
#define PROBITY_SYMBOLS_PASSING_H

#include "base/arguments.h"
#include "symbols/types.h"

enum symbols_passed {
    SYMBOLS_PASSED_NOT,        /* nothing is passed: void, an empty class */
    SYMBOLS_PASSED_IN_PLACES,  /* each unit of bytes has a place */
    SYMBOLS_PASSED_BY_ADDRESS, /* a place contains the address of a C++ object */
    SYMBOLS_PASSED_IN_MEMORY,  /* an argument on the stack, too large for values to be shown */
    SYMBOLS_PASSED_IN_X87,     /* a result in an x87 register */
    SYMBOLS_PASSED_LOST        /* unknown, as is the place of everything after it */
};

/* Registers and stack words used by the arguments so far. machine: EM_X86_64 or EM_AARCH64. */
struct symbols_taken {
    uint16_t machine, general, vector, stack;
    int is_lost;
};

/* unit: 8, except for floating-point numbers on AArch64, which have one register each: then 4, 8 or
 * 16. */
enum { SYMBOLS_PLACES_MAX = 4 };
struct symbols_passing {
    enum symbols_passed how;
    uint8_t unit, count; /* count: number of places */
    struct probity_arguments_place place[SYMBOLS_PLACES_MAX];
};

struct symbols_passing symbols_pass_argument(const struct symbols_type *type,
                                             struct symbols_taken *taken);
struct symbols_passing symbols_pass_result(const struct symbols_type *type, uint16_t machine);

/* Whether the caller passes the address of a result in memory like a first argument. */
int symbols_address_is_argument(uint16_t machine);

#endif
