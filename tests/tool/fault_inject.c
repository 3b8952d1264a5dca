/* SPDX-License-Identifier: MIT
 *
 * fault_inject.c: makes one of a program's system calls fail, or all from some point on, whether
 * made by libc, by the library (however it is linked), by threads or by children. A seccomp filter
 * stops at the calls listed below; ptrace counts them and replaces them with an error. x86-64.
 *
 *     refuse [-n FIRST] [-a] [-e ERROR] [-k CALLS] [-x CALLS] [-o REPORT] PROGRAM [ARGUMENT]...
 *         -n: the first call to fail, counted from 1; 0: none, only count
 *         -a: all later calls fail, too
 *         -e: fail with this error, not the default of each call; "short": a write writes half
 *         -k: comma-separated names of calls or groups (memory open write read thread rights)
 *         -x: except these
 *         -o: writes "CALLS REFUSED NAME" to this file: the number of calls, the number of failed
 *             ones, and the first of these
 *
 * Not counted: calls of the dynamic linker, writes to stderr, and calls of a thread between
 * membarrier(OWN_CALLS, 1) and membarrier(OWN_CALLS, 0), commands unknown to the kernel with which
 * a test program marks its own calls. As in the kernel, a close that fails still closes the
 * descriptor.
 */
#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/fault_inject.h"

enum {
    TASKS_MAX = 4096,
    FILTER_MAX = 256,
    FAILED = 125,
    SHORT = -1, /* instead of an error */
    SYSCALL_STOP = SIGTRAP | 0x80
};

/* A system call: its group, and the error with which it fails by default. */
struct call {
    const char *name;
    long number;
    const char *group;
    int error;
};

#define CALL(name, group, error) {#name, SYS_##name, group, error}
static const struct call calls[] = {
    CALL(mmap, "memory", ENOMEM),          CALL(mremap, "memory", ENOMEM),
    CALL(mprotect, "memory", ENOMEM),      CALL(brk, "memory", ENOMEM),
    CALL(madvise, "memory", ENOMEM),       CALL(memfd_create, "memory", ENOMEM),
    CALL(open, "open", EMFILE),            CALL(openat, "open", EMFILE),
    CALL(dup, "open", EMFILE),             CALL(dup2, "open", EMFILE),
    CALL(dup3, "open", EMFILE),            CALL(pipe, "open", EMFILE),
    CALL(pipe2, "open", EMFILE),           CALL(fcntl, "open", EMFILE),
    CALL(write, "write", ENOSPC),          CALL(pwrite64, "write", ENOSPC),
    CALL(writev, "write", ENOSPC),         CALL(pwritev, "write", ENOSPC),
    CALL(fallocate, "write", ENOSPC),      CALL(ftruncate, "write", EIO),
    CALL(fsync, "write", EIO),             CALL(fdatasync, "write", EIO),
    CALL(close, "write", EIO),             CALL(rename, "write", ENOSPC),
    CALL(renameat, "write", ENOSPC),       CALL(renameat2, "write", ENOSPC),
    CALL(link, "write", ENOSPC),           CALL(linkat, "write", ENOSPC),
    CALL(unlink, "write", EIO),            CALL(unlinkat, "write", EIO),
    CALL(mkdir, "write", ENOSPC),          CALL(mkdirat, "write", ENOSPC),
    CALL(rmdir, "write", EIO),             CALL(chmod, "write", EPERM),
    CALL(fchmod, "write", EPERM),          CALL(fchown, "write", EPERM),
    CALL(sendfile, "write", ENOSPC),       CALL(copy_file_range, "write", ENOSPC),
    CALL(read, "read", EIO),               CALL(pread64, "read", EIO),
    CALL(readv, "read", EIO),              CALL(lseek, "read", EIO),
    CALL(getdents64, "read", EIO),         CALL(readlink, "read", EIO),
    CALL(getcwd, "read", ENOMEM),          CALL(stat, "read", EIO),
    CALL(fstat, "read", EIO),              CALL(lstat, "read", EIO),
    CALL(newfstatat, "read", EIO),         CALL(statx, "read", EIO),
    CALL(access, "read", EIO),             CALL(faccessat, "read", EIO),
    CALL(faccessat2, "read", EIO),         CALL(statfs, "read", EIO),
    CALL(fstatfs, "read", EIO),
    CALL(fork, "thread", EAGAIN),          CALL(vfork, "thread", EAGAIN),
    CALL(clone, "thread", EAGAIN),         CALL(clone3, "thread", EAGAIN),
    CALL(execve, "thread", ENOMEM),        CALL(unshare, "rights", EPERM),
    CALL(close_range, "rights", ENOSYS),   CALL(membarrier, "rights", EPERM),
    CALL(prctl, "rights", EPERM),          CALL(getrandom, "rights", EAGAIN),
    CALL(uname, "rights", EPERM),          CALL(ioctl, "rights", EPERM),
    CALL(perf_event_open, "rights", EPERM), CALL(prlimit64, "rights", EPERM),
    CALL(sched_getaffinity, "rights", EPERM), CALL(kill, "rights", EPERM),
    CALL(tgkill, "rights", EPERM),         CALL(setpriority, "rights", EPERM),
};
enum { CALLS = sizeof calls / sizeof *calls };

/* A traced thread. */
struct task {
    pid_t id;
    int is_own;     /* the program itself makes the calls */
    int is_altered; /* after the current call, set: */
    int late_error; /* its return value; 0: do not */
    uint64_t destination, count; /* its first and third arguments, as they were before */
    uint64_t linker_start, linker_end;
};

static struct task tasks[TASKS_MAX];
static uint64_t first_refused, reached, refused;
static int is_for_ever, wanted_error;
static const char *wanted_calls, *spared_calls, *report_path, *first_name = "-";

static int fail(const char *what)
{
    fprintf(stderr, "refuse: %s: %s\n", what, strerror(errno));
    exit(FAILED);
}

/* ---- Which calls -------------------------------------------------------------------------------
 */

static int is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return 1;
    }
    return 0;
}

static int is_wanted(const struct call *call)
{
    if ((wanted_error == SHORT && strstr(call->name, "write") == NULL) ||
        is_listed(spared_calls, call->name))
        return 0;
    return wanted_calls == NULL || is_listed(wanted_calls, call->name) ||
           is_listed(wanted_calls, call->group);
}

static const struct call *call_of(long number)
{
    for (size_t i = 0; i < CALLS; i++) {
        if (calls[i].number == number)
            return &calls[i];
    }
    return NULL;
}

/* Stops at the selected calls, and at membarrier, with which programs send commands to this one. */
static void filter_install(void)
{
    struct sock_filter filter[FILTER_MAX];
    unsigned short length = 0;

    filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                    offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < CALLS; i++) {
        if (!is_wanted(&calls[i]) && calls[i].number != SYS_membarrier)
            continue;
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                        (uint32_t)calls[i].number, 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        fail("seccomp");
}

/* ---- One call ----------------------------------------------------------------------------------
 */

static struct task *task_of(pid_t id)
{
    struct task *free_one = NULL;

    for (size_t i = 0; i < TASKS_MAX; i++) {
        if (tasks[i].id == id)
            return &tasks[i];
        if (tasks[i].id == 0 && free_one == NULL)
            free_one = &tasks[i];
    }
    if (free_one == NULL)
        fail("too many threads");
    *free_one = (struct task){.id = id};
    return free_one;
}

/* Finds the dynamic linker of a program that has just started. */
static void linker_find(struct task *task)
{
    char path[40], line[512];
    uint64_t start, end;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)task->id);
    FILE *maps = fopen(path, "r");
    task->linker_start = task->linker_end = 0;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        if ((strstr(line, "/ld-linux") == NULL && strstr(line, "/ld-musl") == NULL) ||
            sscanf(line, "%lx-%lx", &start, &end) != 2)
            continue;
        if (task->linker_start == 0)
            task->linker_start = start;
        task->linker_end = end;
    }
    if (maps != NULL)
        fclose(maps);
}

/* In threads and forked children, the linker has the same address as in their creator. */
static void inherit(const struct task *maker)
{
    unsigned long made;

    if (ptrace(PTRACE_GETEVENTMSG, maker->id, NULL, &made) != 0)
        return;
    struct task *task = task_of((pid_t)made);
    task->linker_start = maker->linker_start;
    task->linker_end = maker->linker_end;
}

static void refuse_call(struct task *task, const struct call *call, struct user_regs_struct *set)
{
    int error = wanted_error > 0 ? wanted_error : call->error;

    if (refused++ == 0)
        first_name = call->name;
    task->is_altered = 1;
    task->late_error = 0;
    task->destination = set->rdi;
    task->count = set->rdx;
    if (wanted_error == SHORT) {
        set->rdx = (set->rdx + 1) / 2;
    } else if (call->number == SYS_brk) {
        set->rdi = 0; /* fails by returning the current break */
    } else if (call->number == SYS_close) {
        task->late_error = error;
    } else {
        task->is_altered = 0;
        set->orig_rax = (unsigned long long)-1;
        set->rax = (unsigned long long)-(long long)error;
    }
    ptrace(PTRACE_SETREGS, task->id, NULL, set);
}

static void look_at(struct task *task)
{
    struct user_regs_struct set;

    if (ptrace(PTRACE_GETREGS, task->id, NULL, &set) != 0)
        return;
    const struct call *call = call_of((long)set.orig_rax);
    if (call != NULL && call->number == SYS_membarrier && set.rdi == FAULT_INJECT_OWN_CALLS) {
        task->is_own = set.rsi != 0;
        return;
    }
    if (call == NULL || task->is_own || !is_wanted(call) ||
        (set.rip >= task->linker_start && set.rip < task->linker_end) ||
        (strncmp(call->name, "write", 5) == 0 && set.rdi == STDERR_FILENO) ||
        (wanted_error == SHORT && set.rdx < 2))
        return;
    reached++;
    if (first_refused != 0 &&
        (is_for_ever ? reached >= first_refused : reached == first_refused))
        refuse_call(task, call, &set);
}

/* Compilers assume that a system call preserves its arguments. */
static void finish_altered(struct task *task)
{
    struct user_regs_struct set;

    if (task->is_altered && ptrace(PTRACE_GETREGS, task->id, NULL, &set) == 0) {
        set.rdi = task->destination;
        set.rdx = task->count;
        if (task->late_error != 0)
            set.rax = (unsigned long long)-(long long)task->late_error;
        ptrace(PTRACE_SETREGS, task->id, NULL, &set);
    }
    task->is_altered = 0;
}

/* ---- The run -----------------------------------------------------------------------------------
 */

/* Returns the signal to deliver to the thread. */
static int handle_stop(struct task *task, int status)
{
    int event = status >> 16, stopped_by = WSTOPSIG(status);

    if (event == PTRACE_EVENT_SECCOMP) {
        look_at(task);
    } else if (event == PTRACE_EVENT_EXEC) {
        task->is_own = 0;
        linker_find(task);
    } else if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK ||
               event == PTRACE_EVENT_VFORK) {
        inherit(task);
    } else if (stopped_by == SYSCALL_STOP) {
        finish_altered(task);
    } else if (event == 0) {
        return stopped_by;
    }
    return 0;
}

/* Returns the program's exit status, or 128 + N if signal N ended it. */
static int follow(pid_t program)
{
    int status, result = FAILED;
    pid_t id;

    while ((id = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
        if (id <= 0)
            continue;
        struct task *task = task_of(id);
        if (!WIFSTOPPED(status)) {
            if (id == program)
                result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            task->id = 0;
            continue;
        }
        int is_group_stop = status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
        int to_deliver = handle_stop(task, status);
        ptrace(is_group_stop      ? PTRACE_LISTEN
               : task->is_altered ? PTRACE_SYSCALL
                                  : PTRACE_CONT,
               id, NULL, to_deliver);
    }
    return result;
}

static pid_t start(char **program)
{
    const long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                         PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD |
                         PTRACE_O_EXITKILL;
    int go[2];
    char byte = 0;

    if (pipe(go) != 0)
        fail("pipe");
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        close(go[1]);
        if (read(go[0], &byte, 1) != 1)
            _exit(FAILED);
        syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0); /* left open by its callers */
        setenv("REFUSED", "1", 1);
        filter_install();
        execvp(program[0], program);
        fail(program[0]);
    }
    close(go[0]);
    task_of(child)->is_own = 1; /* until it has exec'ed the program */
    if (ptrace(PTRACE_SEIZE, child, NULL, options) != 0)
        fail("ptrace");
    if (write(go[1], &byte, 1) != 1)
        fail("pipe");
    close(go[1]);
    return child;
}

static int error_of(const char *text)
{
    if (strcmp(text, "short") == 0)
        return SHORT;
    for (int error = 1; error < 134; error++) {
        const char *name = strerrorname_np(error);
        if (name != NULL && strcmp(name, text) == 0)
            return error;
    }
    errno = EINVAL;
    return fail(text);
}

int main(int argc, char **argv)
{
    int option;

    while ((option = getopt(argc, argv, "+n:ae:k:x:o:")) != -1) {
        switch (option) {
        case 'n': first_refused = strtoull(optarg, NULL, 10); break;
        case 'a': is_for_ever = 1; break;
        case 'e': wanted_error = error_of(optarg); break;
        case 'k': wanted_calls = optarg; break;
        case 'x': spared_calls = optarg; break;
        case 'o': report_path = optarg; break;
        default: return FAILED;
        }
    }
    if (optind == argc)
        return FAILED;
    int result = follow(start(argv + optind));
    FILE *report = report_path != NULL ? fopen(report_path, "w") : NULL;
    if (report != NULL) {
        fprintf(report, "%lu %lu %s\n", reached, refused, first_name);
        fclose(report);
    }
    return result;
}
