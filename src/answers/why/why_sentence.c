/* SPDX-License-Identifier: MIT
 *
 * why_sentence.c: names a cause in one sentence, and provides the words for parts and causes.
 */
#include <inttypes.h>
#include <string.h>

#include "answers/report/report_text.h"
#include "answers/waits/wait_text.h"
#include "answers/why/why_print.h"
#include "print/text.h"
#include "print/time_text.h"

const char *probity_why_part_name(enum probity_why_part part)
{
    static const char *const names[PROBITY_WHY_PARTS] = {
        [PROBITY_WHY_RUNNING] = "running", [PROBITY_WHY_LOCK] = "lock",
        [PROBITY_WHY_CONDITION] = "condition", [PROBITY_WHY_IO] = "io",
        [PROBITY_WHY_SLEEP] = "sleep", [PROBITY_WHY_PROCESS] = "process",
        [PROBITY_WHY_RUNNABLE] = "waiting-for-cpu", [PROBITY_WHY_BLOCKED] = "blocked",
        [PROBITY_WHY_OFF] = "off-cpu", [PROBITY_WHY_UNKNOWN] = "unknown"};

    return names[part];
}

const char *probity_why_cause_name(enum probity_why_cause_kind kind)
{
    static const char *const names[PROBITY_WHY_CAUSES] = {
        [PROBITY_WHY_CAUSE_NONE] = "none", [PROBITY_WHY_CAUSE_LOCK] = "lock",
        [PROBITY_WHY_CAUSE_CONDITION] = "condition", [PROBITY_WHY_CAUSE_IO] = "io",
        [PROBITY_WHY_CAUSE_SLEEP] = "sleep", [PROBITY_WHY_CAUSE_PROCESS] = "process",
        [PROBITY_WHY_CAUSE_DESCHEDULED] = "descheduled",
        [PROBITY_WHY_CAUSE_BLOCKED] = "blocked", [PROBITY_WHY_CAUSE_OFF] = "off-cpu",
        [PROBITY_WHY_CAUSE_MORE_WORK] = "more-work",
        [PROBITY_WHY_CAUSE_MORE_CALLS] = "more-calls"};

    return names[kind];
}

struct sentence {
    FILE *stream;
    const struct probity_why_answer *answer;
    const struct probity_why_case *of;
    const struct probity_why_cause *cause;
};

static void put_time(FILE *stream, uint64_t ns)
{
    char text[PROBITY_TIME_TEXT_BYTES];

    fputs(probity_time_text(ns, text), stream);
}

static void put_usual(const struct sentence *sentence)
{
    if (sentence->of->group->durations.count < 2)
        return;
    fputs(" (usually ", sentence->stream);
    if (sentence->cause->usual_ns > 0)
        put_time(sentence->stream, sentence->cause->usual_ns);
    else
        fputs("none", sentence->stream);
    fputc(')', sentence->stream);
}

/* Prints the function in which it happened. */
static void put_function(const struct sentence *sentence)
{
    const struct probity_function *function = sentence->cause->node->key.function;
    const char *name = function != NULL ? function->name
                       : sentence->answer->span != NULL ? sentence->answer->span
                                                        : "an unknown function";

    probity_report_put_safe(sentence->stream, name, strlen(name));
}

static void put_target(const struct sentence *sentence)
{
    const struct probity_why_wait *wait = sentence->cause->wait;
    const struct probity_why_target *target = wait != NULL ? wait->target : NULL;

    if (target == NULL) {
        fputs("several", sentence->stream);
        return;
    }
    const struct probity_wait_name name = {target->what, target->name, target->object};
    probity_wait_text_name(sentence->stream, &name);
}

static void put_waiter(const struct sentence *sentence)
{
    const struct probity_why_wait *wait = sentence->cause->wait;

    fputs(" in ", sentence->stream);
    if (wait != NULL && (wait->doing.function != NULL || wait->doing.call != NULL))
        probity_wait_text_doing(sentence->stream, &wait->doing);
    else
        put_function(sentence);
}

static void put_culprit(const struct sentence *sentence, const char *verb)
{
    const struct probity_why_cause *cause = sentence->cause;
    const struct probity_thread_label *thread =
        probity_path_thread(probity_why_paths(sentence->answer->why), cause->culprit_slot);

    if (thread == NULL && cause->culprit_tid == 0) {
        fprintf(sentence->stream, ", %s an unknown thread", verb);
        return;
    }
    fprintf(sentence->stream, ", %s thread ", verb);
    if (thread != NULL)
        probity_report_put_thread(sentence->stream, thread, 0);
    else
        fprintf(sentence->stream, "%" PRIu32, cause->culprit_tid);
    if (cause->culprit_doing.function != NULL || cause->culprit_doing.call != NULL) {
        fputs(" in ", sentence->stream);
        probity_wait_text_doing(sentence->stream, &cause->culprit_doing);
    }
}

static void put_lead(const struct sentence *sentence, const char *verb)
{
    fprintf(sentence->stream, "it %s ", verb);
    put_time(sentence->stream, sentence->cause->ns);
    put_usual(sentence);
}

static void put_wait(const struct sentence *sentence)
{
    const struct probity_why_cause *cause = sentence->cause;

    put_lead(sentence, cause->kind == PROBITY_WHY_CAUSE_SLEEP ? "was asleep" : "waited");
    if (cause->kind != PROBITY_WHY_CAUSE_SLEEP) {
        fputs(" for ", sentence->stream);
        put_target(sentence);
    }
    put_waiter(sentence);
    if (cause->kind == PROBITY_WHY_CAUSE_LOCK)
        put_culprit(sentence, "held by");
    if (cause->kind == PROBITY_WHY_CAUSE_CONDITION)
        put_culprit(sentence, "ended by");
}

static void put_off(const struct sentence *sentence)
{
    static const char *const texts[PROBITY_WHY_CAUSES] = {
        [PROBITY_WHY_CAUSE_DESCHEDULED] = " for a CPU, ready to run",
        [PROBITY_WHY_CAUSE_BLOCKED] =
            " blocked by the kernel, in no recorded wait: a page fault, or a call that is not "
            "recorded",
        [PROBITY_WHY_CAUSE_OFF] =
            " off the CPU, in no recorded wait: descheduled, a page fault, or a call that is not "
            "recorded"};

    put_lead(sentence, sentence->cause->kind == PROBITY_WHY_CAUSE_DESCHEDULED ? "waited" : "was");
    fputs(texts[sentence->cause->kind], sentence->stream);
    fputs(", mostly in ", sentence->stream);
    put_function(sentence);
}

/* Prints "N times" if the ratio exceeds 1.05. */
static void put_times(const struct sentence *sentence, uint64_t value, uint64_t usual)
{
    if (usual > 0 && (double)value > 1.05 * (double)usual)
        fprintf(sentence->stream, ", %.1f times its median of ", (double)value / (double)usual);
    else
        fputs("; its median is ", sentence->stream);
}

static void put_work(const struct sentence *sentence)
{
    const struct probity_why_cause *cause = sentence->cause;
    int has_cpu = sentence->of->has_cpu;
    uint64_t ns = has_cpu ? cause->value.cpu_ns : cause->value.wall_ns;
    uint64_t usual_ns = has_cpu ? cause->usual.cpu_ns : cause->usual.wall_ns;

    fputs("it did more: ", sentence->stream);
    put_function(sentence);
    if (cause->kind == PROBITY_WHY_CAUSE_MORE_CALLS) {
        fprintf(sentence->stream, " was called %" PRIu64 " times", cause->value.calls);
        put_times(sentence, cause->value.calls, cause->usual.calls);
        fprintf(sentence->stream, "%" PRIu64, cause->usual.calls);
        fputs(", and took ", sentence->stream);
        put_time(sentence->stream, ns);
        return;
    }
    fputs(has_cpu ? " ran for " : " took ", sentence->stream);
    put_time(sentence->stream, ns);
    if (sentence->of->group->durations.count < 2)
        return;
    put_times(sentence, ns, usual_ns);
    put_time(sentence->stream, usual_ns);
}

void probity_why_sentence(FILE *stream, const struct probity_why_answer *answer,
                          const struct probity_why_case *of,
                          const struct probity_why_cause *cause)
{
    const struct sentence sentence = {stream, answer, of, cause};

    switch (cause->kind) {
    case PROBITY_WHY_CAUSE_NONE: fputs("it was not slower than usual", stream); break;
    case PROBITY_WHY_CAUSE_LOCK:
    case PROBITY_WHY_CAUSE_CONDITION:
    case PROBITY_WHY_CAUSE_IO:
    case PROBITY_WHY_CAUSE_SLEEP:
    case PROBITY_WHY_CAUSE_PROCESS: put_wait(&sentence); break;
    case PROBITY_WHY_CAUSE_DESCHEDULED:
    case PROBITY_WHY_CAUSE_BLOCKED:
    case PROBITY_WHY_CAUSE_OFF: put_off(&sentence); break;
    default: put_work(&sentence); break;
    }
}
