/* SPDX-License-Identifier: MIT
 *
 * emulated.h: for tests that cannot pass in an emulator. Include after cmocka.h.
 */
#ifndef PROBITY_TESTS_UNIT_EMULATED_H
#define PROBITY_TESTS_UNIT_EMULATED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Skips the calling test in qemu (tools/test.sh sets VARIANT). */
static inline void leave_out_if_emulated(const char *why)
{
    const char *variant = getenv("VARIANT");

    if (variant == NULL || strcmp(variant, "aarch64") != 0)
        return;
    printf("left out in qemu: %s\n", why);
    skip();
}

#endif
