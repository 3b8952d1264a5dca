/* SPDX-License-Identifier: MIT
 *
 * log_print.c: reads the trace that this process writes, as far as it is complete, and prints its
 * log: the same reader and the same lines as `probity log --follow`. Runs in the thread that writes
 * the trace, behind each SYNC, so that the program's threads print nothing; it is the only place
 * where that thread allocates.
 */
#include "library/log_print.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "library/text_file.h"
#include "output/log.h"

/* Kept in session->log while the log is open. */
struct log_print {
    struct probity_reader *reader;
    struct probity_log *log;
    struct probity_log_options options;
    struct log_print *before; /* of the process that forked this one */
    int descriptor;
};

/* "probity: log WHAT: WHY; the trace has it" */
static void give_up(struct probity_session *session, const char *what, const char *why)
{
    char line[1024];
    int length = snprintf(line, sizeof line, "probity: log '%.400s': %s; see the trace '%.400s'\n",
                          what, why, session->trace_path);

    if (length > 0)
        probity_os_say(line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

static void release(struct log_print *print)
{
    probity_session_open_logs = print->before;
    if (print->log != NULL)
        probity_log_close(print->log);
    if (print->reader != NULL)
        probity_reader_close(print->reader);
    if (print->descriptor >= 0 && print->descriptor != STDERR_FILENO)
        close(print->descriptor);
    free(print);
}

static int open_reader(struct probity_session *session, struct log_print *print)
{
    struct probity_reader_options options = {.follow = 1};
    const char *path = session->trace_path;

    print->options.level_max = PROBITY_LOG_LEVEL_ALL;
    int result = probity_reader_open(&path, 1, &options, NULL, &print->reader);
    return result != 0 ? result
                       : probity_log_open(print->descriptor, print->reader, &print->options,
                                          &print->log);
}

static struct log_print *begin(struct probity_session *session)
{
    struct log_print *print = calloc(1, sizeof *print);

    if (print == NULL) {
        give_up(session, session->settings.log, probity_error_text(PROBITY_ERROR_MEMORY));
        return NULL;
    }
    print->before = probity_session_open_logs;
    probity_session_open_logs = print;
    print->descriptor = probity_text_file_open(session->settings.log, session->log_path);
    if (print->descriptor < 0) {
        give_up(session, session->settings.log, strerror(errno));
    } else {
        int result = open_reader(session, print);
        if (result == 0)
            return print;
        give_up(session, session->settings.log, probity_error_text(result));
    }
    release(print);
    return NULL;
}

/* All that the trace holds by now. Returns what ended it: 2 nothing more now, 0 the end, or an
 * error. */
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

/* What has failed is kept to the end too: to close the reader is to close the spool. */
static void print_further(struct probity_session *session, int is_closed)
{
    struct log_print *print = session->log;

    if (!session->log_is_over) {
        if (print == NULL)
            session->log = print = begin(session);
        int result = print != NULL ? pump(print, is_closed) : PROBITY_ERROR_OPEN;
        if (print != NULL && result < 0)
            give_up(session, session->settings.log,
                    result == PROBITY_ERROR_WRITE ? strerror(errno) : probity_error_text(result));
        session->log_is_over = is_closed || result < 0;
        session->log_is_whole = is_closed && result == 0;
    }
    if (is_closed && print != NULL) {
        release(print);
        session->log = NULL;
    }
}

void probity_log_print(struct probity_session *session, int is_closed)
{
    struct probity_text_guard guard;

    probity_text_guard_begin(&guard);
    print_further(session, is_closed);
    probity_text_guard_end(&guard);
}
