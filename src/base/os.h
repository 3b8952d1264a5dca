/* SPDX-License-Identifier: MIT
 *
 * os.h: the operating system interface, for services without a portable libc function. All
 * functions are async-signal-safe, preserve errno, and return 0 or more on success, -1 on failure,
 * unless noted otherwise.
 */
#ifndef PROBITY_BASE_OS_H
#define PROBITY_BASE_OS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

uint32_t probity_os_thread_id(void);

/* Registers a function to be called when the process exits, even if destructors of libraries do not
 * run, and possibly after them. Call once, in a constructor. */
void probity_os_at_exit(void (*function)(void));

/* Call last when a thread ends: releases its variables. */
void probity_os_thread_ends(void);

/* Whether the system has ended all other threads because the process exits: 1 or 0. They may have
 * left locks held and work unfinished. From then on the functions below neither wait nor wake, and
 * take a lock that is held. A system on which this happens defines it before this header is
 * included. */
#ifndef PROBITY_OS_THREADS_ARE_GONE
#define PROBITY_OS_THREADS_ARE_GONE() 0
#endif

/* Whether a thread that is created now can run while this one waits for it: 1 or 0. 0 while the
 * system loads a library, if new threads have to wait until it is loaded. Such a system defines
 * this before this header is included. */
#ifndef PROBITY_OS_MAY_START_THREAD
#define PROBITY_OS_MAY_START_THREAD() 1
#endif

/* The directory of /proc that lists the calling thread's descriptors. */
const char *probity_os_descriptors(void);

/* Between these calls, a thread sanitizer in the program ignores the calling thread's memory
 * accesses, provided that the library is not instrumented. Otherwise it would report races, because
 * it cannot see how the library synchronizes. Calls can be nested; code of the program must not run
 * in between. */
void probity_os_unwatched_begin(void);
void probity_os_unwatched_end(void);

/* Blocks all signals of the calling thread, including those of libc, and cancellation; saves the
 * old state. A thread sanitizer ignores the thread until the state is restored. */
struct probity_os_signals {
    uint64_t set;
    int cancel;
};
void probity_os_signals_block(struct probity_os_signals *ret_before);
void probity_os_signals_restore(const struct probity_os_signals *before);

/* Sleeps until *word differs from value, a wake-up, or the timeout (timeout_ns < 0: none). */
void probity_os_wait(const uint32_t *word, uint32_t value, int64_t timeout_ns);
void probity_os_wake(const uint32_t *word, int threads);

/* The same for a word in a file that other processes also map; a read-only mapping is enough to
 * wake. */
void probity_os_wait_shared(const uint32_t *word, uint32_t value, int64_t timeout_ns);
void probity_os_wake_shared(const uint32_t *word, int threads);

/* A one-word lock, zero when free; waiters sleep. Hold it with signals blocked. */
void probity_os_lock(uint32_t *word);
void probity_os_unlock(uint32_t *word);

/* Whether the thread still exists: 1 or 0. */
int probity_os_thread_exists(uint32_t pid, uint32_t tid);

/* The first thread's directory of /proc, kept open so that the check below needs only fstatat():
 * the program may have a filter that allows no more (man 3 probity lists the calls). -1: none. */
struct probity_os_threads {
    int first;
};
void probity_os_threads_open(struct probity_os_threads *ret_threads);
void probity_os_threads_close(struct probity_os_threads *threads);

/* Whether the caller and `others` other threads are the only running ones of its process: all
 * others have exited, including the first one. 1 or 0; also 0 if /proc is not available. threads
 * NULL: directories are looked up by name, for a caller that shares the program's descriptors. */
int probity_os_is_last_thread(const struct probity_os_threads *threads, uint32_t others);

/* Ends the calling thread as seen by the operating system, without libc, which would count it as a
 * thread of the program. */
_Noreturn void probity_os_exit_thread(void);

/* Whether this process shares its parent's memory, as after vfork: 1 or 0; also 0 if the kernel
 * does not report it. */
int probity_os_is_in_parents_memory(void);

/* Makes every thread of the process pass a full memory barrier before it returns. Call ready once
 * per process. */
int probity_os_barrier_ready(void);
int probity_os_barrier(void);

/* Makes every thread of the process execute code as it is now in memory, before it returns. Returns
 * 0, or -1 if the kernel has no such call, or a filter rejects it. */
int probity_os_code_barrier(void);

/* Requests time slices of about 0.1 ms for the calling thread. Threads that wait for its processor
 * then wait for a shorter time, and its share of the processor stays the same. Returns 0, or -1 if
 * the system or the thread's policy has no such setting or does not allow it. Linux before 6.12
 * accepts the setting, and ignores it. Threads that the calling thread creates inherit it. */
int probity_os_short_turns(void);

/* Yields the processor if other threads wait for it. */
void probity_os_yield(void);

/* Returns 1 if the process has one thread, 0 otherwise or if /proc does not report it. */
int probity_os_is_single_threaded(void);

/* Prints one line to standard error. A closed pipe does not raise SIGPIPE. */
void probity_os_say(const char *line, size_t length);

/* Returns a descriptor for writing to the debugger's window (PROBITY_LOG=debugger), or -1 if there
 * is none. */
int probity_os_debugger(void);

/* Gives the calling thread a separate descriptor table, empty from `first` on. */
int probity_os_own_descriptors(unsigned first);

/* The directory for spools of a user's programs, unless another one is requested. Returns the
 * length, or -1 if it does not fit or cannot be determined. */
int probity_os_spool_directory(uint32_t user, char *ret_path, size_t room);

/* Replaces other directory separators in a path with slashes. */
void probity_os_use_slashes(char *path);

/* Whether a path does not depend on the current directory: 1 or 0. */
int probity_os_is_absolute(const char *path);

/* Converts a text that the program passed to the encoding of paths, in place. Returns 1, or 0 if it
 * does not fit in `room` bytes. A system on which programs pass texts in other encodings defines
 * this before this header is included. */
#ifndef PROBITY_OS_CONVERT_TEXT
#define PROBITY_OS_CONVERT_TEXT(text, room) 1
#endif

/* Creates a file for memory shared by processes, which the system need not write to a disk. Returns
 * a descriptor for reading and writing, or -1. */
int probity_os_create_spool(const char *path);

/* Opens an existing file if it is regular. Other files are not opened, because opening them has
 * side effects: a watchdog starts, a tape rewinds, a pipe's writer continues. flags: the same as
 * for openat(), without O_CREAT. Returns a descriptor, or -1 with errno: EINVAL if the file is not
 * regular, ELOOP for a link with O_NOFOLLOW. */
int probity_os_open_regular(int directory, const char *path, int flags);

/* fstat() for a caller that needs only st_size and st_nlink of a regular file. A system on which
 * fstat() sends requests to other processes defines this before this header is included. */
#ifndef PROBITY_OS_FILE_EXTENT
#define PROBITY_OS_FILE_EXTENT(descriptor, ret_status) fstat(descriptor, ret_status)
#endif

/* Opens the file of a descriptor again, or returns the descriptor itself. */
int probity_os_open_again(int descriptor);

/* Closes a descriptor from open_again() whose file is mapped. The file's locks last as long as the
 * mapping or, if the system does not support that, as long as the process. */
void probity_os_close_locked(int descriptor);

/* Maps a file for reading and writing at a multiple of `window`, a power of two. Returns NULL if
 * out of memory. */
void *probity_os_map_aligned(int descriptor, size_t bytes, size_t window);

/* Get the path of the executable, and the command line with zeros between its arguments. Return the
 * length without the terminating zero, or -1. */
long probity_os_program(char *ret_path, size_t room);
long probity_os_command(char *ret_text, size_t room);

/* Whether pages can be added to a hole of this file at any time with probity_os_populate(): on
 * tmpfs, and if the kernel supports MADV_POPULATE_WRITE (5.14). 1 or 0. */
int probity_os_can_extend(int descriptor);

/* Touches all pages for writing: fails instead of raising SIGBUS if the file system is full. If
 * probity_os_can_extend() returns 0, the pages must already be allocated in the file. */
int probity_os_populate(void *at, size_t bytes);

/* Returns 1 if the process has more rights than its user (set-uid): its environment is then not
 * trusted. */
int probity_os_is_privileged(void);

/* Minimum number of readable bytes from `at` on: up to the end of its page; 0 if the first is not
 * readable. Uses a system call to avoid faults; another thread may unmap the page right
 * afterwards. */
size_t probity_os_readable_bytes(const void *at);

/* Whether the calling thread is running on the stack with which it was created, and an address is
 * on that stack: 1 or 0. Only the upper 8 MiB of the stack count. */
int probity_os_is_own_stack(uintptr_t address);

/* The parts of the executable that stay mapped and readable as long as it runs. */
struct probity_os_image {
    uint32_t count;
    uintptr_t start[8], end[8];
};
void probity_os_image_find(struct probity_os_image *ret_image);

/* Returns the number of bytes from `at` on that belong to the image; 0 if `at` is outside it. */
size_t probity_os_image_bytes(const struct probity_os_image *image, const void *at);

/* Whether reading the CPU's counter raises SIGSEGV in this thread (PR_SET_TSC). If so, libc's
 * clocks raise it too, because they read the counter. */
int probity_os_counter_is_forbidden(void);

/* Returns the number of online processors; 0 if the kernel does not report it. */
uint32_t probity_os_processors(void);

/* Whether an address is in the program's link namespace: 1 (also if unknown), or 0 if it is in a
 * namespace created by dlmopen(), with another libc. */
int probity_os_is_beside_program(const void *at);

/* Whether a function with a libc name is libc's: 1 (also if unknown), or 0 if it is from a
 * preloaded library, which may be unloaded before the program ends. Takes no lock. */
int probity_os_is_of_libc(const void *at);

/* Path of the shared library that contains `at`; "" if none does. Valid while the library is
 * loaded. With glibc 2.35 or newer, takes no lock; otherwise takes that of the dynamic linker,
 * which is held while the program's constructors run: the caller must hold no lock of this
 * library. */
const char *probity_os_object_name(const void *at);

/* Fills a buffer with random bytes; never blocks for long. */
int probity_os_random(void *bytes, size_t count);

/* Report to a thread sanitizer in the program that memory changes hands between threads, which it
 * cannot detect: call `give` in the thread that releases the memory, then `take` in the thread that
 * takes it over. */
void probity_os_memory_take(void *memory);
void probity_os_memory_give(void *memory);

/* Reads a small file (in /proc or /sys) completely. Returns the number of bytes read, or -1. Not
 * zero-terminated. */
long probity_os_read_file(const char *path, void *bytes, size_t room);

/* Returns field 22 of /proc/PID/stat; 0 if it is not available, or if the process has ended. A
 * process whose first thread has exited, and is now a zombie, has not ended. */
uint64_t probity_os_process_start(uint32_t pid);

/* Returns the kernel's boot id as 16 bytes; zeros if not available. */
void probity_os_boot_id(uint8_t ret_boot[16]);

/* Disables copy-on-write for new files if the file system has it (btrfs); a no-op elsewhere. */
void probity_os_no_copy_on_write(int descriptor);

#endif
