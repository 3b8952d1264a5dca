/* SPDX-License-Identifier: MIT
 *
 * cli_sigbus.c: if a spool's owner truncates it while a command reads it, the command is not killed
 * by SIGBUS: it reads the rest, and reports the truncation in a message and its exit status.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sigbus_guard.h"
#include "cli/cli.h"

/* The handler interrupts only loads from the mapping, never a change made here. */
static struct {
    struct probity_sigbus_guard *volatile first;
    size_t page_bytes;
    char path[512]; /* the first truncated spool; may be shortened */
} watched;

void probity_sigbus_guard_add(struct probity_sigbus_guard *watch)
{
    watch->next = watched.first;
    watched.first = watch;
}

void probity_sigbus_guard_remove(struct probity_sigbus_guard *watch)
{
    struct probity_sigbus_guard *before = watched.first;

    if (before == watch) {
        watched.first = watch->next;
        return;
    }
    while (before != NULL && before->next != watch)
        before = before->next;
    if (before != NULL)
        before->next = watch->next;
}

static void keep_path(const char *path)
{
    for (size_t i = 0; i + 1 < sizeof watched.path && path[i] != '\0'; i++)
        watched.path[i] = path[i];
}

/* Maps zeros from here to the end: everything after a missing page is missing, too. Returns 0 if
 * the address is not in such a mapping. */
static int mend(const void *address)
{
    struct probity_sigbus_guard *watch = watched.first;
    size_t offset = 0;

    while (watch != NULL && (offset = (size_t)((const char *)address - watch->at)) >= watch->bytes)
        watch = watch->next;
    if (watch == NULL)
        return 0;
    int before = errno;
    offset -= offset % watched.page_bytes;
    void *put = mmap(watch->at + offset, watch->bytes - offset, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    errno = before;
    if (put == MAP_FAILED)
        return 0;
    if (watched.path[0] == '\0')
        keep_path(watch->path);
    watch->is_cut = 1;
    return 1;
}

/* If any other file is truncated, the command is killed as without this handler. */
static void handle(int signal_number, siginfo_t *info, void *unused)
{
    (void)unused;
    if (info->si_code == BUS_ADRERR && mend(info->si_addr))
        return;
    cli_unfinished_remove();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void cli_cut_watch(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};

    watched.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    sigaction(SIGBUS, &action, NULL);
}

int cli_cut_judge(const struct cli_command *command, int status)
{
    if (watched.path[0] == '\0')
        return status;
    cli_warn(command, "the spool '%s' was truncated while it was being read; its records are "
             "missing", watched.path);
    return status == CLI_OK ? CLI_DAMAGED : status;
}
