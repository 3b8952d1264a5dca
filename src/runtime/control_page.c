/* SPDX-License-Identifier: MIT
 *
 * control_page.c: see control_page.h. The page is a file that the user owns, in a directory that
 * only that user may write to, so its content is trusted like that user. It is opened and removed
 * relative to the directory's descriptor, and links are not followed. A lock, which only the
 * mapping holds, shows that the program is alive. A forked child has neither page nor thread.
 */
#include "runtime/control_page.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/os.h"
#include "base/own_threads.h"
#include "base/thread_count.h"
#include "probity_scope.h"
#include "runtime/session_mapping.h"
#include "runtime/wake.h"
#include "spool/control_page.h"
#include "spool/segment.h"

enum { CHECK_NS = 1000000000 }; /* how often it checks whether all threads have exited */

static struct probity_control_page *page;
static uint32_t page_pid;
static char page_directory[PROBITY_LIMIT_PATH], page_name[32];

static int open_directory(void)
{
    return open(page_directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* ---- Creating the page -------------------------------------------------------------------------
 */

static int lock_program(int file)
{
    return probity_segment_lock(file, PROBITY_CONTROL_PAGE_LOCK_PROGRAM);
}

/* Removes the page left by a killed program with the same process id. */
static void remove_dead(int directory)
{
    struct stat status, named;
    int file = openat(directory, page_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (file < 0)
        return;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        lock_program(file) == 0 &&
        fstatat(directory, page_name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        named.st_dev == status.st_dev && named.st_ino == status.st_ino)
        unlinkat(directory, page_name, 0);
    close(file);
}

static int open_new(int directory)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int file = openat(directory, page_name, flags, 0600);

    if (file >= 0 || errno != EEXIST)
        return file;
    remove_dead(directory);
    return openat(directory, page_name, flags, 0600);
}

/* Allocates all pages of the file, so that a full file system does not raise a signal later. */
static struct probity_control_page *map_page(int file)
{
    struct probity_control_page *made = MAP_FAILED;

    if (fchmod(file, 0600) == 0 && lock_program(file) == 0 &&
        posix_fallocate(file, 0, sizeof *made) == 0)
        made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (made == MAP_FAILED)
        return NULL;
    if (madvise(made, sizeof *made, MADV_DONTFORK) == 0) {
        madvise(made, sizeof *made, MADV_DONTDUMP);
        return made;
    }
    munmap(made, sizeof *made);
    return NULL;
}

/* Stores the magic last: a tool that sees it sees the rest. */
static void fill_page(struct probity_control_page *made)
{
    made->wake.version = PROBITY_CONTROL_PAGE_VERSION;
    made->wake.bytes = sizeof *made;
    probity_os_boot_id(made->boot);
    made->pid = page_pid;
    made->process_start = probity_os_process_start(page_pid);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy(made->wake.magic, PROBITY_CONTROL_PAGE_MAGIC, sizeof made->wake.magic);
}

static int make_page(void)
{
    const char *wanted = getenv("PROBITY_SPOOL_DIR");
    int directory = -1, file = -1;

    page_pid = (uint32_t)getpid();
    snprintf(page_name, sizeof page_name, "%u" PROBITY_CONTROL_PAGE_SUFFIX, page_pid);
    if (probity_segment_directory(wanted != NULL && *wanted != 0 ? wanted : NULL, page_directory,
                                  sizeof page_directory) == 0)
        directory = open_directory();
    if (directory >= 0)
        file = open_new(directory);
    if (file >= 0) {
        page = map_page(file);
        if (page == NULL)
            unlinkat(directory, page_name, 0);
        close(file);
    }
    if (directory >= 0)
        close(directory);
    if (page != NULL)
        fill_page(page);
    return page != NULL ? 0 : -1;
}

/* ---- Waiting for requests ----------------------------------------------------------------------
 */

static void take_request(void)
{
    struct probity_os_signals before;

    probity_os_signals_block(&before);
    struct probity_session *session = probity_session_get();
    if (session != NULL)
        probity_wake_take_from(session, &page->wake, page->text);
    probity_os_signals_restore(&before);
}

/* Whether libc counts this thread among those of the program. */
enum { COUNT_UNKNOWN, COUNT_LEFT, COUNT_STAYS };
static uint32_t count_state;

/* The process ends with its last thread, so this one must not keep it alive. If the others exit
 * with the system call, libc does not call exit(), which would end this thread and remove the page.
 * If this thread returned, libc would subtract it a second time. */
static void leave_with_the_program(void)
{
    if (!probity_own_threads_are_alone(&probity_session_own_threads, NULL))
        return;
    probity_control_page_end();
    probity_own_threads_end(&probity_session_own_threads);
    probity_os_exit_thread();
}

static void *wait_for_requests(void *unused)
{
    uint32_t seen = __atomic_load_n(&page->wake.taken, __ATOMIC_RELAXED);

    (void)unused;
    probity_os_unwatched_begin();
    probity_thread_inside = 1;
    prctl(PR_SET_NAME, "probity-control");
    uint32_t state = probity_thread_count_leave(probity_session_thread_count) ? COUNT_LEFT
                                                                              : COUNT_STAYS;
    if (state == COUNT_LEFT)
        probity_own_threads_begin(&probity_session_own_threads);
    __atomic_store_n(&count_state, state, __ATOMIC_RELEASE);
    probity_os_wake(&count_state, 1);
    while (state == COUNT_LEFT) {
        probity_os_wait_shared(&page->wake.requested, seen, CHECK_NS);
        uint32_t now = __atomic_load_n(&page->wake.requested, __ATOMIC_ACQUIRE);
        if (now != seen)
            take_request();
        else
            leave_with_the_program();
        seen = now;
    }
    return NULL;
}

/* Uses libc's functions, as src/writer/writer.c does. */
static int start_thread(void)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int error = pthread_create(&thread, &attributes, wait_for_requests, NULL);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return -1;
    /* The main thread may call pthread_exit() at once, and must then be the last one. */
    while (__atomic_load_n(&count_state, __ATOMIC_ACQUIRE) == COUNT_UNKNOWN)
        probity_os_wait(&count_state, COUNT_UNKNOWN, -1);
    return count_state == COUNT_LEFT ? 0 : -1;
}

/* Returns whether /proc shows the threads. If not, this thread would not notice that all others
 * have exited with the system call, and would keep the program alive. */
static int can_see_threads(void)
{
    struct probity_os_threads threads;

    probity_os_threads_open(&threads);
    int result = threads.first >= 0;
    probity_os_threads_close(&threads);
    return result;
}

static void say(const char *why)
{
    char line[160];
    int length = snprintf(line, sizeof line,
                          "probity: PROBITY_CONTROL: there is no control page: %s\n", why);

    probity_os_say(line, (size_t)length);
}

void probity_control_page_begin(void)
{
    const char *text = probity_os_is_privileged() ? NULL : getenv("PROBITY_CONTROL");
    int before = errno;

    if (text == NULL || *text == 0 || strcmp(text, "0") == 0)
        return;
    if (strcmp(text, "1") != 0)
        say("the value is invalid (0 or 1)");
    else if (probity_session_thread_count == NULL)
        say("this C library would count Probity's thread as the program's");
    else if (!can_see_threads())
        say("it needs /proc to see when all threads have ended");
    else if (make_page() != 0)
        say("it cannot be created in the spool directory (PROBITY_SPOOL_DIR)");
    else if (start_thread() != 0)
        say("no thread can be started");
    errno = before;
}

void probity_control_page_end(void)
{
    int before = errno, directory = -1;

    if (page != NULL && page_pid == (uint32_t)getpid())
        directory = open_directory();
    if (directory >= 0) {
        unlinkat(directory, page_name, 0);
        close(directory);
    }
    errno = before;
}
