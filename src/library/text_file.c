/* SPDX-License-Identifier: MIT
 *
 * text_file.c: added to, never replaced: what an earlier run or recording printed stays. A pipe
 * that nobody reads is refused, where waiting for a reader would hold up the program.
 */
#include "library/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int probity_text_file_open(const char *wanted, const char *path)
{
    if (strcmp(wanted, "stderr") == 0)
        return STDERR_FILENO;
    if (path[0] == 0) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int low = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (low < 0)
        return -1;
    /* Not one of the standard three, which the caller may lack: libc's messages would go there. */
    int descriptor = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(low);
    if (descriptor >= 0)
        fcntl(descriptor, F_SETFL, O_APPEND);
    return descriptor;
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

    /* Those that the program holds back itself are its own. */
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (sigismember(&guard->before, signals[i]))
            sigdelset(&guard->held, signals[i]);
    }
    while (sigtimedwait(&guard->held, NULL, &now) > 0)
        ;
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}
