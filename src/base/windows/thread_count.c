/* SPDX-License-Identifier: MIT
 *
 * windows/thread_count.c: thread_count.h. A process ends when its first thread returns, even if
 * others are running, so no count is needed.
 */
#include "base/thread_count.h"

#include <stddef.h>

unsigned *probity_thread_count_find(void)
{
    return NULL;
}

int probity_thread_count_leave(unsigned *count)
{
    (void)count;
    return 0;
}

void probity_thread_count_return(unsigned *count)
{
    (void)count;
}

void probity_thread_count_joined(unsigned *count)
{
    (void)count;
}
