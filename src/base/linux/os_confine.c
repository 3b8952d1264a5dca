/* SPDX-License-Identifier: MIT
 *
 * linux/os_confine.c: capabilities, Landlock and seccomp with direct system calls: libc has no
 * functions for them, or would apply them to all threads.
 */
#include "base/os_confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Capabilities ------------------------------------------------------------------------------
 */

static void drop_capabilities(int has_files)
{
    const uint32_t always = 1u << CAP_SETUID | 1u << CAP_SETGID | 1u << CAP_IPC_LOCK;
    const uint32_t for_files =
        1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH | 1u << CAP_FOWNER;
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &header, data) != 0)
        return;
    uint32_t kept = always | (has_files ? for_files : 0);
    data[0].permitted &= kept;
    data[0].effective &= kept;
    data[0].inheritable = 0;
    data[1] = (struct __user_cap_data_struct){0, 0, 0};
    syscall(SYS_capset, &header, data);
}

/* ---- Landlock ----------------------------------------------------------------------------------
 *
 * A ruleset without rules denies everything that it handles. Open files are not affected. Removing
 * files stays allowed, because this thread removes the spool if all threads of the program exit.
 */

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self 446
#endif

enum {
    LANDLOCK_EXECUTE = 1 << 0,
    LANDLOCK_WRITE_FILE = 1 << 1,
    LANDLOCK_REMOVE_DIR = 1 << 4,
    LANDLOCK_MAKE_ALL = 0x7f << 6 /* for each kind of file */
};

static void forbid_files(void)
{
    const uint64_t handled =
        LANDLOCK_EXECUTE | LANDLOCK_WRITE_FILE | LANDLOCK_REMOVE_DIR | LANDLOCK_MAKE_ALL;
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);

    if (ruleset < 0)
        return;
    syscall(SYS_landlock_restrict_self, ruleset, 0);
    close(ruleset);
}

void probity_confine_rights(int has_files)
{
    int before = errno;

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    drop_capabilities(has_files);
    if (!has_files)
        forbid_files();
    errno = before;
}

/* ---- System calls ------------------------------------------------------------------------------
 */

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#ifdef MACHINE
/* Calls needed for writing, by this code and by libc: memory, waiting and files; setuid() and
 * related calls, which libc runs in each thread; and process exit, which the last thread calls. */
static const uint16_t allowed[] = {
    SYS_futex, SYS_pwrite64, SYS_write, SYS_writev, SYS_read, SYS_pread64, SYS_lseek,
    SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep, SYS_restart_syscall, SYS_sched_yield,
    SYS_fstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_openat, SYS_close, SYS_fcntl,
    SYS_ftruncate, SYS_fallocate, SYS_fsync, SYS_fdatasync, SYS_fchmod, SYS_unlinkat,
    SYS_renameat, SYS_renameat2, SYS_linkat, SYS_readlinkat, SYS_faccessat, SYS_getdents64,
    SYS_getcwd, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_brk,
    SYS_membarrier, SYS_getrandom, SYS_uname, SYS_sysinfo, SYS_prlimit64, SYS_getrlimit,
    SYS_getrusage, SYS_prctl,
    SYS_gettid, SYS_getpid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
    SYS_sched_getaffinity, SYS_getcpu, SYS_set_robust_list, SYS_rseq,
    SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_rt_sigpending,
    SYS_rt_sigtimedwait,
    SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid,
    SYS_setgroups, SYS_exit, SYS_exit_group,
#ifdef __x86_64__
    SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_unlink, SYS_rename, SYS_link, SYS_readlink,
    SYS_time, SYS_gettimeofday,
#endif
};

enum {
    ALLOWED = sizeof allowed / sizeof allowed[0],
    HEAD = 4,         /* architecture, then call number */
    SPECIAL_EACH = 5, /* for a call with one checked argument */
    SPECIAL = 2 * SPECIAL_EACH,
    ROOM = HEAD + ALLOWED + SPECIAL + 2
};

static struct sock_filter load(size_t offset)
{
    return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

static struct sock_filter skip_unless(uint32_t value, uint8_t count)
{
    return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count);
}

/* Allows a call only with one value of one argument. */
static size_t allow_argument(struct sock_filter *at, uint32_t call, int argument, uint32_t value,
                             struct sock_filter allow, struct sock_filter refuse)
{
    size_t offset = offsetof(struct seccomp_data, args) + (size_t)argument * sizeof(uint64_t);

    at[0] = skip_unless(call, SPECIAL_EACH - 1);
    at[1] = load(offset);
    at[2] = skip_unless(value, 1);
    at[3] = allow;
    at[4] = refuse;
    return SPECIAL_EACH;
}

int probity_confine_calls(void)
{
    struct sock_filter code[ROOM];
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    size_t count = 0;
    int before = errno;

    code[count++] = load(offsetof(struct seccomp_data, arch));
    code[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0);
    code[count++] = refuse;
    code[count++] = load(offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ALLOWED; i++) {
        uint8_t to_allow = (uint8_t)(ALLOWED + SPECIAL - i);
        code[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i],
                                                     to_allow, 0);
    }
    /* Checks whether a thread exists, and whether a file is a terminal. */
    count += allow_argument(code + count, SYS_tgkill, 2, 0, allow, refuse);
    count += allow_argument(code + count, SYS_ioctl, 1, TCGETS, allow, refuse);
    code[count++] = refuse;
    code[count++] = allow;
    struct sock_fprog program = {(unsigned short)count, code};
    int result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    errno = before;
    return result;
}
#else
int probity_confine_calls(void)
{
    return -1;
}
#endif
