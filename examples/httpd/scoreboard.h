/* SPDX-License-Identifier: MIT
 *
 * scoreboard.h: what each thread has done, counted in memory that can be a file. Each thread
 * writes its own slot only, right behind the stage's probe; so in a scoreboard that survived a
 * kill a count is equal to the number of hits, or one less on the thread that was killed between
 * the two.
 */
#ifndef HTTPD_SCOREBOARD_H
#define HTTPD_SCOREBOARD_H

#include <stddef.h>
#include <stdint.h>

/* Eight words in native byte order: a line of `od -An -v -w64 -tu8`. */
struct scoreboard_slot {
    uint64_t thread_id; /* the kernel's */
    uint64_t accepted;
    uint64_t queued;
    uint64_t taken;
    uint64_t requests;
    uint64_t cgi_requests;
    uint64_t closed;
    uint64_t reserved;
};

_Static_assert(sizeof(struct scoreboard_slot) == 64, "one cache line, one line of od");

struct scoreboard {
    struct scoreboard_slot *slots; /* 0 is the listener, then one for each worker */
    size_t count;
};

/* Maps a scoreboard of count slots, all zero: the file path, made anew, or plain memory where path
 * is NULL. Returns 0, or -1 with errno set. */
int scoreboard_init(size_t count, const char *path, struct scoreboard *ret_board);
void scoreboard_release(struct scoreboard *board);

/* Requests answered by all threads. Exact once the threads are joined. */
uint64_t scoreboard_requests(const struct scoreboard *board);

/* Adds one to a field of the calling thread's own slot. */
static inline void scoreboard_count(uint64_t *field)
{
    /* Relaxed: one writer; readers want no order, only whole values. */
    __atomic_store_n(field, __atomic_load_n(field, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

#endif
