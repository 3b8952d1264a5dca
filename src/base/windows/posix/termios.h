/* SPDX-License-Identifier: MIT
 *
 * posix/termios.h: settings of terminals, which are never changed.
 */
#ifndef PROBITY_POSIX_TERMIOS_H
#define PROBITY_POSIX_TERMIOS_H

struct termios {
    unsigned c_lflag;
};

#endif
