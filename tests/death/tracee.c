/* SPDX-License-Identifier: MIT
 *
 * tracee.c: a traced process with several threads, of which one, the focus, is single-stepped while
 * the others run. A thread becomes the focus by stopping itself in phase 1.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "death/death.h"
#include "programs/hits.h"

static void resume(enum __ptrace_request how, pid_t thread, int signal_number)
{
    /* The thread may have been killed in the meantime. */
    if (ptrace(how, thread, NULL, (void *)(intptr_t)signal_number) != 0 && errno != ESRCH)
        death_die("ptrace");
}

/* The signal to pass on when a thread other than the focus has stopped. */
static int passed_on(int status)
{
    int number = WSTOPSIG(status);

    return status >> 16 != 0 || number == SIGTRAP || number == SIGSTOP ? 0 : number;
}

static void take_end(struct tracee *tracee, pid_t thread, int status)
{
    if (thread != tracee->pid)
        return;
    tracee->status = status;
}

void tracee_begin(struct tracee *tracee, pid_t child)
{
    const long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL;
    int status;

    memset(tracee, 0, sizeof *tracee);
    tracee->pid = tracee->process = child;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)options) != 0)
        death_die("the first stop");
    resume(PTRACE_CONT, child, 0);
    for (;;) {
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0)
            death_die("the victim ended before its first phase");
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            take_end(tracee, thread, status);
            continue;
        }
        if (status >> 16 == 0 && WSTOPSIG(status) == SIGSTOP && death_truth->phase == 1) {
            tracee->focus = thread;
            return;
        }
        resume(PTRACE_CONT, thread, passed_on(status));
    }
}

static pid_t thread_named(pid_t process, const char *name)
{
    char path[64], found[32];
    pid_t thread = 0;

    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *list = opendir(path);
    struct dirent *entry;
    while (list != NULL && thread == 0 && (entry = readdir(list)) != NULL) {
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/comm", (int)process, entry->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        if (fgets(found, sizeof found, file) != NULL && strncmp(found, name, strlen(name)) == 0)
            thread = (pid_t)strtol(entry->d_name, NULL, 10);
        fclose(file);
    }
    closedir(list);
    return thread;
}

void tracee_take_thread(struct tracee *tracee, const char *name)
{
    pid_t thread = thread_named(tracee->pid, name);
    int status;

    if (thread == 0 || syscall(SYS_tgkill, tracee->pid, thread, SIGSTOP) != 0)
        death_die("no such thread");
    while (waitpid(thread, &status, __WALL) == thread && WSTOPSIG(status) != SIGSTOP)
        resume(PTRACE_CONT, thread, passed_on(status));
    resume(PTRACE_CONT, tracee->focus, 0);
    tracee->focus = thread;
}

/* A child's first stop may precede the stop of its parent that identifies it. */
static int is_child(const struct tracee *tracee, pid_t thread)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)tracee->process, (int)thread);
    return access(path, F_OK) != 0;
}

static void take_child(struct tracee *tracee, pid_t child)
{
    tracee->focus = tracee->process = child;
    tracee->parked = tracee->awaited = 0;
}

/* Handles a stop without a signal, for a new thread or child. Returns whether a child is now the
 * focus. */
static int take_event(struct tracee *tracee, pid_t thread, int status)
{
    unsigned long child = 0;
    int is_fork = status >> 16 == PTRACE_EVENT_FORK && thread == tracee->focus;

    if (is_fork)
        ptrace(PTRACE_GETEVENTMSG, thread, NULL, &child);
    resume(thread == tracee->focus && !is_fork ? PTRACE_SINGLESTEP : PTRACE_CONT, thread, 0);
    if (!is_fork)
        return 0;
    tracee->awaited = (pid_t)child;
    if (tracee->parked != tracee->awaited)
        return 0;
    take_child(tracee, tracee->awaited);
    return 1;
}

/* Handles a stop by a signal. Returns -1 if the focus is still running. */
static int take_stop(struct tracee *tracee, pid_t thread, int number, int *ret_signal)
{
    if (number == SIGSTOP && death_truth->phase == 2) {
        tracee->last = thread;
        return TRACEE_PHASE_OVER;
    }
    if (thread == tracee->awaited) {
        take_child(tracee, thread);
        return TRACEE_STEP;
    }
    if (thread != tracee->focus && number == SIGSTOP && is_child(tracee, thread)) {
        tracee->parked = thread;
        return -1;
    }
    if (thread != tracee->focus) {
        resume(PTRACE_CONT, thread, passed_on(number << 8 | 127));
        return -1;
    }
    *ret_signal = number;
    return number == SIGTRAP || number == SIGSTOP ? TRACEE_STEP : TRACEE_SIGNAL;
}

enum tracee_stop tracee_step(struct tracee *tracee, int signal_number, int *ret_signal)
{
    int status;

    resume(PTRACE_SINGLESTEP, tracee->focus, signal_number);
    for (;;) {
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0)
            return TRACEE_GONE;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            take_end(tracee, thread, status);
            if (thread == tracee->focus)
                return TRACEE_GONE;
            continue;
        }
        if (status >> 16 != 0) {
            if (take_event(tracee, thread, status))
                return TRACEE_STEP;
            continue;
        }
        int stop = take_stop(tracee, thread, WSTOPSIG(status), ret_signal);
        if (stop >= 0)
            return (enum tracee_stop)stop;
    }
}

/* Waits until no thread is left. */
static void wait_for_end(struct tracee *tracee)
{
    int status;

    for (;;) {
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0)
            return;
        if (WIFEXITED(status) || WIFSIGNALED(status))
            take_end(tracee, thread, status);
        else
            resume(PTRACE_CONT, thread, passed_on(status));
    }
}

int tracee_run_out(struct tracee *tracee, int signal_number)
{
    resume(PTRACE_CONT, tracee->focus, signal_number);
    if (tracee->last != 0 && tracee->last != tracee->focus)
        resume(PTRACE_CONT, tracee->last, 0);
    if (tracee->parked != 0)
        resume(PTRACE_CONT, tracee->parked, 0);
    wait_for_end(tracee);
    return tracee->status;
}

void tracee_kill(struct tracee *tracee)
{
    kill(tracee->process, SIGKILL);
    if (tracee->parked != 0)
        resume(PTRACE_CONT, tracee->parked, 0);
    wait_for_end(tracee);
}
