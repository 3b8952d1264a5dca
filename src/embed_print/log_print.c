/* SPDX-License-Identifier: MIT
 *
 * log_print.c: reads the trace that this process is writing, as far as it is complete, and prints
 * its log, with the same reader and the same lines as `probity log --follow`. Runs in the writer
 * thread after each SYNC, so that the program's threads print nothing; only here does that thread
 * allocate memory.
 */
#include "embed_print/print.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "embed_print/text_file.h"
#include "log/log.h"

/* The open_log of a job while the log is open. */
struct log_print {
    struct probity_reader *reader;
    struct probity_log *log;
    struct probity_log_options options;
    struct log_print *before; /* that of the process that forked this one */
    void **newest;            /* that of the job */
    int descriptor;
};

/* Prints why the log is incomplete. */
static void give_up(struct probity_hooks_job *job, const char *what, const char *why)
{
    char line[1024];
    int length = snprintf(line, sizeof line, "probity: log '%.400s': %s; see the trace '%.400s'\n",
                          what, why, job->trace_path);

    if (length > 0)
        probity_os_say(line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

static void release(struct log_print *print)
{
    *print->newest = print->before;
    if (print->log != NULL)
        probity_log_close(print->log);
    if (print->reader != NULL)
        probity_reader_close(print->reader);
    probity_text_file_close(print->descriptor);
    free(print);
}

static int open_reader(struct probity_hooks_job *job, struct log_print *print)
{
    struct probity_reader_options options = {.follow = 1};
    const char *path = job->trace_path;

    print->options.level_max = PROBITY_LOG_LEVEL_ALL;
    int result = probity_reader_open(&path, 1, &options, NULL, &print->reader);
    return result != 0 ? result
                       : probity_log_open(print->descriptor, print->reader, &print->options,
                                          &print->log);
}

static struct log_print *begin(struct probity_hooks_job *job)
{
    struct log_print *print = calloc(1, sizeof *print);

    if (print == NULL) {
        give_up(job, job->log, probity_error_text(PROBITY_ERROR_MEMORY));
        return NULL;
    }
    print->newest = job->newest_log;
    print->before = *print->newest;
    *print->newest = print;
    print->descriptor = probity_text_file_open(job->log_stream, job->log_path);
    if (print->descriptor < 0) {
        give_up(job, job->log, strerror(errno));
    } else {
        int result = open_reader(job, print);
        if (result == 0)
            return print;
        give_up(job, job->log, probity_error_text(result));
    }
    release(print);
    return NULL;
}

/* Prints everything in the trace so far. Returns the reason why it stopped: 2 if there is no more
 * for now, 0 at the end, or an error. */
static int pump(struct log_print *print, int is_closed)
{
    const struct probity_event *event;
    int result, error = 0;

    while ((result = probity_reader_next(print->reader, &event)) == 1 && error == 0)
        error = probity_log_put(print->log, event);
    if (error == 0)
        error = is_closed ? probity_log_finish(print->log) : probity_log_flush(print->log);
    return error != 0 ? error : result;
}

/* A failed log is also kept open until the end, because closing the reader closes the spool. */
static void print_further(struct probity_hooks_job *job, int is_closed)
{
    struct log_print *print = job->open_log;

    if (!job->log_is_over) {
        if (print == NULL)
            job->open_log = print = begin(job);
        int result = print != NULL ? pump(print, is_closed) : PROBITY_ERROR_OPEN;
        if (print != NULL && result < 0)
            give_up(job, job->log,
                    result == PROBITY_ERROR_WRITE ? strerror(errno) : probity_error_text(result));
        job->log_is_over = is_closed || result < 0;
        job->log_is_whole = is_closed && result == 0;
    }
    if (is_closed && print != NULL) {
        release(print);
        job->open_log = NULL;
    }
}

void probity_log_print(struct probity_hooks_job *job, int is_closed)
{
    struct probity_text_guard guard;

    probity_text_guard_begin(&guard);
    print_further(job, is_closed);
    probity_text_guard_end(&guard);
}
