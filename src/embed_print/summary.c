/* SPDX-License-Identifier: MIT
 *
 * summary.c: reports on the trace that has just been closed, with the same reader and in the same
 * form as `probity report`. Runs in the thread that ends the recording, at exit after the program's
 * own handlers.
 */
#include "embed_print/print.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "answers/report/report_text.h"
#include "base/os.h"
#include "embed_print/text_file.h"

static void complain(const struct probity_hooks_job *job, const char *why)
{
    char line[1024];
    int length = snprintf(line, sizeof line,
                          "probity: summary '%.400s': %s; see `probity report '%.400s'`\n",
                          job->summary, why, job->trace_path);

    if (length > 0)
        probity_os_say(line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

static int print_report(FILE *stream, struct probity_reader *reader, struct probity_report *report)
{
    static const struct probity_report_layout layout;
    int error = probity_report_read(report, reader);
    size_t count;

    if (error != 0)
        return error;
    struct probity_report_function *functions = probity_report_functions(report, &count);
    error = probity_report_sort(functions, count, PROBITY_REPORT_SELF);
    if (error != 0)
        return error;
    probity_report_text(stream, &layout, reader, functions, count, probity_report_repairs(report));
    return ferror(stream) ? PROBITY_ERROR_WRITE : 0;
}

static int print_trace(FILE *stream, const char *trace_path)
{
    struct probity_reader *reader;
    struct probity_report *report;
    int error = probity_reader_open(&trace_path, 1, NULL, NULL, &reader);

    if (error != 0)
        return error;
    error = probity_report_open(NULL, &report);
    if (error == 0) {
        error = print_report(stream, reader, report);
        probity_report_close(report);
    }
    probity_reader_close(reader);
    return error;
}

static int print_summary(const struct probity_hooks_job *job)
{
    int descriptor = probity_text_file_open(job->summary_stream, job->summary_path);
    int own = descriptor == STDERR_FILENO || descriptor == STDOUT_FILENO ? dup(descriptor)
                                                                         : descriptor;
    FILE *stream = own >= 0 ? fdopen(own, "w") : NULL;

    if (stream == NULL) {
        complain(job, strerror(errno));
        if (own >= 0)
            close(own);
        return PROBITY_ERROR_OPEN;
    }
    int error = print_trace(stream, job->trace_path);
    if (fclose(stream) != 0 && error == 0)
        error = PROBITY_ERROR_WRITE;
    if (error != 0)
        complain(job, error == PROBITY_ERROR_WRITE ? strerror(errno)
                                                       : probity_error_text(error));
    return error;
}

int probity_summary_print(const struct probity_hooks_job *job)
{
    struct probity_text_guard guard;

    probity_text_guard_begin(&guard);
    int error = print_summary(job);
    probity_text_guard_end(&guard);
    return error;
}
