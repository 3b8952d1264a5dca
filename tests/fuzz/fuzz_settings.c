/* SPDX-License-Identifier: MIT
 *
 * fuzz_settings.c: data that a program reads from outside while it runs: settings in the
 * environment, including file names, and requests for other levels in the spool's header.
 *
 * An input is eight bytes of a request, a byte that selects what to test, and lines of a byte for
 * the variable followed by its value. An accepted value must be in range and equal the given
 * number; an error must name the rejected variable.
 */
#include <string.h>

#include "fuzz/target.h"
#include "runtime/levels.h"
#include "runtime/settings.h"
#include "runtime/trace_file.h"
#include "spool/control.h"

enum { IS_CHILD = 1, KEEPS_DIRECTORY = 2, TEXT_MAX = 8192, REQUEST_BYTES = 8 };

const int target_ways = 0;

static const char *const names[] = {
    "PROBITY_OUT", "PROBITY_SPOOL_DIR", "PROBITY_CLOCK", "PROBITY_LABEL", "PROBITY_MODE",
    "PROBITY_WALL_TIME", "PROBITY_CPU_TIME", "PROBITY_OVERWRITE", "PROBITY_CHUNK_RECORDS",
    "PROBITY_SPOOL_RECORDS", "PROBITY_SPOOL_BYTES_MAX", "PROBITY_CPU_GAP_NS",
    "PROBITY_CPU_BUDGET_PERMILLE", "PROBITY_LEVEL", "PROBITY_PROFILE", "PROBITY_COST",
    "PROBITY_THREADS", "PROBITY_LOG", "PROBITY_SUMMARY", "PROBITY_WRITER",
    "PROBITY_ORDER"};

enum { NAMES = sizeof names / sizeof *names };

static void demand(int holds)
{
    if (!holds)
        abort();
}

static void set_environment(const uint8_t *at, const uint8_t *end)
{
    static char value[TEXT_MAX];

    for (int i = 0; i < NAMES; i++)
        unsetenv(names[i]);
    while (at < end) {
        const uint8_t *line = memchr(at, '\n', (size_t)(end - at));
        size_t bytes = (size_t)((line != NULL ? line : end) - at);
        if (bytes > 0 && bytes < sizeof value) {
            memcpy(value, at + 1, bytes - 1);
            value[bytes - 1] = '\0';
            setenv(names[at[0] % NAMES], value, 1);
        }
        at += bytes + 1;
    }
}

static int is_switch(int value)
{
    return value == 0 || value == 1;
}

/* Returns the number in a variable, if it consists of digits; by_default if it is unset. */
static unsigned long long number_of(const char *name, unsigned long long by_default)
{
    const char *text = getenv(name);

    if (text == NULL || text[0] == '\0')
        return by_default;
    demand(text[strspn(text, "0123456789")] == '\0');
    return strtoull(text, NULL, 10);
}

static void demand_range(const struct probity_settings *settings)
{
    unsigned long long records = number_of("PROBITY_CHUNK_RECORDS", 4096);
    unsigned long long words = settings->chunk_words, gap = settings->cpu_gap_ns;

    demand(settings->mode >= PROBITY_MODE_BLOCK && settings->mode <= PROBITY_MODE_RING);
    demand(is_switch(settings->wall_time) && is_switch(settings->cpu_time));
    demand(is_switch(settings->overwrite) && is_switch(settings->profile));
    demand(is_switch(settings->threads_announced) && is_switch(settings->is_ordered));
    demand(settings->cost == PROBITY_SETTINGS_COST_OFF ||
           settings->cost == PROBITY_SETTINGS_COST_LONG ||
           settings->cost == PROBITY_SETTINGS_COST_BOTH);
    demand(settings->writing >= PROBITY_WRITING_THREAD &&
           settings->writing <= PROBITY_WRITING_EXTERNAL);
    demand(words >= PROBITY_CHUNK_WORDS_MIN && words <= PROBITY_CHUNK_WORDS_MAX);
    demand((words & (words - 1)) == 0 && words >= records);
    demand(words == PROBITY_CHUNK_WORDS_MIN || words < 2 * records);
    demand(settings->segment_chunks >= 8 && settings->segments_max >= 1);
    demand(settings->segments_max <= PROBITY_LIMIT_SEGMENTS);
    demand(gap == number_of("PROBITY_CPU_GAP_NS", 1500) && gap >= 200 && gap <= 1000000);
    demand(settings->cpu_budget_permille == number_of("PROBITY_CPU_BUDGET_PERMILLE", 8));
    demand(settings->level_functions >= -1 && settings->level_functions <= PROBITY_LEVEL_MAX);
    demand(settings->level_parameters >= -1 && settings->level_parameters <= PROBITY_LEVEL_MAX);
}

static void demand_path(struct probity_session *session, const char *template, int is_child)
{
    static char path[PROBITY_LIMIT_PATH];

    demand(strlen(template) < PROBITY_LIMIT_PATH);
    if (template[0] == '\0' || probity_trace_file_expand(session, template, is_child, path) != 0)
        return;
    demand(path[0] == '/' && strlen(path) < sizeof path);
}

static void read_settings(struct probity_session *session, int way)
{
    struct probity_settings *settings = &session->settings;
    const char *what = NULL;

    if (probity_settings_read(NULL, settings, &what) != 0) {
        demand(what != NULL && strncmp(what, "PROBITY_", 8) == 0);
        return;
    }
    demand(what == NULL);
    demand_range(settings);
    if ((way & KEEPS_DIRECTORY) != 0)
        probity_settings_keep_directory(settings);
    demand_path(session, settings->out, way & IS_CHILD);
    demand_path(session, settings->log, way & IS_CHILD);
    demand_path(session, settings->summary, way & IS_CHILD);
    demand(strlen(settings->spool_directory) < PROBITY_LIMIT_PATH);
    demand(strlen(settings->label) <= PROBITY_LIMIT_NAME);
}

/* The writer thread's handling of a request, which any process of the same user can store. */
static void answer(struct probity_spool_header *header, const uint8_t *request)
{
    uint32_t serial;
    int functions, parameters;

    memcpy(&header->level_request, request, REQUEST_BYTES);
    if (!probity_control_pending(header, &serial, &functions, &parameters))
        return;
    uint32_t levels = probity_levels_change(functions, parameters);
    probity_control_answer(header, serial);
    demand(levels == header->levels);
    demand(!probity_control_pending(header, &serial, &functions, &parameters));
    probity_level_get(&functions, &parameters);
    demand(functions >= 0 && functions <= parameters && parameters <= PROBITY_LEVEL_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct probity_spool_header header;
    struct probity_session *session = probity_session_get();

    if (size < REQUEST_BYTES + 1)
        return 0;
    session->live.header = &header;
    session->settings.writing = PROBITY_WRITING_THREAD; /* only a writer thread replies */
    answer(&header, data);
    set_environment(data + REQUEST_BYTES + 1, data + size);
    read_settings(session, data[REQUEST_BYTES]);
    return 0;
}
