/* SPDX-License-Identifier: MIT
 *
 * linux/thread_count.c: glibc's count of threads.
 */
#include "base/thread_count.h"

#include <dlfcn.h>
#include <stddef.h>

unsigned *probity_thread_count_find(void)
{
    return dlsym(RTLD_DEFAULT, "__nptl_nthreads");
}

int probity_thread_count_leave(unsigned *count)
{
    enum { THREADS_MAX = 1 << 22 }; /* the kernel's limit */

    if (count == NULL)
        return 0;
    /* The count includes at least the caller and the thread that created it; otherwise the variable
     * means something else. */
    unsigned now = __atomic_load_n(count, __ATOMIC_RELAXED);
    if (now < 2 || now > THREADS_MAX)
        return 0;
    __atomic_sub_fetch(count, 1, __ATOMIC_RELAXED);
    return 1;
}

void probity_thread_count_return(unsigned *count)
{
    __atomic_add_fetch(count, 2, __ATOMIC_RELAXED);
}

void probity_thread_count_joined(unsigned *count)
{
    __atomic_sub_fetch(count, 1, __ATOMIC_RELAXED);
}
