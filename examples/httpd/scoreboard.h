/* SPDX-License-Identifier: MIT
 *
 * scoreboard.h: counts of each thread's work, in memory that may be a file. Each thread writes only
 * its own slot, right after the stage's probe; so in a scoreboard that survived a kill, a count
 * equals the number of hits, or is one less if the thread was killed between the two.
 */
#ifndef HTTPD_SCOREBOARD_H
#define HTTPD_SCOREBOARD_H

#include <stddef.h>
#include <stdint.h>

/* Eight words in native byte order: a line of `od -An -v -w64 -tu8`. */
struct scoreboard_slot {
    uint64_t thread_id; /* the kernel's thread id */
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

/* Maps a scoreboard of count slots, all zero: a new file, or plain memory if path is NULL. Returns
 * 0, or -1 with errno set. */
int scoreboard_init(size_t count, const char *path, struct scoreboard *ret_board);
void scoreboard_release(struct scoreboard *board);

/* Returns the number of requests served by all threads. Exact once the threads have been joined. */
uint64_t scoreboard_requests(const struct scoreboard *board);

/* Adds one to a field of the calling thread's own slot. */
static inline void scoreboard_count(uint64_t *field)
{
    /* Relaxed: there is one writer, and readers need whole values but no order. */
    __atomic_store_n(field, __atomic_load_n(field, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

#endif
