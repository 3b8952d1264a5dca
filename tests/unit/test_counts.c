/* SPDX-License-Identifier: MIT
 *
 * test_counts.c: with spools that are too small, each record is either found or counted as dropped
 * and reported to the right caller, and the program's errno, its files and the memory of ended
 * threads are not changed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/stream.h"
#include "probity.h"
#include "reader/reader.h"
#include "spool/layout.h"
#include "unit/emulated.h"

enum { CHUNKS = 8, CHUNK_RECORDS = 512, DROPPED = 100, IN_TURN = 500, FAST = 200000, IDS = 10 };

static char directory[64], trace_path[96];

/* The contents of the trace. */
static struct {
    uint64_t hits, lost, dropped, holes;
    uint32_t ids[IDS];
    char name[16]; /* of the thread named last */
} found;

/* With a single segment. */
static void start(int mode)
{
    struct probity_options options = {.mode = mode,
                                      .out = trace_path,
                                      .chunk_records = CHUNK_RECORDS,
                                      .spool_records = CHUNKS * CHUNK_RECORDS,
                                      .spool_bytes_max = 8 * CHUNKS * CHUNK_RECORDS,
                                      .cost = PROBITY_OFF};

    assert_int_equal(probity_start(&options), 0);
}

static void stop_and_read(void)
{
    const char *path = trace_path;
    struct probity_reader *reader;
    const struct probity_event *event;
    uint64_t lost;

    assert_int_equal(probity_stop(), 0);
    memset(&found, 0, sizeof found);
    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), 0);
    while (probity_reader_next(reader, &event) > 0) {
        if (event->kind == PROBITY_EVENT_HIT && found.hits < IDS)
            found.ids[found.hits] = event->id;
        found.hits += event->kind == PROBITY_EVENT_HIT;
        if (event->kind == PROBITY_EVENT_THREAD_NAME)
            snprintf(found.name, sizeof found.name, "%.*s", (int)event->payload_bytes,
                     (const char *)event->payload);
        if (event->kind != PROBITY_EVENT_LOST)
            continue;
        assert_int_equal(event->payload_bytes, sizeof lost);
        memcpy(&lost, event->payload, sizeof lost);
        found.lost += lost;
    }
    found.dropped = probity_totals_dropped(&probity_reader_facts(reader, 0)->totals);
    found.holes = probity_reader_facts(reader, 0)->holes;
    probity_reader_close(reader);
    unlink(trace_path);
}

/* ---- Spools that are too small -----------------------------------------------------------------
 */

static pthread_barrier_t all_have_chunks, all_may_end;

static void *keep_a_chunk(void *unused)
{
    probity_probe(1);
    pthread_barrier_wait(&all_have_chunks);
    pthread_barrier_wait(&all_may_end);
    return unused;
}

static void what_is_dropped_is_counted_and_reported(void **state)
{
    pthread_t threads[CHUNKS - 1];

    (void)state;
    start(PROBITY_MODE_DROP);
    pthread_barrier_init(&all_have_chunks, NULL, CHUNKS);
    pthread_barrier_init(&all_may_end, NULL, CHUNKS);
    for (int i = 0; i < CHUNKS - 1; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, keep_a_chunk, NULL), 0);
    pthread_barrier_wait(&all_have_chunks);
    /* Fills this thread's chunk when no other chunk is free. */
    for (int i = 0; i < CHUNK_RECORDS + DROPPED; i++)
        probity_probe(2);
    pthread_barrier_wait(&all_may_end);
    for (int i = 0; i < CHUNKS - 1; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(probity_flush(), 0);
    probity_probe(3);
    stop_and_read();
    assert_true(found.dropped > 0);
    assert_int_equal(found.lost, found.dropped);
    assert_int_equal(found.hits + found.dropped, CHUNKS - 1 + CHUNK_RECORDS + DROPPED + 1);
}

static void mode_block_loses_nothing(void **state)
{
    (void)state;
    start(PROBITY_MODE_BLOCK);
    for (int i = 0; i < FAST; i++)
        probity_probe(1);
    stop_and_read();
    assert_int_equal(found.hits, FAST);
    assert_int_equal(found.dropped, 0);
}

static void in_a_thread(void *(*run)(void *))
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
    pthread_join(thread, NULL);
}

static void *hit_once(void *unused)
{
    probity_probe(1);
    return unused;
}

static void threads_in_turn_use_the_same_memory(void **state)
{
    (void)state;
    start(PROBITY_MODE_BLOCK);
    for (int i = 0; i < IN_TURN; i++)
        in_a_thread(hit_once);
    stop_and_read();
    assert_int_equal(found.hits, IN_TURN);
    assert_int_equal(found.dropped, 0);
}

static void *hit_by_another_name(void *unused)
{
    prctl(PR_SET_NAME, "another");
    probity_probe(1);
    return unused;
}

static void a_thread_is_identified_by_its_name(void **state)
{
    (void)state;
    start(PROBITY_MODE_BLOCK);
    probity_probe(1);
    in_a_thread(hit_by_another_name);
    stop_and_read();
    assert_int_equal(found.hits, 2);
    assert_string_equal(found.name, "another");
}

/* Names are events of several words; the last name does not fit in the chunk. */
static void the_end_of_a_chunk_is_no_hole(void **state)
{
    (void)state;
    start(PROBITY_MODE_BLOCK);
    for (int i = 0; i < 20 * CHUNK_RECORDS; i++)
        assert_int_equal(probity_thread_set_name("a name of as many words as chunks lack"), 0);
    stop_and_read();
    assert_int_equal(found.holes, 0);
}

/* ---- Effects on the program --------------------------------------------------------------------
 */

static void ids_come_back_however_large(void **state)
{
    const uint32_t limit = PROBITY_SHORT_ID_MAX;
    const uint32_t ids[IDS] = {0, limit - 1, limit, limit + 1, 2 * limit - 1, 2 * limit,
                               2 * limit + 1, UINT32_MAX / 2, UINT32_MAX - 1, UINT32_MAX};

    (void)state;
    start(PROBITY_MODE_BLOCK);
    for (int i = 0; i < IDS; i++)
        probity_probe(ids[i]);
    stop_and_read();
    assert_int_equal(found.hits, IDS);
    assert_memory_equal(found.ids, ids, sizeof ids);
}

#if PROBITY_HAS_FAST_PATH
/* Forks in the middle of a probe, as a signal handler might. read(2) stores the values, because it
 * may fail. */
static void a_child_stores_nothing_of_its_parents(void **state)
{
    const uint32_t ids[] = {1, 3};
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    start(PROBITY_MODE_BLOCK);
    probity_probe(1);
    uint64_t *at = (uint64_t *)probity_reserve(probity_thread_self, 8), tick = probity_ticks();
    uint64_t word = probity_word(tick, PROBITY_WORD_CODE_FIRST + 2 * 2);
    assert_int_equal(write(ends[1], &word, sizeof word), sizeof word);
    pid_t child = fork();
    if (child == 0)
        _exit(read(ends[0], at, sizeof *at) == sizeof *at);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(__atomic_load_n(at, __ATOMIC_RELAXED), 0);
    __atomic_store_n(at, probity_word(tick, PROBITY_WORD_CODE_FIRST + 2 * 3), __ATOMIC_RELAXED);
    stop_and_read();
    assert_int_equal(found.hits, 2);
    assert_memory_equal(found.ids, ids, sizeof ids);
    close(ends[0]);
    close(ends[1]);
}
#endif

/* After gaps, when probes read the clock, and when chunks are replaced. */
static void errno_stays(void **state)
{
    (void)state;
    start(PROBITY_MODE_BLOCK);
    for (int i = 0; i < 4 * CHUNK_RECORDS; i++) {
        uint64_t last = probity_ticks();
        while (i % 8 == 0 && probity_ticks() - last < 20000)
            ;
        errno = EXDEV;
        probity_probe(1);
        assert_int_equal(errno, EXDEV);
    }
    stop_and_read();
}

/* Returns whether the file begins with `text`. */
static int begins(const char *thread, const char *name, const char *text, char ret_text[2000])
{
    char path[600];

    snprintf(path, sizeof path, "/proc/self/task/%s/%s", thread, name);
    int file = open(path, O_RDONLY);
    ssize_t got = file >= 0 ? read(file, ret_text, 1999) : 0;
    ret_text[got > 0 ? got : 0] = '\0';
    close(file);
    return strncmp(ret_text, text, strlen(text)) == 0;
}

static uint64_t signals_blocked_in_writer(void)
{
    DIR *threads = opendir("/proc/self/task");
    const struct dirent *thread;
    char text[2000];
    uint64_t blocked = 0;

    while ((thread = readdir(threads)) != NULL) {
        if (!begins(thread->d_name, "comm", "probity-writer", text))
            continue;
        begins(thread->d_name, "status", "", text);
        const char *line = strstr(text, "\nSigBlk:");
        blocked = line != NULL ? strtoull(line + 8, NULL, 16) : 0;
    }
    closedir(threads);
    return blocked;
}

/* All signals except libc's own and those that cannot be blocked. */
static void signals_are_the_programs(void **state)
{
    (void)state;
    leave_out_if_emulated("/proc has the signals that qemu blocks");
    start(PROBITY_MODE_BLOCK);
    probity_probe(1);
    assert_int_equal(probity_flush(), 0);
    uint64_t blocked = signals_blocked_in_writer();
    for (int number = 1; number < 32; number++) {
        if (number != SIGKILL && number != SIGSTOP)
            assert_true(blocked >> (number - 1) & 1);
    }
    stop_and_read();
}

static void a_file_that_is_there_stays(void **state)
{
    static const char text[] = "somebody's";
    char now[100] = "";
    int file = open(trace_path, O_WRONLY | O_CREAT, 0600);

    (void)state;
    assert_int_equal(write(file, text, sizeof text), sizeof text);
    close(file);
    start(PROBITY_MODE_BLOCK);
    const char *path = probity_trace_path();
    assert_string_not_equal(path, trace_path);
    probity_probe(1);
    assert_int_equal(probity_stop(), 0);
    file = open(trace_path, O_RDONLY);
    assert_int_equal(read(file, now, sizeof now), sizeof text);
    assert_string_equal(now, text);
    close(file);
    assert_int_equal(unlink(path), 0);
    unlink(trace_path);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/dev/shm/test_counts.XXXXXX");
    if (mkdtemp(directory) == NULL)
        return -1;
    snprintf(trace_path, sizeof trace_path, "%s/trace", directory);
    return setenv("PROBITY_SPOOL_DIR", directory, 1);
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_dropped_is_counted_and_reported),
        cmocka_unit_test(mode_block_loses_nothing),
        cmocka_unit_test(threads_in_turn_use_the_same_memory),
        cmocka_unit_test(a_thread_is_identified_by_its_name),
        cmocka_unit_test(the_end_of_a_chunk_is_no_hole),
        cmocka_unit_test(ids_come_back_however_large),
#if PROBITY_HAS_FAST_PATH
        cmocka_unit_test(a_child_stores_nothing_of_its_parents),
#endif
        cmocka_unit_test(errno_stays),
        cmocka_unit_test(signals_are_the_programs),
        cmocka_unit_test(a_file_that_is_there_stays),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
