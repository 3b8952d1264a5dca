/* SPDX-License-Identifier: MIT
 *
 * scoreboard.c: maps, unmaps and sums the scoreboard. Called by the main thread only.
 */
#define _GNU_SOURCE 1
#include "scoreboard.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int scoreboard_init(size_t count, const char *path, struct scoreboard *ret_board)
{
    size_t bytes = count * sizeof(struct scoreboard_slot);
    int file = -1;
    void *memory = MAP_FAILED;

    if (path) {
        file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (file < 0)
            return -1;
        /* Never sparse: a full disk must be detected here, not as SIGBUS in a worker. */
        errno = posix_fallocate(file, 0, (off_t)bytes);
    }
    if (!path)
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    else if (errno == 0)
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int error = errno;
    if (file >= 0)
        close(file);
    errno = error;
    if (memory == MAP_FAILED)
        return -1;
    *ret_board = (struct scoreboard){.slots = memory, .count = count};
    return 0;
}

void scoreboard_release(struct scoreboard *board)
{
    munmap(board->slots, board->count * sizeof(struct scoreboard_slot));
    board->slots = NULL;
}

uint64_t scoreboard_requests(const struct scoreboard *board)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < board->count; i++)
        sum += __atomic_load_n(&board->slots[i].requests, __ATOMIC_RELAXED);
    return sum;
}
