/* SPDX-License-Identifier: MIT
 *
 * plugin_close_fails.c: for LD_PRELOAD: close() of a regular file open for writing fails with an
 * input/output error, as on file systems that write only on close.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int close(int descriptor)
{
    struct stat status;
    int mode = fcntl(descriptor, F_GETFL);
    int is_output = mode >= 0 && (mode & O_ACCMODE) != O_RDONLY &&
                    fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);

    if (syscall(SYS_close, descriptor) != 0)
        return -1;
    if (is_output)
        errno = EIO;
    return is_output ? -1 : 0;
}
