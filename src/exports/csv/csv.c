/* SPDX-License-Identifier: MIT
 *
 * csv.c: writes hits as lines into a buffer. Parts that repeat from line to line (process and
 * thread, probe, seconds) are cached as text; a line then costs a few copies of fixed size and the
 * digits of two nanosecond fields.
 */
#include "exports/csv/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "print/csv_cell.h"
#include "print/csv_digits.h"

enum {
    BUFFER_BYTES = 256 << 10,
    LINE_BYTES_MAX = 2048, /* of a line without names; fixed-size copies may extend beyond it */
    CACHE_PLACES = 1024,   /* a power of two */
    TEXT_BYTES = 32,
    SECOND_NS = 1000000000
};

/* Cached texts of at most TEXT_BYTES, always copied in full. Each ends with its comma. */
struct thread_text {
    uint64_t key;         /* thread slot + 1 */
    uint64_t cpu_base_ns; /* start of the second that `cpu` holds */
    uint32_t bytes, cpu_bytes;
    char text[TEXT_BYTES]; /* "pid,tid," */
    char cpu[TEXT_BYTES];  /* "seconds," */
};

struct probe_text {
    uint64_t key; /* probe number, or site and trace, + 1 */
    uint32_t bytes;
    char text[TEXT_BYTES];
};

struct probity_csv {
    int descriptor;
    char *at, *end; /* end: a line of LINE_BYTES_MAX fits before it */
    struct probity_csv_layout layout;
    uint64_t wall_base_ns;
    uint32_t wall_bytes;
    char wall[TEXT_BYTES];
    struct thread_text threads[CACHE_PLACES];
    struct probe_text probes[CACHE_PLACES];
    char buffer[BUFFER_BYTES + LINE_BYTES_MAX];
};

static const char *const column_names[PROBITY_CSV_COLUMNS] = {
    "pid",    "tid",     "probe", "name", "cpu_s", "cpu_ns",
    "wall_s", "wall_ns", "cpu",   "wall", "tick",  "thread",
    "role",   "correlation", "object", "place"};

const char *probity_csv_column_name(enum probity_csv_column column)
{
    return column_names[column];
}

int probity_csv_layout_parse(const char *text, struct probity_csv_layout *ret_layout,
                             const char **ret_bad)
{
    struct probity_csv_layout layout = {.header = ret_layout->header};

    for (;;) {
        size_t length = strcspn(text, ","), column = 0;
        while (column < PROBITY_CSV_COLUMNS && (strlen(column_names[column]) != length ||
                                                memcmp(column_names[column], text, length) != 0))
            column++;
        if (column == PROBITY_CSV_COLUMNS || layout.count == PROBITY_CSV_COLUMNS_MAX) {
            if (ret_bad != NULL)
                *ret_bad = text;
            return PROBITY_ERROR_ARGUMENT;
        }
        layout.columns[layout.count++] = (enum probity_csv_column)column;
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    *ret_layout = layout;
    return 0;
}

/* Writes all bytes. A pipe may accept fewer, and a signal handler of the traced program may
 * interrupt. */
static int write_all(int descriptor, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t put = write(descriptor, bytes, count);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return PROBITY_ERROR_WRITE;
        bytes += put;
        count -= (size_t)put;
    }
    return 0;
}

int probity_csv_flush(struct probity_csv *csv)
{
    int error = write_all(csv->descriptor, csv->buffer, (size_t)(csv->at - csv->buffer));

    csv->at = csv->buffer;
    return error;
}

static char *put_text(char *at, const char *text)
{
    size_t length = strlen(text);

    memcpy(at, text, length);
    return at + length;
}

/* Formats "seconds," of a time, and returns the start of that second. */
static __attribute__((noinline)) uint64_t second_make(uint64_t ns, char text[TEXT_BYTES],
                                                      uint32_t *ret_bytes)
{
    char *at = probity_digits_put(text, ns / SECOND_NS);

    *at++ = ',';
    *ret_bytes = (uint32_t)(at - text);
    return ns - ns % SECOND_NS;
}

static void put_header(struct probity_csv *csv, const struct probity_csv_layout *layout)
{
    for (size_t i = 0; i < layout->count; i++) {
        csv->at = put_text(csv->at, i > 0 ? "," : "");
        csv->at = put_text(csv->at, column_names[layout->columns[i]]);
    }
    *csv->at++ = '\n';
}

int probity_csv_open(int descriptor, const struct probity_csv_layout *layout,
                     struct probity_csv **ret_csv)
{
    struct probity_csv *csv = calloc(1, sizeof *csv);
    struct probity_csv_layout standard = {.count = 0};

    if (csv == NULL)
        return PROBITY_ERROR_MEMORY;
    probity_csv_layout_parse("pid,tid,probe,cpu_s,cpu_ns,wall_s,wall_ns", &standard, NULL);
    csv->descriptor = descriptor;
    csv->at = csv->buffer;
    csv->end = csv->buffer + BUFFER_BYTES;
    csv->wall_base_ns = second_make(0, csv->wall, &csv->wall_bytes);
    if (layout != NULL)
        csv->layout = *layout;
    if (csv->layout.header)
        put_header(csv, csv->layout.count > 0 ? &csv->layout : &standard);
    *ret_csv = csv;
    return 0;
}

void probity_csv_close(struct probity_csv *csv)
{
    free(csv);
}

/* ---- Fields ------------------------------------------------------------------------------------
 */

/* Writes a name of any length; flushes the buffer when it is full. */
static int put_name(struct probity_csv *csv, const char *name, size_t bytes)
{
    int quoted = probity_csv_cell_is_quoted(name, bytes);

    if (quoted)
        *csv->at++ = '"';
    while (bytes > 0) {
        if (csv->at >= csv->end) {
            int error = probity_csv_flush(csv);
            if (error != 0)
                return error;
        }
        csv->at = probity_csv_cell_piece(csv->at, &name, &bytes);
    }
    if (quoted)
        *csv->at++ = '"';
    return 0;
}

/* Writes the probe column without its comma. A site has no name if its declaration was lost. */
static int put_probe(struct probity_csv *csv, const struct probity_event *event)
{
    if (event->is_site && event->name != NULL)
        return put_name(csv, event->name, event->name_bytes);
    if (event->is_site)
        csv->at = put_text(csv->at, "site-");
    csv->at = probity_digits_put(csv->at, event->id);
    return 0;
}

/* Writes the field, and stores it in the cache. */
static __attribute__((noinline)) int put_probe_anew(struct probity_csv *csv,
                                                    const struct probity_event *event, uint64_t key,
                                                    struct probe_text *text)
{
    char *start = csv->at;
    int error = put_probe(csv, event);

    *csv->at++ = ',';
    size_t bytes = (size_t)(csv->at - start);
    /* at < start: the buffer was flushed in the meantime. */
    if (error == 0 && csv->at > start && bytes <= TEXT_BYTES &&
        (!event->is_site || event->name != NULL)) {
        memcpy(text->text, start, bytes);
        text->bytes = (uint32_t)bytes;
        text->key = key;
    }
    return error;
}

/* Writes the field from the cache. Sites of different traces share numbers, so their key includes
 * the trace. A site and a probe with the same number have different places in the cache, so that
 * they do not evict each other. */
static inline int put_probe_cached(struct probity_csv *csv, const struct probity_event *event)
{
    uint64_t key = (uint64_t)event->id + 1;
    size_t place = event->id & (CACHE_PLACES - 1);

    if (event->is_site) {
        key |= (uint64_t)(event->trace + 1) << 40;
        place ^= CACHE_PLACES / 2;
    }
    struct probe_text *text = &csv->probes[place];
    if (__builtin_expect(text->key != key, 0))
        return put_probe_anew(csv, event, key, text);
    memcpy(csv->at, text->text, TEXT_BYTES);
    csv->at += text->bytes;
    return 0;
}

static __attribute__((noinline)) void thread_text_make(struct thread_text *text,
                                                       const struct probity_event *event)
{
    char line[2 * PROBITY_DIGITS_MAX + PROBITY_DIGITS_SLACK + 2];
    char *at = probity_digits_put(line, event->pid);

    *at++ = ',';
    at = probity_digits_put(at, event->tid);
    *at++ = ',';
    text->key = (uint64_t)event->thread_slot + 1;
    text->bytes = (uint32_t)(at - line);
    memcpy(text->text, line, TEXT_BYTES);
    text->cpu_base_ns = second_make(0, text->cpu, &text->cpu_bytes);
}

/* ---- Lines -------------------------------------------------------------------------------------
 */

/* Writes pid,tid,probe,cpu_s,cpu_ns,wall_s,wall_ns. */
static inline int put_standard(struct probity_csv *csv, const struct probity_event *event)
{
    struct thread_text *thread = &csv->threads[event->thread_slot & (CACHE_PLACES - 1)];

    if (__builtin_expect(thread->key != (uint64_t)event->thread_slot + 1, 0))
        thread_text_make(thread, event);
    memcpy(csv->at, thread->text, TEXT_BYTES);
    csv->at += thread->bytes;
    int error = put_probe_cached(csv, event);
    char *at = csv->at;
    if (__builtin_expect(event->cpu_known, 1)) {
        if (__builtin_expect(event->cpu_ns - thread->cpu_base_ns >= SECOND_NS, 0))
            thread->cpu_base_ns = second_make(event->cpu_ns, thread->cpu, &thread->cpu_bytes);
        memcpy(at, thread->cpu, TEXT_BYTES);
        at = probity_digits_put_nano(at + thread->cpu_bytes,
                                     (uint32_t)(event->cpu_ns - thread->cpu_base_ns));
    } else {
        *at++ = ',';
    }
    *at++ = ',';
    if (__builtin_expect(event->wall_known, 1)) {
        if (__builtin_expect(event->wall_ns - csv->wall_base_ns >= SECOND_NS, 0))
            csv->wall_base_ns = second_make(event->wall_ns, csv->wall, &csv->wall_bytes);
        memcpy(at, csv->wall, TEXT_BYTES);
        at = probity_digits_put_nano(at + csv->wall_bytes,
                                     (uint32_t)(event->wall_ns - csv->wall_base_ns));
    } else {
        *at++ = ',';
    }
    *at++ = '\n';
    csv->at = at;
    return error;
}

/* Writes nine decimals always, so that sorting as text sorts by value. */
static char *put_decimal(char *at, uint64_t ns)
{
    at = probity_digits_put(at, ns / SECOND_NS);
    uint32_t rest = (uint32_t)(ns % SECOND_NS);
    *at++ = '.';
    *at++ = (char)('0' + rest / 100000000);
    return probity_digits_put_eight(at, rest % 100000000);
}

static int put_column(struct probity_csv *csv, enum probity_csv_column column,
                      const struct probity_event *event)
{
    uint64_t number = 0;
    int known = 1;

    switch (column) {
    case PROBITY_CSV_PID: number = event->pid; break;
    case PROBITY_CSV_TID: number = event->tid; break;
    case PROBITY_CSV_PROBE: return put_probe(csv, event);
    case PROBITY_CSV_NAME:
        return event->name != NULL ? put_name(csv, event->name, event->name_bytes) : 0;
    case PROBITY_CSV_CPU_S: known = event->cpu_known; number = event->cpu_ns / SECOND_NS; break;
    case PROBITY_CSV_CPU_NS: known = event->cpu_known; number = event->cpu_ns % SECOND_NS; break;
    case PROBITY_CSV_WALL_S: known = event->wall_known; number = event->wall_ns / SECOND_NS; break;
    case PROBITY_CSV_WALL_NS: known = event->wall_known; number = event->wall_ns % SECOND_NS; break;
    case PROBITY_CSV_CPU:
        csv->at = event->cpu_known ? put_decimal(csv->at, event->cpu_ns) : csv->at;
        return 0;
    case PROBITY_CSV_WALL:
        csv->at = event->wall_known ? put_decimal(csv->at, event->wall_ns) : csv->at;
        return 0;
    case PROBITY_CSV_TICK: number = event->tick; break;
    case PROBITY_CSV_THREAD: number = event->thread; break;
    case PROBITY_CSV_ROLE:
        csv->at = put_text(csv->at, probity_role_name(event->role));
        return 0;
    case PROBITY_CSV_CORRELATION:
        known = event->has_correlation;
        number = event->correlation;
        break;
    case PROBITY_CSV_OBJECT: known = event->has_object; number = event->object; break;
    case PROBITY_CSV_PLACE: known = event->has_place; number = event->place; break;
    case PROBITY_CSV_COLUMNS: known = 0; break;
    }
    if (known)
        csv->at = probity_digits_put(csv->at, number);
    return 0;
}

/* Writes any columns in any order: about half as fast as the standard columns. */
static int put_chosen(struct probity_csv *csv, const struct probity_event *event)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < csv->layout.count; i++) {
        if (i > 0)
            *csv->at++ = ',';
        error = put_column(csv, csv->layout.columns[i], event);
    }
    *csv->at++ = '\n';
    return error;
}

int probity_csv_put(struct probity_csv *csv, const struct probity_event *event)
{
    if (__builtin_expect(event->kind != PROBITY_EVENT_HIT, 0))
        return 0;
    if (__builtin_expect(csv->at >= csv->end, 0)) {
        int error = probity_csv_flush(csv);
        if (error != 0)
            return error;
    }
    return csv->layout.count == 0 ? put_standard(csv, event) : put_chosen(csv, event);
}
