/* SPDX-License-Identifier: MIT
 *
 * log_lines.c: formats the lines of a log. Does not use printf, which would be slow: half of all
 * lines are times. A line never exceeds LOG_LINE_BYTES_MAX, so no flush splits one.
 */
#include "log/log_lines.h"

#include <time.h>

#include "base/bytes.h"
#include "log/log_color.h"
#include "print/csv_digits.h"
#include "print/text.h"
#include "print/values.h"

enum { END_BYTES = 64, SECOND_NS = 1000000000 };

int log_lines_init(struct log_lines *lines, int descriptor,
                   const struct probity_log_options *options)
{
    *lines = (struct log_lines){.options = options};
    for (unsigned i = 0; i < 1000; i++) {
        lines->thousand[i].digits[0] = (char)('0' + i / 100);
        lines->thousand[i].digits[1] = (char)('0' + i / 10 % 10);
        lines->thousand[i].digits[2] = (char)('0' + i % 10);
        lines->thousand[i].zeros = (uint8_t)(i < 10 ? 2 : i < 100);
    }
    int error = log_writer_init(&lines->writer, descriptor, options->duration_ns_min > 0,
                                options->by_thread);

    lines->writer.lines_max = options->lines_max;
    return error;
}

/* Limit of a line's text; there is room for the end of the line after it. */
static inline const char *limit_of(const struct log_lines *lines)
{
    return lines->writer.end + LOG_LINE_BYTES_MAX - END_BYTES;
}

/* For short constant words, which always fit. */
static inline void put(struct log_lines *lines, const char *words)
{
    size_t length = strlen(words);

    memcpy(lines->writer.at, words, length);
    lines->writer.at += length;
}

static inline void put_number(struct log_lines *lines, uint64_t number)
{
    lines->writer.at = probity_digits_put(lines->writer.at, number);
}

static void put_text(struct log_lines *lines, const char *text, size_t bytes, char quote)
{
    lines->writer.at = probity_text_put(lines->writer.at, limit_of(lines), text, bytes, quote);
}

static inline void color(struct log_lines *lines, const char *code)
{
    if (__builtin_expect(lines->options->has_color, 0))
        put(lines, code);
}

static inline void end_line(struct log_lines *lines)
{
    color(lines, LOG_COLOR_OFF);
    *lines->writer.at++ = '\n';
}

/* ---- Before the text ---------------------------------------------------------------------------
 */

void log_prefix_make(struct log_prefix *prefix, const struct probity_log_options *options,
                     uint32_t pid, uint32_t tid)
{
    char *at = prefix->text, *end = at + LOG_PREFIX_BYTES;

    at = probity_text_copy(at, end, LOG_COLOR_THREAD,
                           options->has_color ? strlen(LOG_COLOR_THREAD) : 0);
    if (options->has_pids) {
        at = probity_digits_put(at, pid);
        *at++ = '/';
    }
    at = probity_digits_put(at, tid);
    *at++ = ':';
    at = probity_text_copy(at, end, LOG_COLOR_OFF,
                           options->has_color ? strlen(LOG_COLOR_OFF) : 0);
    *at++ = ' ';
    prefix->bytes = (uint32_t)(at - prefix->text);
}

static char *put_nine(char *at, uint32_t number)
{
    *at++ = (char)('0' + number / 100000000);
    return probity_digits_put_eight(at, number % 100000000);
}

static __attribute__((noinline)) void make_day(struct log_lines *lines, uint64_t second)
{
    time_t moment = (time_t)second;
    struct tm parts;

    lines->second = second + 1;
    lines->day_bytes = 0;
    if (localtime_r(&moment, &parts) != NULL)
        lines->day_bytes = (uint32_t)strftime(lines->day, sizeof lines->day, "%Y-%m-%d %H:%M:%S.",
                                              &parts);
}

void log_line_put_time(struct log_lines *lines, uint64_t wall_ns)
{
    uint64_t ns = wall_ns;

    if (lines->options->time == PROBITY_LOG_TIME_WALL) {
        if (wall_ns / SECOND_NS + 1 != lines->second)
            make_day(lines, wall_ns / SECOND_NS);
        memcpy(lines->writer.at, lines->day, sizeof lines->day);
        lines->writer.at += lines->day_bytes;
    } else {
        /* Earlier than the start only if the clock was set back. */
        int is_before = wall_ns < lines->options->start_ns;
        ns = is_before ? lines->options->start_ns - wall_ns : wall_ns - lines->options->start_ns;
        put(lines, is_before ? "-" : "");
        put_number(lines, ns / SECOND_NS);
        *lines->writer.at++ = '.';
    }
    lines->writer.at = put_nine(lines->writer.at, (uint32_t)(ns % SECOND_NS));
    *lines->writer.at++ = ' ';
}

/* ---- Times -------------------------------------------------------------------------------------
 */

/* Writes a number below 1000; three bytes must be writable. */
static inline char *put_small(const struct log_lines *lines, char *at, uint64_t number)
{
    uint32_t digits;

    memcpy(&digits, &lines->thousand[number], sizeof digits);
    unsigned zeros = lines->thousand[number].zeros;
    digits >>= 8 * zeros;
    memcpy(at, &digits, sizeof digits);
    return at + 3 - zeros;
}

/* Writes three decimals, in the unit that leaves at least one digit before them; whole nanoseconds
 * below a microsecond. Returns the end; 32 bytes must be writable. */
static inline char *put_duration(const struct log_lines *lines, char *at, uint64_t ns)
{
    static const char units[][4] = {" ns", " us", " ms", " s"};
    unsigned unit = (ns >= 1000) + (ns >= 1000000) + (ns >= SECOND_NS);
    uint64_t thousandths = unit <= 1 ? ns : unit == 2 ? ns / 1000 : ns / 1000000;

    if (unit == 0) {
        at = put_small(lines, at, ns);
    } else {
        uint64_t whole = thousandths / 1000;
        at = __builtin_expect(whole < 1000, 1) ? put_small(lines, at, whole)
                                               : probity_digits_put(at, whole);
        *at++ = '.';
        memcpy(at, &lines->thousand[thousandths - 1000 * whole], 4);
        at += 3;
    }
    memcpy(at, units[unit], 4);
    return at + (unit == 3 ? 2 : 3);
}

/* Uses a local pointer: otherwise, the compiler must assume that the bytes written alias
 * `lines`. */
void log_line_put_elapsed(struct log_lines *lines, const struct probity_scope *scope,
                          int has_cpu_time)
{
    color(lines, LOG_COLOR_ELAPSED);
    char *at = lines->writer.at;
    memcpy(at, "elapsed:\t", 9);
    at = put_duration(lines, at + 9, scope->elapsed.wall_ns);
    memcpy(at, " (self ", 7);
    at = put_duration(lines, at + 7, probity_scope_self(scope).wall_ns);
    if (has_cpu_time) {
        memcpy(at, ", cpu ", 6);
        at = put_duration(lines, at + 6, scope->elapsed.cpu_ns);
    }
    *at++ = ')';
    lines->writer.at = at;
    end_line(lines);
}

/* ---- Values ------------------------------------------------------------------------------------
 */

static void put_value(struct log_lines *lines, const struct probity_value_view *view,
                      enum probity_value_style style)
{
    lines->writer.at = probity_value_put(lines->writer.at, limit_of(lines), view, style);
}

/* Writes the remainder of a record whose format was lost. */
static void put_undescribed(struct log_lines *lines, const struct probity_event *event)
{
    put(lines, "(");
    put_number(lines, event->value_bytes);
    put(lines, " bytes of values; their format was lost)");
}

static void put_walk(struct log_lines *lines, const struct log_prefix *prefix,
                     struct log_queue *queue, const struct probity_event *event, uint32_t indent,
                     struct probity_value_walk *walk)
{
    struct probity_value_view view;

    while (probity_value_walk_next(walk, &view)) {
        log_line_start(lines, prefix, queue, event->wall_ns, indent);
        put_text(lines, view.text, strlen(view.text), '\0');
        put(lines, " = ");
        put_value(lines, &view, PROBITY_VALUE_QUOTED);
        *lines->writer.at++ = '\n';
    }
}

void log_lines_put_values(struct log_lines *lines, const struct log_prefix *prefix,
                          struct log_queue *queue, const struct probity_event *event,
                          uint32_t indent)
{
    struct probity_value_walk walk = probity_value_walk_of(event);

    put_walk(lines, prefix, queue, event, indent, &walk);
    if (event->format == NULL && event->value_bytes > 0) {
        log_line_start(lines, prefix, queue, event->wall_ns, indent);
        put_undescribed(lines, event);
        end_line(lines);
    }
}

void log_lines_put_checkpoint(struct log_lines *lines, const struct log_prefix *prefix,
                              struct log_queue *queue, const struct probity_event *event,
                              uint32_t indent)
{
    struct probity_value_walk walk = probity_value_walk_of(event);
    struct probity_value_view label;

    log_line_start(lines, prefix, queue, event->wall_ns, indent);
    color(lines, LOG_COLOR_LABEL);
    if (probity_value_walk_next(&walk, &label))
        put_value(lines, &label, PROBITY_VALUE_RAW);
    else if (event->value_bytes > 0)
        put_undescribed(lines, event);
    else
        put(lines, "checkpoint");
    end_line(lines);
    put_walk(lines, prefix, queue, event, indent + 1, &walk);
}

void log_line_put_message(struct log_lines *lines, const struct probity_event *event)
{
    struct probity_value_walk walk = probity_value_walk_of(event);
    struct probity_value_view view = {.is_cut = 0};

    if (event->format == NULL)
        put_undescribed(lines, event);
    while (!view.is_cut && probity_value_walk_next(&walk, &view))
        put_value(lines, &view, PROBITY_VALUE_RAW);
    *lines->writer.at++ = '\n';
}

/* A result that is a struct is printed as its members, each with its name. */
static void put_result(struct log_lines *lines, const struct probity_event *event)
{
    struct probity_value_walk walk = probity_value_walk_of(event);
    struct probity_value_view view;
    uint32_t count = 0;

    put(lines, "return (");
    for (; probity_value_walk_next(&walk, &view); count++) {
        if (event->format->count > 1) {
            put_text(lines, ", ", count > 0 ? 2 : 0, '\0');
            put_text(lines, view.text, strlen(view.text), '\0');
            put_text(lines, " = ", 3, '\0');
        }
        put_value(lines, &view, PROBITY_VALUE_QUOTED);
    }
    put(lines, count > 0 ? ")" : "?)");
}

void log_line_put_leave(struct log_lines *lines, enum probity_scope_end how,
                        const struct probity_event *event)
{
    if (how == PROBITY_SCOPE_LEFT && event->value_bytes == 0 && event->format == NULL) {
        color(lines, LOG_COLOR_RESULT);
        put(lines, "leave;");
    } else if (how == PROBITY_SCOPE_LEFT) {
        color(lines, LOG_COLOR_RESULT);
        put_result(lines, event);
    } else if (how == PROBITY_SCOPE_RAISED) {
        color(lines, LOG_COLOR_RESULT);
        put(lines, "leave; (left by an exception)");
    } else {
        color(lines, LOG_COLOR_REPAIR);
        put(lines, how == PROBITY_SCOPE_UNWOUND ? "leave; (unwound)" : "(still open)");
    }
    end_line(lines);
}

/* ---- Other lines ------------------------------------------------------------------------------
 */

void log_line_put_site(struct log_lines *lines, uint32_t number)
{
    put(lines, "site-");
    put_number(lines, number);
    *lines->writer.at++ = '\n';
}

void log_line_put_mark(struct log_lines *lines, const struct probity_event *event)
{
    if (event->kind == PROBITY_READER_ENTRY) {
        put(lines, "entered ");
        if (event->function != NULL)
            put_text(lines, event->function->name, strlen(event->function->name), '\0');
        else
            put_number(lines, event->id);
        put(lines, ";");
    } else if (event->kind != PROBITY_EVENT_HIT) {
        put(lines, event->kind == PROBITY_EVENT_PAUSE ? "pause;" : "resume;");
    } else {
        int is_bare_site = event->is_site && event->name == NULL;
        put(lines, is_bare_site ? "site-" : event->is_site ? "site " : "probe ");
        if (!event->is_site || is_bare_site)
            put_number(lines, event->id);
        put(lines, !event->is_site && event->name != NULL ? " " : "");
        if (event->name != NULL) {
            put(lines, "\"");
            put_text(lines, event->name, event->name_bytes, '"');
            put(lines, "\"");
        }
    }
    *lines->writer.at++ = '\n';
}

static void put_levels(struct log_lines *lines, const uint8_t *payload)
{
    static const char *const origins[] = {"", "", ", set by the program",
                                          ", set by probity level"};

    put(lines, "levels: functions ");
    put_number(lines, payload[0]);
    put(lines, ", parameters ");
    put_number(lines, payload[1]);
    put(lines, origins[payload[2] <= 3 ? payload[2] : 0]);
}

/* Writes a share in millionths as a percentage with two decimals, rounded down. */
static void put_share(struct log_lines *lines, uint32_t share)
{
    uint32_t hundredths = share / 100 % 100;

    put_number(lines, share / 10000);
    put(lines, hundredths < 10 ? ".0" : ".");
    put_number(lines, hundredths);
    put(lines, " %");
}

static void put_budget(struct log_lines *lines, const struct probity_event *event)
{
    struct probity_budget_event budget;

    if (probity_budget_event_get(event->payload, event->payload_bytes, &budget) != 0) {
        put(lines, "budget");
        return;
    }
    put(lines, "budget ");
    put_share(lines, budget.budget);
    put(lines, ": recording takes ");
    put_share(lines, budget.cost);
    if (budget.what == PROBITY_BUDGET_WHAT_TOTAL)
        put(lines, " of the whole run");
    if (budget.what == PROBITY_BUDGET_WHAT_EXCEEDED)
        put(lines, ", and no function is left that could be counted instead, or not at all");
    if (budget.what != PROBITY_BUDGET_WHAT_COUNTED && budget.what != PROBITY_BUDGET_WHAT_REMOVED &&
        budget.what != PROBITY_BUDGET_WHAT_HITS)
        return;
    put(lines, budget.what == PROBITY_BUDGET_WHAT_HITS ? "; from here on hits such as "
                                                       : "; from here on calls of ");
    if (event->name != NULL)
        put_text(lines, event->name, event->name_bytes, '\0');
    else if (event->function != NULL)
        put_text(lines, event->function->name, strlen(event->function->name), '\0');
    else
        put_number(lines, budget.site);
    put(lines, budget.what == PROBITY_BUDGET_WHAT_REMOVED ? " are not even counted ("
                                                          : " are only counted (");
    put_number(lines, budget.calls);
    put(lines, " a second)");
}

/* Names the first site. */
static void put_switched(struct log_lines *lines, const struct probity_event *event)
{
    size_t sites = event->payload_bytes / 4;

    if (sites < 2) {
        put(lines, "sites switched");
        return;
    }
    put(lines, "hits of ");
    if (event->name != NULL)
        put_text(lines, event->name, event->name_bytes, '\0');
    else
        put_number(lines, probity_get_u32(event->payload + 4));
    if (sites > 2) {
        put(lines, " and ");
        put_number(lines, sites - 2);
        put(lines, sites > 3 ? " other sites" : " other site");
    }
    put(lines, probity_get_u32(event->payload) != 0 ? " are recorded from here on"
                                                    : " are not recorded from here on");
}

void log_line_put_notice(struct log_lines *lines, const struct probity_event *event,
                         uint64_t stall_ns)
{
    const uint8_t *payload = event->payload;

    color(lines, LOG_COLOR_NOTICE);
    put(lines, "[");
    if (event->kind == PROBITY_EVENT_THREAD_NAME) {
        put(lines, "thread ");
        put_text(lines, (const char *)payload, event->payload_bytes, '\0');
    } else if (event->kind == PROBITY_EVENT_STALL) {
        put(lines, "waited ");
        lines->writer.at = put_duration(lines, lines->writer.at, stall_ns);
        put(lines, " for a free chunk");
    } else if (event->kind == PROBITY_EVENT_LOST) {
        put(lines, "records lost here: ");
        put_number(lines, event->payload_bytes >= 8 ? probity_get_u64(payload) : 0);
    } else if (event->kind == PROBITY_EVENT_LEVELS && event->payload_bytes >= 3) {
        put_levels(lines, payload);
        if (event->payload_bytes > 3) {
            put(lines, ", settings ");
            put_text(lines, (const char *)payload + 3, event->payload_bytes - 3, '\0');
        }
    } else if (event->kind == PROBITY_EVENT_BUDGET) {
        put_budget(lines, event);
    } else if (event->kind == PROBITY_EVENT_SITES_SWITCHED) {
        put_switched(lines, event);
    } else {
        int is_on = event->payload_bytes == 0 || payload[0] != 0;
        put(lines, event->kind == PROBITY_EVENT_LEVELS ? "levels"
                   : is_on                             ? "profiling on"
                                                       : "profiling off");
    }
    put(lines, "]");
    end_line(lines);
}
