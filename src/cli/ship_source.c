/* SPDX-License-Identifier: MIT
 *
 * ship_source.c: uses locks and leases of the kernel, which end with this process. One file in a
 * directory has the locks of all runs, each on one byte, so nothing has to be removed. The file
 * remains empty.
 */
#include "cli/ship_source.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "fleet/numbers.h"

static const char lock_name[] = ".probity-ship.lock";

/* ---- Writers -----------------------------------------------------------------------------------
 */

/* A read lease is refused while any process has the file open for writing. Only the file's owner
 * may take one. If a process opens the file in between, the kernel sends SIGIO. */
static int is_open_for_writing(int file)
{
    signal(SIGIO, SIG_IGN);
    if (fcntl(file, F_SETLEASE, F_RDLCK) != 0)
        return errno == EAGAIN;
    fcntl(file, F_SETLEASE, F_UNLCK);
    return 0;
}

int cli_ship_is_written(const char *path, uint64_t settle_ms)
{
    int file = probity_os_open_regular(AT_FDCWD, path, O_RDONLY);
    struct timespec now;
    struct stat status;

    if (file < 0)
        return 0;
    int is_written = is_open_for_writing(file);
    if (!is_written && settle_ms > 0 && fstat(file, &status) == 0) {
        clock_gettime(CLOCK_REALTIME, &now);
        int64_t ms = (int64_t)(now.tv_sec - status.st_mtim.tv_sec) * 1000 +
                     (now.tv_nsec - status.st_mtim.tv_nsec) / 1000000;
        is_written = ms >= 0 && (uint64_t)ms < settle_ms;
    }
    close(file);
    return is_written;
}

/* ---- Senders -----------------------------------------------------------------------------------
 */

static int open_lock(const char *trace)
{
    const char *slash = strrchr(trace, '/');
    int directory_bytes = slash != NULL ? (int)(slash - trace) + 1 : 0;
    struct stat status;
    char *path;

    if (asprintf(&path, "%.*s%s", directory_bytes, trace, lock_name) < 0)
        return -1;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666);
    free(path);
    if (file >= 0 && (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(file);
        errno = EINVAL;
        return -1;
    }
    return file;
}

int cli_ship_lock_run(const char *trace, const char *url, uint64_t run)
{
    uint64_t hash = probity_fleet_hash(PROBITY_FLEET_HASH_SEED, url, strlen(url) + 1);
    struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    int file = open_lock(trace);

    if (file < 0)
        return CLI_SHIP_LOCK_FAILED;
    byte.l_start = (off_t)((hash ^ run) & (UINT64_MAX >> 2));
    if (fcntl(file, F_OFD_SETLK, &byte) == 0)
        return file;
    int error = errno;
    close(file);
    errno = error;
    return error == EAGAIN || error == EACCES ? CLI_SHIP_LOCK_BUSY : CLI_SHIP_LOCK_FAILED;
}
