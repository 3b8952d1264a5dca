/* SPDX-License-Identifier: MIT
 *
 * timeline_text.c: a time line for terminals. Each function that is most of a column somewhere has
 * a letter, those of most columns first: large where the thread was mostly on the CPU, small where
 * it was mostly off it. Colours only repeat what characters say.
 */
#include "output/timeline_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/timeline_grid.h"
#include "output/report_text.h"
#include "probity.h"

enum { LETTERS = 26, NAME_COLUMNS = 15, LABEL_COLUMNS = 26, COLUMNS_LEAST = 10 };

struct picture {
    FILE *stream;
    const struct probity_timeline_answer *answer;
    const struct probity_timeline_thread *const *threads;
    const struct probity_timeline_name *const *names;
    struct probity_timeline_cell *cells; /* of all threads */
    size_t thread_count, name_count, columns;
    uint64_t *uses;  /* by name: columns that it names */
    uint32_t *order; /* names by uses */
    uint8_t *letter; /* by name: + 1; 0: none */
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
    uint64_t a = uses[*(const uint32_t *)left], b = uses[*(const uint32_t *)right];

    return (a < b) - (a > b);
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

/* Six colours that are told apart on light and dark grounds, and again. */
static void put_colour(const struct picture *picture, uint8_t letter, int is_off)
{
    if (picture->answer->has_colour)
        fprintf(picture->stream, "\033[%d;%dm", is_off ? 2 : 1, 31 + (letter - 1) % 6);
}

static void put_letter(const struct picture *picture, const struct probity_timeline_cell *cell)
{
    uint32_t name = name_of(cell);
    int is_off = is_mostly_off(cell);

    if (name == PROBITY_TIMELINE_NOTHING) {
        fputc(cell->there_ns <= 0 ? ' ' : is_off ? '.' : '-', picture->stream);
    } else if (picture->letter[name] == 0) {
        fputc('*', picture->stream);
    } else {
        put_colour(picture, picture->letter[name], is_off);
        fputc((is_off ? 'a' : 'A') + picture->letter[name] - 1, picture->stream);
        if (picture->answer->has_colour)
            fputs("\033[0m", picture->stream);
    }
}

/* How much of the column the thread was on the CPU, in five steps. */
static void put_shade(const struct picture *picture, const struct probity_timeline_cell *cell)
{
    static const char *const blocks[] = {"\u00b7", "\u2591", "\u2592", "\u2593", "\u2588"};
    static const char *const plain[] = {".", ":", "=", "%", "#"};
    double on_ns = cell->there_ns > cell->off_ns ? cell->there_ns - cell->off_ns : 0;

    if (cell->there_ns <= 0) {
        fputc(' ', picture->stream);
        return;
    }
    double on = on_ns / cell->there_ns;
    int step = on < 0.02 ? 0 : on < 0.25 ? 1 : on < 0.5 ? 2 : on < 0.75 ? 3 : 4;
    fputs(picture->answer->is_utf8 ? blocks[step] : plain[step], picture->stream);
}

/* ---- Lines -------------------------------------------------------------------------------------
 */

/* The text may have characters of any width: it is cut by bytes, between characters. */
static void put_label(const struct picture *picture, const struct probity_timeline_thread *thread)
{
    const char *name = thread->name != NULL ? thread->name : "";
    size_t bytes = strlen(name), columns = 0, at = 0;

    for (; at < bytes && columns < NAME_COLUMNS; at++)
        columns += ((unsigned char)name[at] & 0xc0) != 0x80;
    while (at < bytes && ((unsigned char)name[at] & 0xc0) == 0x80)
        at++;
    probity_report_put_safe(picture->stream, name, at);
    fprintf(picture->stream, "%*s%10" PRIu32 " ", (int)(NAME_COLUMNS - columns), "", thread->tid);
}

static void put_axis(const struct picture *picture)
{
    const struct probity_timeline_facts facts = probity_timeline_facts(picture->answer->timeline);
    uint64_t start_ns = probity_reader_start_ns(picture->answer->reader);
    char from[PROBITY_REPORT_TIME_BYTES], to[PROBITY_REPORT_TIME_BYTES];

    probity_report_time_text(facts.first_ns > start_ns ? facts.first_ns - start_ns : 0, from);
    probity_report_time_text(facts.last_ns > start_ns ? facts.last_ns - start_ns : 0, to);
    fprintf(picture->stream, "%s%-*s%s%*s%s\n", picture->answer->has_colour ? "\033[1m" : "",
            LABEL_COLUMNS, "thread", from,
            (int)(picture->columns > strlen(from) ? picture->columns - strlen(from) : 0), to,
            picture->answer->has_colour ? "\033[0m" : "");
}

static void put_legend(const struct picture *picture)
{
    const struct probity_timeline_facts facts = probity_timeline_facts(picture->answer->timeline);
    char text[32], each[PROBITY_REPORT_TIME_BYTES];
    uint64_t column_ns = (facts.last_ns - facts.first_ns) / picture->columns;

    fprintf(picture->stream, "\na column is %s\n", probity_report_time_text(column_ns, each));
    if (picture->answer->is_cpu) {
        fprintf(picture->stream, "on the CPU: %s\n", picture->answer->is_utf8
                    ? "\u00b7 not at all, \u2591 to 25 %, \u2592 to 50 %, \u2593 to 75 %, "
                      "\u2588 to 100 %"
                    : ". not at all, : to 25 %, = to 50 %, % to 75 %, # to 100 %");
        return;
    }
    for (size_t i = 0; i < picture->name_count && i < LETTERS; i++) {
        uint32_t number = picture->order[i];
        const char *name = probity_timeline_label(picture->names[number], text);
        if (picture->uses[number] == 0)
            break;
        put_colour(picture, picture->letter[number], 0);
        fputc('A' + (int)i, picture->stream);
        fputs(picture->answer->has_colour ? "\033[0m  " : "  ", picture->stream);
        if (picture->names[number]->kind == PROBITY_TIMELINE_PROBE)
            fprintf(picture->stream, "%" PRIu32 "%s", picture->names[number]->number,
                    picture->names[number]->text != NULL ? " " : "");
        if (picture->names[number]->kind != PROBITY_TIMELINE_PROBE ||
            picture->names[number]->text != NULL)
            probity_report_put_safe(picture->stream, name, strlen(name));
        fputc('\n', picture->stream);
    }
    fputs("a letter: what took most of the column by itself, or the probe hit most in it;\n"
          "small: mostly off the CPU; outside of functions - on it, . off it; * others\n",
          picture->stream);
}

static void put_threads(const struct picture *picture)
{
    for (size_t i = 0; i < picture->thread_count; i++) {
        const struct probity_timeline_cell *cells = picture->cells + i * picture->columns;
        if (picture->threads[i]->first_ns == 0)
            continue;
        put_label(picture, picture->threads[i]);
        for (size_t j = 0; j < picture->columns; j++) {
            if (picture->answer->is_cpu)
                put_shade(picture, &cells[j]);
            else
                put_letter(picture, &cells[j]);
        }
        fputc('\n', picture->stream);
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
        put_legend(picture);
    } else {
        fputs("no records\n", picture->stream);
    }
    if (picture->answer->profiled > 0)
        fprintf(picture->stream, "%" PRIu64 " calls were counted in profile mode, which keeps no "
                "times of day: `probity report` shows them\n", picture->answer->profiled);
}

int probity_timeline_text(FILE *stream, const struct probity_timeline_answer *answer)
{
    struct picture picture = {.stream = stream, .answer = answer};
    size_t width = answer->columns;

    picture.threads = probity_timeline_threads(answer->timeline, &picture.thread_count);
    picture.names = probity_timeline_names(answer->timeline, &picture.name_count);
    picture.columns = width > LABEL_COLUMNS + COLUMNS_LEAST ? width - LABEL_COLUMNS : COLUMNS_LEAST;
    picture.cells = calloc(picture.thread_count * picture.columns + 1, sizeof *picture.cells);
    picture.uses = calloc(picture.name_count + 1, sizeof *picture.uses);
    picture.order = calloc(picture.name_count + 1, sizeof *picture.order);
    picture.letter = calloc(picture.name_count + 1, sizeof *picture.letter);
    int error = picture.cells == NULL || picture.uses == NULL || picture.order == NULL ||
                        picture.letter == NULL
                    ? PROBITY_ERROR_MEMORY
                    : fill_cells(&picture);
    if (error == 0) {
        put_picture(&picture);
        probity_report_foot(stream, answer->has_colour, answer->reader,
                            probity_timeline_repairs(answer->timeline));
    }
    free(picture.cells);
    free(picture.uses);
    free(picture.order);
    free(picture.letter);
    return error;
}
