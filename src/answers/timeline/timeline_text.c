/* SPDX-License-Identifier: MIT
 *
 * timeline_text.c: prints a timeline as text. Each function that dominates a column gets a letter,
 * in order of the number of columns: upper case if the thread was mostly on the CPU, lower case if
 * mostly off it. Colors only repeat the meaning of the characters: on-CPU, off-CPU, dropped.
 */
#include "answers/timeline/timeline_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answers/report/report_text.h"
#include "answers/timeline/timeline_grid.h"
#include "print/time_text.h"
#include "probity.h"
#include "print/text.h"

enum { LETTERS = 26, NAME_COLUMNS = 15, LABEL_COLUMNS = 26, COLUMNS_LEAST = 10 };

struct picture {
    FILE *stream;
    const struct probity_timeline_answer *answer;
    const struct probity_timeline_thread *const *threads;
    const struct probity_timeline_name *const *names;
    struct probity_timeline_cell *cells; /* of all threads */
    size_t thread_count, left_out, name_count, columns;
    uint64_t *uses;  /* by name: number of columns that show it */
    uint32_t *order; /* names sorted by uses */
    uint8_t *letter; /* by name: letter + 1; 0: none */
    char *marks;     /* of one line */
    int has_drops;
};

const char *probity_timeline_label(const struct probity_timeline_name *name, char ret_text[32])
{
    switch (name->kind) {
    case PROBITY_TIMELINE_FUNCTION:
        if (name->key.function != NULL)
            return name->key.function->name;
        snprintf(ret_text, 32, "site-%" PRIu32, name->key.number);
        return ret_text;
    case PROBITY_TIMELINE_MESSAGE: return "message";
    case PROBITY_TIMELINE_CHECKPOINT: return "checkpoint";
    default:
        snprintf(ret_text, 32, "%" PRIu32, name->number);
        return name->text != NULL ? name->text : ret_text;
    }
}

/* ---- Letters -----------------------------------------------------------------------------------
 */

static uint32_t name_of(const struct probity_timeline_cell *cell)
{
    return cell->function != PROBITY_TIMELINE_NOTHING ? cell->function : cell->mark;
}

static int compare_uses(const void *left, const void *right, void *context)
{
    const uint64_t *uses = context;
    const uint32_t *a = left, *b = right;

    if (uses[*a] != uses[*b])
        return uses[*a] > uses[*b] ? -1 : 1;
    return *a < *b ? -1 : *a > *b;
}

static void give_letters(struct picture *picture)
{
    for (size_t i = 0; i < picture->thread_count * picture->columns; i++) {
        uint32_t name = name_of(&picture->cells[i]);
        if (name != PROBITY_TIMELINE_NOTHING)
            picture->uses[name]++;
    }
    for (size_t i = 0; i < picture->name_count; i++)
        picture->order[i] = (uint32_t)i;
    qsort_r(picture->order, picture->name_count, sizeof *picture->order, compare_uses,
            picture->uses);
    for (size_t i = 0; i < picture->name_count && i < LETTERS; i++) {
        if (picture->uses[picture->order[i]] > 0)
            picture->letter[picture->order[i]] = (uint8_t)(i + 1);
    }
}

/* ---- Cells -------------------------------------------------------------------------------------
 */

static int is_mostly_off(const struct probity_timeline_cell *cell)
{
    return cell->off_ns > cell->there_ns / 2;
}

/* Letters, shades and the legend use the same colors. */
enum color { COLOR_ON, COLOR_OFF, COLOR_DROPPED };

static void begin_color(const struct picture *picture, enum color color)
{
    static const char *const colors[] = {"\033[32m", "\033[33m", "\033[1;31m"};

    fputs(picture->answer->has_color ? colors[color] : "", picture->stream);
}

static void end_color(const struct picture *picture)
{
    fputs(picture->answer->has_color ? "\033[0m" : "", picture->stream);
}

static void put_letter(const struct picture *picture, const struct probity_timeline_cell *cell)
{
    uint32_t name = name_of(cell);
    int is_off = is_mostly_off(cell);

    if (name == PROBITY_TIMELINE_NOTHING)
        fputc(is_off ? '.' : '-', picture->stream);
    else if (picture->letter[name] == 0)
        fputc('*', picture->stream);
    else
        fputc((is_off ? 'a' : 'A') + picture->letter[name] - 1, picture->stream);
}

/* Draws the share of the column in which the thread was on the CPU, in five steps. */
static void put_shade(const struct picture *picture, const struct probity_timeline_cell *cell)
{
    static const char *const blocks[] = {"\u00b7", "\u2591", "\u2592", "\u2593", "\u2588"};
    static const char *const plain[] = {".", ":", "=", "%", "#"};
    double on_ns = cell->there_ns > cell->off_ns ? cell->there_ns - cell->off_ns : 0;
    double on = on_ns / cell->there_ns;
    int step = on < 0.02 ? 0 : on < 0.25 ? 1 : on < 0.5 ? 2 : on < 0.75 ? 3 : 4;

    fputs(picture->answer->is_utf8 ? blocks[step] : plain[step], picture->stream);
}

/* There is nothing to color outside the thread's lifetime. */
static void put_cell(const struct picture *picture, const struct probity_timeline_cell *cell)
{
    if (cell->there_ns <= 0 && name_of(cell) == PROBITY_TIMELINE_NOTHING) {
        fputc(' ', picture->stream);
        return;
    }
    begin_color(picture, is_mostly_off(cell) ? COLOR_OFF : COLOR_ON);
    if (!picture->answer->is_cpu)
        put_letter(picture, cell);
    else if (cell->there_ns > 0)
        put_shade(picture, cell);
    else
        fputc(' ', picture->stream);
    end_color(picture);
}

/* ---- Lines -------------------------------------------------------------------------------------
 */

/* Characters may have any width, so the number of bytes is limited. No character is split. */
static void put_label(const struct picture *picture, const char *name, uint32_t id)
{
    size_t bytes = strlen(name), columns = 0, at = 0;

    for (; at < bytes && columns < NAME_COLUMNS; at++)
        columns += ((unsigned char)name[at] & 0xc0) != 0x80;
    while (at < bytes && ((unsigned char)name[at] & 0xc0) == 0x80)
        at++;
    probity_report_put_safe(picture->stream, name, at);
    fprintf(picture->stream, "%*s%10" PRIu32 " ", (int)(NAME_COLUMNS - columns), "", id);
}

static void put_axis(const struct picture *picture)
{
    const struct probity_timeline_facts facts = probity_timeline_facts(picture->answer->timeline);
    uint64_t start_ns = probity_reader_start_ns(picture->answer->reader), end_ns = facts.last_ns;
    char from[PROBITY_TIME_TEXT_BYTES], to[PROBITY_TIME_TEXT_BYTES];

    probity_time_text(facts.first_ns > start_ns ? facts.first_ns - start_ns : 0, from);
    if (end_ns < facts.first_ns + picture->columns)
        end_ns = facts.first_ns + picture->columns; /* a column is at least one nanosecond */
    probity_time_text(end_ns > start_ns ? end_ns - start_ns : 0, to);
    int has_room = picture->columns > strlen(from) + strlen(to);
    fprintf(picture->stream, "%s%-*s%s%*s%s\n", picture->answer->has_color ? "\033[1m" : "",
            LABEL_COLUMNS, "thread", from,
            has_room ? (int)(picture->columns - strlen(from)) : 0, has_room ? to : "",
            picture->answer->has_color ? "\033[0m" : "");
}

static void put_threads(const struct picture *picture)
{
    for (size_t i = 0; i < picture->thread_count; i++) {
        const struct probity_timeline_cell *cells = picture->cells + i * picture->columns;
        if (picture->threads[i]->first_ns == 0)
            continue;
        put_label(picture, picture->threads[i]->name != NULL ? picture->threads[i]->name : "",
                  picture->threads[i]->tid);
        for (size_t j = 0; j < picture->columns; j++)
            put_cell(picture, &cells[j]);
        fputc('\n', picture->stream);
    }
}

/* ---- Drops -------------------------------------------------------------------------------------
 */

static size_t column_of(const struct picture *picture, uint64_t ns)
{
    const struct probity_timeline_facts facts = probity_timeline_facts(picture->answer->timeline);
    double column_ns = probity_timeline_column_ns(picture->answer->timeline, picture->columns);
    double column = ns > facts.first_ns ? (double)(ns - facts.first_ns) / column_ns : 0;

    return column < (double)picture->columns ? (size_t)column : picture->columns - 1;
}

/* Marks the columns in which the trace dropped records. Returns the number of such intervals that
 * are in the picture. */
static size_t mark_drops(const struct picture *picture, const struct probity_trace_facts *trace,
                         char *marks)
{
    const struct probity_timeline_facts facts = probity_timeline_facts(picture->answer->timeline);
    size_t seen = 0;

    memset(marks, ' ', picture->columns);
    for (size_t i = 0; i < trace->drop_count; i++) {
        const struct probity_trace_drop *drop = &trace->drops[i];
        if (drop->to_ns < facts.first_ns || drop->from_ns > facts.last_ns)
            continue;
        size_t from = column_of(picture, drop->from_ns), to = column_of(picture, drop->to_ns);
        memset(marks + from, '!', to - from + 1);
        seen++;
    }
    return seen;
}

/* Drops are counted by process, so there is one line for all threads. */
static void put_drops(struct picture *picture)
{
    const struct probity_reader *reader = picture->answer->reader;

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        if (mark_drops(picture, facts, picture->marks) == 0)
            continue;
        picture->has_drops = 1;
        put_label(picture, "dropped", facts->info.pid);
        begin_color(picture, COLOR_DROPPED);
        fwrite(picture->marks, 1, picture->columns, picture->stream);
        end_color(picture);
        fputc('\n', picture->stream);
    }
}

/* ---- Legend ------------------------------------------------------------------------------------
 */

static void put_meaning(const struct picture *picture, enum color color, const char *text)
{
    begin_color(picture, color);
    fputs(text, picture->stream);
    end_color(picture);
}

static void put_names(const struct picture *picture)
{
    char text[32];

    for (size_t i = 0; i < picture->name_count && i < LETTERS; i++) {
        uint32_t number = picture->order[i];
        const char *name = probity_timeline_label(picture->names[number], text);
        if (picture->uses[number] == 0)
            break;
        fprintf(picture->stream, "%c  ", 'A' + (int)i);
        if (picture->names[number]->kind == PROBITY_TIMELINE_PROBE)
            fprintf(picture->stream, "%" PRIu32 "%s", picture->names[number]->number,
                    picture->names[number]->text != NULL ? " " : "");
        if (picture->names[number]->kind != PROBITY_TIMELINE_PROBE ||
            picture->names[number]->text != NULL)
            probity_report_put_safe(picture->stream, name, strlen(name));
        fputc('\n', picture->stream);
    }
}

static void put_legend(const struct picture *picture)
{
    char each[PROBITY_TIME_TEXT_BYTES];
    double column_ns = probity_timeline_column_ns(picture->answer->timeline, picture->columns);

    fprintf(picture->stream, "\none column: %s\n", probity_real_time_text(column_ns, each));
    if (picture->answer->is_cpu) {
        fprintf(picture->stream, "on the CPU: %s\n", picture->answer->is_utf8
                    ? "\u00b7 never, \u2591 up to 25 %, \u2592 up to 50 %, \u2593 up to 75 %, "
                      "\u2588 up to 100 %"
                    : ". never, : up to 25 %, = up to 50 %, % up to 75 %, # up to 100 %");
    } else {
        put_names(picture);
        fputs("letter: function with most self time, or probe hit most often, in the column;\n",
              picture->stream);
        put_meaning(picture, COLOR_OFF, "lower case: mostly off the CPU");
        fputs("; outside functions: ", picture->stream);
        put_meaning(picture, COLOR_ON, "- on the CPU");
        fputs(", ", picture->stream);
        put_meaning(picture, COLOR_OFF, ". off the CPU");
        fputs("; * other functions\n", picture->stream);
    }
    if (picture->has_drops) {
        put_meaning(picture, COLOR_DROPPED, "!");
        fputs(" records were dropped here: calls, hits and exits may be missing\n",
              picture->stream);
    }
}

static int fill_cells(struct picture *picture)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < picture->thread_count; i++)
        error = probity_timeline_grid(picture->answer->timeline, picture->threads[i],
                                      picture->columns, picture->cells + i * picture->columns);
    return error;
}

static void put_picture(struct picture *picture)
{
    if (probity_timeline_facts(picture->answer->timeline).last_ns > 0) {
        give_letters(picture);
        put_axis(picture);
        put_threads(picture);
        if (picture->left_out > 0)
            fprintf(picture->stream, "%zu more thread%s\n", picture->left_out,
                    probity_text_s(picture->left_out));
        put_drops(picture);
        put_legend(picture);
    } else {
        fputs("no records\n", picture->stream);
    }
    if (picture->answer->profiled > 0)
        fprintf(picture->stream, "%" PRIu64 " calls were counted in profile mode, which has no "
                "time stamps; see `probity report`\n", picture->answer->profiled);
}

size_t probity_timeline_shown(const struct probity_timeline_answer *answer, size_t *ret_left_out)
{
    size_t count, shown = 0, seen = 0;
    const struct probity_timeline_thread *const *threads =
        probity_timeline_threads(answer->timeline, &count);

    for (size_t i = 0; i < count; i++) {
        seen += threads[i]->first_ns != 0;
        if (answer->threads_max == 0 || seen <= answer->threads_max)
            shown = i + 1;
    }
    *ret_left_out =
        answer->threads_max > 0 && seen > answer->threads_max ? seen - answer->threads_max : 0;
    return shown;
}

int probity_timeline_text(FILE *stream, const struct probity_timeline_answer *answer)
{
    struct picture picture = {.stream = stream, .answer = answer};
    size_t width = answer->columns;

    picture.threads = probity_timeline_threads(answer->timeline, &picture.thread_count);
    picture.thread_count = probity_timeline_shown(answer, &picture.left_out);
    picture.names = probity_timeline_names(answer->timeline, &picture.name_count);
    picture.columns = width > LABEL_COLUMNS + COLUMNS_LEAST ? width - LABEL_COLUMNS : COLUMNS_LEAST;
    picture.cells = calloc(picture.thread_count * picture.columns + 1, sizeof *picture.cells);
    picture.uses = calloc(picture.name_count + 1, sizeof *picture.uses);
    picture.order = calloc(picture.name_count + 1, sizeof *picture.order);
    picture.letter = calloc(picture.name_count + 1, sizeof *picture.letter);
    picture.marks = malloc(picture.columns);
    int error = picture.cells == NULL || picture.uses == NULL || picture.order == NULL ||
                        picture.letter == NULL || picture.marks == NULL
                    ? PROBITY_ERROR_MEMORY
                    : fill_cells(&picture);
    if (error == 0) {
        put_picture(&picture);
        probity_report_foot(stream, answer->has_color, answer->reader,
                            probity_timeline_repairs(answer->timeline));
    }
    free(picture.cells);
    free(picture.uses);
    free(picture.order);
    free(picture.letter);
    free(picture.marks);
    return error;
}
