/* SPDX-License-Identifier: MIT
 *
 * posix/sys/utsname.h: names of the machine and of the system.
 */
#ifndef PROBITY_POSIX_SYS_UTSNAME_H
#define PROBITY_POSIX_SYS_UTSNAME_H

struct utsname {
    char sysname[65], nodename[65], release[65], version[65], machine[65];
};
int uname(struct utsname *ret_name) __asm__("probity_posix_uname");

#endif
