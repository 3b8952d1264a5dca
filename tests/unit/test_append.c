/* SPDX-License-Identifier: MIT
 *
 * test_append.c: appending blocks to the trace file when write calls are partial, are interrupted,
 * or fail.
 * link-flags: -Wl,--wrap=pwrite
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "probity.h"
#include "writer/append.h"

enum { BLOCK_BYTES = 1000 };

/* A plan for the next calls of pwrite: each writes at most this many bytes or, if negative, fails
 * with this error. After the last entry, calls write everything. */
static struct {
    long steps[8];
    int count, next;
} plan;

ssize_t __real_pwrite(int file, const void *bytes, size_t count, off_t offset);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t count, off_t offset);

ssize_t __wrap_pwrite(int file, const void *bytes, size_t count, off_t offset)
{
    long step = plan.next < plan.count ? plan.steps[plan.next] : (long)count;

    plan.next++;
    if (step < 0) {
        errno = (int)-step;
        return -1;
    }
    return __real_pwrite(file, bytes, (size_t)step < count ? (size_t)step : count, offset);
}

/* The file already has one block. */
struct sample {
    FILE *file;
    struct probity_append append;
    char block[BLOCK_BYTES];
    char path[32];
};

static void start(struct sample *sample, const long *steps, int count)
{
    plan.count = plan.next = 0;
    /* Nothing is appended to an unnamed file. */
    snprintf(sample->path, sizeof sample->path, "/tmp/test_append.XXXXXX");
    int file = mkstemp(sample->path);
    assert_true(file >= 0);
    sample->file = fdopen(file, "w+");
    assert_non_null(sample->file);
    sample->append = (struct probity_append){.descriptor = fileno(sample->file)};
    memset(sample->block, 'a', BLOCK_BYTES);
    assert_int_equal(probity_append_bytes(&sample->append, sample->block, BLOCK_BYTES), 0);
    for (int i = 0; i < BLOCK_BYTES; i++)
        sample->block[i] = (char)('b' + i % 24);
    if (count > 0)
        memcpy(plan.steps, steps, (size_t)count * sizeof *steps);
    plan.count = count;
    plan.next = 0;
}

/* Checks that the file has the first block, and also the second if it was written. */
static void expect_blocks(struct sample *sample, int blocks)
{
    char found[3 * BLOCK_BYTES];

    ssize_t bytes = pread(sample->append.descriptor, found, sizeof found, 0);
    assert_int_equal(bytes, blocks * BLOCK_BYTES);
    assert_int_equal(sample->append.committed, blocks * BLOCK_BYTES);
    for (int i = 0; i < BLOCK_BYTES; i++)
        assert_int_equal(found[i], 'a');
    if (blocks == 2)
        assert_memory_equal(found + BLOCK_BYTES, sample->block, BLOCK_BYTES);
    unlink(sample->path);
    fclose(sample->file);
}

static void a_block_is_written_in_as_many_pieces_as_the_system_takes(void **state)
{
    struct sample sample;

    (void)state;
    start(&sample, (long[]){1, 300, -EINTR, 2, -EINTR}, 5);
    assert_int_equal(probity_append_bytes(&sample.append, sample.block, BLOCK_BYTES), 0);
    assert_int_equal(plan.next, 6);
    expect_blocks(&sample, 2);
}

/* Makes pwrite fail at once, after a part, or by writing nothing without reporting an error. */
static void what_is_refused_leaves_the_file_as_it_was(void **state)
{
    static const struct {
        long steps[3];
        int count, error;
    } cases[] = {{{-ENOSPC}, 1, ENOSPC}, {{400, -EIO}, 2, EIO}, {{999, 0}, 2, EIO},
                 {{1, -EINTR, -EDQUOT}, 3, EDQUOT}};
    struct sample sample;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(&sample, cases[i].steps, cases[i].count);
        assert_int_equal(probity_append_bytes(&sample.append, sample.block, BLOCK_BYTES),
                         PROBITY_ERROR_WRITE);
        assert_int_equal(sample.append.error, cases[i].error);
        expect_blocks(&sample, 1);
    }
}

static void what_follows_a_refusal_stands_behind_the_last_whole_block(void **state)
{
    struct sample sample;

    (void)state;
    start(&sample, (long[]){700, -ENOSPC}, 2);
    assert_int_equal(probity_append_bytes(&sample.append, sample.block, BLOCK_BYTES),
                     PROBITY_ERROR_WRITE);
    assert_int_equal(probity_append_bytes(&sample.append, sample.block, BLOCK_BYTES), 0);
    expect_blocks(&sample, 2);
}

/* In a child, because a lowered hard limit cannot be raised again. SIGXFSZ would kill it. */
static void a_limit_of_file_size_is_an_error_and_no_signal(void **state)
{
    int status;

    (void)state;
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct sample sample;
        const struct rlimit limit = {2 * BLOCK_BYTES - 1, 2 * BLOCK_BYTES - 1};
        start(&sample, (long[]){0}, 0);
        signal(SIGXFSZ, SIG_DFL);
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(2);
        int result = probity_append_bytes(&sample.append, sample.block, BLOCK_BYTES);
        _exit(result == PROBITY_ERROR_WRITE && sample.append.error == EFBIG && plan.next == 0 ? 0
                                                                                              : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Some file systems have no link count, so an unnamed file is not detected there. */
static void a_file_that_lost_its_name_is_left_alone(void **state)
{
    struct sample sample;

    (void)state;
    start(&sample, NULL, 0);
    assert_int_equal(unlink(sample.path), 0);
    assert_int_equal(probity_append_bytes(&sample.append, sample.block, BLOCK_BYTES), 0);
    sample.append.has_links = 1;
    assert_int_equal(probity_append_bytes(&sample.append, sample.block, BLOCK_BYTES),
                     PROBITY_ERROR_WRITE);
    assert_int_equal(sample.append.error, ENOENT);
    expect_blocks(&sample, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_written_in_as_many_pieces_as_the_system_takes),
        cmocka_unit_test(what_is_refused_leaves_the_file_as_it_was),
        cmocka_unit_test(what_follows_a_refusal_stands_behind_the_last_whole_block),
        cmocka_unit_test(a_limit_of_file_size_is_an_error_and_no_signal),
        cmocka_unit_test(a_file_that_lost_its_name_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
