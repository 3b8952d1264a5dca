/* SPDX-License-Identifier: MIT
 *
 * posix/sys/prctl.h: settings of a thread; here only its name.
 */
#ifndef PROBITY_POSIX_SYS_PRCTL_H
#define PROBITY_POSIX_SYS_PRCTL_H

enum { PR_SET_NAME = 15, PR_GET_NAME = 16, PR_GET_SECCOMP = 21 };

/* -1: not available. */
int prctl(int option, ...) __asm__("probity_posix_prctl");

#endif
