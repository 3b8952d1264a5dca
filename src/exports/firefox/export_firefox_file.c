/* SPDX-License-Identifier: MIT
 *
 * export_firefox_file.c: writes the processed profile around the tables that export_firefox.c has
 * stored: meta data, counters, the tables that all threads share, and the threads.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exports/firefox/export_firefox.h"
#include "print/text.h"
#include "probity.h"

enum { PROFILE_VERSION = 70, RECORDER_VERSION = 36 };

static const char schemas[] =
    "\"markerSchema\":[\n"
#define SCHEMA(NAME, LABEL, PLACES, FIELDS)                                                        \
    "{\"name\":\"" NAME "\",\"tooltipLabel\":\"" LABEL ": {marker.name}\","                        \
    "\"tableLabel\":\"{marker.name}\",\"chartLabel\":\"{marker.name}\",\"display\":[" PLACES "],"  \
    "\"fields\":[" FIELDS "]"
#define FIELD(KEY, LABEL, FORMAT)                                                                  \
    "{\"key\":\"" KEY "\",\"label\":\"" LABEL "\",\"format\":\"" FORMAT "\"}"
#define BOTH "\"marker-chart\",\"marker-table\""
#define CPU FIELD("cpu", "CPU time", "nanoseconds")
#define END FIELD("end", "End", "string")
#define CORRELATION FIELD("correlation", "Correlation id", "string")
#define OBJECT FIELD("object", "Object id", "string")
#define PLACE FIELD("place", "Place", "string")
    SCHEMA("Call", "call", BOTH, CPU "," END) ",\"isStackBased\":true},\n"
    SCHEMA("Block", "block", BOTH, CPU "," END) "},\n"
    SCHEMA("Stage", "stage", BOTH, CPU "," CORRELATION "," END) "},\n"
    SCHEMA("Request", "request", BOTH ",\"timeline-overview\"", CORRELATION "," END) "},\n"
    SCHEMA("LockWait", "wait", BOTH, OBJECT "," END) "},\n"
    SCHEMA("LockHold", "hold", BOTH, OBJECT "," END) "},\n"
    SCHEMA("Hit", "hit", BOTH, FIELD("role", "Role", "string") "," CORRELATION "," OBJECT "," PLACE)
    "},\n"
    SCHEMA("State", "state", BOTH, FIELD("running", "CPU", "integer") ","
           FIELD("waker", "Woken by thread", "integer")) "}]";

/* In the order of enum firefox_category. The first grey one is the default. */
static const char categories[] =
    "\"categories\":[\n"
#define ROW(NAME, COLOR)                                                                           \
    "{\"name\":\"" NAME "\",\"color\":\"" COLOR "\",\"subcategories\":[\"Other\"]}"
    ROW("Other", "grey") ",\n" ROW("Function", "blue") ",\n" ROW("Block", "green") ",\n"
    ROW("Request", "orange") ",\n" ROW("Lock", "red") ",\n" ROW("Probe", "purple") ",\n"
    ROW("State", "yellow") "]";

/* Moves buffered output to the file. */
static void flush(struct probity_export *export)
{
    struct firefox *state = export->state;

    log_writer_pour(&export->out, &state->file);
    log_writer_unchain(&export->out, &state->file);
}

static void make_room(struct probity_export *export)
{
    if (export->out.at >= export->out.end)
        flush(export);
}

static void put_column(struct probity_export *export, const char *before, struct log_queue *queue)
{
    firefox_put(export, before);
    firefox_put(export, "[");
    flush(export);
    log_writer_unchain(&export->out, queue);
    firefox_put(export, "]");
}

/* Writes a column with the same value in each row. */
static void put_same(struct probity_export *export, const char *before, const char *value,
                     uint64_t rows)
{
    firefox_put(export, before);
    firefox_put(export, "[");
    for (uint64_t i = 0; i < rows; i++) {
        firefox_put(export, i > 0 ? "," : "");
        firefox_put(export, value);
        make_room(export);
    }
    firefox_put(export, "]");
}

/* ---- Meta data ---------------------------------------------------------------------------------
 */

static void put_lacks(struct probity_export *export)
{
    char text[PROBITY_EXPORT_LACKS_BYTES];
    size_t bytes = probity_export_lacks(export, text);

    if (bytes == 0)
        return;
    firefox_put(export, ",\n\"extra\":[{\"label\":\"Probity\",\"entries\":[{\"label\":\"Trace\","
                        "\"format\":\"string\",\"value\":");
    firefox_put_text(export, text, bytes);
    firefox_put(export, "}]}]");
}

static void put_program(struct probity_export *export, size_t trace)
{
    const struct probity_text *program =
        &probity_reader_facts(export->reader, trace)->info.text[PROBITY_TAG_PROGRAM];
    const char *slash = program->length > 0 ? memrchr(program->bytes, '/', program->length) : NULL;
    const char *name = slash != NULL ? slash + 1 : (const char *)program->bytes;

    if (program->length == 0)
        firefox_put(export, "\"program\"");
    else
        firefox_put_text(export, name,
                         program->length - (size_t)(name - (const char *)program->bytes));
}

static void put_meta(struct probity_export *export)
{
    firefox_put(export, "{\"meta\":{\"interval\":1,\"startTime\":");
    firefox_put_ms(export, export->start_ns);
    firefox_put(export, ",\"processType\":0,\"product\":");
    put_program(export, 0);
    firefox_put(export, ",\"stackwalk\":0,\"version\":");
    firefox_put_number(export, RECORDER_VERSION);
    firefox_put(export, ",\"preprocessedProfileVersion\":");
    firefox_put_number(export, PROFILE_VERSION);
    firefox_put(export, ",\"importedFrom\":\"Probity ");
    firefox_put(export, probity_version());
    firefox_put(export, "\",\"symbolicated\":true,\"symbolicationNotSupported\":true,"
                        "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
                        "\"keepProfileThreadOrder\":true,\"sampleUnits\":{\"time\":\"ms\","
                        "\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n");
    firefox_put(export, categories);
    firefox_put(export, ",\n");
    firefox_put(export, schemas);
    put_lacks(export);
    firefox_put(export, "},\n\"libs\":[],\n");
}

/* ---- Counters ----------------------------------------------------------------------------------
 */

static const struct firefox_thread *made_of(const struct probity_export *export, uint32_t slot)
{
    return export->threads[slot] != NULL ? export->threads[slot]->user : NULL;
}

/* Returns the index, in the file, of a trace's first thread. */
static uint32_t first_thread(const struct probity_export *export, uint32_t trace)
{
    uint32_t index = 0;

    for (uint32_t slot = 0; slot < export->thread_count; slot++) {
        if (made_of(export, slot) == NULL)
            continue;
        if (export->threads[slot]->trace == trace)
            return index;
        index++;
    }
    return 0;
}

/* Writes an id that is unique for each trace, since process ids may repeat. */
static void put_pid(struct probity_export *export, uint32_t trace)
{
    firefox_put(export, "\"");
    firefox_put_number(export, probity_reader_facts(export->reader, trace)->info.pid);
    if (trace > 0) {
        firefox_put(export, ".");
        firefox_put_number(export, trace);
    }
    firefox_put(export, "\"");
}

static void put_counter(struct probity_export *export, struct firefox_counter *counter,
                        uint32_t number)
{
    firefox_put(export, "{\"name\":");
    firefox_put(export, counter->name);
    firefox_put(export, ",\"category\":\"Queue\",\"description\":\"Length of the queue\",\"pid\":");
    put_pid(export, counter->trace);
    firefox_put(export, ",\"mainThreadIndex\":");
    firefox_put_number(export, first_thread(export, counter->trace));
    firefox_put(export, ",\"display\":{\"graphType\":\"line-accumulated\",\"unit\":\"\","
                        "\"color\":\"blue\",\"markerSchemaLocation\":null,\"sortWeight\":");
    firefox_put_number(export, number);
    firefox_put(export, ",\"label\":");
    firefox_put(export, counter->name);
    firefox_put(export, ",\"tooltipRows\":[{\"type\":\"value\",\"source\":\"accumulated\","
                        "\"format\":{\"unit\":\"number\"},\"label\":\"length\"}]},\"samples\":{");
    put_column(export, "\"time\":", &counter->time);
    put_column(export, ",\"count\":", &counter->count);
    firefox_put(export, ",\"length\":");
    firefox_put_number(export, counter->rows);
    firefox_put(export, "}}");
    flush(export);
}

static void put_counters(struct probity_export *export)
{
    struct firefox *state = export->state;
    int is_first = 1;

    firefox_put(export, "\"counters\":[");
    for (uint32_t i = 0; i < state->counter_count; i++) {
        if (state->counters[i].name == NULL)
            continue;
        firefox_put(export, is_first ? "\n" : ",\n");
        is_first = 0;
        put_counter(export, &state->counters[i], i);
    }
    firefox_put(export, "],\n");
}

/* ---- Tables ------------------------------------------------------------------------------------
 */

static void put_length(struct probity_export *export, uint64_t rows)
{
    firefox_put(export, ",\"length\":");
    firefox_put_number(export, rows);
    firefox_put(export, "}");
    flush(export);
}

static void put_numbers(struct probity_export *export, const char *before, uint32_t rows,
                        uint32_t (*value)(const struct firefox *state, uint32_t row))
{
    firefox_put(export, before);
    firefox_put(export, "[");
    for (uint32_t i = 0; i < rows; i++) {
        firefox_put(export, i > 0 ? "," : "");
        firefox_put_number(export, value(export->state, i));
        make_room(export);
    }
    firefox_put(export, "]");
}

static uint32_t row_itself(const struct firefox *state, uint32_t row)
{
    (void)state;
    return row;
}

static uint32_t stack_frame(const struct firefox *state, uint32_t row)
{
    return state->stack_frames[row];
}

static uint32_t stack_offset(const struct firefox *state, uint32_t row)
{
    return state->stack_parents[row] > 0 ? row - (state->stack_parents[row] - 1) : 0;
}

static void put_frames(struct probity_export *export, uint32_t rows)
{
    put_same(export, "\"frameTable\":{\"address\":", "-1", rows);
    put_same(export, ",\"lib\":", "-1", rows);
    put_same(export, ",\"inlineDepth\":", "0", rows);
    put_same(export, ",\"category\":", "null", rows);
    put_same(export, ",\"subcategory\":", "null", rows);
    put_numbers(export, ",\"func\":", rows, row_itself);
    put_same(export, ",\"nativeSymbol\":", "null", rows);
    put_same(export, ",\"innerWindowID\":", "0", rows);
    put_same(export, ",\"line\":", "null", rows);
    put_same(export, ",\"column\":", "null", rows);
    put_same(export, ",\"originalLocation\":", "null", rows);
    put_length(export, rows);
}

static void put_functions(struct probity_export *export, uint32_t rows)
{
    struct firefox *state = export->state;

    put_numbers(export, ",\n\"funcTable\":{\"name\":", rows, row_itself);
    put_same(export, ",\"isJS\":", "false", rows);
    put_same(export, ",\"relevantForJS\":", "false", rows);
    put_same(export, ",\"resource\":", "-1", rows);
    put_column(export, ",\"source\":", &state->sources);
    put_column(export, ",\"lineNumber\":", &state->lines);
    put_same(export, ",\"columnNumber\":", "null", rows);
    put_same(export, ",\"originalLocation\":", "null", rows);
    put_length(export, rows);
}

static void put_sources(struct probity_export *export)
{
    struct firefox *state = export->state;
    uint32_t rows = state->source_count;

    put_same(export, ",\n\"sources\":{\"id\":", "null", rows);
    put_column(export, ",\"filename\":", &state->source_files);
    put_same(export, ",\"startLine\":", "1", rows);
    put_same(export, ",\"startColumn\":", "1", rows);
    put_same(export, ",\"sourceMapURL\":", "null", rows);
    put_same(export, ",\"content\":", "null", rows);
    put_length(export, rows);
}

static void put_shared(struct probity_export *export)
{
    struct firefox *state = export->state;
    uint32_t strings = state->string_count, stacks = (uint32_t)state->stacks.table.items;

    put_numbers(export, "\"shared\":{\"stackTable\":{\"frame\":", stacks, stack_frame);
    put_numbers(export, ",\"prefixOffset\":", stacks, stack_offset);
    put_length(export, stacks);
    firefox_put(export, ",\n");
    put_frames(export, strings);
    put_functions(export, strings);
    firefox_put(export, ",\n\"resourceTable\":{\"name\":[],\"host\":[],\"type\":[],\"length\":0},\n"
                        "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
                        "\"functionSize\":[],\"length\":0},\n"
                        "\"sourceLocationTable\":{\"source\":[],\"line\":[],\"column\":[],"
                        "\"length\":0}");
    put_sources(export);
    put_column(export, ",\n\"stringArray\":", &state->strings);
    firefox_put(export, "},\n");
}

/* ---- Threads -----------------------------------------------------------------------------------
 */

static void put_identity(struct probity_export *export, const struct probity_export_thread *thread)
{
    int is_main = thread->tid == thread->pid;

    firefox_put(export, "\"processType\":\"default\",\"processStartupTime\":0,"
                        "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
                        "\"pausedRanges\":[],\"showMarkersInTimeline\":true,\"name\":");
    if (thread->name != NULL)
        firefox_put_text(export, thread->name, strlen(thread->name));
    else if (is_main)
        put_program(export, thread->trace);
    else
        firefox_put(export, "\"thread\"");
    firefox_put(export, is_main ? ",\"isMainThread\":true" : ",\"isMainThread\":false");
    firefox_put(export, ",\"processName\":");
    put_program(export, thread->trace);
    firefox_put(export, ",\"pid\":");
    put_pid(export, thread->trace);
    firefox_put(export, ",\"tid\":");
    if (thread->trace > 0) { /* thread ids may also repeat */
        firefox_put(export, "\"");
        firefox_put_number(export, thread->tid);
        firefox_put(export, ".");
        firefox_put_number(export, thread->trace);
        firefox_put(export, "\"");
    } else {
        firefox_put_number(export, thread->tid);
    }
}

static void put_thread(struct probity_export *export, const struct probity_export_thread *thread)
{
    struct firefox_thread *made = thread->user;

    firefox_put(export, "{");
    put_identity(export, thread);
    put_column(export, ",\n\"samples\":{\"stack\":", &made->columns[FIREFOX_STACK]);
    put_column(export, ",\"time\":", &made->columns[FIREFOX_TIME]);
    put_column(export, ",\"weight\":", &made->columns[FIREFOX_WEIGHT]);
    firefox_put(export, ",\"weightType\":\"tracing-ms\"");
    put_column(export, ",\"threadCPUDelta\":", &made->columns[FIREFOX_CPU]);
    put_length(export, made->samples);
    put_column(export, ",\n\"markers\":{\"name\":", &made->columns[FIREFOX_NAME]);
    put_column(export, ",\"startTime\":", &made->columns[FIREFOX_START]);
    put_column(export, ",\"endTime\":", &made->columns[FIREFOX_END]);
    put_column(export, ",\"phase\":", &made->columns[FIREFOX_PHASE]);
    put_column(export, ",\"category\":", &made->columns[FIREFOX_CATEGORY]);
    put_column(export, ",\n\"data\":", &made->columns[FIREFOX_DATA]);
    put_length(export, made->markers);
    firefox_put(export, "}");
    flush(export);
}

void firefox_put_file(struct probity_export *export)
{
    int is_first = 1;

    put_meta(export);
    put_counters(export);
    put_shared(export);
    firefox_put(export, "\"threads\":[");
    for (uint32_t slot = 0; slot < export->thread_count; slot++) {
        if (made_of(export, slot) == NULL)
            continue;
        firefox_put(export, is_first ? "\n" : ",\n");
        is_first = 0;
        put_thread(export, export->threads[slot]);
    }
    firefox_put(export, "]}\n");
    flush(export);
}
