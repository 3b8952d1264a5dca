/* SPDX-License-Identifier: MIT
 *
 * confined.c: tests what the writer thread is allowed to do. Whenever it calls pwrite(), a
 * replacement tries operations that the writer does not need. main() records, and tries what the
 * program itself must still be able to do.
 *
 *     confined PATH    a file that the writer thread must not be able to create
 */
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "programs/hits.h"

static const char *path;

/* In the order in which they are printed. */
static struct { int was_here, makes_file, makes_socket, signals; char status[4096]; } found;

static int can(long result)
{
    return result >= 0;
}

static void try_all(void)
{
    int status = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);

    if (status < 0 || read(status, found.status, sizeof found.status - 1) <= 0)
        found.status[0] = 0;
    close(status);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    int connection = socket(AF_UNIX, SOCK_STREAM, 0);
    found.makes_file = can(file);
    found.makes_socket = can(connection);
    found.signals = can(syscall(SYS_tgkill, getpid(), getpid(), SIGWINCH));
    close(file);
    close(connection);
    __atomic_store_n(&found.was_here, 1, __ATOMIC_RELEASE);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset)
{
    char name[16] = "";

    prctl(PR_GET_NAME, name);
    if (strcmp(name, "probity-writer") == 0 && !found.was_here)
        try_all();
    return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

static void print_field(const char *name)
{
    const char *at = strstr(found.status, name);
    size_t length = strlen(name);

    hits_need(at != NULL, name);
    while (at[length] == ' ' || at[length] == '\t')
        at++;
    printf("%s %.*s\n", name, (int)strcspn(at + length, "\n"), at + length);
}

/* Returns whether a filter can be applied to all threads together. */
static int can_filter_all(void)
{
    struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
    struct sock_fprog program = {1, &allow};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

int main(int argc, char **argv)
{
    path = argc > 1 ? argv[1] : "made";
    hits_make(1, 0, 10);
    hits_need(probity_flush() == 0, "flush");
    printf("looked %d\n", __atomic_load_n(&found.was_here, __ATOMIC_ACQUIRE));
    print_field("CapPrm:");
    print_field("CapEff:");
    print_field("NoNewPrivs:");
    print_field("Seccomp:");
    printf("writer: file %d, socket %d, signal %d\n", found.makes_file, found.makes_socket,
           found.signals);
    printf("program: socket %d\n", can(socket(AF_UNIX, SOCK_STREAM, 0)));
    if (geteuid() == 0) {
        /* Every thread must also be able to change its ids, or libc aborts. */
        hits_need(setgroups(0, NULL) == 0 && setegid(65534) == 0 && seteuid(65534) == 0, "seteuid");
        hits_need(seteuid(0) == 0 && setegid(0) == 0, "seteuid back");
        hits_need(setgid(65534) == 0 && setuid(65534) == 0, "setuid");
    }
    printf("program: filter for all %d\n", can_filter_all());
    hits_make(1, 10, 10);
    hits_need(probity_flush() == 0, "flush");
    printf("hits:\n");
    hits_expect(getpid(), 1, 20);
    return 0;
}
