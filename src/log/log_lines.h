/* SPDX-License-Identifier: MIT
 *
 * log_lines.h: writes the lines of a log, with a function for each kind of line. log_line_start()
 * begins a line, and one more call ends it; log_lines_...() write several whole lines.
 */
#ifndef PROBITY_LOG_LOG_LINES_H
#define PROBITY_LOG_LOG_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/scopes.h"
#include "log/log.h"
#include "log/log_write.h"

enum { LOG_PREFIX_BYTES = 48, LOG_INDENT_MAX = 256 };

/* "TID: " or "PID/TID: ", always copied as a whole. */
struct log_prefix {
    uint32_t bytes;
    char text[LOG_PREFIX_BYTES];
};

struct log_lines {
    struct log_writer writer;
    const struct probity_log_options *options;
    uint64_t count;
    uint64_t second; /* second since 1970 for which `day` is valid, + 1 */
    uint32_t day_bytes;
    char day[48]; /* date and time of day to the second */
    /* The numbers below 1000 with leading zeros, and the number of leading zeros. */
    struct {
        char digits[3];
        uint8_t zeros;
    } thousand[1000];
};

/* Returns the same as log_writer_init(). */
int log_lines_init(struct log_lines *lines, int descriptor,
                   const struct probity_log_options *options);

void log_prefix_make(struct log_prefix *prefix, const struct probity_log_options *options,
                     uint32_t pid, uint32_t tid);

void log_line_put_time(struct log_lines *lines, uint64_t wall_ns);

/* Writes everything that precedes a line's text. Indentation is limited to LOG_INDENT_MAX. */
static inline void log_line_start(struct log_lines *lines, const struct log_prefix *prefix,
                                  struct log_queue *queue, uint64_t wall_ns, uint32_t indent)
{
    enum { USUAL = 32 };
    struct log_writer *writer = &lines->writer;

    log_writer_make_room(writer, queue);
    lines->count++;
    if (__builtin_expect(lines->options->time != PROBITY_LOG_TIME_NONE, 0))
        log_line_put_time(lines, wall_ns);
    char *at = writer->at;
    memcpy(at, prefix->text, LOG_PREFIX_BYTES);
    at += prefix->bytes;
    size_t spaces = 2 * (size_t)(indent < LOG_INDENT_MAX ? indent : LOG_INDENT_MAX);
    memset(at, ' ', USUAL); /* a fixed size is faster than the exact one */
    if (__builtin_expect(spaces > USUAL, 0))
        memset(at + USUAL, ' ', spaces - USUAL);
    writer->at = at + spaces;
}

/* Ends a line with a short, safe text that includes the line feed. */
static inline void log_line_end_with(struct log_lines *lines, const char *text, size_t bytes)
{
    memcpy(lines->writer.at, text, bytes);
    lines->writer.at += bytes;
}

/* Writes a function whose declaration was lost. */
void log_line_put_site(struct log_lines *lines, uint32_t number);

void log_line_put_elapsed(struct log_lines *lines, const struct probity_scope *scope,
                          int has_cpu_time);
void log_line_put_leave(struct log_lines *lines, enum probity_scope_end how,
                        const struct probity_event *event);
void log_line_put_message(struct log_lines *lines, const struct probity_event *event);

/* Writes a pause, a resume or a hit. */
void log_line_put_mark(struct log_lines *lines, const struct probity_event *event);

/* Writes an event that concerns the thread or the process. stall_ns: for a STALL. */
void log_line_put_notice(struct log_lines *lines, const struct probity_event *event,
                         uint64_t stall_ns);

/* Writes a line "name = value" for each value. */
void log_lines_put_values(struct log_lines *lines, const struct log_prefix *prefix,
                          struct log_queue *queue, const struct probity_event *event,
                          uint32_t indent);

/* Writes the label, and its values one level deeper. */
void log_lines_put_checkpoint(struct log_lines *lines, const struct log_prefix *prefix,
                              struct log_queue *queue, const struct probity_event *event,
                              uint32_t indent);

#endif
