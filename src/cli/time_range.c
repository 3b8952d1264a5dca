/* SPDX-License-Identifier: MIT
 *
 * time_range.c: parses times without floating-point rounding.
 */
#include "cli/time_range.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "print/time_text.h"

#define SECOND UINT64_C(1000000000)

/* ---- Numbers with units ------------------------------------------------------------------------
 */

/* Parses a decimal fraction, multiplied by scale, without floating-point rounding. Returns its end,
 * or NULL. */
static const char *parse_decimal(const char *text, uint64_t scale, uint64_t *ret_value)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return NULL;
    errno = 0;
    uint64_t whole = strtoull(text, &end, 10), fraction = 0;
    if (errno != 0 || whole > UINT64_MAX / 4 / scale)
        return NULL;
    *ret_value = whole * scale;
    const char *at = end;
    for (at += *at == '.'; isdigit((unsigned char)*at); at++) {
        scale /= 10; /* ignores digits below a nanosecond */
        fraction += (uint64_t)(*at - '0') * scale;
    }
    *ret_value += fraction;
    return at;
}

int cli_parse_duration(const char *text, uint64_t *ret_ns)
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", SECOND}, {"", SECOND}};
    size_t digits = strspn(text, "0123456789.");

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text + digits, units[i].unit) == 0)
            return parse_decimal(text, units[i].ns, ret_ns) == text + digits ? 0 : -1;
    }
    return -1;
}

/* Parses "50%" of the recording. */
static int parse_share(const char *text, const struct cli_time_span *span, uint64_t *ret_ns)
{
    enum { WHOLE = 100 };
    uint64_t share; /* in 10^-9 percent */
    const char *end = parse_decimal(text, SECOND, &share);

    if (end == NULL || strcmp(end, "%") != 0 || share > WHOLE * SECOND)
        return -1;
    uint64_t ns = span->end_ns - span->start_ns;
    /* In two steps, because the product may not fit: whole parts, then the remainder. */
    uint64_t part = ns / (WHOLE * SECOND), rest = ns % (WHOLE * SECOND);
    *ret_ns = span->start_ns + part * share +
              (uint64_t)((long double)rest * (long double)share / (long double)(WHOLE * SECOND));
    return 0;
}

/* ---- Dates -------------------------------------------------------------------------------------
 */

/* Parses two digits from least to most, after a separator unless that is 0. Returns their end, or
 * NULL. */
static const char *parse_field(const char *text, char separator, int least, int most,
                               int *ret_value)
{
    if (separator != 0 && *text++ != separator)
        return NULL;
    if (!isdigit((unsigned char)text[0]) || !isdigit((unsigned char)text[1]))
        return NULL;
    *ret_value = 10 * (text[0] - '0') + (text[1] - '0');
    return *ret_value >= least && *ret_value <= most ? text + 2 : NULL;
}

/* Parses "Z", " UTC", "+01:00" or nothing. Returns its end, or NULL; *ret_has_zone 0: local
 * time. */
static const char *parse_zone(const char *text, int *ret_has_zone, int *ret_seconds)
{
    int sign = *text == '-' ? -1 : 1, hours = 0, minutes = 0;

    *ret_has_zone = *text != '\0';
    *ret_seconds = 0;
    if (*text == 'Z')
        return text + 1;
    if (strncmp(text, " UTC", 4) == 0)
        return text + 4;
    if (*text != '+' && *text != '-')
        return text;
    text = parse_field(text + 1, 0, 0, 23, &hours);
    if (text != NULL)
        text = parse_field(text, ':', 0, 59, &minutes);
    *ret_seconds = sign * 60 * (60 * hours + minutes);
    return text;
}

/* Parses the time of day after a date, with a fraction of the seconds. Returns its end, or NULL. */
static const char *parse_time_of_day(const char *text, struct tm *date, uint64_t *ret_ns)
{
    if (*text != 'T' && *text != ' ')
        return text;
    text = parse_field(text + 1, 0, 0, 23, &date->tm_hour);
    if (text != NULL)
        text = parse_field(text, ':', 0, 59, &date->tm_min);
    if (text == NULL || *text != ':')
        return text;
    text = parse_field(text, ':', 0, 59, &date->tm_sec);
    if (text == NULL || *text != '.')
        return text;
    char fraction[32] = "0";
    size_t digits = strspn(text + 1, "0123456789");
    if (digits == 0 || digits > sizeof fraction - 3)
        return NULL;
    memcpy(fraction + 1, text, digits + 1);
    return parse_decimal(fraction, SECOND, ret_ns) != NULL ? text + 1 + digits : NULL;
}

static int parse_date(const char *text, uint64_t *ret_ns)
{
    struct tm date = {.tm_isdst = -1};
    int has_zone, seconds, year, month;
    uint64_t ns = 0;

    if (strspn(text, "0123456789") != 4)
        return -1;
    year = atoi(text);
    text = parse_field(text + 4, '-', 1, 12, &month);
    if (text != NULL)
        text = parse_field(text, '-', 1, 31, &date.tm_mday);
    if (text != NULL)
        text = parse_time_of_day(text, &date, &ns);
    if (text != NULL)
        text = parse_zone(text, &has_zone, &seconds);
    if (text == NULL || *text != '\0' || year < 1970)
        return -1;
    date.tm_year = year - 1900;
    date.tm_mon = month - 1;
    time_t time = has_zone ? timegm(&date) : mktime(&date);
    if (time < 0 || (int64_t)time < seconds)
        return -1;
    *ret_ns = (uint64_t)((int64_t)time - (has_zone ? seconds : 0)) * SECOND + ns;
    return date.tm_mon == month - 1 ? 0 : -1; /* detects dates such as February 30 */
}

/* ---- Times -------------------------------------------------------------------------------------
 */

struct cli_time_span cli_time_span_of(const struct probity_reader *reader)
{
    struct cli_time_span span = {probity_reader_start_ns(reader), 0};

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        uint64_t last_ns = probity_reader_facts(reader, i)->last_wall_ns;
        span.end_ns = last_ns >= span.end_ns ? last_ns + 1 : span.end_ns;
    }
    if (span.end_ns < span.start_ns)
        span.end_ns = span.start_ns;
    return span;
}

int cli_parse_time(const char *text, const struct cli_time_span *span, uint64_t *ret_ns)
{
    uint64_t ns;

    if (parse_share(text, span, ret_ns) == 0 || parse_date(text, ret_ns) == 0)
        return 0;
    if (cli_parse_duration(text + (*text == '@' || *text == '-'), &ns) != 0)
        return -1;
    if (*text == '@')
        *ret_ns = ns;
    else if (*text == '-') /* a time before the start becomes the start */
        *ret_ns = ns < span->end_ns - span->start_ns ? span->end_ns - ns : span->start_ns;
    else
        *ret_ns = ns <= UINT64_MAX - span->start_ns ? span->start_ns + ns : UINT64_MAX;
    return 0;
}

int cli_parse_range(const struct cli_command *command, const struct cli_range *range,
                    const struct probity_reader *reader, uint64_t *ret_from_ns,
                    uint64_t *ret_to_ns)
{
    struct cli_time_span span = cli_time_span_of(reader);
    uint64_t from_ns = 0, to_ns = 0;

    if (range->from != NULL && cli_parse_time(range->from, &span, &from_ns) != 0)
        return cli_fail_usage(command, "invalid --since '%s' (" "%s)", range->from, CLI_TIME_HELP);
    if (range->to != NULL && cli_parse_time(range->to, &span, &to_ns) != 0)
        return cli_fail_usage(command, "invalid --until '%s' (" "%s)", range->to, CLI_TIME_HELP);
    if (range->to != NULL && to_ns <= from_ns)
        return cli_fail_usage(command, "--until %s is not later than --since", range->to);
    *ret_from_ns = from_ns;
    *ret_to_ns = to_ns;
    return CLI_OK;
}

/* A dump has records of only part of the recording. Returns whether all traces are dumps and none
 * has records in the range. */
static int warn_outside_dumps(const struct cli_command *command,
                              const struct probity_reader *reader, uint64_t from_ns,
                              uint64_t to_ns)
{
    const struct cli_time_span span = cli_time_span_of(reader);
    char begin[PROBITY_TIME_TEXT_BYTES], end[PROBITY_TIME_TEXT_BYTES];
    uint64_t first_ns = UINT64_MAX;

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        if (facts->dump == NULL || facts->first_wall_ns == 0)
            return 0;
        first_ns = facts->first_wall_ns < first_ns ? facts->first_wall_ns : first_ns;
    }
    if (first_ns <= span.start_ns || first_ns >= span.end_ns ||
        !((to_ns != 0 && to_ns <= first_ns) || from_ns >= span.end_ns))
        return 0;
    cli_warn(command, "the range is outside the dump, which has records from %s to %s after the "
             "beginning of the recording", probity_time_text(first_ns - span.start_ns, begin),
             probity_time_text(span.end_ns - span.start_ns, end));
    return 1;
}

void cli_warn_outside(const struct cli_command *command, const struct probity_reader *reader,
                      uint64_t from_ns, uint64_t to_ns)
{
    const struct cli_time_span span = cli_time_span_of(reader);
    time_t seconds = (time_t)(span.start_ns / 1000000000);
    char length[PROBITY_TIME_TEXT_BYTES], start[64];
    struct tm parts;
    int is_before = to_ns != 0 && to_ns <= span.start_ns, is_after = from_ns >= span.end_ns;

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        is_after &= facts->state != PROBITY_TRACE_LIVE;
        if (facts->info.flags & PROBITY_INFO_PROFILE)
            return; /* the recording has no times */
    }
    if (warn_outside_dumps(command, reader, from_ns, to_ns) || span.end_ns <= span.start_ns ||
        !(is_before || is_after))
        return;
    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(start, sizeof start, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        return;
    cli_warn(command, "the range is outside the recording, which began at %s and lasted %s", start,
             probity_time_text(span.end_ns - span.start_ns, length));
}
