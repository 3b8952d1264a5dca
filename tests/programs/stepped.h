/* SPDX-License-Identifier: MIT
 *
 * stepped.h: uses the processor's trap flag to run code after any given instruction of other code,
 * which makes races between two parties deterministic. x86-64 only; elsewhere, and with the thread
 * sanitizer, which delays signals, STEPPED is 0.
 */
#ifndef PROBITY_TESTS_STEPPED_H
#define PROBITY_TESTS_STEPPED_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#if defined(__has_feature)
#define STEPPED_IS_CHECKED __has_feature(thread_sanitizer)
#else
#define STEPPED_IS_CHECKED 0
#endif

#if defined(REG_RIP) && !STEPPED_IS_CHECKED /* REG_RIP exists on x86-64 only */
#define STEPPED 1

static struct {
    volatile long left;
    volatile int has_run;
    /* Set by the program: */
    int passes_calls;
    int stops_at_mask; /* passes other calls only: the mask may block the signal */
    int (*is_due)(uintptr_t instruction); /* instead of a number of steps */
    void (*run)(void);
} stepped;

/* A system call might block the signal that reports steps, so this does not step over one unless it
 * is known to be safe. */
static void stepped_trap(int signal, siginfo_t *info, void *context)
{
    static const unsigned char system_call[] = {0x0f, 0x05};
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    int is_stop = !stepped.passes_calls ||
                  (stepped.stops_at_mask && registers[REG_RAX] == SYS_rt_sigprocmask);
    int is_over =
        is_stop && memcmp((const void *)registers[REG_RIP], system_call, sizeof system_call) == 0;

    (void)signal;
    (void)info;
    int is_due = stepped.is_due != NULL ? stepped.is_due((uintptr_t)registers[REG_RIP])
                                        : --stepped.left <= 0;
    if (stepped.has_run || (!is_due && !is_over))
        return;
    registers[REG_EFL] &= ~(greg_t)0x100;
    if (is_over)
        return;
    stepped.has_run = 1;
    stepped.run();
}

/* The code between these two is interrupted after `steps` instructions, and run() is called. */
static inline void stepped_begin(long steps, void (*run)(void))
{
    struct sigaction action = {.sa_sigaction = stepped_trap, .sa_flags = SA_SIGINFO};

    sigaction(SIGTRAP, &action, NULL);
    stepped.left = steps;
    stepped.has_run = 0;
    stepped.run = run;
    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" : : : "cc", "memory");
}

/* Returns whether run() was called, which requires that the code had enough instructions. */
static inline int stepped_end(void)
{
    __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" : : : "cc", "memory");
    return stepped.has_run;
}
#else
#define STEPPED 0
#endif

#endif
