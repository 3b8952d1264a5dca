/* SPDX-License-Identifier: MIT
 *
 * os.h: the seam to the operating system: what libc has no portable name for. All of it may be
 * called in a signal handler, leaves errno alone, and returns 0 or more on success, -1 on failure,
 * unless it says otherwise.
 */
#ifndef PROBITY_BASE_OS_H
#define PROBITY_BASE_OS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

uint32_t probity_os_thread_id(void);

/* Blocks every signal of the calling thread, those of libc itself included, and cancellation; keeps
 * the old state. */
struct probity_os_signals {
    uint64_t set;
    int cancel;
};
void probity_os_signals_block(struct probity_os_signals *ret_before);
void probity_os_signals_restore(const struct probity_os_signals *before);

/* Sleeps until *word differs from value, a wake, or the time is up (timeout_ns < 0: without
 * limit). */
void probity_os_wait(const uint32_t *word, uint32_t value, int64_t timeout_ns);
void probity_os_wake(const uint32_t *word, int threads);

/* The same where the word lies in a file that other processes map too; they may map it read-only
 * to wake. */
void probity_os_wait_shared(const uint32_t *word, uint32_t value, int64_t timeout_ns);
void probity_os_wake_shared(const uint32_t *word, int threads);

/* A lock of one word, zero when free, which sleeps when it is taken. Hold it with signals
 * blocked. */
void probity_os_lock(uint32_t *word);
void probity_os_unlock(uint32_t *word);

/* Whether the thread is still there: 1, or 0. */
int probity_os_thread_exists(uint32_t pid, uint32_t tid);

/* Whether this process lives in its parent's memory, as after vfork: 1, or 0, also where the kernel
 * does not tell. */
int probity_os_is_in_parents_memory(void);

/* Every thread of the process passes a full memory barrier before this returns. ready: once per
 * process. */
int probity_os_barrier_ready(void);
int probity_os_barrier(void);

/* One line to standard error. A reader that is gone does not end the process by SIGPIPE. */
void probity_os_say(const char *line, size_t length);

/* Gives the calling thread a table of file descriptors of its own, empty from `first` on. */
int probity_os_own_descriptors(unsigned first);

/* Touches all pages for writing: fails instead of raising SIGBUS where the file system is full. */
int probity_os_populate(void *at, size_t bytes);

/* 1 where the process runs with more rights than its user (set-uid): its environment is not to be
 * trusted. */
int probity_os_is_privileged(void);

/* How many bytes from `at` on can be read now, at least: up to the end of its page; 0 where not
 * even the first can. The kernel is asked, so nothing faults; a page that another thread unmaps
 * right after may. */
size_t probity_os_readable_bytes(const void *at);

/* Whether an address is on the stack that the calling thread was made with, and the thread now runs
 * there: 1 or 0. Of the stack, the upper 8 MiB count. */
int probity_os_is_own_stack(uintptr_t address);

/* The parts of the executable that are mapped, and readable, for as long as it runs. */
struct probity_os_image {
    uint32_t count;
    uintptr_t start[8], end[8];
};
void probity_os_image_find(struct probity_os_image *ret_image);

/* How many bytes from `at` on belong to it; 0 where `at` is elsewhere. */
size_t probity_os_image_bytes(const struct probity_os_image *image, const void *at);

/* How many processors are online; 0 where the kernel does not tell. */
uint32_t probity_os_processors(void);

/* Whether what lies at this address is in the program's own namespace: 1, also where that is not
 * known; 0: in one that dlmopen() made, with a libc of its own. */
int probity_os_is_beside_program(const void *at);

/* The path of the shared library that `at` lies in; "" where it is in none. Holds while that is
 * loaded. Takes no lock with glibc 2.35 or newer, else the dynamic linker's, behind which the
 * program's constructors run: hold none of ours. */
const char *probity_os_object_name(const void *at);

/* Fills with random bytes; never blocks for long. */
int probity_os_random(void *bytes, size_t count);

/* Memory passes from thread to thread by means that a thread sanitizer in the program does not see:
 * whoever takes it over tells that behind the moment when another let go of it. */
void probity_os_memory_take(void *memory);
void probity_os_memory_give(void *memory);

/* Reads a small file (of /proc or /sys) whole. Returns the bytes read, or -1. Not zero-ended. */
long probity_os_read_file(const char *path, void *bytes, size_t room);

/* Field 22 of /proc/PID/stat; 0 where it cannot be had, or where the process is a zombie. */
uint64_t probity_os_process_start(uint32_t pid);

/* The kernel's boot id as 16 bytes; zeroes where it cannot be had. */
void probity_os_boot_id(uint8_t ret_boot[16]);

/* Keeps new files out of copy-on-write where the file system has it (btrfs); a no-op elsewhere. */
void probity_os_no_copy_on_write(int descriptor);

#endif
