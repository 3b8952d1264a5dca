/* SPDX-License-Identifier: MIT
 *
 * switched_plugin.c: a library with a named site, for switched_sites.c.
 */
#include "probity.h"

void hit_plugin(void);

void hit_plugin(void)
{
    PROBITY_PROBE_NAMED("plugin");
}
