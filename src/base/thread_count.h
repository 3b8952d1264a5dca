/* SPDX-License-Identifier: MIT
 *
 * thread_count.h: excludes the library's thread from the count by which libc decides that the
 * program has ended.
 *
 * A program may end when all of its threads have exited, by pthread_exit() or by returning. libc
 * counts its threads, and the last one calls exit(0). A thread created by a library would also be
 * counted, and the program would never end. The last thread of the program must be the one that
 * calls exit(): the exit handlers need its file descriptors, which are closed once no thread that
 * shares them is left.
 *
 * glibc keeps the count in a variable that its debugging library finds by name (__nptl_nthreads).
 * If the variable is not found (musl, a statically linked program), nothing is changed, and the
 * remaining thread must check this itself: base/own_threads.h.
 */
#ifndef PROBITY_BASE_THREAD_COUNT_H
#define PROBITY_BASE_THREAD_COUNT_H

/* Finds the count; NULL if it is unknown. Takes the dynamic linker's lock, so call it in a
 * constructor. */
unsigned *probity_thread_count_find(void);

/* Stops counting the calling thread, which was created by pthread_create(). Returns 1, or 0 if the
 * count is unknown (NULL): the thread then stays counted. */
int probity_thread_count_leave(unsigned *count);

/* Call when the calling thread is about to return from its start function, after which libc
 * decrements the count: adds two, so that the thread does not appear to be the last. Only while
 * another thread waits in pthread_join() and then calls probity_thread_count_joined(), which
 * subtracts the extra one. */
void probity_thread_count_return(unsigned *count);
void probity_thread_count_joined(unsigned *count);

#endif
