/* SPDX-License-Identifier: MIT
 *
 * windows/thread_local.h: included before every source file of the Windows build. Compilers for
 * Windows either emulate thread-local variables with a library that allocates, or cannot export
 * them. So each thread has one block of memory with all these variables, whose address is in a TLS
 * slot (TlsAlloc).
 */
#ifndef PROBITY_BASE_WINDOWS_THREAD_LOCAL_H
#define PROBITY_BASE_WINDOWS_THREAD_LOCAL_H

#include "probity_scope.h"

#define PROBITY_NO_NOTES
/* Names that the program may define cannot be weak variables in a DLL. */
#define PROBITY_NO_WEAK
#define probity_log_default ((const char *)0)

/* The variables are declared below. */
#define PROBITY_THREAD_LOCAL(storage, type, name) _Static_assert(sizeof(type) > 0, "a type")

struct probity_thread_block {
    struct probity_scope_thread scope; /* must be first: the header uses only this part */
    struct probity_thread_state *own_slot;
    struct probity_profile_set *profile_own;
    struct probity_scope_place *deep_frame;
    struct kept *own_kept;
    uintptr_t formatter_first;
    uint32_t formatters_open;
    int is_announced;
    uint64_t kept_words[24];
};

static inline struct probity_thread_block *probity_thread_block(void)
{
    return (struct probity_thread_block *)(void *)probity_scope_thread();
}

#define own_slot (probity_thread_block()->own_slot)
#define probity_profile_own (probity_thread_block()->profile_own)
#define deep_frame (probity_thread_block()->deep_frame)
#define own_kept (probity_thread_block()->own_kept)
#define formatter_first (probity_thread_block()->formatter_first)
#define formatters_open (probity_thread_block()->formatters_open)
#define is_announced (probity_thread_block()->is_announced)
#define kept_words (probity_thread_block()->kept_words)

/* See base/clock.h and base/windows/own_time.h. */
uint32_t probity_own_time_error(void);
#define PROBITY_CLOCK_CPU_ERROR() probity_own_time_error()

/* See base/os.h and base/windows/os.c. */
int probity_os_threads_are_gone(void);
#define PROBITY_OS_THREADS_ARE_GONE() probity_os_threads_are_gone()
struct stat;
int probity_os_file_extent(int descriptor, struct stat *ret_status);
#define PROBITY_OS_FILE_EXTENT(descriptor, status) probity_os_file_extent(descriptor, status)
int probity_os_convert_text(char *text, size_t room);
#define PROBITY_OS_CONVERT_TEXT(text, room) probity_os_convert_text(text, room)
int probity_os_may_start_thread(void);
#define PROBITY_OS_MAY_START_THREAD() probity_os_may_start_thread()

/* The thread environment block of the calling thread. */
static inline char *probity_thread_environment(void)
{
    char *environment;

    __asm__("movq %%gs:0x30, %0" : "=r"(environment));
    return environment;
}

static inline struct probity_thread **probity_thread_place(void)
{
    return (struct probity_thread **)(void *)(probity_thread_environment() +
                                              probity_thread_offset);
}

#define probity_thread_self (*probity_thread_place())

#endif
