/* SPDX-License-Identifier: MIT
 *
 * outputs.c: calls libprobity-print for the requested outputs (src/runtime/hooks.h). The trace is
 * kept if one of them fails.
 */
#include "runtime/outputs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/os.h"
#include "runtime/inside.h"
#include "runtime/session_messages.h"
#include "runtime/trace_file.h"

/* The latest log of the process, which may be open in its parent too. */
static void *newest_log;

void probity_outputs_find(struct probity_session *session, const struct probity_options *options)
{
    char why[PROBITY_HOOKS_WHY_BYTES];
    struct probity_os_signals before;

    if (probity_hooks() != NULL || !probity_settings_may_need_hooks(options))
        return;
    probity_hooks_find(why);
    probity_inside_begin(&before);
    probity_os_lock(&session->lock);
    memcpy(session->no_hooks, why, sizeof why);
    probity_os_unlock(&session->lock);
    probity_inside_end(&before);
}

static const char *why_missing(const struct probity_session *session)
{
    return session->no_hooks[0] != 0 ? session->no_hooks : "libprobity-print.so.0 is not loaded";
}

void probity_outputs_report_missing(struct probity_session *session)
{
    const struct probity_hooks_job *job = &session->outputs;
    const char *kind = job->csv_path[0] != 0 ? "CSV" : job->log[0] != 0 ? "log" : "summary";
    const char *name = job->csv_path[0] != 0 ? job->csv_path
                       : job->log[0] != 0    ? job->log
                                             : job->summary;
    char line[1024];

    if (probity_hooks() != NULL || name[0] == 0)
        return;
    snprintf(line, sizeof line, "no %s '%.250s': %.250s; the trace '%.350s' is kept", kind, name,
             why_missing(session), session->trace_path);
    probity_session_say_once(line);
}

static void trace_grown(void *owner, int is_closed)
{
    struct probity_session *session = owner;

    probity_hooks()->print_log(&session->outputs, is_closed);
}

static void job_make(struct probity_session *session)
{
    const struct probity_settings *settings = &session->settings;

    session->outputs = (struct probity_hooks_job){
        .trace_path = session->trace_path,
        .trace_device = session->writer.trace_device,
        .trace_inode = session->writer.trace_inode,
        .csv_path = session->csv_path,
        .log = settings->log,
        .summary = settings->summary,
        .log_path = session->log_path,
        .summary_path = session->summary_path,
        .log_stream = probity_settings_stream(settings->log),
        .summary_stream = probity_settings_stream(settings->summary),
        .newest_log = &newest_log,
    };
}

void probity_outputs_prepare(struct probity_session *session, int is_child)
{
    const char *wanted = session->settings.log, *summary = session->settings.summary;

    probity_assert(session->trace_path[0] != 0);
    job_make(session);
    if (summary[0] == 0 ||
        probity_trace_file_expand(session, summary, is_child, session->summary_path) != 0)
        session->summary_path[0] = 0;
    if (wanted[0] == 0 || probity_hooks() == NULL)
        return;
    session->writer.grown = trace_grown;
    session->writer.keeps_stderr = 1; /* for the log, or for messages about it */
    session->writer.keeps_stdout = session->outputs.log_stream == STDOUT_FILENO;
    if (probity_trace_file_expand(session, wanted, is_child, session->log_path) != 0)
        session->log_path[0] = 0;
}

/* Prints the log at exit if the system has already ended the writer thread. If that had not begun
 * the log, prints all of it; otherwise the log cannot be continued, since it may end within a
 * line. */
static void print_log_late(struct probity_session *session)
{
    struct probity_hooks_job *job = &session->outputs;
    char line[1024];

    if (!PROBITY_OS_THREADS_ARE_GONE() || probity_hooks() == NULL || job->log[0] == 0 ||
        job->log_is_over)
        return;
    if (job->open_log == NULL) {
        probity_hooks()->print_log(job, 1);
        return;
    }
    int length = snprintf(line, sizeof line,
                          "probity: log '%.400s' lacks the last lines; see the trace '%.400s'\n",
                          job->log, job->trace_path);
    probity_os_say(line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

/* Whether a message has named the trace for lines that the log lacks. */
static int is_log_cut(const struct probity_session *session)
{
    return PROBITY_OS_THREADS_ARE_GONE() && probity_hooks() != NULL &&
           session->outputs.log[0] != 0 && !session->outputs.log_is_whole;
}

/* Returns 1 if all requested texts (log and summary) were printed completely. */
static int print_texts(struct probity_session *session)
{
    const struct probity_session_hooks *hooks = probity_hooks();

    print_log_late(session);
    int is_whole = session->settings.log[0] == 0 || session->outputs.log_is_whole;

    if (session->settings.summary[0] != 0)
        is_whole &= hooks != NULL && hooks->print_summary(&session->outputs) == 0;
    return is_whole;
}

static int make_csv(struct probity_session *session)
{
    const struct probity_session_hooks *hooks = probity_hooks();
    char why[PROBITY_HOOKS_WHY_BYTES];

    probity_assert(session->csv_path[0] != 0);
    if (hooks == NULL) {
        probity_session_complain_of_csv(session->csv_path, "was not written",
                                        why_missing(session));
        return PROBITY_ERROR_SYSTEM;
    }
    int result = hooks->make_csv(&session->outputs, why);
    if (result == PROBITY_ERROR_DAMAGED)
        probity_session_complain_of_csv(session->csv_path, "is incomplete", why);
    else if (result != 0)
        probity_session_complain_of_csv(session->csv_path, "was not written",
                                        probity_error_text(result));
    return result;
}

int probity_outputs_make(struct probity_session *session)
{
    int result = 0, is_over = print_texts(session) && session->settings.is_for_text;

    if (session->csv_path[0] != 0) {
        result = make_csv(session);
        is_over |= result == 0;
    }
    if (is_over && !is_log_cut(session))
        probity_trace_file_remove(session);
    return result;
}
