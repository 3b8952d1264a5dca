/* SPDX-License-Identifier: MIT
 *
 * export_chrome_parts.h: parts of Chrome trace events, for its implementation files: scopes and
 * instants in export_chrome.c; spans derived from hits (blocks, requests, locks, queues) in
 * export_chrome_spans.c; texts used by both in export_chrome_parts.c.
 */
#ifndef PROBITY_EXPORTS_CHROME_EXPORT_CHROME_PARTS_H
#define PROBITY_EXPORTS_CHROME_EXPORT_CHROME_PARTS_H

#include "exports/export.h"
#include "exports/export_json.h"
#include "exports/export_names.h"
#include "exports/export_recent.h"
#include "exports/export_spans.h"

enum { CHROME_THREAD_BYTES = 48, CHROME_PIDS = 1 << 22 };

struct chrome {
    struct export_names names;
    struct export_spans spans;
};

/* For a call, `place` is the offset of its first line in the output, and `at` its wall time. */
struct chrome_thread {
    struct export_recent recent; /* must be first */
    uint32_t bytes;
    int is_cpu_known, has_blocks, has_states;
    uint64_t pid;
    char text[CHROME_THREAD_BYTES]; /* "pid":1,"tid":1,"ts": */
};

static inline const char *chrome_limit(const struct probity_export *export)
{
    return export->out.end + LOG_LINE_BYTES_MAX - 64;
}

static inline void chrome_put_text(struct probity_export *export, const char *text, size_t bytes)
{
    export->out.at = export_json_text(export->out.at, chrome_limit(export), text, bytes);
}

static inline void chrome_put(struct probity_export *export, const char *words)
{
    export->out.at = export_put(export->out.at, words);
}

static inline void chrome_put_number(struct probity_export *export, uint64_t number)
{
    export->out.at = probity_digits_put(export->out.at, number);
}

/* Writes microseconds since the start. */
static inline void chrome_put_ts(struct probity_export *export, uint64_t wall_ns)
{
    /* before the start only if a clock was set back */
    int is_before = wall_ns < export->start_ns;

    if (is_before)
        *export->out.at++ = '-';
    export->out.at = export_put_us(export->out.at, is_before ? export->start_ns - wall_ns
                                                             : wall_ns - export->start_ns);
}

/* Writes an id as text, because a double cannot represent every id. */
static inline void chrome_put_id(struct probity_export *export, const char *words, uint64_t id)
{
    chrome_put(export, words);
    chrome_put_number(export, id);
    chrome_put(export, "\"");
}

/* Returns NULL if out of memory. */
struct chrome_thread *chrome_make_thread(struct probity_export *export,
                                         struct probity_export_thread *thread);

static inline struct chrome_thread *chrome_thread_of(struct probity_export *export,
                                                     struct probity_export_thread *thread)
{
    return __builtin_expect(thread->user != NULL, 1) ? thread->user
                                                     : chrome_make_thread(export, thread);
}

/* Returns the process id that is written for a trace. */
uint64_t chrome_pid(const struct probity_export *export, size_t trace);

/* Sets the text of a name: ',"cat":"function","name":"..."' */
void chrome_make_name(struct export_name *name, const char *category, const char *text,
                      size_t bytes);

static inline void chrome_put_name(struct probity_export *export, const struct export_name *name)
{
    if (name == NULL || name->text == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return;
    }
    memcpy(export->out.at, name->text, name->bytes);
    export->out.at += name->bytes;
}

extern const struct export_spans_listener chrome_spans_listener;

/* Names the rows of a thread's blocks and states, if any, after the thread. */
void chrome_put_rows_names(struct probity_export *export,
                           const struct probity_export_thread *thread);

/* Writes a state to a separate row below the thread. */
void chrome_put_state(struct probity_export *export, struct probity_export_thread *thread,
                      const struct probity_export_state *state);

#endif
