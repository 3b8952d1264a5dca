/* SPDX-License-Identifier: MIT
 *
 * wake_page.c: requests through its control page that a process start recording; the tool's side of
 * doc/attach.md, "The control page". Never runs in a traced program. Other users could create such
 * a page in their own directories, so it is used only if the page and its directory belong to the
 * caller, and the program holds the lock. Its content is only displayed and compared.
 */
#include "writer/wake_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "base/sigbus_guard.h"
#include "probity.h"
#include "spool/control_page.h"
#include "spool/place.h"

enum { ANSWER_NS = 100000000 };

static const struct timespec a_moment = {0, 200000};

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- The file ----------------------------------------------------------------------------------
 */

/* Returns the id of a process in its own PID namespace. */
static uint32_t own_pid_of(uint32_t pid)
{
    char path[40], line[256];
    uint32_t own = pid;

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/status", pid);
    FILE *status = fopen(path, "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        const char *last = strrchr(line, '\t');
        if (strncmp(line, "NSpid:", 6) == 0 && last != NULL)
            own = (uint32_t)strtoul(last, NULL, 10);
    }
    if (status != NULL)
        fclose(status);
    return own;
}

static int open_page(uint32_t pid)
{
    const char *wanted = getenv("PROBITY_SPOOL_DIR");
    char path[64], name[32];
    struct stat status;
    int file = -1;

    probity_place_default(geteuid(), path, sizeof path);
    int directory = probity_place_open_directory(wanted != NULL && *wanted != 0 ? wanted : path,
                                                 geteuid());
    snprintf(name, sizeof name, "%" PRIu32 PROBITY_CONTROL_PAGE_SUFFIX, own_pid_of(pid));
    if (directory >= 0) {
        file = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        close(directory);
    }
    if (file < 0)
        return -1;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        (status.st_mode & 077) == 0 && status.st_nlink == 1 &&
        status.st_size == (off_t)sizeof(struct probity_control_page))
        return file;
    close(file);
    return -1;
}

/* Returns whether a byte is locked by another process. */
static int is_locked(int file, int64_t at)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};

    return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static int lock_for_tool(int file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET,
                         .l_start = PROBITY_CONTROL_PAGE_LOCK_TOOL, .l_len = 1};

    return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

/* ---- The request -------------------------------------------------------------------------------
 */

struct asking {
    struct probity_control_page *page;
    int file;
    uint32_t pid;
    int64_t until_ns;
    const sigset_t *signals;
    int signal; /* the signal that ended the wait; or 0 */
};

static enum probity_wake_refusal check(const struct asking *asking)
{
    const struct probity_control_page *page = asking->page;
    uint8_t boot[16];

    probity_os_boot_id(boot);
    if (memcmp(page->wake.magic, PROBITY_CONTROL_PAGE_MAGIC, sizeof page->wake.magic) != 0 ||
        memcmp(page->boot, boot, sizeof boot) != 0 ||
        page->process_start != probity_os_process_start(asking->pid) ||
        !is_locked(asking->file, PROBITY_CONTROL_PAGE_LOCK_PROGRAM))
        return PROBITY_WAKE_NO_LIBRARY;
    if (page->wake.version != PROBITY_CONTROL_PAGE_VERSION || page->wake.bytes != sizeof *page)
        return PROBITY_WAKE_OTHER_VERSION;
    return lock_for_tool(asking->file) ? PROBITY_WAKE_OK : PROBITY_WAKE_BUSY;
}

static enum probity_wake_refusal wait_for(struct asking *asking, uint32_t serial, int *ret_error)
{
    struct probity_wake *wake = &asking->page->wake;
    int is_withdrawn = 0;

    /* Acquire: pairs with the release in the program, which stores the result before the serial. */
    while (__atomic_load_n(&wake->taken, __ATOMIC_ACQUIRE) != serial) {
        if (!is_locked(asking->file, PROBITY_CONTROL_PAGE_LOCK_PROGRAM))
            return PROBITY_WAKE_NO_PROCESS;
        if (now_ns() >= asking->until_ns && is_withdrawn)
            return PROBITY_WAKE_TIMEOUT;
        if (now_ns() >= asking->until_ns) {
            __atomic_store_n(&wake->until_ns, 1, __ATOMIC_RELEASE); /* in the past */
            is_withdrawn = 1;
            asking->until_ns = now_ns() + ANSWER_NS;
        }
        int number = sigtimedwait(asking->signals, NULL, &a_moment);
        if (number > 0) {
            asking->signal = number;
            asking->until_ns = now_ns();
        }
    }
    *ret_error = __atomic_load_n(&wake->result, __ATOMIC_RELAXED);
    return *ret_error == 0                       ? PROBITY_WAKE_OK
           : *ret_error == PROBITY_ERROR_STATE ? PROBITY_WAKE_RECORDS
                                                 : PROBITY_WAKE_REFUSED;
}

static enum probity_wake_refusal ask(struct asking *asking, const char *settings, size_t bytes,
                                     int *ret_error)
{
    struct probity_wake *wake = &asking->page->wake;
    enum probity_wake_refusal refusal = check(asking);

    if (refusal != PROBITY_WAKE_OK)
        return refusal;
    uint32_t serial = __atomic_load_n(&wake->taken, __ATOMIC_ACQUIRE);
    uint32_t requested = __atomic_load_n(&wake->requested, __ATOMIC_RELAXED);
    /* A program that has seen a withdrawn request does not reply to its serial. */
    serial = ((int32_t)(requested - serial) > 0 ? requested : serial) + 1;
    memset(asking->page->text, 0, sizeof asking->page->text);
    memcpy(asking->page->text, settings, bytes);
    __atomic_store_n(&wake->until_ns, (uint64_t)asking->until_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&wake->requested, serial, __ATOMIC_RELEASE);
    probity_os_wake_shared(&wake->requested, INT32_MAX);
    return wait_for(asking, serial, ret_error);
}

static enum probity_wake_refusal ask_guarded(struct asking *asking, const char *settings,
                                             size_t bytes, int *ret_error)
{
    struct probity_sigbus_guard guard;

    asking->page = mmap(NULL, sizeof *asking->page, PROT_READ | PROT_WRITE, MAP_SHARED,
                        asking->file, 0);
    if (asking->page == MAP_FAILED)
        return PROBITY_WAKE_SYSTEM;
    probity_sigbus_guard_begin(&guard, "the control page", asking->page, sizeof *asking->page);
    enum probity_wake_refusal refusal = ask(asking, settings, bytes, ret_error);
    probity_sigbus_guard_end(&guard);
    munmap(asking->page, sizeof *asking->page);
    return refusal;
}

enum probity_wake_refusal probity_wake_page(uint32_t pid, const char *settings,
                                            size_t settings_bytes, int64_t wait_ns,
                                            int *ret_error)
{
    sigset_t signals, before;
    struct asking asking = {.file = open_page(pid), .pid = pid, .until_ns = now_ns() + wait_ns,
                            .signals = &signals};

    if (asking.file < 0)
        return PROBITY_WAKE_NO_LIBRARY;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    enum probity_wake_refusal refusal = ask_guarded(&asking, settings, settings_bytes, ret_error);
    close(asking.file);
    if (asking.signal > 0)
        raise(asking.signal);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return refusal;
}
