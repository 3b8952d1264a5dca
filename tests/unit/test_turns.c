/* SPDX-License-Identifier: MIT
 *
 * test_turns.c: setting short turns changes no other scheduling parameter of the calling thread.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os.h"

enum { TURN_NS = 100000, NICE = 19 /* may always be set */ };

/* struct sched_attr of linux/sched/types.h, which clashes with sched.h of newer libcs. */
struct turns {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

static struct turns read_turns(void)
{
    struct turns turns = {.size = sizeof turns};

    assert_int_equal(syscall(SYS_sched_getattr, 0, &turns, sizeof turns, 0), 0);
    return turns;
}

/* Emulators may not support the calls. */
static void skip_without_turns(void)
{
    struct turns turns = {.size = sizeof turns};

    if (syscall(SYS_sched_getattr, 0, &turns, sizeof turns, 0) != 0)
        skip();
}

static void set_policy(int policy)
{
    const struct sched_param none = {.sched_priority = 0};

    assert_int_equal(sched_setscheduler(0, policy, &none), 0);
}

/* Older kernels report no turn for these policies. */
static void check(uint32_t policy, int has_turns)
{
    struct turns after = read_turns();

    assert_int_equal(after.policy, policy);
    assert_int_equal(after.nice, NICE);
    if (has_turns)
        assert_int_equal(after.runtime_ns, TURN_NS);
}

static void priority_and_policy_stay(void **state)
{
    (void)state;
    skip_without_turns();
    int has_turns = read_turns().runtime_ns != 0;

    assert_int_equal(setpriority(PRIO_PROCESS, 0, NICE), 0);
    errno = 77;
    assert_int_equal(probity_os_short_turns(), 0);
    probity_os_yield();
    assert_int_equal(errno, 77);
    check(SCHED_OTHER, has_turns);
    set_policy(SCHED_BATCH);
    assert_int_equal(probity_os_short_turns(), 0);
    check(SCHED_BATCH, has_turns);
}

/* A thread that runs only when a processor is idle needs no turns. */
static void other_policies_are_refused(void **state)
{
    (void)state;
    skip_without_turns();
    set_policy(SCHED_IDLE);
    errno = 77;
    assert_int_equal(probity_os_short_turns(), -1);
    assert_int_equal(errno, 77);
    assert_int_equal(read_turns().policy, SCHED_IDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(priority_and_policy_stay),
                                       cmocka_unit_test(other_policies_are_refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
