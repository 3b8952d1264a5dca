/* SPDX-License-Identifier: MIT
 *
 * next_syscall.h: for replacements of syscall(): its arguments, and libc's function.
 */
#ifndef TESTS_PROGRAMS_NEXT_SYSCALL_H
#define TESTS_PROGRAMS_NEXT_SYSCALL_H

#include <dlfcn.h>
#include <stdarg.h>

struct syscall_values {
    long at[6];
};

static inline struct syscall_values syscall_values_of(va_list list)
{
    struct syscall_values values;

    for (int i = 0; i < 6; i++)
        values.at[i] = va_arg(list, long);
    return values;
}

static inline long next_syscall(long number, const struct syscall_values *values)
{
    static long (*next)(long number, ...);
    const long *at = values->at;

    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    return next(number, at[0], at[1], at[2], at[3], at[4], at[5]);
}

#endif
