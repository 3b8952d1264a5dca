/* SPDX-License-Identifier: MIT
 *
 * view_tiles_command.c: the part of `probity view` that writes a directory of tiles, or determines
 * whether an existing one belongs to the traces. All names in it are fixed; none contains text from
 * a trace. The directory gets its name when it is complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/align.h"
#include "cli/index.h"
#include "cli/query.h"
#include "cli/sched.h"
#include "page/view_tiles.h"
#include "reader/file.h"
#include "reader/index.h"

#define ME (&cli_command_view)

/* SHARE_PERCENT: size of tiles as a share of the traces' bytes; SPAN_BYTES: usual maximum size of a
 * span in a tile. */
enum { INDEXES_MAX = 64, SHARE_PERCENT = 5, SPAN_BYTES = 8, MANIFEST_BYTES_MAX = 64 << 10 };

/* No page written by the tool comes near this size. */
#define PAGE_BYTES_MAX (UINT64_C(1) << 30)

static const char page_name[] = "index.html", manifest_name[] = "tiles.txt";

void view_tiles_index_name(char ret_name[PROBITY_TILE_NAME_BYTES], size_t trace)
{
    snprintf(ret_name, PROBITY_TILE_NAME_BYTES, "trace-%u.index", (unsigned)trace);
}

/* ---- Names -------------------------------------------------------------------------------------
 */

/* Returns 0 or PROBITY_ERROR_MEMORY. */
static int list_files(struct view_tiles *tiles)
{
    size_t count = PROBITY_PYRAMID_TILES_MAX + 1 + INDEXES_MAX, at = 0;
    char name[PROBITY_TILE_NAME_BYTES];

    tiles->files = calloc(count + 3, sizeof *tiles->files);
    if (tiles->files == NULL)
        return PROBITY_ERROR_MEMORY;
    tiles->files[at++] = strdup(page_name);
    tiles->files[at++] = strdup(manifest_name);
    for (size_t i = 0; i < count; i++) {
        if (i < INDEXES_MAX)
            view_tiles_index_name(name, i);
        else
            probity_tile_name(name, (uint32_t)(i - INDEXES_MAX));
        tiles->files[at++] = strdup(name);
    }
    for (size_t i = 0; i < at; i++) {
        if (tiles->files[i] == NULL)
            return PROBITY_ERROR_MEMORY;
    }
    return 0;
}

static int keep_paths(struct view_tiles *tiles, const struct probity_reader *reader)
{
    size_t count = probity_reader_traces(reader);

    tiles->paths = calloc(count + 1, sizeof *tiles->paths);
    for (size_t i = 0; tiles->paths != NULL && i < count; i++) {
        tiles->paths[i] = strdup(probity_reader_facts(reader, i)->path);
        if (tiles->paths[i] == NULL)
            return PROBITY_ERROR_MEMORY;
        tiles->path_count++;
    }
    return tiles->paths != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

/* ---- The manifest ------------------------------------------------------------------------------
 */

static void put_trace(FILE *stream, const struct probity_trace_facts *facts)
{
    struct stat file = {0};
    char *name;

    if (stat(facts->path, &file) != 0)
        file = (struct stat){0};
    fprintf(stream, "trace %" PRIu64 " %lld.%09ld ", facts->file_bytes,
            (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
    for (size_t i = 0; i < sizeof facts->info.session; i++)
        fprintf(stream, "%02x", facts->info.session[i]);
    if (facts->sched != NULL && asprintf(&name, "%s" PROBITY_SCHED_SUFFIX, facts->path) >= 0) {
        if (stat(name, &file) != 0)
            file = (struct stat){0};
        fprintf(stream, " states %lld %lld.%09ld", (long long)file.st_size,
                (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
        free(name);
    }
    fputc('\n', stream);
}

/* Returns the beginning of a manifest that belongs to the traces and options, or NULL if out of
 * memory. */
static char *manifest_of(const struct view_tiles *tiles, const struct probity_reader *reader)
{
    const struct cli_range *range = &tiles->answer->range;
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);

    if (stream == NULL)
        return NULL;
    fprintf(stream, "probity tiles 2 %s\nrange %s %s\ntid %s\ndiff %zu\n", probity_version(),
            range->from != NULL ? range->from : "-", range->to != NULL ? range->to : "-",
            tiles->tids != NULL ? tiles->tids : "-", tiles->bases);
    if (cli_align_is_off())
        fputs("no-align\n", stream);
    for (size_t i = 0; i < tiles->answer->functions.count; i++)
        fprintf(stream, "function %s\n", tiles->answer->functions.items[i]);
    for (size_t i = 0; i < probity_reader_traces(reader); i++)
        put_trace(stream, probity_reader_facts(reader, i));
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- Writing -----------------------------------------------------------------------------------
 */

void view_tiles_plan(struct view_tiles *tiles, const struct probity_timeline *timeline,
                     const struct probity_reader *reader)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < probity_reader_traces(reader); i++)
        bytes += probity_reader_facts(reader, i)->file_bytes;
    tiles->grid = probity_pyramid_plan(timeline, bytes / 100 * SHARE_PERCENT / SPAN_BYTES);
}

unsigned view_tiles_passes(const struct view_tiles *tiles)
{
    return tiles->path == NULL ? 0 : 2;
}

static int read_again(struct view_tiles *tiles)
{
    const struct probity_event *event;
    int got = 0, error = cli_query_restart(tiles->answer);

    while (error == 0 && (got = probity_reader_next(tiles->reader, &event)) > 0) {
        int wanted = cli_query_is_of_tids(tiles->answer, event)
                         ? cli_query_wants(tiles->answer, &event) : 0;
        error = wanted > 0 ? probity_tiles_put(&tiles->tiles, event) : wanted;
    }
    if (error == 0)
        error = got < 0 ? got : probity_tiles_finish(&tiles->tiles);
    return error;
}

static int fail_write(const struct view_tiles *tiles, int error)
{
    return cli_fail_trace(ME, tiles->path, error, errno);
}

/* Without levels, there is nothing to read. */
static int write_tiles(struct view_tiles *tiles, struct probity_timeline *timeline,
                       const struct probity_reader *reader, int directory)
{
    struct probity_reader_options options = {0};
    struct probity_timeline *again = NULL;
    int error = 0, is_other = 0;

    cli_sched_use(&options);
    cli_progress_expect(1);
    if (tiles->grid.levels > 0) {
        int status = cli_open_reader(ME, tiles->paths, tiles->path_count, &options,
                                     &tiles->reader);
        if (status != CLI_OK)
            return status;
        error = probity_timeline_repeat(timeline, tiles->grid.unit_ns, &again);
    }
    if (error == 0)
        error = probity_tiles_open(&tiles->tiles, again, &tiles->grid,
                                   probity_reader_start_ns(reader), directory);
    if (error == 0 && again != NULL)
        error = read_again(tiles);
    cli_progress_end();
    int error_number = errno;
    if (again != NULL)
        is_other = probity_timeline_return(timeline, again) != 0;
    errno = error_number;
    if (error != 0)
        return fail_write(tiles, error);
    if (is_other)
        return cli_fail(ME, "'%s' changed while it was read; try again when recording has ended",
                        tiles->paths[0]);
    return CLI_OK;
}

static int write_page(const struct view_tiles *tiles, const struct probity_view_answer *answer,
                      int directory)
{
    FILE *stream = probity_tiles_create(directory, page_name);
    int error = PROBITY_ERROR_WRITE;

    if (stream != NULL) {
        error = probity_view_html(stream, answer);
        if (fclose(stream) != 0 && error == 0)
            error = PROBITY_ERROR_WRITE;
    }
    return error == 0 ? CLI_OK : fail_write(tiles, error);
}

/* Makes indexes for a server; a trace that cannot have one is read from its beginning. */
static int write_index(const struct view_tiles *tiles, size_t trace, int directory)
{
    const struct probity_index_options options = {
        .every_bytes = CLI_INDEX_WINDOWS_BYTES, .progress = cli_progress,
        .progress_context = (void *)(uintptr_t)ME};
    char name[PROBITY_TILE_NAME_BYTES];
    struct probity_range range;

    cli_progress_expect((unsigned)(tiles->path_count - trace - 1));
    cli_progress_pass();
    view_tiles_index_name(name, trace);
    if (probity_range_open(tiles->paths[trace], &range) != 0)
        return CLI_OK;
    int to = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    int error = to >= 0 ? probity_index_build(&range, to, &options) : PROBITY_ERROR_WRITE;
    int error_number = errno;
    cli_progress_end();
    if (to >= 0 && close(to) != 0 && error == 0)
        error = PROBITY_ERROR_WRITE;
    close(range.file);
    if (error == PROBITY_ERROR_WRITE) {
        errno = error_number;
        return fail_write(tiles, error);
    }
    if (error != 0)
        unlinkat(directory, name, 0);
    return CLI_OK;
}

static int write_manifest(const struct view_tiles *tiles, const struct probity_reader *reader,
                          int directory)
{
    char *text = manifest_of(tiles, reader);
    FILE *stream = text != NULL ? probity_tiles_create(directory, manifest_name) : NULL;
    int error = stream != NULL ? 0 : PROBITY_ERROR_WRITE;

    if (stream != NULL) {
        fprintf(stream, "%sstart %" PRIu64 " unit %" PRIu64 "\n", text,
                probity_reader_start_ns(reader), tiles->grid.longest_ns);
        error = ferror(stream) ? PROBITY_ERROR_WRITE : 0;
        if (fclose(stream) != 0)
            error = PROBITY_ERROR_WRITE;
    }
    free(text);
    return error == 0 ? CLI_OK : fail_write(tiles, error);
}

static int write_all(struct view_tiles *tiles, struct probity_timeline *timeline,
                     struct probity_view_answer *answer, int directory)
{
    int status = write_tiles(tiles, timeline, answer->reader, directory);

    answer->tiles = &tiles->tiles;
    if (status == CLI_OK)
        status = write_page(tiles, answer, directory);
    for (size_t i = 0; status == CLI_OK && i < tiles->path_count && i < INDEXES_MAX; i++)
        status = write_index(tiles, i, directory);
    return status == CLI_OK ? write_manifest(tiles, answer->reader, directory) : status;
}

int view_tiles_write(struct view_tiles *tiles, struct probity_timeline *timeline,
                     struct probity_view_answer *answer)
{
    struct cli_output output;

    if (list_files(tiles) != 0 || keep_paths(tiles, answer->reader) != 0)
        return fail_write(tiles, PROBITY_ERROR_MEMORY);
    int status = cli_directory_open(ME, tiles->path, tiles->force,
                                    (const char *const *)tiles->files, &output);
    if (status != CLI_OK)
        return status;
    int directory = open(output.temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    status = directory >= 0 ? write_all(tiles, timeline, answer, directory)
                            : fail_write(tiles, PROBITY_ERROR_WRITE);
    if (directory >= 0)
        close(directory);
    int closed = cli_directory_close(ME, &output, status == CLI_OK);
    return status == CLI_OK ? closed : status;
}

/* ---- Finding -----------------------------------------------------------------------------------
 */

int view_tiles_open_file(int directory, const char *name)
{
    int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat facts;

    if (file >= 0 && (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) ||
                      (facts.st_uid != geteuid() && facts.st_uid != 0))) {
        close(file);
        return -1;
    }
    return file;
}

char *view_tiles_read(int directory, const char *name, uint64_t bytes_max, size_t *ret_bytes)
{
    int file = view_tiles_open_file(directory, name);
    int64_t size = file >= 0 ? probity_file_size(file) : -1;
    char *bytes = NULL;

    if (size >= 0 && (uint64_t)size <= bytes_max)
        bytes = malloc((size_t)size + 1);
    if (bytes != NULL) {
        ssize_t got = probity_file_read(file, bytes, (size_t)size, 0);
        *ret_bytes = got > 0 ? (size_t)got : 0;
        bytes[*ret_bytes] = '\0';
    }
    if (file >= 0)
        close(file);
    return bytes;
}

static int is_of_traces(const struct view_tiles *tiles, const struct probity_reader *reader,
                        int directory, struct view_tiles_found *found)
{
    size_t bytes = 0;
    char *text = view_tiles_read(directory, manifest_name, MANIFEST_BYTES_MAX, &bytes);
    char *wanted = manifest_of(tiles, reader);
    size_t length = wanted != NULL ? strlen(wanted) : 0;
    int is_same = text != NULL && length > 0 && strncmp(text, wanted, length) == 0 &&
                  sscanf(text + length, "start %" SCNu64 " unit %" SCNu64 "\n", &found->start_ns,
                         &found->longest_ns) == 2 &&
                  found->start_ns == probity_reader_start_ns(reader);

    free(text);
    free(wanted);
    return is_same;
}

/* Returns the page, with a server's mark inserted. */
static int take_page(int directory, struct view_tiles_found *found)
{
    size_t bytes = 0, place_bytes = strlen(PROBITY_VIEW_WINDOWS_PLACE),
           mark_bytes = strlen(PROBITY_VIEW_WINDOWS);
    char *page = view_tiles_read(directory, page_name, PAGE_BYTES_MAX, &bytes);
    char *place = page != NULL ? memmem(page, bytes, PROBITY_VIEW_WINDOWS_PLACE, place_bytes)
                               : NULL;

    found->page = place != NULL ? malloc(bytes - place_bytes + mark_bytes) : NULL;
    if (found->page != NULL) {
        size_t before = (size_t)(place - page), after = bytes - before - place_bytes;
        memcpy(found->page, page, before);
        memcpy(found->page + before, PROBITY_VIEW_WINDOWS, mark_bytes);
        memcpy(found->page + before + mark_bytes, place + place_bytes, after);
        found->page_bytes = before + mark_bytes + after;
    }
    free(page);
    return found->page != NULL;
}

int view_tiles_find(const struct view_tiles *tiles, const struct probity_reader *reader,
                    int directory, struct view_tiles_found *ret_found, const char **ret_why)
{
    struct view_tiles_found found = {0};

    if (!is_of_traces(tiles, reader, directory, &found)) {
        *ret_why = "it was made from other traces, with other options or by another version";
        return 0;
    }
    if (!take_page(directory, &found)) {
        *ret_why = "its page is missing";
        return 0;
    }
    *ret_found = found;
    return 1;
}

static void release_list(char **list, size_t count)
{
    for (size_t i = 0; list != NULL && i < count; i++)
        free(list[i]);
    free(list);
}

void view_tiles_release(struct view_tiles *tiles)
{
    size_t count = 0;

    probity_tiles_close(&tiles->tiles);
    if (tiles->reader != NULL)
        probity_reader_close(tiles->reader);
    while (tiles->files != NULL && tiles->files[count] != NULL)
        count++;
    release_list(tiles->files, count);
    release_list(tiles->paths, tiles->path_count);
}
