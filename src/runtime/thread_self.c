/* SPDX-License-Identifier: MIT
 *
 * thread_self.c: the variable of each thread that the inline probe reads. Windows has its own
 * (src/base/windows/slots.c).
 */
#include <stddef.h>

#include "probity.h"
#include "runtime/thread.h"

PROBITY_API __thread struct probity_thread *probity_thread_self
    __attribute__((tls_model("initial-exec")));

/* The same variable, under a name that no other copy of the library can preempt. Not the address of
 * a plain variable, which the linker may have moved into the program. */
extern __thread struct probity_thread *thread_self_here
    __attribute__((alias("probity_thread_self"), visibility("hidden"),
                   tls_model("initial-exec")));

int probity_thread_is_ready(void)
{
    struct probity_thread **in_use = &probity_thread_self;

    __asm__("" : "+r"(in_use)); /* prevents the compiler from treating two names as two variables */
    return in_use == &thread_self_here;
}
