/* SPDX-License-Identifier: MIT
 *
 * plugin_listed.c: a library that is loaded while listed.c records.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"

int plugin_listed(void);

static int not_plugged(void)
{
    FN_FUNC(int, FN_2);                 /* list: function not_plugged 2 */
    PROBITY_PROBE_NAMED("not plugged"); /* list: site not_plugged - */
    return 0;
}

__attribute__((visibility("default"))) int plugin_listed(void)
{
    FN_FUNC(int, FN_2);             /* list: function plugin_listed 2 */
    PROBITY_PROBE_NAMED("plugged"); /* list: site plugged - */
    return probity_is_recording() ? 3 : not_plugged();
}
