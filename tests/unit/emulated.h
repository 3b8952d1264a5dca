/* SPDX-License-Identifier: MIT
 *
 * emulated.h: for tests that an emulator cannot pass. To be included after cmocka.h.
 */
#ifndef PROBITY_TESTS_UNIT_EMULATED_H
#define PROBITY_TESTS_UNIT_EMULATED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Leaves out the test that calls it, if it runs in qemu (tools/test.sh sets VARIANT). */
static inline void leave_out_if_emulated(const char *why)
{
    const char *variant = getenv("VARIANT");

    if (variant == NULL || strcmp(variant, "aarch64") != 0)
        return;
    printf("left out in qemu: %s\n", why);
    skip();
}

#endif
