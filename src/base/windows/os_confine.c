/* SPDX-License-Identifier: MIT
 *
 * windows/os_confine.c: os_confine.h. Does nothing: a thread cannot give up rights of its process.
 */
#include "base/os_confine.h"

void probity_confine_rights(int has_files)
{
    (void)has_files;
}

int probity_confine_calls(void)
{
    return -1;
}
