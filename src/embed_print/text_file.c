/* SPDX-License-Identifier: MIT
 *
 * text_file.c: opens files to append to them, never to replace them: the output of an earlier run
 * or recording is kept. A pipe without a reader is rejected, because waiting for one would block
 * the program.
 */
#include "embed_print/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Follows a symbolic link only if this user or root created it: /dev/stderr is a link, but in a
 * shared directory another user may have created one to redirect the output to another file. */
static int open_by_link(const char *path, int flags)
{
    struct stat status;

    if (lstat(path, &status) != 0)
        return -1;
    if (!S_ISLNK(status.st_mode) || (status.st_uid != geteuid() && status.st_uid != 0)) {
        errno = ELOOP;
        return -1;
    }
    return open(path, flags, 0666);
}

int probity_text_file_open(int stream, const char *path)
{
    if (stream >= 0)
        return stream;
    if (path[0] == 0) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int low = open(path, flags | O_NOFOLLOW, 0666);
    if (low < 0 && errno == ELOOP)
        low = open_by_link(path, flags);
    if (low < 0)
        return -1;
    /* Not a standard descriptor, which the caller may have closed: libc's messages would go to this
     * file. */
    int descriptor = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(low);
    if (descriptor >= 0)
        fcntl(descriptor, F_SETFL, O_APPEND);
    return descriptor;
}

void probity_text_file_close(int descriptor)
{
    if (descriptor > STDERR_FILENO)
        close(descriptor);
}

void probity_text_guard_begin(struct probity_text_guard *ret_guard)
{
    sigemptyset(&ret_guard->held);
    sigaddset(&ret_guard->held, SIGXFSZ);
    sigaddset(&ret_guard->held, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &ret_guard->held, &ret_guard->before);
}

void probity_text_guard_end(struct probity_text_guard *guard)
{
    static const int signals[] = {SIGXFSZ, SIGPIPE};
    const struct timespec now = {0, 0};

    /* Signals that the program itself blocks are left alone. */
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (sigismember(&guard->before, signals[i]))
            sigdelset(&guard->held, signals[i]);
    }
    while (sigtimedwait(&guard->held, NULL, &now) > 0)
        ;
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}
