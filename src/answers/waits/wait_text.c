/* SPDX-License-Identifier: MIT
 *
 * wait_text.c: names of locks, threads and functions in text, JSON and CSV.
 */
#include "answers/waits/wait_text.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "answers/report/report_csv.h"
#include "answers/report/report_text.h"
#include "print/json.h"
#include "print/text.h"

void probity_wait_text_name(FILE *stream, const struct probity_wait_name *name)
{
    /* Names of conditions already include their kind: "barrier done", "join in main". */
    if (name->what != PROBITY_WAIT_WHAT_CONDITION && name->what != PROBITY_WAIT_WHAT_CPU)
        fprintf(stream, "%s ", probity_wait_what_name(name->what));
    probity_report_put_safe(stream, name->text, strlen(name->text));
    if (name->object != 0)
        fprintf(stream, " 0x%" PRIx64, name->object);
}

const char *probity_wait_function_name(const struct probity_function *function)
{
    return function != NULL ? function->name : "";
}

void probity_wait_text_doing(FILE *stream, const struct probity_past_doing *doing)
{
    const char *name = probity_wait_function_name(doing->function);

    probity_report_put_safe(stream, name, strlen(name));
    if (doing->call != NULL) {
        fputs(doing->function != NULL ? " > " : "", stream);
        probity_report_put_safe(stream, doing->call->name, strlen(doing->call->name));
    }
    if (doing->function == NULL && doing->call == NULL)
        fputc('-', stream);
}

void probity_wait_text_thread(FILE *stream, const struct probity_thread_label *thread,
                              uint32_t tid, int has_pids)
{
    if (thread != NULL)
        probity_report_put_thread(stream, thread, has_pids);
    else if (tid != 0)
        fprintf(stream, "thread %" PRIu32, tid);
    else
        fputs("other threads", stream);
}

int probity_wait_json_who(FILE *stream, const char *name, const struct probity_thread_label *thread,
                          uint32_t tid, const struct probity_past_doing *doing)
{
    int error = 0;

    tid = thread != NULL ? thread->tid : tid;
    if (tid != 0)
        fprintf(stream, ", \"%stid\": %" PRIu32, name, tid);
    else
        fprintf(stream, ", \"%stid\": null", name);
    fprintf(stream, ", \"%sthread\": ", name);
    error = probity_json_put_text(stream, thread != NULL ? thread->name : NULL);
    fprintf(stream, ", \"%sfunction\": ", name);
    if (error == 0)
        error = probity_json_put_text(
            stream, doing->function != NULL ? doing->function->name : NULL);
    fprintf(stream, ", \"%scall\": ", name);
    return error == 0 ? probity_json_put_text(
                            stream, doing->call != NULL ? doing->call->name : NULL)
                      : error;
}

void probity_wait_csv_who(FILE *stream, const struct probity_thread_label *thread, uint32_t tid,
                          const struct probity_past_doing *doing)
{
    tid = thread != NULL ? thread->tid : tid;
    fputc(',', stream);
    if (tid != 0)
        fprintf(stream, "%" PRIu32, tid);
    fputc(',', stream);
    probity_report_csv_field(stream,
                             thread != NULL && thread->name != NULL ? thread->name : "");
    fputc(',', stream);
    probity_report_csv_field(stream, probity_wait_function_name(doing->function));
    fputc(',', stream);
    probity_report_csv_field(stream, probity_wait_function_name(doing->call));
}

void probity_wait_text_when(FILE *stream, uint64_t at_ns, uint64_t start_ns)
{
    const time_t seconds = (time_t)(at_ns / 1000000000);
    struct tm local;

    fprintf(stream, "at %.9fs", (double)(int64_t)(at_ns - start_ns) / 1e9);
    if (localtime_r(&seconds, &local) != NULL)
        fprintf(stream, " (%02d:%02d:%02d.%06u)", local.tm_hour, local.tm_min, local.tm_sec,
                (unsigned)(at_ns % 1000000000 / 1000));
}

/* A count of something that is missing, and its name in JSON. */
struct fact {
    const char *name, *what, *text;
    uint64_t count;
};

enum { FACTS = 6 };

static void list_facts(const struct probity_waits_facts *facts, struct fact ret_list[FACTS])
{
    const struct fact list[FACTS] = {
        {"waits_lost", "wait", "whose end is not in the trace", facts->lost},
        {"releases_without_hold", "release", "whose hold is not in the trace", facts->orphans},
        {"wakers_ambiguous", "wait", "that more than one thread may have ended",
         facts->ambiguous},
        {"objects_forgotten", "lock", "evicted while held: too many in use",
         facts->objects_forgotten},
        {"holds_forgotten", "hold", "evicted: too many during one wait",
         facts->holds_forgotten},
        {"points_forgotten", "record", "evicted while needed to follow holders",
         facts->points_forgotten}};

    memcpy(ret_list, list, sizeof list);
}

void probity_wait_text_facts(FILE *stream, const struct probity_waits_facts *facts)
{
    struct fact list[FACTS];

    list_facts(facts, list);
    for (size_t i = 0; i < FACTS; i++) {
        if (list[i].count > 0)
            fprintf(stream, "%" PRIu64 " %s%s %s\n", list[i].count, list[i].what,
                    list[i].count == 1 ? "" : "s", list[i].text);
    }
}

void probity_wait_json_facts(FILE *stream, const struct probity_waits_facts *facts)
{
    struct fact list[FACTS];

    list_facts(facts, list);
    for (size_t i = 0; i < FACTS; i++)
        fprintf(stream, ",\n\"%s\": %" PRIu64, list[i].name, list[i].count);
}
