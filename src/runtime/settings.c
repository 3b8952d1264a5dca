/* SPDX-License-Identifier: MIT
 *
 * settings.c: defaults, then options, then the environment; then limits. A setting out of its range
 * is an error, and is never silently replaced.
 */
#include "runtime/settings.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/os.h"
#include "base/share.h"
#include "base/window.h"
#include "runtime/session_messages.h"
#include "runtime/trigger_calls.h"
#include "spool/layout.h"

enum {
    CHUNK_RECORDS_DEFAULT = 4096,
    SPOOL_RECORDS_DEFAULT = 1 << 19,
    SPOOL_RECORDS_MAX = 1 << 27,
    CHUNKS_MIN = 8,
    CHUNK_RECORDS_MIN = 64, /* minimum that FnTrace programs may request; rounded up to a page */
    CPU_GAP_NS_DEFAULT = 1500,
    CPU_BUDGET_DEFAULT = 8
};
#define SPOOL_BYTES_MAX_DEFAULT (UINT64_C(512) << 20)

/* Reported instead of a setting's name: the trace would be standard output. */
static const char stream_as_output[] = "output '-'";

/* The numbers before they are checked. */
struct wanted {
    uint64_t chunk_records, spool_records, spool_bytes_max, cpu_gap_ns, cpu_budget_permille;
};

static int is_on(int option, int by_default)
{
    return option == PROBITY_DEFAULT ? by_default : option == PROBITY_ON;
}

static uint64_t or_default(uint64_t option, uint64_t by_default)
{
    return option != 0 ? option : by_default;
}

static int text_copy(char *ret_text, size_t room, const char *text)
{
    size_t length = strlen(text);

    probity_assert(room > 0);
    if (length >= room)
        return 0;
    memcpy(ret_text, text, length + 1);
    return PROBITY_OS_CONVERT_TEXT(ret_text, room);
}

/* Copies the options. A program built against an older header has a shorter struct: missing fields
 * are 0. Returns 0 if no version has a struct of that size. */
static int options_copy(const struct probity_options *options, struct probity_options *ret_options)
{
    const size_t least = offsetof(struct probity_options, profile);
    size_t bytes = options->struct_bytes != 0 ? options->struct_bytes : sizeof *options;

    if (bytes < least || bytes > sizeof *options)
        return 0;
    memset(ret_options, 0, sizeof *ret_options);
    memcpy(ret_options, options, bytes);
    return 1;
}

/* Applies the options of function scopes and of the log. */
static const char *apply_scope_options(const struct probity_options *options,
                                       struct probity_settings *settings)
{
    settings->level_functions = settings->level_parameters = -1;
    settings->profile = is_on(options->profile, 0);
    settings->threads_announced = is_on(options->threads_announced, 0);
    settings->cost = options->cost == PROBITY_DEFAULT ? PROBITY_SETTINGS_COST_LONG
                     : options->cost == PROBITY_ON    ? PROBITY_SETTINGS_COST_BOTH
                                                      : PROBITY_SETTINGS_COST_OFF;
    settings->is_ordered = is_on(options->strict_order, 0);
    if (options->writing < 0 || options->writing > PROBITY_WRITING_EXTERNAL)
        return "options: writing";
    settings->writing = options->writing != 0 ? options->writing : PROBITY_WRITING_THREAD;
    if (options->log != NULL && !text_copy(settings->log, sizeof settings->log, options->log))
        return "options: log";
    if (options->summary != NULL &&
        !text_copy(settings->summary, sizeof settings->summary, options->summary))
        return "options: summary";
    if (options->label != NULL &&
        !text_copy(settings->label, sizeof settings->label, options->label))
        return "options: label";
    return NULL;
}

static const char *apply_options(const struct probity_options *options,
                                 struct probity_settings *settings, struct wanted *ret_wanted)
{
    if (!text_copy(settings->out, sizeof settings->out,
                   options->out != NULL && options->out[0] != 0 ? options->out : "%n.%p.probity"))
        return "options: out";
    if (options->mode < 0 || options->mode > PROBITY_MODE_RING)
        return "options: mode";
    settings->mode = options->mode != 0 ? options->mode : PROBITY_MODE_BLOCK;
    settings->wall_time = is_on(options->wall_time, 1);
    settings->cpu_time = is_on(options->cpu_time, 1);
    settings->overwrite = is_on(options->overwrite, 0);
    ret_wanted->chunk_records = or_default(options->chunk_records, CHUNK_RECORDS_DEFAULT);
    ret_wanted->spool_records = or_default(options->spool_records, SPOOL_RECORDS_DEFAULT);
    ret_wanted->spool_bytes_max = or_default(options->spool_bytes_max, SPOOL_BYTES_MAX_DEFAULT);
    ret_wanted->cpu_gap_ns = or_default(options->cpu_gap_ns, CPU_GAP_NS_DEFAULT);
    ret_wanted->cpu_budget_permille = or_default(options->cpu_budget_permille, CPU_BUDGET_DEFAULT);
    return apply_scope_options(options, settings);
}

/* The text of an external request, which replaces the variables that it names; NULL: none. Under
 * the session's lock. */
static const char *requested;

static const char *variable(const char *name)
{
    size_t length = strlen(name);

    for (const char *at = requested; at != NULL && *at != 0; at += strlen(at) + 1) {
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    }
    return getenv(name);
}

static int get_switch(const char *name, int *value)
{
    const char *text = variable(name);

    if (text == NULL || text[0] == 0)
        return 1;
    if ((text[0] != '0' && text[0] != '1') || text[1] != 0)
        return 0;
    *value = text[0] == '1';
    return 1;
}

static int get_number(const char *name, uint64_t *value)
{
    const char *text = variable(name);
    char *end;

    if (text == NULL || text[0] == 0)
        return 1;
    if (text[0] < '0' || text[0] > '9')
        return 0;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || *end != 0)
        return 0;
    *value = number;
    return 1;
}

/* Parses a value that must be one of a NULL-terminated list of words, numbered from 1. */
static int get_word(const char *name, const char *const words[], int *value)
{
    const char *text = variable(name);

    if (text == NULL || text[0] == 0)
        return 1;
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            *value = i + 1;
            return 1;
        }
    }
    return 0;
}

static const char *const mode_words[] = {"block", "drop", "ring", NULL};
/* Used by the constructor in src/embed/, before settings are read. */
static const char *const start_words[] = {"load", "first", NULL};
static const char *const writing_words[] = {"thread", "confined", "external", NULL};

static const char *apply_paths(struct probity_settings *settings)
{
    const char *out = variable("PROBITY_OUT"), *directory = variable("PROBITY_SPOOL_DIR");
    const char *clock = variable("PROBITY_CLOCK"), *label = variable("PROBITY_LABEL");

    settings->is_asked_for = out != NULL && out[0] != 0;
    if (settings->is_asked_for && !text_copy(settings->out, sizeof settings->out, out))
        return "PROBITY_OUT";
    if (directory != NULL &&
        !text_copy(settings->spool_directory, sizeof settings->spool_directory, directory))
        return "PROBITY_SPOOL_DIR";
    if (label != NULL && label[0] != 0 &&
        !text_copy(settings->label, sizeof settings->label, label))
        return "PROBITY_LABEL";
    settings->refuse_counter = clock != NULL && strcmp(clock, "monotonic") == 0;
    if (clock != NULL && !settings->refuse_counter && strcmp(clock, "counter") != 0 &&
        clock[0] != 0)
        return "PROBITY_CLOCK";
    return NULL;
}

static int is_level(char digit)
{
    return digit >= '0' && digit <= '0' + PROBITY_LEVEL_MAX;
}

int probity_settings_levels(const char *text, int *ret_functions, int *ret_parameters)
{
    int has_parameters = is_level(text[0]) && text[1] == ',';

    probity_assert(text != NULL);
    if (!is_level(text[0]) || (has_parameters ? !is_level(text[2]) || text[3] != 0 : text[1] != 0))
        return 0;
    *ret_functions = text[0] - '0';
    *ret_parameters = has_parameters ? text[2] - '0' : -1;
    return 1;
}

/* Defined if the program was compiled with FN_OUTPUT_CLOG (FnTrace.h). */
#ifndef PROBITY_NO_WEAK
extern const char probity_log_default[] __attribute__((weak));
#endif

const char *probity_settings_log_default(void)
{
    return probity_log_default; /* NULL if not defined */
}

/* A log or summary requires a recording, even if there is no other use for it. */
static const char *apply_text_environment(struct probity_settings *settings)
{
    const char *log = variable("PROBITY_LOG"), *summary = variable("PROBITY_SUMMARY");

    if (log == NULL && settings->log[0] == 0)
        log = probity_settings_log_default();
    if (log != NULL && log[0] != 0 && !text_copy(settings->log, sizeof settings->log, log))
        return "PROBITY_LOG";
    if (summary != NULL && summary[0] != 0 &&
        !text_copy(settings->summary, sizeof settings->summary, summary))
        return "PROBITY_SUMMARY";
    if ((log == NULL || log[0] == 0) && (summary == NULL || summary[0] == 0))
        return NULL;
    settings->is_for_text = !settings->is_asked_for;
    settings->is_asked_for = 1;
    return NULL;
}

static int get_order(struct probity_settings *settings)
{
    const char *order = variable("PROBITY_ORDER");

    if (order == NULL || order[0] == 0)
        return 1;
    settings->is_ordered = strcmp(order, "strict") == 0;
    return settings->is_ordered || strcmp(order, "relaxed") == 0;
}

static int get_budget(uint32_t *ret_budget)
{
    const char *text = variable("PROBITY_BUDGET");

    return text == NULL || *text == 0 || probity_share_parse(text, ret_budget);
}

/* Returns NULL, or the name of the invalid variable. */
static const char *apply_scope_environment(struct probity_settings *settings)
{
    const char *levels = variable("PROBITY_LEVEL"), *threads = variable("PROBITY_THREADS");
    int cost = -1, start;

    if (levels != NULL && levels[0] != 0 &&
        !probity_settings_levels(levels, &settings->level_functions, &settings->level_parameters))
        return "PROBITY_LEVEL";
    if (!get_switch("PROBITY_PROFILE", &settings->profile))
        return "PROBITY_PROFILE";
    if (!get_word("PROBITY_START", start_words, &start))
        return "PROBITY_START";
    if (!get_switch("PROBITY_COST", &cost))
        return "PROBITY_COST";
    if (cost >= 0)
        settings->cost = cost != 0 ? PROBITY_SETTINGS_COST_BOTH : PROBITY_SETTINGS_COST_OFF;
    if (!get_order(settings))
        return "PROBITY_ORDER";
    if (!get_budget(&settings->budget))
        return "PROBITY_BUDGET";
    if (threads != NULL && threads[0] != 0) {
        settings->threads_announced = strcmp(threads, "announced") == 0;
        if (!settings->threads_announced && strcmp(threads, "all") != 0)
            return "PROBITY_THREADS";
    }
    return apply_text_environment(settings);
}

static int get_spool_total(struct probity_settings *settings)
{
    uint64_t total = UINT64_MAX;

    if (!get_number("PROBITY_SPOOL_TOTAL", &total))
        return 0;
    settings->has_spool_total = total != UINT64_MAX;
    settings->spool_total = settings->has_spool_total ? total : 0;
    return 1;
}

/* For a ring with a window, which does not need all of it. */
#define RING_BYTES_DEFAULT (UINT64_C(64) << 20)

static int get_ring(struct probity_settings *settings, struct wanted *wanted)
{
    const char *text = variable("PROBITY_RING");
    uint64_t bytes = 0;

    if (text == NULL || text[0] == 0)
        return 1;
    if (!probity_window_ring(text, &settings->ring_ns, &bytes))
        return 0;
    settings->mode = PROBITY_MODE_RING;
    settings->has_dumps = 1;
    wanted->spool_records = (bytes != 0 ? bytes : RING_BYTES_DEFAULT) / 8;
    if (wanted->spool_bytes_max < 2 * 8 * wanted->spool_records)
        wanted->spool_bytes_max = 2 * 8 * wanted->spool_records;
    return 1;
}

/* If the window of a ring is not set, makes it cover as much time as the dumps need. */
static const char *apply_dumps(struct probity_settings *settings, struct wanted *wanted)
{
    const char *when = variable("PROBITY_WHEN"), *names = variable("PROBITY_DUMP");
    uint64_t least_ns = 0;

    if (when != NULL && !text_copy(settings->when, sizeof settings->when, when))
        return "PROBITY_WHEN";
    if (!probity_trigger_is_linked())
        return settings->when[0] != 0 ? "PROBITY_WHEN" : NULL;
    if (names != NULL && !text_copy(settings->dump, sizeof settings->dump, names))
        return "PROBITY_DUMP";
    const char *what =
        probity_trigger_calls.read_settings(variable("PROBITY_DUMPS"), settings, &least_ns);
    if (what != NULL || settings->when[0] == 0)
        return what;
    if (!settings->has_dumps) {
        settings->ring_ns = least_ns;
        wanted->spool_records = RING_BYTES_DEFAULT / 8;
    } else if (settings->ring_ns != 0 && settings->ring_ns < least_ns) {
        settings->ring_ns = least_ns;
    }
    settings->mode = PROBITY_MODE_RING;
    settings->has_dumps = 1;
    return NULL;
}

static const char *apply_environment(struct probity_settings *settings, struct wanted *wanted)
{
    const char *what = apply_paths(settings);

    if (what != NULL)
        return what;
    if (!get_word("PROBITY_MODE", mode_words, &settings->mode))
        return "PROBITY_MODE";
    if (!get_word("PROBITY_WRITER", writing_words, &settings->writing))
        return "PROBITY_WRITER";
    if (!get_switch("PROBITY_WALL_TIME", &settings->wall_time))
        return "PROBITY_WALL_TIME";
    if (!get_switch("PROBITY_CPU_TIME", &settings->cpu_time))
        return "PROBITY_CPU_TIME";
    if (!get_switch("PROBITY_OVERWRITE", &settings->overwrite))
        return "PROBITY_OVERWRITE";
    if (!get_number("PROBITY_CHUNK_RECORDS", &wanted->chunk_records))
        return "PROBITY_CHUNK_RECORDS";
    if (!get_number("PROBITY_SPOOL_RECORDS", &wanted->spool_records))
        return "PROBITY_SPOOL_RECORDS";
    if (!get_number("PROBITY_SPOOL_BYTES_MAX", &wanted->spool_bytes_max))
        return "PROBITY_SPOOL_BYTES_MAX";
    if (!get_ring(settings, wanted))
        return "PROBITY_RING";
    what = apply_dumps(settings, wanted);
    if (what != NULL)
        return what;
    if (!get_spool_total(settings))
        return "PROBITY_SPOOL_TOTAL";
    if (!get_number("PROBITY_CPU_GAP_NS", &wanted->cpu_gap_ns))
        return "PROBITY_CPU_GAP_NS";
    if (!get_number("PROBITY_CPU_BUDGET_PERMILLE", &wanted->cpu_budget_permille))
        return "PROBITY_CPU_BUDGET_PERMILLE";
    return apply_scope_environment(settings);
}

/* Returns NULL, or the name of the setting that is out of range. */
static const char *check(const struct wanted *wanted, struct probity_settings *settings)
{
    /* Only other outputs may be standard output: a trace is locked, and written at offsets. */
    if (settings->out[0] == '-' && settings->out[1] == 0)
        return stream_as_output;
    if (wanted->chunk_records < CHUNK_RECORDS_MIN ||
        wanted->chunk_records > PROBITY_CHUNK_WORDS_MAX)
        return "PROBITY_CHUNK_RECORDS";
    settings->chunk_words = PROBITY_CHUNK_WORDS_MIN;
    while (settings->chunk_words < wanted->chunk_records)
        settings->chunk_words *= 2;
    if (wanted->spool_records < CHUNKS_MIN * wanted->chunk_records ||
        wanted->spool_records > SPOOL_RECORDS_MAX)
        return "PROBITY_SPOOL_RECORDS";
    settings->segment_chunks = (uint32_t)(wanted->spool_records / settings->chunk_words);
    if (settings->segment_chunks < CHUNKS_MIN)
        settings->segment_chunks = CHUNKS_MIN;
    /* Size of a chunk; the holes between chunks take no memory. */
    uint64_t chunk_bytes = settings->chunk_words * 8 + sizeof(struct probity_chunk_header);
    uint64_t segments = wanted->spool_bytes_max /
                        (PROBITY_SPOOL_HEADER_BYTES + settings->segment_chunks * chunk_bytes);
    if (wanted->spool_bytes_max < 8 * wanted->spool_records)
        return "PROBITY_SPOOL_BYTES_MAX";
    probity_assert(probity_chunk_words_is_valid(settings->chunk_words));
    settings->segments_max = segments < 1                        ? 1
                             : segments > PROBITY_LIMIT_SEGMENTS ? PROBITY_LIMIT_SEGMENTS
                                                                 : (uint32_t)segments;
    if (wanted->cpu_gap_ns < 200 || wanted->cpu_gap_ns > 1000000)
        return "PROBITY_CPU_GAP_NS";
    settings->cpu_gap_ns = (uint32_t)wanted->cpu_gap_ns;
    if (wanted->cpu_budget_permille < 1 || wanted->cpu_budget_permille > 1000)
        return "PROBITY_CPU_BUDGET_PERMILLE";
    settings->cpu_budget_permille = (uint32_t)wanted->cpu_budget_permille;
    /* A budget requires the cost of a scope. */
    if (settings->budget != 0 && settings->cost == PROBITY_SETTINGS_COST_OFF)
        settings->cost = PROBITY_SETTINGS_COST_LONG;
    if (settings->budget != 0 && settings->profile)
        return "PROBITY_BUDGET with PROBITY_PROFILE";
    if (settings->budget != 0 && settings->writing == PROBITY_WRITING_EXTERNAL)
        return "PROBITY_BUDGET with an external writer";
    if (settings->when[0] != 0 && settings->profile)
        return "PROBITY_WHEN with PROBITY_PROFILE";
    if (settings->when[0] != 0 && settings->writing == PROBITY_WRITING_EXTERNAL)
        return "PROBITY_WHEN with an external writer";
    if (settings->has_gap_conditions && !settings->cpu_time)
        return "PROBITY_WHEN with PROBITY_CPU_TIME=0";
    /* The writer thread prints both. */
    if (settings->writing == PROBITY_WRITING_EXTERNAL &&
        (settings->log[0] != 0 || settings->summary[0] != 0))
        return settings->log[0] != 0 ? "PROBITY_LOG with an external writer"
                                     : "PROBITY_SUMMARY with an external writer";
    return NULL;
}

#define TEXT(name) (uint16_t)(offsetof(struct probity_settings, name))

/* The offset of each text. */
static const uint16_t texts[] = {TEXT(out),   TEXT(spool_directory), TEXT(log), TEXT(summary),
                                 TEXT(label), TEXT(dump),            TEXT(when)};

enum { TEXTS = sizeof texts / sizeof texts[0], ONLY_OUT = 1 };
_Static_assert(sizeof(struct probity_settings) <= UINT16_MAX, "an offset fits");
_Static_assert(PROBITY_SETTINGS_HAS_WHEN == 1 << (TEXTS - 1), "it is the last one");

static void text_move(char *ret_text, const char *text)
{
    memcpy(ret_text, text, strlen(text) + 1);
}

void probity_settings_copy(struct probity_settings *ret_settings,
                           const struct probity_settings *settings)
{
    if (ret_settings == settings)
        return; /* a child begins with inherited settings */
    uint32_t before = ret_settings->texts_set, set = 0;
    memcpy(ret_settings, settings, offsetof(struct probity_settings, out));
    for (int i = 0; i < TEXTS; i++) {
        const char *text = (const char *)settings + texts[i];
        set |= (uint32_t)(text[0] != 0) << i;
        if ((before | set) >> i & 1)
            text_move((char *)ret_settings + texts[i], text);
    }
    ret_settings->texts_set = set;
}

static void settings_clear(struct probity_settings *settings)
{
    memset(settings, 0, offsetof(struct probity_settings, out));
    for (int i = 0; i < TEXTS; i++) {
        char *text = (char *)settings + texts[i];
        if (text[0] != 0) /* a page that is only read takes no memory */
            text[0] = 0;
    }
}

int probity_settings_read(const struct probity_options *options,
                          struct probity_settings *ret_settings, const char **ret_what)
{
    struct probity_options copy = {0};
    struct wanted wanted;

    settings_clear(ret_settings);
    *ret_what = options != NULL && !options_copy(options, &copy) ? "options: struct_bytes" : NULL;
    if (*ret_what == NULL)
        *ret_what = apply_options(&copy, ret_settings, &wanted);
    /* The user of a set-uid program must not determine where it writes. */
    if (*ret_what == NULL && !probity_os_is_privileged())
        *ret_what = apply_environment(ret_settings, &wanted);
    if (*ret_what == NULL)
        *ret_what = check(&wanted, ret_settings);
    return *ret_what == NULL ? 0 : PROBITY_ERROR_ARGUMENT;
}

int probity_settings_read_text(const char *text, struct probity_settings *ret_settings,
                               const char **ret_what)
{
    requested = text;
    int result = probity_settings_read(NULL, ret_settings, ret_what);
    requested = NULL;
    return result;
}

static int is_set(const char *text)
{
    return text != NULL && text[0] != 0;
}

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static int may_be_csv(const char *template)
{
    return ends_with(template, ".csv") ||
           (ends_with(template, "%n") && ends_with(program_invocation_short_name, ".csv"));
}

int probity_settings_may_need_hooks(const struct probity_options *options)
{
    struct probity_options copy = {0};

    if (options != NULL && !options_copy(options, &copy))
        return 0;
    int is_privileged = probity_os_is_privileged();
    const char *out = is_privileged ? NULL : getenv("PROBITY_OUT");
    const char *log = is_privileged ? NULL : getenv("PROBITY_LOG");
    const char *writer = is_privileged ? NULL : getenv("PROBITY_WRITER");

    if (!is_set(out))
        out = copy.out;
    return (out != NULL && may_be_csv(out)) ||
           is_set(log != NULL ? log : probity_settings_log_default()) || is_set(copy.log) ||
           is_set(copy.summary) || (!is_privileged && is_set(getenv("PROBITY_SUMMARY"))) ||
           (is_set(writer) ? strcmp(writer, "external") == 0
                           : copy.writing == PROBITY_WRITING_EXTERNAL);
}

/* Works in place, because the caller may have a small stack. A path that would become too long
 * stays relative. */
static void make_absolute(char path[PROBITY_LIMIT_PATH], int is_template)
{
    size_t length = strlen(path), percents = 0;
    char *name = path + PROBITY_LIMIT_PATH - length - 1;

    if (length == 0 || probity_os_is_absolute(path) || length + 2 > PROBITY_LIMIT_PATH)
        return;
    memmove(name, path, length + 1);
    if (getcwd(path, PROBITY_LIMIT_PATH - length - 1) == NULL || !probity_os_is_absolute(path)) {
        memmove(path, name, length + 1);
        return;
    }
    size_t from = strlen(path);
    for (size_t i = 0; i < from && is_template; i++)
        percents += path[i] == '%';
    size_t to = from + percents;
    if (to + 1 + length >= PROBITY_LIMIT_PATH) {
        memmove(path, name, length + 1);
        return;
    }
    memmove(path + to + 1, name, length + 1);
    path[to] = '/';
    probity_assert(from <= to && to + length < PROBITY_LIMIT_PATH);
    while (from < to) {
        path[--to] = path[--from];
        if (path[to] == '%')
            path[--to] = '%';
    }
}

int probity_settings_stream(const char *text)
{
    if (strcmp(text, "stderr") == 0)
        return STDERR_FILENO;
    if (strcmp(text, "debugger") == 0)
        return probity_os_debugger();
    return strcmp(text, "stdout") == 0 || strcmp(text, "-") == 0 ? STDOUT_FILENO : -1;
}

static void make_rest_absolute(struct probity_settings *settings)
{
    make_absolute(settings->spool_directory, 0);
    make_absolute(settings->dump, 1);
    if (probity_settings_stream(settings->log) < 0)
        make_absolute(settings->log, 1);
    if (probity_settings_stream(settings->summary) < 0)
        make_absolute(settings->summary, 1);
}

void probity_settings_keep_directory(struct probity_settings *settings)
{
    int before = errno;

    make_absolute(settings->out, 1);
    /* If the other texts are empty, their pages are not touched. */
    if (settings->texts_set != ONLY_OUT)
        make_rest_absolute(settings);
    errno = before;
}

static const char *fault_of(const char *name)
{
    if (strcmp(name, "PROBITY_WHEN") == 0 && !probity_trigger_is_linked())
        return "this program was linked without dumps (link it with -Wl,-u,probity_snapshot)";
    if (name == stream_as_output)
        return "cannot be standard output";
    return "invalid or out of range (see man 3 probity)";
}

void probity_settings_complain(const char *name)
{
    const char *value = strncmp(name, "PROBITY_", 8) == 0 ? getenv(name) : NULL;
    char what[256];

    snprintf(what, sizeof what, "%s%s%.*s", name, value != NULL ? "=" : "", 160,
             value != NULL ? value : "");
    probity_session_complain(what, fault_of(name));
}
