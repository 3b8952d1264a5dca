/* SPDX-License-Identifier: MIT
 *
 * os_confine.h: drops privileges that the calling thread does not need, for that thread only. Steps
 * that the kernel rejects are skipped: excess privileges are better than a failing program.
 */
#ifndef PROBITY_BASE_OS_CONFINE_H
#define PROBITY_BASE_OS_CONFINE_H

/* Sets no_new_privs, and drops all capabilities except those without which libc would abort the
 * program: it runs setuid() and similar calls in each thread, and aborts if the results differ.
 * has_files: the thread still opens files for writing, and keeps the capabilities for that.
 * Otherwise it can no longer open, create or execute files (Landlock, if the kernel supports
 * it). */
void probity_confine_rights(int has_files);

/* From now on, system calls other than those needed for writing fail with EPERM. Off by default: a
 * thread with its own filter makes SECCOMP_FILTER_FLAG_TSYNC fail in all other threads. Returns 0,
 * or -1 if the kernel or the architecture does not support filters. */
int probity_confine_calls(void);

#endif
