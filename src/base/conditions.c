/* SPDX-License-Identifier: MIT
 *
 * conditions.c: parses conditions and settings of dumps. No allocation, no locale.
 */
#include "base/conditions.h"

#include <signal.h>
#include <string.h>

#include "base/window.h"

/* The text being parsed. Only the first error is kept. */
struct text {
    const char *begin, *at;
    struct probity_condition_error *error;
    int has_failed;
};

static int fail(struct text *text, const char *allowed)
{
    if (!text->has_failed)
        *text->error =
            (struct probity_condition_error){(size_t)(text->at - text->begin) + 1, allowed};
    text->has_failed = 1;
    return 0;
}

static void skip_spaces(struct text *text)
{
    while (*text->at == ' ' || *text->at == '\t')
        text->at++;
}

static int is_end_of_word(char byte)
{
    return byte == 0 || byte == ' ' || byte == '\t' || byte == ';' || byte == '>' ||
           byte == '<' || byte == '"';
}

static int take_word(struct text *text, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(text->at, word, length) != 0 || !is_end_of_word(text->at[length]))
        return 0;
    text->at += length;
    skip_spaces(text);
    return 1;
}

static int is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Parses a number up to `most`. Returns 0 if there is none or if it is larger. */
static int take_number(struct text *text, uint64_t most, uint64_t *ret_number)
{
    uint64_t number = 0;
    const char *at = text->at;

    if (!is_digit(*at))
        return 0;
    for (; is_digit(*at); at++) {
        number = number * 10 + (uint64_t)(*at - '0');
        if (number > most)
            return 0;
    }
    text->at = at;
    *ret_number = number;
    return 1;
}

/* Parses a name in quotes, or up to a space, "<", ">", ";" or "->". */
static int take_name(struct text *text, struct probity_condition_name *ret_name,
                     const char *allowed)
{
    int is_quoted = *text->at == '"';
    const char *begin = text->at + is_quoted, *end = begin;

    while (*end != 0 && (is_quoted ? *end != '"' : !is_end_of_word(*end)) &&
           (is_quoted || end[0] != '-' || end[1] != '>'))
        end++;
    if (is_quoted && *end == 0) {
        text->at = end;
        return fail(text, "a closing quote");
    }
    size_t length = (size_t)(end - begin);
    if (length == 0)
        return fail(text, allowed);
    if (length >= PROBITY_CONDITION_NAME)
        return fail(text, "a name of at most 255 bytes");
    memcpy(ret_name->name, begin, length);
    ret_name->name[length] = 0;
    text->at = end + is_quoted;
    skip_spaces(text);
    return 1;
}

/* Parses the number of a probe, or the name of a site. */
static int take_probe(struct text *text, struct probity_condition_name *ret_name)
{
    const char *begin = text->at;
    uint64_t number;

    if (take_number(text, UINT32_MAX, &number) &&
        (is_end_of_word(*text->at) || (text->at[0] == '-' && text->at[1] == '>'))) {
        ret_name->is_number = 1;
        ret_name->number = (uint32_t)number;
        skip_spaces(text);
        return 1;
    }
    text->at = begin;
    return take_name(text, ret_name, "the number of a probe or the name of a site");
}

/* Parses "p" and a percentage below 100, into millionths. */
static int take_percentile(struct text *text, uint32_t *ret_percentile)
{
    uint64_t whole;
    uint32_t unit = PROBITY_CONDITION_PERCENT_UNIT / 100;

    text->at++;
    if (!take_number(text, 99, &whole))
        return fail(text, "a percentile above p0 and below p100, such as p99.9");
    uint32_t share = (uint32_t)whole * unit;
    if (text->at[0] == '.' && is_digit(text->at[1])) {
        for (text->at++; is_digit(*text->at); text->at++)
            share += (uint32_t)(*text->at - '0') * (unit /= 10);
    }
    if (share == 0)
        return fail(text, "a percentile above p0 and below p100, such as p99.9");
    *ret_percentile = share;
    return 1;
}

enum { GAP_NS_MIN = 10000000 };

static int take_limit(struct text *text, struct probity_condition *condition)
{
    const uint64_t most = UINT64_C(86400000000000);
    const char *end;

    if (*text->at != '>')
        return fail(text, "'>'");
    text->at++;
    skip_spaces(text);
    if (condition->kind != PROBITY_CONDITION_GAP && *text->at == 'p')
        return take_percentile(text, &condition->percentile);
    int is_time = probity_window_time(text->at, &end, &condition->limit_ns);
    if (condition->kind == PROBITY_CONDITION_GAP && (!is_time || condition->limit_ns < GAP_NS_MIN))
        return fail(text, "a time of 10ms to 24 hours");
    if (!is_time) {
        text->at = end;
        return fail(text, "a time with a unit (ns, us, ms, s, min) or a percentile (p99.9)");
    }
    if (condition->limit_ns == 0 || condition->limit_ns > most)
        return fail(text, "a time above 0 and at most 24 hours");
    text->at = end;
    return 1;
}

static int take_sign(struct text *text, int *ret_is_below)
{
    if (*text->at != '>' && *text->at != '<')
        return fail(text, "'>' or '<'");
    *ret_is_below = *text->at++ == '<';
    skip_spaces(text);
    return 1;
}

/* Parses a unit, with or without a number. */
static int take_period(struct text *text, uint64_t *ret_ns)
{
    const uint64_t least = 100000000, most = UINT64_C(86400000000000);
    const char *end = text->at;
    char one[8] = "1";
    uint64_t ns;

    if (!is_digit(*text->at)) {
        while (end - text->at < 4 && !is_end_of_word(*end))
            end++;
        memcpy(one + 1, text->at, (size_t)(end - text->at));
        const char *one_end;
        if (!probity_window_time(one, &one_end, &ns) || *one_end != 0)
            ns = 0;
    } else if (!probity_window_time(text->at, &end, &ns)) {
        ns = 0;
    }
    if (ns < least || ns > most)
        return fail(text, "a time of 100ms to 24 hours, such as s or 10s");
    text->at = end;
    *ret_ns = ns;
    return 1;
}

static int take_frequency(struct text *text, struct probity_condition *condition)
{
    const uint64_t most = UINT64_C(1000000000000);
    uint64_t count;

    if (!take_probe(text, &condition->name) || !take_sign(text, &condition->is_below))
        return 0;
    if (!take_number(text, most, &count))
        return fail(text, "a number of hits");
    if (count == 0 && condition->is_below)
        return fail(text, "a number above 0");
    condition->number = (int64_t)count;
    skip_spaces(text);
    if (*text->at != '/')
        return fail(text, "'/' and a time, such as 1000/s");
    text->at++;
    skip_spaces(text);
    return take_period(text, &condition->limit_ns);
}

static int take_value(struct text *text, struct probity_condition *condition)
{
    uint64_t number;

    if (!take_probe(text, &condition->name) || !take_sign(text, &condition->is_below))
        return 0;
    int is_negative = *text->at == '-';
    text->at += is_negative;
    if (!take_number(text, INT64_MAX, &number))
        return fail(text, "an integer");
    condition->number = is_negative ? -(int64_t)number : (int64_t)number;
    return 1;
}

static int take_block(struct text *text, struct probity_condition *condition)
{
    if (!take_probe(text, &condition->name))
        return 0;
    if (text->at[0] != '-' || text->at[1] != '>')
        return fail(text, "'->'");
    text->at += 2;
    skip_spaces(text);
    return take_probe(text, &condition->to) && take_limit(text, condition);
}

/* Accepts signals for programs' own use, and signals that by default neither end nor stop a
 * process: a handler for any other signal would change how the program ends. The C library reserves
 * some signals below SIGRTMIN. */
static int is_allowed_signal(int signal)
{
    return signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGCHLD || signal == SIGCONT ||
           signal == SIGURG || signal == SIGWINCH || (signal >= SIGRTMIN && signal <= SIGRTMAX);
}

static int take_signal(struct text *text, int *ret_signal)
{
    const char *begin = text->at;
    uint64_t number;

    if (take_word(text, "USR1") || take_word(text, "SIGUSR1"))
        *ret_signal = SIGUSR1;
    else if (take_word(text, "USR2") || take_word(text, "SIGUSR2"))
        *ret_signal = SIGUSR2;
    else if (take_number(text, (uint64_t)SIGRTMAX, &number) && is_allowed_signal((int)number))
        *ret_signal = (int)number;
    else {
        text->at = begin;
        return fail(text, "USR1, USR2, or the number of a real-time signal, CHLD, CONT, URG or "
                          "WINCH");
    }
    return 1;
}

static int take_named(struct text *text, struct probity_condition *condition)
{
    return (*text->at == '>' || take_name(text, &condition->name, "a name or '>'")) &&
           take_limit(text, condition);
}

static int take_watched(struct text *text, struct probity_condition *condition)
{
    if (take_word(text, "request")) {
        condition->kind = PROBITY_CONDITION_REQUEST;
        return take_named(text, condition);
    }
    if (take_word(text, "gap")) {
        condition->kind = PROBITY_CONDITION_GAP;
        return take_probe(text, &condition->name) && take_limit(text, condition);
    }
    if (take_word(text, "rate")) {
        condition->kind = PROBITY_CONDITION_RATE;
        return take_frequency(text, condition);
    }
    if (take_word(text, "value")) {
        condition->kind = PROBITY_CONDITION_VALUE;
        return take_value(text, condition);
    }
    return fail(text, "function, block, wait, request, gap, rate, value or signal");
}

static int take_condition(struct text *text, struct probity_condition *condition)
{
    if (take_word(text, "function")) {
        condition->kind = PROBITY_CONDITION_FUNCTION;
        return take_name(text, &condition->name, "the name of a function, or a pattern") &&
               take_limit(text, condition);
    }
    if (take_word(text, "block")) {
        condition->kind = PROBITY_CONDITION_BLOCK;
        return take_block(text, condition);
    }
    if (take_word(text, "wait")) {
        condition->kind = PROBITY_CONDITION_WAIT;
        return take_named(text, condition);
    }
    if (take_word(text, "signal")) {
        condition->kind = PROBITY_CONDITION_SIGNAL;
        return take_signal(text, &condition->signal);
    }
    return take_watched(text, condition);
}

int probity_condition_parse(const char *text, const char **ret_end,
                            struct probity_condition *ret_condition,
                            struct probity_condition_error *ret_error)
{
    struct text reading = {text, text, ret_error, 0};

    memset(ret_condition, 0, sizeof *ret_condition);
    skip_spaces(&reading);
    ret_condition->text = reading.at;
    if (!take_condition(&reading, ret_condition))
        return 0;
    ret_condition->length = (size_t)(reading.at - ret_condition->text);
    skip_spaces(&reading);
    if (*reading.at != 0 && *reading.at != ';')
        return fail(&reading, "the end of the condition");
    while (ret_condition->length > 0 && ret_condition->text[ret_condition->length - 1] == ' ')
        ret_condition->length--;
    *ret_end = reading.at;
    return 1;
}

/* ---- Settings ----------------------------------------------------------------------------------
 */

void probity_dumps_settings_init(struct probity_dumps_settings *ret_settings)
{
    *ret_settings = (struct probity_dumps_settings){.before_ns = 2000000000,
                                                    .limit_bytes = UINT64_C(1) << 30,
                                                    .period_ns = 1000000000,
                                                    .at_most = 1,
                                                    .keep = PROBITY_DUMPS_KEEP_ALL};
}

static int take_time(struct text *text, uint64_t most, uint64_t *ret_ns)
{
    const char *end;
    uint64_t ns;

    if (!probity_window_time(text->at, &end, &ns) || ns > most)
        return fail(text, "a time with a unit (ns, us, ms, s, min), at most 24 hours");
    text->at = end;
    *ret_ns = ns;
    return 1;
}

static int take_rate(struct text *text, struct probity_dumps_settings *settings)
{
    uint64_t number;

    if (!take_number(text, 1000, &number) || number == 0 || *text->at != '/')
        return fail(text, "a number of dumps from 1 to 1000, '/' and a time, such as 1/10s");
    text->at++;
    settings->at_most = (uint32_t)number;
    const char *begin = text->at;
    if (!take_time(text, UINT64_C(86400000000000), &settings->period_ns))
        return 0;
    if (settings->period_ns == 0) {
        text->at = begin;
        return fail(text, "a time above 0");
    }
    return 1;
}

static int take_keep(struct text *text, struct probity_dumps_settings *settings)
{
    static const char allowed[] = "worst=N or first=N, N from 1 to 1000";
    uint64_t number;
    int is_worst = strncmp(text->at, "worst", 5) == 0;

    if ((!is_worst && strncmp(text->at, "first", 5) != 0) ||
        (text->at[5] != ':' && text->at[5] != '='))
        return fail(text, allowed);
    text->at += 6;
    if (!take_number(text, PROBITY_DUMPS_KEPT_MAX, &number) || number == 0)
        return fail(text, allowed);
    settings->keep = is_worst ? PROBITY_DUMPS_KEEP_WORST : PROBITY_DUMPS_KEEP_FIRST;
    settings->kept = (uint32_t)number;
    return 1;
}

static int take_bytes(struct text *text, uint64_t *ret_bytes)
{
    const char *end;

    if (!probity_window_bytes(text->at, &end, ret_bytes) || *ret_bytes == 0)
        return fail(text, "a number of bytes above 0, such as 512M or 1G");
    text->at = end;
    return 1;
}

static int take_prefix(struct text *text, const char *prefix)
{
    size_t length = strlen(prefix);

    if (strncmp(text->at, prefix, length) != 0)
        return 0;
    text->at += length;
    return 1;
}

static int take_setting(struct text *text, struct probity_dumps_settings *settings)
{
    const uint64_t day = UINT64_C(86400000000000);

    if (take_prefix(text, "before="))
        return take_time(text, day, &settings->before_ns);
    if (take_prefix(text, "after="))
        return take_time(text, day, &settings->after_ns);
    if (take_prefix(text, "at-most="))
        return take_rate(text, settings);
    if (take_prefix(text, "keep="))
        return take_keep(text, settings);
    if (take_prefix(text, "limit="))
        return take_bytes(text, &settings->limit_bytes);
    return fail(text, "before=, after=, at-most=, keep= or limit=");
}

int probity_dumps_settings_parse(const char *text, struct probity_dumps_settings *settings,
                                 struct probity_condition_error *ret_error)
{
    struct text reading = {text, text, ret_error, 0};

    if (*text == 0)
        return 1;
    while (take_setting(&reading, settings)) {
        if (*reading.at == 0)
            return 1;
        if (*reading.at != ',')
            return fail(&reading, "a comma or the end");
        reading.at++;
    }
    return 0;
}

int probity_dumps_pattern_check(const char *pattern, struct probity_condition_error *ret_error)
{
    const char *slash = strrchr(pattern, '/');
    struct text reading = {pattern, pattern, ret_error, 0};
    int numbers = 0;

    for (; *reading.at != 0; reading.at++) {
        if (reading.at[0] != '%')
            continue;
        char what = *++reading.at;
        if (what != 'n' && what != 'p' && what != 'i' && what != '%')
            return fail(&reading, "n (program), p (process id), i (number of the dump) or %");
        if (what == 'i' && ((slash != NULL && reading.at < slash) || numbers++ != 0))
            return fail(&reading, "%i once, in the name and not in a directory");
    }
    return numbers == 1 || fail(&reading, "%i, the number of the dump");
}
