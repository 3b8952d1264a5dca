/* SPDX-License-Identifier: MIT
 *
 * test_assert.c: in builds with assertions, a false one ends the process and reports the location;
 * other builds do not evaluate assertions.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/assert.h"
#include "probity.h"
#include "reader/queue.h"
#include "spool/layout.h"

#ifdef PROBITY_DEBUG
enum { HAS_ASSERTIONS = 1 };
#else
enum { HAS_ASSERTIONS = 0 };
#endif

static int evaluations;

/* Not called without assertions. */
__attribute__((unused)) static int evaluated(int value)
{
    evaluations++;
    return value;
}

static void test_true_assertion_changes_nothing(void **state)
{
    (void)state;
    evaluations = 0;
    probity_assert(evaluated(1));
    assert_int_equal(evaluations, HAS_ASSERTIONS);
}

/* Runs the assertion in a child. Returns the child's standard error. */
static int status_of_false_assertion(char *ret_text, size_t room)
{
    const struct rlimit no_core = {0, 0};
    int pipes[2], status;

    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGILL, SIG_DFL);
        signal(SIGTRAP, SIG_DFL);
        dup2(pipes[1], STDERR_FILENO);
        probity_assert(evaluated(0) == 1);
        _exit(0);
    }
    close(pipes[1]);
    ssize_t got = read(pipes[0], ret_text, room - 1);
    ret_text[got > 0 ? got : 0] = '\0';
    close(pipes[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_false_assertion_ends_the_process(void **state)
{
    char text[1024];
    int status = status_of_false_assertion(text, sizeof text);

    (void)state;
    if (!HAS_ASSERTIONS) {
        assert_int_equal(status, 0);
        assert_string_equal(text, "");
        return;
    }
    assert_int_not_equal(status, 0);
    assert_non_null(strstr(text, "test_assert.c:"));
    assert_non_null(strstr(text, "assertion failed: evaluated(0) == 1"));
}

static void test_chunks_have_a_power_of_two_words(void **state)
{
    (void)state;
    assert_true(probity_chunk_words_is_valid(PROBITY_CHUNK_WORDS_MIN));
    assert_true(probity_chunk_words_is_valid(PROBITY_CHUNK_WORDS_MAX));
    assert_false(probity_chunk_words_is_valid(PROBITY_CHUNK_WORDS_MIN + 1));
    assert_false(probity_chunk_words_is_valid(PROBITY_CHUNK_WORDS_MIN / 2));
    assert_false(probity_chunk_words_is_valid(2 * PROBITY_CHUNK_WORDS_MAX));
}

static void test_chunk_has_no_more_words_than_its_size(void **state)
{
    struct probity_chunk_header header = {.state = PROBITY_CHUNK_FULL, .used = 512, .drained = 9};

    (void)state;
    assert_true(probity_chunk_is_valid(&header, 512));
    header.used = 513;
    assert_false(probity_chunk_is_valid(&header, 512));
    header.used = 512;
    header.state = PROBITY_CHUNK_CELLS + 1;
    assert_false(probity_chunk_is_valid(&header, 512));
}

#ifdef PROBITY_DEBUG
static void test_queue_is_in_order(void **state)
{
    struct probity_queue queue = {0};

    (void)state;
    for (uint64_t key = 40; key-- > 0;)
        assert_int_equal(probity_queue_push(&queue, &(struct probity_waiting){.key = key}), 0);
    assert_true(probity_queue_is_valid(&queue));
    queue.items[0].key = 41;
    assert_false(probity_queue_is_valid(&queue));
    probity_queue_release(&queue);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_true_assertion_changes_nothing),
        cmocka_unit_test(test_false_assertion_ends_the_process),
        cmocka_unit_test(test_chunks_have_a_power_of_two_words),
        cmocka_unit_test(test_chunk_has_no_more_words_than_its_size),
#ifdef PROBITY_DEBUG
        cmocka_unit_test(test_queue_is_in_order),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
