/* SPDX-License-Identifier: MIT
 *
 * embed.c: the public control functions, and the actions at load and at exit. The constructor runs
 * before the program's constructors, and the destructor after its destructors; records made before
 * the constructor and after the destructor are safe.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/called.h"
#include "base/hooked.h"
#include "base/os.h"
#include "base/thread_count.h"
#include "probity.h"
#include "runtime/child.h"
#include "runtime/control_page.h"
#include "runtime/declare.h"
#include "runtime/external.h"
#include "runtime/inside.h"
#include "runtime/levels.h"
#include "runtime/outputs.h"
#include "runtime/record.h"
#include "runtime/session.h"
#include "runtime/sites.h"
#include "runtime/thread.h"
#include "runtime/wake.h"

/* Runs before every constructor and after every destructor of default priority. */
enum { FIRST_PRIORITY = 101 };

static void lock(struct probity_session *session, struct probity_os_signals *ret_before)
{
    probity_inside_begin(ret_before);
    probity_os_lock(&session->lock);
}

static void unlock(struct probity_session *session, const struct probity_os_signals *before)
{
    probity_os_unlock(&session->lock);
    probity_inside_end(before);
}

static int stop(uint32_t reason)
{
    struct probity_session *session = probity_session_recording();
    int cancel, before = errno;

    if (session == NULL)
        return PROBITY_ERROR_STATE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (probity_calls_ending != NULL)
        probity_calls_ending();
    if (reason == PROBITY_END_STOPPED)
        (void)probity_wake_sleep();
    int result = probity_session_stop(session, reason);
    pthread_setcancelstate(cancel, NULL);
    errno = before;
    return result;
}

/* Makes probity_level_get() return the levels of PROBITY_LEVEL before recording begins. */
static void ask_for_levels(void)
{
    const char *text = probity_os_is_privileged() ? NULL : getenv("PROBITY_LEVEL");
    int functions, parameters;

    if (text != NULL && probity_settings_levels(text, &functions, &parameters))
        probity_levels_ask(functions, parameters);
}

static int is_named(const char *variable)
{
    const char *value = probity_os_is_privileged() ? NULL : getenv(variable);

    return value != NULL && value[0] != 0;
}

/* Returns whether recording starts at the first record instead of now: then a program without
 * records leaves no trace. */
static int starts_at_first_record(void)
{
    const char *start = probity_os_is_privileged() ? NULL : getenv("PROBITY_START");

    return start != NULL && strcmp(start, "first") == 0;
}

__attribute__((destructor(FIRST_PRIORITY))) static void at_exit(void)
{
    if (stop(PROBITY_END_EXIT) == PROBITY_ERROR_STATE)
        probity_session_await_end();
    probity_control_page_end();
    probity_thread_unwatch_exits();
}

__attribute__((constructor(FIRST_PRIORITY))) static void at_load(void)
{
    struct probity_os_signals before;

    int saved = errno;
    if (!probity_thread_is_ready())
        return; /* this copy of the library is not used: another one records */
    int is_asked_for = is_named("PROBITY_OUT") || is_named("PROBITY_LOG") ||
                       is_named("PROBITY_SUMMARY") ||
                       (getenv("PROBITY_LOG") == NULL && probity_settings_log_default() != NULL);

    probity_os_at_exit(at_exit);
    probity_session_thread_count = probity_thread_count_find();
    probity_thread_watch_exits();
    probity_child_prepare();
    probity_sites_at_load();
    ask_for_levels();
    probity_control_page_begin();
    if (!is_asked_for) {
        probity_active =
            probity_is_recording(); /* an even earlier constructor may have started recording */
        if (!probity_active)
            probity_levels_end();
        return;
    }
    struct probity_session *session = probity_session_get();
    if (session != NULL) {
        probity_sites_find(1);
        probity_outputs_find(session, NULL);
        if (starts_at_first_record()) {
            errno = saved;
            return;
        }
        lock(session, &before);
        session->autostarted = probity_session_start_if_asked(session, 1) == 0;
        if (session->autostarted)
            probity_outputs_report_missing(session);
        unlock(session, &before);
    } else {
        probity_session_give_up();
    }
    errno = saved;
}

PROBITY_API int probity_start(const struct probity_options *options)
{
    int result = PROBITY_ERROR_STATE, saved = errno;
    struct probity_session *session = probity_session_get();
    struct probity_os_signals before;
    const char *what;

    if (session == NULL) {
        errno = saved;
        return PROBITY_ERROR_MEMORY;
    }
    probity_session_discard_autostart(session);
    probity_sites_find(1);
    probity_outputs_find(session, options);
    if (probity_hooked_start != NULL)
        (void)probity_hooked_start(0);
    lock(session, &before);
    uint32_t state = __atomic_load_n(&session->state, __ATOMIC_ACQUIRE);
    if ((state == PROBITY_SESSION_NONE || state == PROBITY_SESSION_ENDED) &&
        !probity_session_is_late(session)) {
        result = probity_settings_read(options, &session->wanted, &what);
        session->wanted.is_for_text = 0; /* a trace that was requested is kept */
        if (result == 0)
            result = probity_session_start(session, &session->wanted, 1);
        else
            probity_settings_complain(what);
        if (result == 0)
            probity_outputs_report_missing(session);
    }
    unlock(session, &before);
    errno = saved;
    return result;
}

PROBITY_API int probity_flush(void)
{
    struct probity_os_signals before;
    int result, saved = errno;

    probity_inside_begin(&before);
    struct probity_session *session = probity_session_recording();
    session = session != NULL ? probity_session_enter() : NULL;
    if (session == NULL) {
        probity_inside_end(&before);
        errno = saved;
        return PROBITY_ERROR_STATE;
    }
    if (probity_external_is(session)) {
        result = probity_external_flush(session);
    } else {
        probity_os_lock(&session->lock);
        session->writer_backoff.skip = 0; /* an explicit request: retry now */
        result = probity_session_need_writer(session);
        probity_os_unlock(&session->lock);
        if (result == 0)
            result = probity_writer_flush(&session->writer);
    }
    probity_session_leave(session);
    probity_inside_end(&before);
    errno = saved;
    return result;
}

PROBITY_API int probity_stop(void)
{
    return stop(PROBITY_END_STOPPED);
}

PROBITY_API int probity_is_recording(void)
{
    return probity_session_recording() != NULL;
}

PROBITY_API const char *probity_trace_path(void)
{
    struct probity_session *session = probity_session_recording();

    return session != NULL ? session->trace_path : NULL;
}

PROBITY_API int probity_thread_set_name(const char *name)
{
    if (name == NULL)
        return PROBITY_ERROR_ARGUMENT;
    return probity_record_event_here(PROBITY_EVENT_THREAD_NAME, name,
                                     strnlen(name, PROBITY_LIMIT_NAME));
}

PROBITY_API int probity_probe_set_name(uint32_t id, const char *name)
{
    uint8_t payload[4 + PROBITY_LIMIT_NAME];
    int saved = errno;
    struct probity_session *session = name != NULL ? probity_session_get() : NULL;
    struct probity_os_signals before;

    if (session == NULL) {
        errno = saved;
        return name == NULL ? PROBITY_ERROR_ARGUMENT : PROBITY_ERROR_MEMORY;
    }
    size_t length = strnlen(name, PROBITY_LIMIT_NAME);
    memcpy(payload, &id, 4);
    memcpy(payload + 4, name, length);
    probity_inside_begin(&before);
    probity_os_lock(&session->declare_lock);
    int result = probity_declare(PROBITY_EVENT_PROBE_NAME, payload, 4 + length);
    probity_os_unlock(&session->declare_lock);
    probity_inside_end(&before);
    if (result == 0)
        probity_record_event_here(PROBITY_EVENT_PROBE_NAME, payload, 4 + length);
    errno = saved;
    return result;
}
