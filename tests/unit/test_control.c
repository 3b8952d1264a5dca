/* SPDX-License-Identifier: MIT
 *
 * test_control.c: requests in a spool's header: made, answered, timed out; a writer that sleeps;
 * concurrent requesters; a tool whose requests are unknown to the writer; and one that runs out of
 * memory.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os.h"
#include "probity.h"
#include "spool/control.h"
#include "spool/segment.h"
#include "unit/emulated.h"

enum { SHORT_NS = 20000000, ASKERS = 4, ASKS = 50 };
#define LONG_NS INT64_C(20000000000)

/* This process's spool, as mapped by the writer and by a tool. */
static struct {
    char path[64];
    struct probity_spool_header *header;
    struct probity_attach attach;
    struct probity_place place;
    size_t bytes;
    int is_over;
} spool;

static int set_up(void **state)
{
    struct probity_spool_header header = {.magic = PROBITY_SPOOL_MAGIC,
                                          .version = PROBITY_SPOOL_VERSION,
                                          .session = {1, 2, 3},
                                          .chunk_words = PROBITY_CHUNK_WORDS_MIN,
                                          .chunks = 8,
                                          .segments = 1,
                                          .state = PROBITY_SPOOL_RECORDING};
    void *segment;
    int unnamed;
    uint32_t present;

    (void)state;
    header.pid = (uint32_t)getpid();
    header.process_start = probity_os_process_start(header.pid);
    header.levels = probity_control_levels(5, 5);
    char stem[48];
    snprintf(stem, sizeof stem, "test_control.%u", header.pid);
    snprintf(spool.path, sizeof spool.path, "/dev/shm/%s.0", stem);
    unlink(spool.path);
    spool.bytes = probity_spool_segment_bytes(header.chunks, header.chunk_words);
    spool.is_over = 0;
    if (probity_segment_make(spool.path, &header, &segment, &unnamed, &present) != 0 ||
        probity_segment_name(unnamed, spool.path, segment, present) != 0)
        return -1;
    spool.header = segment;
    int directory = open("/dev/shm", O_PATH);
    if (probity_place_make(directory, "/dev/shm", geteuid(), stem, &spool.place) != 1)
        return -1;
    return probity_attach_open(&spool.place, header.session, header.boot, 1, &spool.attach);
}

static int tear_down(void **state)
{
    (void)state;
    probity_attach_close(&spool.attach);
    munmap(spool.header, spool.bytes);
    return unlink(spool.path);
}

/* Acts as the writer thread: replies to requests for the levels of functions and parameters. */
static void *answer(void *argument)
{
    int functions = 5, parameters = 5;

    while (!__atomic_load_n(&spool.is_over, __ATOMIC_ACQUIRE)) {
        uint32_t serial;
        int f, p;
        if (!probity_control_pending(spool.header, &serial, &f, &p))
            continue;
        functions = f >= 0 ? f : functions;
        parameters = p >= 0 ? p : parameters;
        spool.header->levels = probity_control_levels(functions, parameters);
        probity_control_answer(spool.header, serial);
    }
    return argument;
}

static pthread_t start_answers(void)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, answer, NULL), 0);
    return thread;
}

static void end_answers(pthread_t thread)
{
    __atomic_store_n(&spool.is_over, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
}

static void asked_and_answered(void **state)
{
    pthread_t writer = start_answers();
    int f = -1, p = -1;

    (void)state;
    assert_int_equal(probity_control_read(&spool.attach, &f, &p), 0);
    assert_true(f == 5 && p == 5);
    assert_int_equal(probity_control_ask(&spool.attach, 2, -1, LONG_NS, &f, &p), 0);
    assert_true(f == 2 && p == 5);
    assert_int_equal(probity_control_ask(&spool.attach, -1, 0, LONG_NS, &f, &p), 0);
    assert_true(f == 2 && p == 0);
    assert_int_equal(probity_control_ask(&spool.attach, -1, -1, LONG_NS, &f, &p), 0);
    assert_true(f == 2 && p == 0);
    end_answers(writer);
    assert_int_equal(probity_control_read(&spool.attach, &f, &p), 0);
    assert_true(f == 2 && p == 0);
}

/* Like answer(), but sleeps until it is woken. Raises the flag once it has found no request. */
static void *answer_when_woken(void *argument)
{
    int *has_looked = argument;

    while (!__atomic_load_n(&spool.is_over, __ATOMIC_ACQUIRE)) {
        uint32_t serial, seen = __atomic_load_n(&spool.header->wake, __ATOMIC_ACQUIRE);
        int f, p;
        if (probity_control_pending(spool.header, &serial, &f, &p))
            probity_control_answer(spool.header, serial);
        __atomic_store_n(has_looked, 1, __ATOMIC_RELEASE);
        probity_os_wait_shared(&spool.header->wake, seen, -1);
    }
    return NULL;
}

/* A request wakes the writer, which may otherwise sleep for a second. */
static void wakes_the_writer(void **state)
{
    pthread_t writer;
    int has_looked = 0, f, p;

    (void)state;
    assert_int_equal(pthread_create(&writer, NULL, answer_when_woken, &has_looked), 0);
    while (!__atomic_load_n(&has_looked, __ATOMIC_ACQUIRE))
        sched_yield();
    int result = probity_control_ask(&spool.attach, 2, -1, LONG_NS, &f, &p);
    __atomic_store_n(&spool.is_over, 1, __ATOMIC_RELEASE);
    __atomic_fetch_add(&spool.header->wake, 1, __ATOMIC_RELEASE);
    probity_os_wake_shared(&spool.header->wake, 1);
    pthread_join(writer, NULL);
    assert_int_equal(result, 0);
}

static void serials_wrap(void **state)
{
    int f, p;

    (void)state;
    spool.header->level_request = UINT32_MAX;
    spool.header->level_answered = UINT32_MAX;
    assert_int_equal(probity_control_ask(&spool.attach, 1, 5, SHORT_NS, &f, &p),
                     PROBITY_ERROR_LIMIT);
    spool.header->level_request = UINT32_MAX - 1;
    spool.header->level_answered = UINT32_MAX - 1;
    pthread_t writer = start_answers();
    for (int i = 0; i < 4; i++)
        assert_int_equal(probity_control_ask(&spool.attach, i, 5, LONG_NS, &f, &p), 0);
    end_answers(writer);
    assert_int_equal(spool.header->level_answered, 2);
}

/* A request without a reply stays pending, and the next requester waits for it. */
static void no_answer(void **state)
{
    uint32_t serial;
    int f = 77, p = 77;

    (void)state;
    assert_int_equal(probity_control_ask(&spool.attach, 3, 4, SHORT_NS, &f, &p),
                     PROBITY_ERROR_LIMIT);
    assert_int_equal(probity_control_ask(&spool.attach, 1, 1, SHORT_NS, &f, &p),
                     PROBITY_ERROR_EXISTS);
    assert_int_equal(probity_control_pending(spool.header, &serial, &f, &p), 1);
    assert_true(serial == 1 && f == 3 && p == 4);
    spool.header->levels = probity_control_levels(3, 4);
    probity_control_answer(spool.header, serial);
    assert_int_equal(probity_control_pending(spool.header, &serial, &f, &p), 0);
}

static void nobody_there(void **state)
{
    int f = 77, p = 77;

    (void)state;
    spool.header->failed = 1;
    assert_int_equal(probity_control_ask(&spool.attach, 3, 4, LONG_NS, &f, &p),
                     PROBITY_ERROR_STATE);
    spool.header->failed = 0;
    spool.header->state = PROBITY_SPOOL_CLOSED;
    assert_int_equal(probity_control_ask(&spool.attach, 3, 4, LONG_NS, &f, &p),
                     PROBITY_ERROR_STATE);
    spool.header->state = PROBITY_SPOOL_RECORDING;
    /* The program has ended, which released its lock. */
    void *other = mmap(NULL, spool.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, spool.attach.file, 0);
    assert_true(other != MAP_FAILED);
    munmap(spool.header, spool.bytes);
    spool.header = other;
    assert_int_equal(probity_control_ask(&spool.attach, 3, 4, LONG_NS, &f, &p),
                     PROBITY_ERROR_STATE);
    spool.header->levels = 0;
    assert_int_equal(probity_control_ask(&spool.attach, 3, 4, LONG_NS, &f, &p),
                     PROBITY_ERROR_VERSION);
    assert_int_equal(probity_control_read(&spool.attach, &f, &p), PROBITY_ERROR_VERSION);
}

static void *ask_often(void *argument)
{
    uintptr_t number = (uintptr_t)argument, faults = 0;

    for (int i = 0; i < ASKS; i++) {
        int f, p;
        if (probity_control_ask(&spool.attach, (int)number, -1, LONG_NS, &f, &p) != 0)
            faults++;
    }
    return (void *)faults;
}

/* With concurrent requesters, no request is lost or gets the reply to another. */
static void several_at_a_time(void **state)
{
    pthread_t asker[ASKERS], writer = start_answers();
    void *faults;

    (void)state;
    for (uintptr_t i = 0; i < ASKERS; i++)
        assert_int_equal(pthread_create(&asker[i], NULL, ask_often, (void *)i), 0);
    for (int i = 0; i < ASKERS; i++) {
        pthread_join(asker[i], &faults);
        assert_null(faults);
    }
    end_answers(writer);
    assert_int_equal(spool.header->level_answered, ASKERS * ASKS);
}

/* A request that failed before it was made does not block later ones. */
static void no_memory_for_a_change(void **state)
{
    char why[PROBITY_SPOOL_CHANGE_TEXT];
    struct rlimit before, none;

    (void)state;
    leave_out_if_emulated("qemu does not apply RLIMIT_AS");
    spool.header->levels |= PROBITY_CONTROL_CHANGES;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    none = (struct rlimit){1, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    int result = probity_control_change(&spool.attach, "ring=1s", SHORT_NS, why);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(result, PROBITY_ERROR_SYSTEM);
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = PROBITY_SPOOL_LOCK_CHANGE,
                         .l_len = 1};
    int file = open(spool.path, O_RDWR);
    assert_true(file >= 0);
    assert_int_equal(fcntl(file, F_OFD_SETLK, &lock), 0);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(asked_and_answered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wakes_the_writer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(serials_wrap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nobody_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(several_at_a_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_memory_for_a_change, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
