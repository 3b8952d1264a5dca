/* SPDX-License-Identifier: MIT
 *
 * io_transfer.c: replacements for functions that read, write, send and receive.
 */
#include "calls/scopes.h"

#define SITE(type, name, parameters) PROBITY_CALLS_SITE("io", type, name, parameters)
#define TRANSFER(site, name, parameters, arguments, bytes)                                         \
    PROBITY_CALLS_SCOPE(PROBITY_CALLS_IO, site, ssize_t, name, parameters, arguments,              \
                        probity_call_enter_fd_number(&call, &probity_calls_fd_bytes, fd, bytes))

/* ---- Read --------------------------------------------------------------------------------------
 */

SITE(ssize_t, read, (int fd, void *buffer, size_t bytes));
TRANSFER(site_read, read, (int fd, void *buffer, size_t bytes), (fd, buffer, bytes), bytes)
TRANSFER(site_read, __read_chk, (int fd, void *buffer, size_t bytes, size_t room),
         (fd, buffer, bytes, room), bytes)

SITE(ssize_t, pread, (int fd, void *buffer, size_t bytes, off_t offset));
TRANSFER(site_pread, pread, (int fd, void *buffer, size_t bytes, off_t offset),
         (fd, buffer, bytes, offset), bytes)
TRANSFER(site_pread, pread64, (int fd, void *buffer, size_t bytes, off64_t offset),
         (fd, buffer, bytes, offset), bytes)
TRANSFER(site_pread, __pread_chk,
         (int fd, void *buffer, size_t bytes, off_t offset, size_t room),
         (fd, buffer, bytes, offset, room), bytes)
TRANSFER(site_pread, __pread64_chk,
         (int fd, void *buffer, size_t bytes, off64_t offset, size_t room),
         (fd, buffer, bytes, offset, room), bytes)

SITE(ssize_t, readv, (int fd, const struct iovec *vector, int count));
TRANSFER(site_readv, readv, (int fd, const struct iovec *vector, int count), (fd, vector, count),
         probity_calls_vector_bytes(vector, (uint64_t)count))

SITE(ssize_t, preadv, (int fd, const struct iovec *vector, int count, off_t offset));
TRANSFER(site_preadv, preadv, (int fd, const struct iovec *vector, int count, off_t offset),
         (fd, vector, count, offset), probity_calls_vector_bytes(vector, (uint64_t)count))
TRANSFER(site_preadv, preadv64, (int fd, const struct iovec *vector, int count, off64_t offset),
         (fd, vector, count, offset), probity_calls_vector_bytes(vector, (uint64_t)count))

SITE(ssize_t, preadv2,
     (int fd, const struct iovec *vector, int count, off_t offset, int flags));
TRANSFER(site_preadv2, preadv2,
         (int fd, const struct iovec *vector, int count, off_t offset, int flags),
         (fd, vector, count, offset, flags), probity_calls_vector_bytes(vector, (uint64_t)count))
TRANSFER(site_preadv2, preadv64v2,
         (int fd, const struct iovec *vector, int count, off64_t offset, int flags),
         (fd, vector, count, offset, flags), probity_calls_vector_bytes(vector, (uint64_t)count))

/* ---- Write -------------------------------------------------------------------------------------
 */

SITE(ssize_t, write, (int fd, const void *buffer, size_t bytes));
TRANSFER(site_write, write, (int fd, const void *buffer, size_t bytes), (fd, buffer, bytes),
         bytes)

SITE(ssize_t, pwrite, (int fd, const void *buffer, size_t bytes, off_t offset));
TRANSFER(site_pwrite, pwrite, (int fd, const void *buffer, size_t bytes, off_t offset),
         (fd, buffer, bytes, offset), bytes)
TRANSFER(site_pwrite, pwrite64, (int fd, const void *buffer, size_t bytes, off64_t offset),
         (fd, buffer, bytes, offset), bytes)

SITE(ssize_t, writev, (int fd, const struct iovec *vector, int count));
TRANSFER(site_writev, writev, (int fd, const struct iovec *vector, int count),
         (fd, vector, count), probity_calls_vector_bytes(vector, (uint64_t)count))

SITE(ssize_t, pwritev, (int fd, const struct iovec *vector, int count, off_t offset));
TRANSFER(site_pwritev, pwritev, (int fd, const struct iovec *vector, int count, off_t offset),
         (fd, vector, count, offset), probity_calls_vector_bytes(vector, (uint64_t)count))
TRANSFER(site_pwritev, pwritev64,
         (int fd, const struct iovec *vector, int count, off64_t offset),
         (fd, vector, count, offset), probity_calls_vector_bytes(vector, (uint64_t)count))

SITE(ssize_t, pwritev2,
     (int fd, const struct iovec *vector, int count, off_t offset, int flags));
TRANSFER(site_pwritev2, pwritev2,
         (int fd, const struct iovec *vector, int count, off_t offset, int flags),
         (fd, vector, count, offset, flags), probity_calls_vector_bytes(vector, (uint64_t)count))
TRANSFER(site_pwritev2, pwritev64v2,
         (int fd, const struct iovec *vector, int count, off64_t offset, int flags),
         (fd, vector, count, offset, flags), probity_calls_vector_bytes(vector, (uint64_t)count))

/* ---- Between descriptors -----------------------------------------------------------------------
 */

/* Recorded for the descriptor that is written to. */
SITE(ssize_t, sendfile, (int fd, int from, off_t *offset, size_t bytes));
TRANSFER(site_sendfile, sendfile, (int fd, int from, off_t *offset, size_t bytes),
         (fd, from, offset, bytes), bytes)
TRANSFER(site_sendfile, sendfile64, (int fd, int from, off64_t *offset, size_t bytes),
         (fd, from, offset, bytes), bytes)

/* Recorded for the descriptor that is read. */
SITE(ssize_t, splice,
     (int fd, off64_t *offset, int to, off64_t *to_offset, size_t bytes, unsigned flags));
TRANSFER(site_splice, splice,
         (int fd, off64_t *offset, int to, off64_t *to_offset, size_t bytes, unsigned flags),
         (fd, offset, to, to_offset, bytes, flags), bytes)

SITE(ssize_t, tee, (int fd, int to, size_t bytes, unsigned flags));
TRANSFER(site_tee, tee, (int fd, int to, size_t bytes, unsigned flags), (fd, to, bytes, flags),
         bytes)

SITE(ssize_t, copy_file_range,
     (int fd, off64_t *offset, int to, off64_t *to_offset, size_t bytes, unsigned flags));
TRANSFER(site_copy_file_range, copy_file_range,
         (int fd, off64_t *offset, int to, off64_t *to_offset, size_t bytes, unsigned flags),
         (fd, offset, to, to_offset, bytes, flags), bytes)

/* Reads or writes, depending on the end of the pipe. */
SITE(ssize_t, vmsplice,
     (int fd, const struct iovec *vector, size_t count, unsigned flags));
TRANSFER(site_vmsplice, vmsplice,
         (int fd, const struct iovec *vector, size_t count, unsigned flags),
         (fd, vector, count, flags), probity_calls_vector_bytes(vector, count))

/* ---- Sockets -----------------------------------------------------------------------------------
 */

SITE(ssize_t, send, (int fd, const void *buffer, size_t bytes, int flags));
TRANSFER(site_send, send, (int fd, const void *buffer, size_t bytes, int flags),
         (fd, buffer, bytes, flags), bytes)

SITE(ssize_t, sendto, (int fd, const void *buffer, size_t bytes, int flags,
                       const struct sockaddr *address, socklen_t length));
TRANSFER(site_sendto, sendto,
         (int fd, const void *buffer, size_t bytes, int flags, __CONST_SOCKADDR_ARG address,
          socklen_t length),
         (fd, buffer, bytes, flags, address, length), bytes)

SITE(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags));
TRANSFER(site_sendmsg, sendmsg, (int fd, const struct msghdr *message, int flags),
         (fd, message, flags), probity_calls_message_bytes(message))

SITE(ssize_t, recv, (int fd, void *buffer, size_t bytes, int flags));
TRANSFER(site_recv, recv, (int fd, void *buffer, size_t bytes, int flags),
         (fd, buffer, bytes, flags), bytes)
TRANSFER(site_recv, __recv_chk, (int fd, void *buffer, size_t bytes, size_t room, int flags),
         (fd, buffer, bytes, room, flags), bytes)

SITE(ssize_t, recvfrom, (int fd, void *buffer, size_t bytes, int flags, struct sockaddr *address,
                         socklen_t *length));
TRANSFER(site_recvfrom, recvfrom,
         (int fd, void *buffer, size_t bytes, int flags, __SOCKADDR_ARG address,
          socklen_t *length),
         (fd, buffer, bytes, flags, address, length), bytes)
TRANSFER(site_recvfrom, __recvfrom_chk,
         (int fd, void *buffer, size_t bytes, size_t room, int flags, __SOCKADDR_ARG address,
          socklen_t *length),
         (fd, buffer, bytes, room, flags, address, length), bytes)

SITE(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags));
TRANSFER(site_recvmsg, recvmsg, (int fd, struct msghdr *message, int flags),
         (fd, message, flags), probity_calls_message_bytes(message))

/* Functions for several messages: these record their number instead of bytes. */
SITE(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags));
PROBITY_CALLS_SCOPE(PROBITY_CALLS_IO, site_sendmmsg, int, sendmmsg,
                    (int fd, struct mmsghdr *messages, unsigned count, int flags),
                    (fd, messages, count, flags),
                    probity_call_enter_fd_number(&call, &probity_calls_fd_count, fd, count))

SITE(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags,
                     struct timespec *limit));
PROBITY_CALLS_SCOPE(PROBITY_CALLS_IO, site_recvmmsg, int, recvmmsg,
                    (int fd, struct mmsghdr *messages, unsigned count, int flags,
                     struct timespec *limit),
                    (fd, messages, count, flags, limit),
                    probity_call_enter_fd_number(&call, &probity_calls_fd_count, fd, count))
