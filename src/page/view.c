/* SPDX-License-Identifier: MIT
 *
 * view.c: the page and its data: one JSON object, whose members are the JSON output of `probity
 * info`, `report`, `threads`, `tree` and `blocks`, and the spans of the timeline; with a
 * comparison, also the output of `diff`, durations of requests, and the same members, except the
 * threads, of the base. All are compressed and base64-encoded, so that no text of a traced program
 * is ever parsed as markup.
 */
#include "page/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answers/blocks/blocks_print.h"
#include "answers/diff/diff_print.h"
#include "answers/info/info.h"
#include "answers/report/report_json.h"
#include "answers/threads/threads_print.h"
#include "answers/tree/tree_print.h"
#include "page/tiles.h"
#include "page/view_messages.h"
#include "page/view_page.h"
#include "page/view_place.h"
#include "page/view_stream.h"
#include "page/view_waits.h"
#include "print/json.h"
#include "probity.h"

/* Where the page's data is inserted. */
static const char place_of_data[] = "<!--probity-data-->";

/* Where directives are added to the page's policy. */
static const char place_of_policy[] = "script-src 'sha256-";

/* The lower bound of each bucket, and its count. */
static void put_histogram(FILE *stream, const struct probity_histogram *durations)
{
    struct probity_histogram_bucket bucket;
    const char *between = "";
    size_t at = 0;

    for (; probity_histogram_next(durations, &at, &bucket); between = ",")
        fprintf(stream, "%s[%" PRIu64 ",%" PRIu64 "]", between, bucket.least, bucket.count);
}

/* Durations of each block, in the order of the blocks. */
static void put_histograms(FILE *stream, const char *name,
                           const struct probity_blocks_answer *blocks)
{
    size_t shown = probity_blocks_shown(blocks);

    fprintf(stream, ",\n\"%s\": [", name);
    for (size_t i = 0; i < shown; i++) {
        fputs(i > 0 ? ",\n[" : "\n[", stream);
        put_histogram(stream, &blocks->pairs[i]->durations);
        fputc(']', stream);
    }
    fputc(']', stream);
}

/* Durations of each kind of request. */
static int put_requests(FILE *stream, const char *name,
                        const struct probity_request_times *requests)
{
    int error = 0;

    fprintf(stream, ",\n\"%s\": [", name);
    for (size_t i = 0; error == 0 && i < requests->count; i++) {
        const struct probity_request_kind *kind = requests->kinds[i];
        char *text = probity_request_kind_name(kind, 0);
        fputs(i > 0 ? ",\n{\"name\": " : "\n{\"name\": ", stream);
        error = text != NULL ? probity_json_put_text(stream, text) : PROBITY_ERROR_MEMORY;
        free(text);
        fprintf(stream, ", \"is_site\": %s, \"histogram\": [",
                kind->begin.is_site ? "true" : "false");
        put_histogram(stream, &kind->durations);
        fputs("]}", stream);
    }
    fputc(']', stream);
    return error;
}

static int put_base(FILE *stream, const struct probity_view_answer *base)
{
    fputs(",\n\"base\": ", stream);
    int error = probity_tree_json(stream, &base->tree);
    fputs(",\n\"base_info\": ", stream);
    if (error == 0)
        error = probity_info_json(stream, base->reader);
    fputs(",\n\"base_report\": ", stream);
    if (error == 0)
        error = probity_report_json(stream, base->reader, base->functions, base->function_count,
                                    base->repairs);
    fputs(",\n\"base_blocks\": ", stream);
    if (error == 0)
        error = probity_blocks_json(stream, &base->blocks);
    put_histograms(stream, "base_block_histograms", &base->blocks);
    if (error == 0)
        error = put_requests(stream, "base_requests", base->requests);
    fputs(",\n\"base_timeline\": ", stream);
    return error == 0 ? probity_view_timeline_json(stream, base) : error;
}

static int put_comparison(FILE *stream, const struct probity_view_answer *answer)
{
    const struct probity_diff_layout all = {0};

    fputs(",\n\"diff\": ", stream);
    int error = probity_diff_json(stream, &all, answer->comparison);
    fprintf(stream, ",\n\"base_runs\": %zu, \"base_why\": ", answer->base_runs);
    if (error == 0)
        error = probity_json_put_text(stream, answer->base_why);
    if (error == 0)
        error = put_requests(stream, "requests", answer->requests);
    return error == 0 && answer->base != NULL ? put_base(stream, answer->base) : error;
}

/* Times are ns since recording began. */
static void put_place(FILE *stream, const struct probity_view_answer *answer)
{
    const struct probity_view_place *place = answer->place;
    uint64_t start_ns = probity_reader_start_ns(answer->reader);

    fprintf(stream, ",\n\"place\": {\"trace\": %" PRIu32 ", \"thread\": %" PRIu32
            ", \"from\": %" PRId64 ", \"to\": %" PRId64 ", \"is_call\": %s, \"is_whole\": %s}",
            place->trace, place->thread, (int64_t)(place->from_ns - start_ns),
            (int64_t)(place->to_ns - start_ns), place->is_call ? "true" : "false",
            place->is_whole ? "true" : "false");
}

static int put_object(FILE *stream, const struct probity_view_answer *answer)
{
    int error;

    fprintf(stream, "{\"version\": 1, \"tool\": \"%s\", \"served\": %s,\n\"info\": ",
            probity_version(), answer->is_served ? "true" : "false");
    error = probity_info_json(stream, answer->reader);
    fputs(",\n\"report\": ", stream);
    if (error == 0)
        error = probity_report_json(stream, answer->reader, answer->functions,
                                    answer->function_count, answer->repairs);
    fputs(",\n\"threads\": ", stream);
    if (error == 0)
        error = probity_threads_json(stream, &answer->threads);
    fputs(",\n\"tree\": ", stream);
    if (error == 0)
        error = probity_tree_json(stream, &answer->tree);
    fputs(",\n\"blocks\": ", stream);
    if (error == 0)
        error = probity_blocks_json(stream, &answer->blocks);
    put_histograms(stream, "block_histograms", &answer->blocks);
    fputs(",\n\"timeline\": ", stream);
    if (error == 0)
        error = probity_view_timeline_json(stream, answer);
    if (answer->place != NULL)
        put_place(stream, answer);
    if (answer->tiles != NULL)
        probity_tiles_json(stream, answer->tiles);
    if (error == 0 && answer->waits != NULL) {
        fputs(",\n\"waits\": ", stream);
        error = probity_view_waits_json(stream, answer->waits,
                                        probity_timeline_facts(answer->timeline).first_ns);
    }
    if (error == 0 && answer->messages != NULL) {
        fputs(",\n\"messages\": ", stream);
        probity_view_messages_json(stream, answer->messages,
                                   probity_timeline_facts(answer->timeline).first_ns);
    }
    if (error == 0 && answer->comparison != NULL)
        error = put_comparison(stream, answer);
    fputs("}\n", stream);
    return error;
}

/* Writes one data element, which the page finds by its id. */
static int put_data(FILE *stream, const char *id, const struct probity_view_answer *answer)
{
    fprintf(stream, "<script type=\"text/plain\" id=\"probity-%s\">", id);
    FILE *packed = probity_view_stream_open(stream);
    int error = 0;
    if (packed == NULL)
        return PROBITY_ERROR_MEMORY;
    if (strcmp(id, "data") == 0)
        error = put_object(packed, answer);
    else
        error = probity_view_spans(packed, answer->timeline);
    if (error == 0 && ferror(packed))
        error = PROBITY_ERROR_WRITE;
    if (fclose(packed) != 0 && error == 0)
        error = PROBITY_ERROR_WRITE;
    fputs("</script>\n", stream);
    return error;
}

int probity_view_spans_element(FILE *stream, const struct probity_timeline *timeline)
{
    const struct probity_view_answer answer = {.timeline = timeline};

    return put_data(stream, "spans", &answer);
}

/* The page's policy allows no connections; that of a served page allows connections to its server.
 * Tiles are fetched from the page's origin, but a page opened as a file can only load them as
 * scripts. */
static int put_head(FILE *stream, const char *from, size_t bytes,
                    const struct probity_view_answer *answer)
{
    const char *policy = memmem(from, bytes, place_of_policy, strlen(place_of_policy));
    int is_open = answer->is_served || answer->tiles != NULL;
    size_t before = is_open && policy != NULL ? (size_t)(policy - from) : 0;

    fwrite(from, 1, before, stream);
    if (before > 0)
        fputs("connect-src 'self'; ", stream);
    if (before > 0 && answer->tiles != NULL) {
        fputs("script-src file: ", stream);
        before += strlen("script-src ");
    }
    fwrite(from + before, 1, bytes - before, stream);
    if (answer->tiles != NULL)
        fputs(PROBITY_VIEW_WINDOWS_PLACE, stream);
    return ferror(stream) ? PROBITY_ERROR_WRITE : 0;
}

int probity_view_html(FILE *stream, const struct probity_view_answer *answer)
{
    const char *from = probity_view_page;
    size_t bytes = (size_t)(probity_view_page_end - from);
    const char *place = memmem(from, bytes, place_of_data, strlen(place_of_data));
    size_t before = place != NULL ? (size_t)(place - from) : bytes;

    int error = put_head(stream, from, before, answer);
    if (error == 0)
        error = put_data(stream, "data", answer);
    if (error == 0 && answer->spans != NULL)
        fwrite(answer->spans, 1, answer->spans_bytes, stream);
    else if (error == 0)
        error = put_data(stream, "spans", answer);
    if (error == 0 && answer->base != NULL)
        error = put_data(stream, "base-spans", answer->base);
    if (error == 0 && place != NULL) {
        const char *rest = place + strlen(place_of_data);
        size_t left = bytes - (size_t)(rest - from);
        error = fwrite(rest, 1, left, stream) == left ? 0 : PROBITY_ERROR_WRITE;
    }
    return error;
}
