/* SPDX-License-Identifier: MIT
 *
 * duty.c: accounts for the cost of records. A switch has the price measured by price.c. A waking
 * costs the kernel a part of that on every machine: it writes a record of about the same size, but
 * does not change any events.
 */
#include "sched/duty.h"

#include "base/assert.h"

enum {
    SWITCH_NS = 1200,          /* price of a switch if it was not measured */
    WAKING_PERCENT = 80,       /* percentage of the price of a switch */
    READ_NS_MAX = 300, /* per record, in this thread, which also wakes up if there are none */
    CREDIT_NS_MAX = 5000000, /* limit of the savings while little happens */
    RESUME_NS = 2000000, /* credit needed to switch events on again, which interrupts all CPUs; */
    PAUSE_NS_MAX = 250000000, /* or this time, if the program uses little CPU time */
    WAKINGS_PART = 4,        /* part of the cost: wakings that cost less stay on */
    MILLIONTHS = 1000000
};

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now = {0, 0};

    return clock_gettime(clock, &now) == 0
               ? (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec
               : 0;
}

void probity_sched_duty_begin(struct probity_sched_duty *duty, pid_t pid, uint32_t share,
                              int has_wakings, uint32_t switch_ns)
{
    *duty = (struct probity_sched_duty){
        .share = share, .has_wakings = has_wakings, .switch_ns = switch_ns};
    if (clock_getcpuclockid(pid, &duty->clock) != 0)
        duty->share = 0;
    else
        duty->cpu_ns = read_clock(duty->clock);
}

static uint32_t switch_price(const struct probity_sched_duty *duty)
{
    return duty->switch_ns != 0 ? duty->switch_ns : SWITCH_NS;
}

/* The kernel takes as long for a switch between two threads of the program as for a switch between
 * such a thread and another: changing the events takes long, not writing a second record. The two
 * records are less than this time apart, in which a CPU does not switch twice. */
void probity_sched_duty_count(struct probity_sched_duty *duty, uint32_t kind, uint64_t time_ns,
                              uint64_t *out_ns)
{
    uint64_t between_ns = time_ns - *out_ns;

    duty->records++;
    if (kind == PROBITY_SCHED_WOKEN)
        duty->wakings++;
    else if (kind != PROBITY_SCHED_IN || between_ns > 2 * switch_price(duty))
        duty->switches++;
    if (kind == PROBITY_SCHED_OUT || kind == PROBITY_SCHED_PREEMPTED)
        *out_ns = time_ns;
}

/* Whether the current pause is over. */
static int may_resume(const struct probity_sched_duty *duty, uint64_t now_ns)
{
    return duty->credit_ns >= RESUME_NS ||
           (duty->credit_ns >= 0 && now_ns - duty->since_ns >= PAUSE_NS_MAX);
}

static enum probity_sched_duty_change change_at(struct probity_sched_duty *duty, uint64_t now_ns,
                                                int are_wakings_dear)
{
    if (duty->is_paused ? !may_resume(duty, now_ns) : duty->credit_ns >= 0)
        return PROBITY_SCHED_DUTY_SAME;
    if (!duty->is_paused && duty->has_wakings && are_wakings_dear) {
        duty->has_wakings = 0;
        duty->wakings_ns = now_ns;
        return PROBITY_SCHED_DUTY_NO_WAKINGS;
    }
    duty->is_paused = !duty->is_paused;
    if (duty->is_paused) {
        duty->since_ns = now_ns;
        duty->pauses++;
        return PROBITY_SCHED_DUTY_OFF;
    }
    duty->paused_ns += now_ns - duty->since_ns;
    return PROBITY_SCHED_DUTY_ON;
}

/* Returns the part of this thread's time since the last step that was spent on records. */
static uint64_t reading_ns(struct probity_sched_duty *duty, uint64_t own_ns)
{
    uint64_t used_ns = own_ns > duty->own_ns ? own_ns - duty->own_ns : 0;
    uint64_t most_ns = duty->records * READ_NS_MAX;

    duty->own_ns = own_ns;
    return used_ns < most_ns ? used_ns : most_ns;
}

enum probity_sched_duty_change probity_sched_duty_step_at(struct probity_sched_duty *duty,
                                                          uint64_t now_ns, uint64_t cpu_ns,
                                                          uint64_t own_ns)
{
    /* If the program has ended, its clock is not available. */
    uint64_t used_ns = cpu_ns > duty->cpu_ns ? cpu_ns - duty->cpu_ns : 0;

    probity_assert(duty->share <= MILLIONTHS);
    duty->credit_ns += (int64_t)(used_ns / 1000 * duty->share / 1000);
    uint64_t price_ns = switch_price(duty);
    uint64_t wakings_ns = duty->wakings * price_ns * WAKING_PERCENT / 100;
    uint64_t spent_ns = duty->switches * price_ns + wakings_ns;
    duty->credit_ns -= (int64_t)(spent_ns + reading_ns(duty, own_ns));
    duty->credit_ns = duty->credit_ns < CREDIT_NS_MAX ? duty->credit_ns : CREDIT_NS_MAX;
    duty->switches = duty->wakings = duty->records = 0;
    duty->cpu_ns += used_ns;
    return change_at(duty, now_ns, wakings_ns > 0 && wakings_ns * WAKINGS_PART >= spent_ns);
}

enum probity_sched_duty_change probity_sched_duty_step(struct probity_sched_duty *duty,
                                                       uint64_t now_ns)
{
    if (duty->share == 0)
        return PROBITY_SCHED_DUTY_SAME;
    return probity_sched_duty_step_at(duty, now_ns, read_clock(duty->clock),
                                      read_clock(CLOCK_THREAD_CPUTIME_ID));
}
