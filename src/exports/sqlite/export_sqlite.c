/* SPDX-License-Identifier: MIT
 *
 * export_sqlite.c: an SQLite database, filled in one transaction without a journal: on failure it
 * is discarded as a whole. A call gets its number when it begins, so that callees can refer to it,
 * and its row when it ends.
 *
 * A deferred scope begins after rows of its callees have been written; their caller is then
 * updated.
 */
#include "exports/sqlite/export_sqlite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "exports/export.h"
#include "exports/export_names.h"
#include "exports/export_recent.h"
#include "print/text.h"
#include "print/values.h"
#include "probity.h"
#include "store/sqlite.h"

enum statement {
    INSERT_TRACE,
    INSERT_THREAD,
    INSERT_FUNCTION,
    INSERT_CALL,
    UPDATE_PARENT,
    INSERT_PROBE,
    NAME_PROBE,
    FIND_PROBE,
    INSERT_HIT,
    INSERT_EVENT,
    INSERT_VALUE,
    INSERT_PROFILE,
    INSERT_STATE,
    STATEMENTS
};

static const char *const texts[STATEMENTS] = {
    [INSERT_TRACE] = "INSERT INTO trace VALUES(?,?,?,?,?,?,?,?,?)",
    [INSERT_THREAD] = "INSERT INTO thread VALUES(?,?,?,?,?,?)",
    [INSERT_FUNCTION] = "INSERT INTO function VALUES(?,?,?,?,?,?,?)",
    [INSERT_CALL] = "INSERT INTO call VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [UPDATE_PARENT] = "UPDATE call SET parent = ? WHERE call = ?",
    [INSERT_PROBE] = "INSERT INTO probe(is_site, text) VALUES(?,?) ON CONFLICT DO NOTHING",
    [NAME_PROBE] = ("INSERT INTO probe(is_site, text, name) VALUES(0,?,?)"
                    " ON CONFLICT DO UPDATE SET name = excluded.name"),
    [FIND_PROBE] = "SELECT probe FROM probe WHERE is_site = ? AND text = ?",
    [INSERT_HIT] = "INSERT INTO hit VALUES(NULL,?,?,?,?,?,?,?,?)",
    [INSERT_EVENT] = "INSERT INTO event VALUES(NULL,?,?,?,?,?)",
    [INSERT_VALUE] = "INSERT INTO value VALUES(?,?,?,?,?)",
    [INSERT_PROFILE] = "INSERT INTO profile VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [INSERT_STATE] = "INSERT INTO state VALUES(NULL,?,?,?,?,?,?)"};

struct sqlite {
    sqlite3 *database;
    sqlite3_stmt *statements[STATEMENTS];
    struct probity_same_functions functions;
    struct export_names probes;
    sqlite3_int64 calls;
};

/* For a call, `place` is its row number. */
struct sqlite_thread {
    struct export_recent recent; /* must be first */
    int is_cpu_known;
};

/* ---- Statements --------------------------------------------------------------------------------
 */

/* Converts an SQLite error to a Probity error, with errno. */
static int error_of(const struct sqlite *state, int code)
{
    if (code == SQLITE_NOMEM || state->database == NULL)
        return PROBITY_ERROR_MEMORY;
    errno = sqlite3_system_errno(state->database);
    if (errno == 0)
        errno = code == SQLITE_FULL ? ENOSPC : EIO;
    return PROBITY_ERROR_WRITE;
}

static void bind_number(sqlite3_stmt *statement, int place, uint64_t number)
{
    sqlite3_bind_int64(statement, place, (sqlite3_int64)number);
}

static void bind_known(sqlite3_stmt *statement, int place, uint64_t number, int is_known)
{
    if (is_known)
        sqlite3_bind_int64(statement, place, (sqlite3_int64)number);
    else
        sqlite3_bind_null(statement, place);
}

/* Binds a copy. If there is no memory for it, reports an error; otherwise the value would silently
 * be missing. */
static void bind_copy(struct probity_export *export, sqlite3_stmt *statement, int place,
                      const char *text, const char *end)
{
    int code = sqlite3_bind_text(statement, place, text, (int)(end - text), SQLITE_TRANSIENT);

    if (code != SQLITE_OK && export->error == 0)
        probity_export_fail(export, error_of(export->state, code));
}

static void bind_text(struct probity_export *export, sqlite3_stmt *statement, int place,
                      const char *text, size_t bytes)
{
    char safe[PROBITY_VALUE_TEXT_MAX];

    bind_copy(export, statement, place, safe,
              probity_text_put(safe, safe + sizeof safe, text, bytes, '\0'));
}

static void bind_words(sqlite3_stmt *statement, int place, const char *words)
{
    sqlite3_bind_text(statement, place, words, -1, SQLITE_STATIC);
}

static void run(struct probity_export *export, enum statement which)
{
    struct sqlite *state = export->state;
    sqlite3_stmt *statement = state->statements[which];
    int code = sqlite3_step(statement);

    if (__builtin_expect(code != SQLITE_DONE, 0) && export->error == 0)
        probity_export_fail(export, error_of(state, code));
    sqlite3_reset(statement);
}

/* ---- Values ------------------------------------------------------------------------------------
 */

static int is_integer(uint32_t type)
{
    return type >= PROBITY_VALUE_I8 && type <= PROBITY_VALUE_U64;
}

/* Texts are stored without quotes. */
static void bind_value(struct probity_export *export, sqlite3_stmt *statement, int place,
                       const struct probity_value_view *view)
{
    char text[PROBITY_VALUE_TEXT_MAX + 1], *end = text;

    text[PROBITY_VALUE_TEXT_MAX] = '\0';
    end = probity_value_put(text, text + PROBITY_VALUE_TEXT_MAX, view, PROBITY_VALUE_RAW);
    *end = '\0';
    errno = 0;
    long long number = strtoll(text, NULL, 10);
    if (!view->is_cut && is_integer(view->type) && errno == 0)
        sqlite3_bind_int64(statement, place, number);
    else if (!view->is_cut && (view->type == PROBITY_VALUE_DOUBLE ||
                               view->type == PROBITY_VALUE_FLOAT) && strchr(text, 'n') == NULL)
        sqlite3_bind_double(statement, place, strtod(text, NULL));
    else
        bind_copy(export, statement, place, text, end);
}

/* Writes values of a call or of an event; the other number is 0. first: position of the first
 * value. */
static void put_values(struct probity_export *export, const struct probity_event *event,
                       sqlite3_int64 call, sqlite3_int64 of_event, int first)
{
    struct sqlite *state = export->state;
    sqlite3_stmt *statement = state->statements[INSERT_VALUE];
    struct probity_value_walk walk = probity_value_walk_of(event);
    struct probity_value_view view;

    for (int place = first; probity_value_walk_next(&walk, &view) != 0; place++) {
        bind_known(statement, 1, (uint64_t)call, call != 0);
        bind_known(statement, 2, (uint64_t)of_event, of_event != 0);
        sqlite3_bind_int(statement, 3, place);
        bind_text(export, statement, 4, view.text, strlen(view.text));
        bind_value(export, statement, 5, &view);
        run(export, INSERT_VALUE);
    }
}

/* ---- Calls -------------------------------------------------------------------------------------
 */

static void put_function(struct probity_export *export, const struct export_function *entry)
{
    struct sqlite *state = export->state;
    sqlite3_stmt *statement = state->statements[INSERT_FUNCTION];
    const struct probity_function *function = entry->same.key.function;
    char lost[32];
    size_t bytes;
    const char *name = probity_export_function_name(function, entry->same.key.number, lost,
                                                    &bytes);

    sqlite3_clear_bindings(statement);
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)entry->number + 1);
    bind_text(export, statement, 2, name, bytes);
    if (function != NULL) {
        bind_text(export, statement, 3, function->file, strlen(function->file));
        sqlite3_bind_int64(statement, 4, function->line);
        bind_text(export, statement, 5, function->signature, strlen(function->signature));
        sqlite3_bind_int64(statement, 6, function->level);
        bind_text(export, statement, 7, function->object, strlen(function->object));
    }
    run(export, INSERT_FUNCTION);
}

/* Sets this scope as the caller of calls that began inside it and have ended. */
static void adopt(struct probity_export *export, struct export_recent *recent,
                  const struct probity_scope *scope, sqlite3_int64 number)
{
    struct sqlite *state = export->state;
    sqlite3_stmt *statement = state->statements[UPDATE_PARENT];
    const struct export_call *call;
    uint64_t next = 0;

    while ((call = export_recent_adopt(recent, scope, &next)) != NULL) {
        sqlite3_bind_int64(statement, 1, number);
        bind_number(statement, 2, call->place);
        run(export, UPDATE_PARENT);
    }
}

static void sqlite_opened(struct probity_export *export, struct probity_export_thread *thread,
                          struct probity_scope *scope, const struct probity_event *event)
{
    struct sqlite *state = export->state;

    if (thread->user == NULL)
        thread->user = calloc(1, sizeof(struct sqlite_thread));
    struct sqlite_thread *made = thread->user;
    struct export_call *call = made != NULL ? export_recent_open(&made->recent, scope) : NULL;
    if (call == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return;
    }
    call->place = (uint64_t)++state->calls;
    made->is_cpu_known = event->cpu_known;
    if (event->kind == PROBITY_EVENT_CHECKPOINT)
        adopt(export, &made->recent, scope, state->calls);
    else if (event->format != NULL)
        put_values(export, event, state->calls, 0, 1);
}

static void bind_times(sqlite3_stmt *statement, const struct probity_scope *scope, int has_cpu)
{
    struct probity_scope_time self = probity_scope_self(scope);

    bind_number(statement, 8, scope->enter_wall_ns);
    bind_number(statement, 9, scope->elapsed.wall_ns);
    bind_number(statement, 10, self.wall_ns);
    bind_number(statement, 11, scope->total.wall_ns);
    bind_number(statement, 12, scope->paused.wall_ns);
    bind_known(statement, 13, scope->enter_cpu_ns, has_cpu);
    bind_known(statement, 14, scope->elapsed.cpu_ns, has_cpu);
    bind_known(statement, 15, self.cpu_ns, has_cpu);
    bind_known(statement, 16, scope->total.cpu_ns, has_cpu);
}

static void sqlite_closed(struct probity_export *export, struct probity_export_thread *thread,
                          const struct probity_scope *scope, enum probity_scope_end how,
                          const struct probity_event *event)
{
    static const char *const ends[] = {
        [PROBITY_SCOPE_LEFT] = "left", [PROBITY_SCOPE_UNWOUND] = "unwound",
        [PROBITY_SCOPE_OPEN] = "open", [PROBITY_SCOPE_RAISED] = "exception"};
    struct sqlite *state = export->state;
    sqlite3_stmt *statement = state->statements[INSERT_CALL];
    struct sqlite_thread *made = thread->user;
    int is_new;
    struct export_function *function = export_function_at(&state->functions, scope, &is_new);

    if (function == NULL || made == NULL || scope->depth >= made->recent.capacity) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return;
    }
    if (is_new)
        put_function(export, function);
    uint64_t call = made->recent.open[scope->depth].place;
    uint64_t parent = scope->depth > 0 ? made->recent.open[scope->depth - 1].place : 0;
    bind_number(statement, 1, call);
    sqlite3_bind_int64(statement, 2, (sqlite3_int64)function->number + 1);
    sqlite3_bind_int64(statement, 3, (sqlite3_int64)thread->slot + 1);
    bind_known(statement, 4, parent, parent != 0);
    sqlite3_bind_int(statement, 5, scope->recursion == 0);
    sqlite3_bind_int(statement, 6, !scope->is_untimed);
    bind_words(statement, 7, ends[how]);
    bind_times(statement, scope, made->is_cpu_known);
    run(export, INSERT_CALL);
    if (how == PROBITY_SCOPE_LEFT && event != NULL && event->format != NULL)
        put_values(export, event, (sqlite3_int64)call, 0, 0);
    export_recent_close(export, &made->recent, scope);
}

/* ---- Hits and events ---------------------------------------------------------------------------
 */

/* Returns the row of a probe; sites of the same name are one probe. */
static sqlite3_int64 find_probe(struct probity_export *export, const struct probity_event *event)
{
    struct sqlite *state = export->state;
    sqlite3_stmt *insert = state->statements[INSERT_PROBE], *find = state->statements[FIND_PROBE];
    const struct probity_event number = {.id = event->id};
    char text[32];
    size_t bytes;
    const char *name = probity_export_hit_name(event->is_site ? event : &number, text, &bytes);

    sqlite3_bind_int(insert, 1, event->is_site);
    bind_text(export, insert, 2, name, bytes);
    run(export, INSERT_PROBE);
    sqlite3_bind_int(find, 1, event->is_site);
    bind_text(export, find, 2, name, bytes);
    int code = sqlite3_step(find);
    sqlite3_int64 probe = code == SQLITE_ROW ? sqlite3_column_int64(find, 0) : 0;
    if (code != SQLITE_ROW)
        probity_export_fail(export, error_of(state, code));
    sqlite3_reset(find);
    return probe;
}

/* Writes a hit. A site without a name may be declared later, so its row is not cached. */
static void put_hit(struct probity_export *export, const struct probity_export_thread *thread,
                    const struct probity_event *event)
{
    struct sqlite *state = export->state;
    sqlite3_stmt *statement = state->statements[INSERT_HIT];
    size_t known = state->probes.table.items;
    struct export_name *probe = NULL;

    if (!event->is_site || event->name != NULL) {
        probe = export_names_at(&state->probes, export_key_of_hit(event));
        if (probe != NULL && state->probes.table.items > known)
            probe->number = (uint32_t)find_probe(export, event);
    }
    bind_number(statement, 1,
                probe != NULL ? probe->number : (uint64_t)find_probe(export, event));
    bind_number(statement, 2, (uint64_t)thread->slot + 1);
    bind_number(statement, 3, event->wall_ns);
    bind_known(statement, 4, event->cpu_ns, event->cpu_known);
    if (event->role != 0)
        bind_words(statement, 5, probity_role_name(event->role));
    else
        sqlite3_bind_null(statement, 5);
    bind_known(statement, 6, event->correlation, event->has_correlation);
    bind_known(statement, 7, event->object, event->has_object);
    bind_known(statement, 8, event->place, event->has_place);
    run(export, INSERT_HIT);
}

static void name_probe(struct probity_export *export, const struct probity_event *event)
{
    struct sqlite *state = export->state;
    sqlite3_stmt *statement = state->statements[NAME_PROBE];

    if (event->payload_bytes < 4)
        return;
    sqlite3_bind_int64(statement, 1, probity_get_u32(event->payload)); /* stored as text */
    bind_text(export, statement, 2, (const char *)event->payload + 4, event->payload_bytes - 4);
    run(export, NAME_PROBE);
}

/* Writes an event. The text is the concatenated values, or `words`. */
static void put_event(struct probity_export *export, const struct probity_export_thread *thread,
                      const struct probity_event *event, const char *kind, const char *words)
{
    struct sqlite *state = export->state;
    sqlite3_stmt *statement = state->statements[INSERT_EVENT];
    struct probity_value_walk walk = probity_value_walk_of(event);
    char text[PROBITY_VALUE_TEXT_MAX], *at = text;
    struct probity_value_view view;

    while (words == NULL && probity_value_walk_next(&walk, &view) != 0)
        at = probity_value_put(at, text + sizeof text, &view, PROBITY_VALUE_RAW);
    bind_number(statement, 1, (uint64_t)thread->slot + 1);
    bind_number(statement, 2, event->wall_ns);
    bind_known(statement, 3, event->cpu_ns, event->cpu_known);
    bind_words(statement, 4, kind);
    if (words != NULL)
        bind_words(statement, 5, words);
    else
        bind_copy(export, statement, 5, text, at);
    run(export, INSERT_EVENT);
    if (event->format != NULL)
        put_values(export, event, 0, sqlite3_last_insert_rowid(state->database), 1);
}

static void put_own(struct probity_export *export, const struct probity_export_thread *thread,
                    const struct probity_event *event, const char *kind)
{
    const struct probity_trace_facts *facts = probity_reader_facts(export->reader, event->trace);
    const uint8_t *payload = event->payload;
    char text[64] = "";

    if (event->kind == PROBITY_EVENT_STALL && event->payload_bytes >= 8)
        snprintf(text, sizeof text, "%llu ns", (unsigned long long)probity_trace_ns_of_ticks(
                                                   facts, probity_get_u64(payload)));
    if (event->kind == PROBITY_EVENT_LEVELS && event->payload_bytes >= 2)
        snprintf(text, sizeof text, "%u %u", payload[0], payload[1]);
    if (event->kind == PROBITY_EVENT_LOST && event->payload_bytes >= 8)
        snprintf(text, sizeof text, "%llu", (unsigned long long)probity_get_u64(payload));
    put_event(export, thread, event, kind, text);
}

static void sqlite_event(struct probity_export *export, struct probity_export_thread *thread,
                         const struct probity_event *event)
{
    switch (event->kind) {
    case PROBITY_EVENT_HIT: put_hit(export, thread, event); break;
    case PROBITY_EVENT_PROBE_NAME: name_probe(export, event); break;
    case PROBITY_EVENT_MESSAGE: put_event(export, thread, event, "message", NULL); break;
    case PROBITY_EVENT_CHECKPOINT: put_event(export, thread, event, "checkpoint", NULL); break;
    case PROBITY_EVENT_PARAMETERS: put_event(export, thread, event, "parameters", ""); break;
    case PROBITY_EVENT_PAUSE: put_event(export, thread, event, "pause", ""); break;
    case PROBITY_EVENT_RESUME: put_event(export, thread, event, "resume", ""); break;
    case PROBITY_EVENT_STALL: put_own(export, thread, event, "stall"); break;
    case PROBITY_EVENT_LEVELS: put_own(export, thread, event, "levels"); break;
    case PROBITY_EVENT_LOST: put_own(export, thread, event, "lost"); break;
    case PROBITY_EVENT_PROFILING:
        put_event(export, thread, event, "profiling",
                  event->payload_bytes > 0 && event->payload[0] ? "on" : "off");
        break;
    default: break;
    }
}

static void sqlite_state(struct probity_export *export, struct probity_export_thread *thread,
                         const struct probity_export_state *state)
{
    struct sqlite *own = export->state;
    sqlite3_stmt *statement = own->statements[INSERT_STATE];

    bind_number(statement, 1, (uint64_t)thread->slot + 1);
    bind_number(statement, 2, state->from_ns);
    bind_number(statement, 3, state->ns);
    bind_words(statement, 4, probity_export_state_name(state->state));
    bind_known(statement, 5, state->cpu, state->state == PROBITY_STATE_RUNNING);
    bind_known(statement, 6, state->waker, state->state == PROBITY_STATE_RUNNABLE);
    run(export, INSERT_STATE);
}

static void sqlite_profiled(struct probity_export *export,
                            const struct probity_profiled *profiled)
{
    struct sqlite *state = export->state;
    sqlite3_stmt *statement = state->statements[INSERT_PROFILE];
    const struct probity_function_key key = {profiled->function, profiled->trace,
                                             profiled->number};
    int is_new, is_timed = profiled->calls > profiled->untimed;
    struct export_function *function = export_function_add(&state->functions, &key, &is_new);

    if (function == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return;
    }
    if (is_new)
        put_function(export, function);
    const uint64_t numbers[] = {(uint64_t)function->number + 1, (uint64_t)profiled->trace + 1,
                                profiled->tid, profiled->calls, profiled->untimed,
                                profiled->unwound, profiled->total_ns, profiled->self_ns,
                                profiled->paused_ns, profiled->cpu_total_ns,
                                profiled->cpu_self_ns, profiled->min_ns, profiled->max_ns};
    for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers); i++)
        bind_known(statement, i + 1, numbers[i], i < 6 || is_timed);
    run(export, INSERT_PROFILE);
}

/* ---- The database ------------------------------------------------------------------------------
 */

static int execute(struct sqlite *state, const char *sql)
{
    int code = sqlite3_exec(state->database, sql, NULL, NULL, NULL);

    return code == SQLITE_OK ? 0 : error_of(state, code);
}

static int sqlite_begin(struct probity_export *export)
{
    struct sqlite *state = export->state;

    if (probity_sqlite_load() != 0)
        return PROBITY_ERROR_SYSTEM;
    int code = sqlite3_open_v2(export->path, &state->database, SQLITE_OPEN_READWRITE, NULL);
    int error = code == SQLITE_OK ? 0 : error_of(state, code);

    state->functions.item_bytes = sizeof(struct export_function);
    if (error == 0)
        error = execute(state, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                               "PRAGMA locking_mode = EXCLUSIVE; BEGIN");
    if (error == 0)
        error = execute(state, export_sqlite_tables);
    for (int i = 0; error == 0 && i < STATEMENTS; i++) {
        code = sqlite3_prepare_v2(state->database, texts[i], -1, &state->statements[i], NULL);
        error = code == SQLITE_OK ? 0 : error_of(state, code);
    }
    return error;
}

static void put_thread(struct probity_export *export, const struct probity_export_thread *thread)
{
    struct sqlite *state = export->state;
    sqlite3_stmt *statement = state->statements[INSERT_THREAD];

    bind_number(statement, 1, (uint64_t)thread->slot + 1);
    bind_number(statement, 2, (uint64_t)thread->trace + 1);
    bind_number(statement, 3, thread->thread);
    bind_number(statement, 4, thread->pid);
    bind_number(statement, 5, thread->tid);
    sqlite3_bind_null(statement, 6);
    if (thread->name != NULL)
        bind_text(export, statement, 6, thread->name, strlen(thread->name));
    run(export, INSERT_THREAD);
}

static void bind_info(struct probity_export *export, sqlite3_stmt *statement, int place,
                      const struct probity_text *text)
{
    bind_text(export, statement, place, (const char *)text->bytes, text->length);
}

/* Writes the facts of a trace; at the end, because they may change until then. */
static void put_trace(struct probity_export *export, size_t trace)
{
    static const char *const states[] = {"", "closed", "live", "killed", "unfinished"};
    const struct probity_trace_facts *facts = probity_reader_facts(export->reader, trace);
    struct sqlite *state = export->state;
    sqlite3_stmt *statement = state->statements[INSERT_TRACE];
    char why[256];

    sqlite3_bind_int64(statement, 1, (sqlite3_int64)trace + 1);
    bind_text(export, statement, 2, facts->path, strlen(facts->path));
    bind_info(export, statement, 3, &facts->info.text[PROBITY_TAG_PROGRAM]);
    bind_info(export, statement, 4, &facts->info.text[PROBITY_TAG_HOST]);
    bind_number(statement, 5, facts->info.pid);
    bind_words(statement, 6, states[facts->state]);
    sqlite3_bind_int(statement, 7, probity_trace_is_complete(facts, why, sizeof why));
    bind_text(export, statement, 8, why, strlen(why));
    bind_number(statement, 9, facts->info.anchor.realtime_ns);
    run(export, INSERT_TRACE);
}

static int sqlite_end(struct probity_export *export)
{
    struct sqlite *state = export->state;

    for (size_t i = 0; i < probity_reader_traces(export->reader); i++)
        put_trace(export, i);
    for (uint32_t slot = 0; slot < export->thread_count; slot++) {
        if (export->threads[slot] != NULL)
            put_thread(export, export->threads[slot]);
    }
    int error = export->error == 0 ? execute(state, export_sqlite_views) : export->error;
    return error == 0 ? execute(state, "COMMIT") : error;
}

static void sqlite_release(struct probity_export *export)
{
    struct sqlite *state = export->state;

    for (int i = 0; state->database != NULL && i < STATEMENTS; i++)
        sqlite3_finalize(state->statements[i]);
    if (state->database != NULL)
        sqlite3_close(state->database);
    export_recents_release(export);
    probity_same_functions_release(&state->functions);
    export_names_release(&state->probes);
}

const struct probity_exporter probity_exporter_sqlite = {
    .name = "sqlite",
    .target = PROBITY_EXPORT_FILE,
    .carries = PROBITY_EXPORT_SCOPES | PROBITY_EXPORT_HITS | PROBITY_EXPORT_VALUES |
               PROBITY_EXPORT_PROFILE,
    .state_bytes = sizeof(struct sqlite),
    .begin = sqlite_begin,
    .opened = sqlite_opened,
    .closed = sqlite_closed,
    .event = sqlite_event,
    .state = sqlite_state,
    .profiled = sqlite_profiled,
    .end = sqlite_end,
    .release = sqlite_release};
