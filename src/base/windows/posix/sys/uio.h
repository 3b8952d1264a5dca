/* SPDX-License-Identifier: MIT
 *
 * posix/sys/uio.h: writes several parts.
 */
#ifndef PROBITY_POSIX_SYS_UIO_H
#define PROBITY_POSIX_SYS_UIO_H

#include <sys/types.h>

struct iovec {
    void *iov_base;
    size_t iov_len;
};
ssize_t writev(int descriptor, const struct iovec *parts, int count)
    __asm__("probity_posix_writev");

#endif
