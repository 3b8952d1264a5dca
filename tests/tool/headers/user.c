/* SPDX-License-Identifier: MIT */
/* For checks of the headers: every macro of probity.h. */
#include "probity.h"
extern int user_probe(unsigned short small, long large);
int user_probe(unsigned short small, long large)
{
    if (small)
        PROBITY_PROBE(small);
    else
        PROBITY_PROBE_NAMED("named");
    PROBITY_PROBE(7);
    PROBITY_PROBE(large);
    return probity_is_recording();
}
