/* SPDX-License-Identifier: MIT
 *
 * thread_local.h: thread-local variables in the traced program. Accessing them must not allocate
 * memory, since probes run in signal handlers. For a system whose compiler cannot do this, the
 * macro is defined beforehand (doc/porting.md).
 */
#ifndef PROBITY_BASE_THREAD_LOCAL_H
#define PROBITY_BASE_THREAD_LOCAL_H

/* Declares the variable, which is zero at first. storage: static, extern, or PROBITY_API. */
#ifndef PROBITY_THREAD_LOCAL
#define PROBITY_THREAD_LOCAL(storage, type, name)                                                  \
    storage __thread type name __attribute__((tls_model("initial-exec")))
#endif

#endif
