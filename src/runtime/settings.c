/* SPDX-License-Identifier: MIT
 *
 * settings.c: defaults, options, environment, in this order; then limits. A setting out of its
 * range is an error, never silently another value.
 */
#include "runtime/settings.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "spool/layout.h"

enum {
    CHUNK_RECORDS_DEFAULT = 4096,
    SPOOL_RECORDS_DEFAULT = 1 << 19,
    SPOOL_RECORDS_MAX = 1 << 27,
    CHUNKS_MIN = 8,
    CHUNK_RECORDS_MIN = 64, /* what the ancestor's programs may ask for; rounded up to a page */
    CPU_GAP_NS_DEFAULT = 1500,
    CPU_BUDGET_DEFAULT = 8
};
#define SPOOL_BYTES_MAX_DEFAULT (UINT64_C(512) << 20)

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

    if (length >= room)
        return 0;
    memcpy(ret_text, text, length + 1);
    return 1;
}

/* A program that was built against an older header has a shorter struct: what it does not know is
 * 0. Returns 0 where the size is that of no version. */
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

/* What is for function scopes, and for the log. */
static const char *apply_scope_options(const struct probity_options *options,
                                       struct probity_settings *settings)
{
    settings->level_functions = settings->level_parameters = -1;
    settings->profile = is_on(options->profile, 0);
    settings->threads_announced = is_on(options->threads_announced, 0);
    settings->cost = is_on(options->cost, 1);
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

static int get_switch(const char *name, int *value)
{
    const char *text = getenv(name);

    if (text == NULL || text[0] == 0)
        return 1;
    if ((text[0] != '0' && text[0] != '1') || text[1] != 0)
        return 0;
    *value = text[0] == '1';
    return 1;
}

static int get_number(const char *name, uint64_t *value)
{
    const char *text = getenv(name);
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

static int get_mode(struct probity_settings *settings)
{
    static const char *const name[] = {"", "block", "drop", "ring"};
    const char *text = getenv("PROBITY_MODE");

    if (text == NULL || text[0] == 0)
        return 1;
    for (int mode = PROBITY_MODE_BLOCK; mode <= PROBITY_MODE_RING; mode++) {
        if (strcmp(text, name[mode]) == 0) {
            settings->mode = mode;
            return 1;
        }
    }
    return 0;
}

static const char *apply_paths(struct probity_settings *settings)
{
    const char *out = getenv("PROBITY_OUT"), *directory = getenv("PROBITY_SPOOL_DIR");
    const char *clock = getenv("PROBITY_CLOCK"), *label = getenv("PROBITY_LABEL");

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

    if (!is_level(text[0]) || (has_parameters ? !is_level(text[2]) || text[3] != 0 : text[1] != 0))
        return 0;
    *ret_functions = text[0] - '0';
    *ret_parameters = has_parameters ? text[2] - '0' : -1;
    return 1;
}

/* What is printed needs a recording, if only for that. */
static const char *apply_text_environment(struct probity_settings *settings)
{
    const char *log = getenv("PROBITY_LOG"), *summary = getenv("PROBITY_SUMMARY");

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

/* Returns NULL, or the name of the variable at fault. */
static const char *apply_scope_environment(struct probity_settings *settings)
{
    const char *levels = getenv("PROBITY_LEVEL"), *threads = getenv("PROBITY_THREADS");

    if (levels != NULL && levels[0] != 0 &&
        !probity_settings_levels(levels, &settings->level_functions, &settings->level_parameters))
        return "PROBITY_LEVEL";
    if (!get_switch("PROBITY_PROFILE", &settings->profile))
        return "PROBITY_PROFILE";
    if (!get_switch("PROBITY_COST", &settings->cost))
        return "PROBITY_COST";
    if (threads != NULL && threads[0] != 0) {
        settings->threads_announced = strcmp(threads, "announced") == 0;
        if (!settings->threads_announced && strcmp(threads, "all") != 0)
            return "PROBITY_THREADS";
    }
    return apply_text_environment(settings);
}

static const char *apply_environment(struct probity_settings *settings, struct wanted *wanted)
{
    const char *what = apply_paths(settings);

    if (what != NULL)
        return what;
    if (!get_mode(settings))
        return "PROBITY_MODE";
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
    if (!get_number("PROBITY_CPU_GAP_NS", &wanted->cpu_gap_ns))
        return "PROBITY_CPU_GAP_NS";
    if (!get_number("PROBITY_CPU_BUDGET_PERMILLE", &wanted->cpu_budget_permille))
        return "PROBITY_CPU_BUDGET_PERMILLE";
    return apply_scope_environment(settings);
}

/* Returns NULL, or the name of the setting that is out of range. */
static const char *check(const struct wanted *wanted, struct probity_settings *settings)
{
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
    /* What a chunk takes; the holes between chunks take nothing. */
    uint64_t chunk_bytes = settings->chunk_words * 8 + sizeof(struct probity_chunk_header);
    uint64_t segments = wanted->spool_bytes_max /
                        (PROBITY_SPOOL_HEADER_BYTES + settings->segment_chunks * chunk_bytes);
    if (wanted->spool_bytes_max < 8 * wanted->spool_records)
        return "PROBITY_SPOOL_BYTES_MAX";
    settings->segments_max = segments < 1                        ? 1
                             : segments > PROBITY_LIMIT_SEGMENTS ? PROBITY_LIMIT_SEGMENTS
                                                                 : (uint32_t)segments;
    if (wanted->cpu_gap_ns < 200 || wanted->cpu_gap_ns > 1000000)
        return "PROBITY_CPU_GAP_NS";
    settings->cpu_gap_ns = (uint32_t)wanted->cpu_gap_ns;
    if (wanted->cpu_budget_permille < 1 || wanted->cpu_budget_permille > 1000)
        return "PROBITY_CPU_BUDGET_PERMILLE";
    settings->cpu_budget_permille = (uint32_t)wanted->cpu_budget_permille;
    return NULL;
}

int probity_settings_read(const struct probity_options *options,
                          struct probity_settings *ret_settings, const char **ret_what)
{
    struct probity_options copy = {0};
    struct wanted wanted;

    memset(ret_settings, 0, sizeof *ret_settings);
    *ret_what = options != NULL && !options_copy(options, &copy) ? "options: struct_bytes" : NULL;
    if (*ret_what == NULL)
        *ret_what = apply_options(&copy, ret_settings, &wanted);
    /* Who runs a set-uid program must not choose where it writes. */
    if (*ret_what == NULL && !probity_os_is_privileged())
        *ret_what = apply_environment(ret_settings, &wanted);
    if (*ret_what == NULL)
        *ret_what = check(&wanted, ret_settings);
    return *ret_what == NULL ? 0 : PROBITY_ERROR_ARGUMENT;
}

/* In place, since who calls may have a small stack. What gets too long stays relative. */
static void make_absolute(char path[PROBITY_LIMIT_PATH], int is_template)
{
    size_t length = strlen(path), percents = 0;
    char *name = path + PROBITY_LIMIT_PATH - length - 1;

    if (length == 0 || path[0] == '/' || length + 2 > PROBITY_LIMIT_PATH)
        return;
    memmove(name, path, length + 1);
    if (getcwd(path, PROBITY_LIMIT_PATH - length - 1) == NULL || path[0] != '/') {
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
    while (from < to) {
        path[--to] = path[--from];
        if (path[to] == '%')
            path[--to] = '%';
    }
}

void probity_settings_keep_folder(struct probity_settings *settings)
{
    int before = errno;

    make_absolute(settings->out, 1);
    make_absolute(settings->spool_directory, 0);
    if (strcmp(settings->log, "stderr") != 0)
        make_absolute(settings->log, 1);
    if (strcmp(settings->summary, "stderr") != 0)
        make_absolute(settings->summary, 1);
    errno = before;
}
