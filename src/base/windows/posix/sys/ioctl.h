/* SPDX-License-Identifier: MIT
 *
 * posix/sys/ioctl.h: the size of the console's window.
 */
#ifndef PROBITY_POSIX_SYS_IOCTL_H
#define PROBITY_POSIX_SYS_IOCTL_H

struct winsize {
    unsigned short ws_row, ws_col;
};
enum { TIOCGWINSZ = 0x5413 };

/* Fails if the descriptor is not a console. */
int ioctl(int descriptor, unsigned long request, struct winsize *ret_size)
    __asm__("probity_posix_ioctl");

#endif
