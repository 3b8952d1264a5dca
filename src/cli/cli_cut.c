/* SPDX-License-Identifier: MIT
 *
 * cli_cut.c: a spool that its owner cuts while a command reads it: the command goes on with what is
 * left, says what happened, and its status does, instead of dying of SIGBUS.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cut.h"
#include "cli/cli.h"

/* The handler comes in the midst of a load of the thread that maps, never of a change here. */
static struct {
    struct probity_cut_watch *volatile first;
    size_t page_bytes;
    char path[512]; /* of the first that was cut, maybe without its end */
} watched;

void probity_cut_add(struct probity_cut_watch *watch)
{
    watch->next = watched.first;
    watched.first = watch;
}

void probity_cut_remove(struct probity_cut_watch *watch)
{
    struct probity_cut_watch *before = watched.first;

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

/* Zeroes for all of the rest: what is behind a page that is gone is gone, too. Returns 0 where the
 * address is of no such mapping. */
static int mend(const void *address)
{
    struct probity_cut_watch *watch = watched.first;
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

/* Of anything else that is cut under its reader the command dies, as it would have. */
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
    cli_warn(command, "the spool '%s' was cut while it was read; records that were in it are "
             "missing", watched.path);
    return status == CLI_OK ? CLI_DAMAGED : status;
}
