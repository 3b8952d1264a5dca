/* SPDX-License-Identifier: MIT
 *
 * victim.c: records until it is killed. After each probe, it stores the number of hits in a shared
 * mapping of a file, which outlives it: a thread may have recorded one hit more than that, but
 * never fewer.
 *
 *     victim TRUTH THREADS FIRST-STREAM [PAUSE]    PAUSE: loop iterations between probes
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "programs/victim.h"

static struct victim_truth *truth;
static uint64_t pause_turns;

static void *work(void *argument)
{
    struct victim_truth *mine = argument;
    uint32_t stream = (uint32_t)mine->stream;

    for (uint64_t i = 0;; i++) {
        PROBITY_PROBE(hits_id(stream, i));
        __atomic_store_n(&mine->hits, i + 1, __ATOMIC_RELEASE);
        for (uint64_t turn = 0; turn < pause_turns; turn++)
            __asm__ volatile("");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint32_t threads = (uint32_t)hits_argument(argc, argv, 2, 1);
    uint32_t first = (uint32_t)hits_argument(argc, argv, 3, 0);
    int file = argc > 2 ? open(argv[1], O_RDWR) : -1;

    hits_need(file >= 0 && threads <= VICTIM_THREADS_MAX, "truth");
    pause_turns = hits_argument(argc, argv, 4, 0);
    truth = mmap(NULL, VICTIM_TRUTH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    hits_need(truth != MAP_FAILED, "mmap");
    for (uint32_t i = 0; i < threads; i++) {
        pthread_t thread;
        truth[i].stream = first + i;
        hits_need(pthread_create(&thread, NULL, work, &truth[i]) == 0, "thread");
    }
    for (;;)
        pause();
}
