/* SPDX-License-Identifier: MIT
 *
 * view_serve_command.c: the part of `probity view` that serves a page. Opens the traces once more,
 * with their indexes. Only the children of the server, each of which inherits the opened reader,
 * read events with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/index.h"
#include "cli/query.h"
#include "cli/sched.h"
#include "page/view_serve.h"
#include "page/window.h"

#define ME (&cli_command_view)

static int wants(void *answer, const struct probity_event **event)
{
    return cli_query_is_of_tids(answer, *event) ? cli_query_wants(answer, event) : 0;
}

/* Runs in a child process. */
static int write_window(void *context, uint64_t from_ns, uint64_t to_ns, FILE *stream)
{
    struct view_served *served = context;
    const struct probity_window window = {
        .from_ns = served->start_ns + from_ns, .to_ns = served->start_ns + to_ns,
        .longest_ns = served->longest_ns, .wants = wants, .context = served->answer};

    int error = cli_query_restart(served->answer);
    return error == 0 ? probity_window_write(served->reader, &window, stream) : error;
}

int view_served_open(struct view_served *served)
{
    const char *why;

    served->options.port = served->port;
    served->options.window = write_window;
    served->options.context = served;
    if (probity_server_open(&served->options, &served->server, &why) != 0)
        return cli_fail(ME, "cannot serve: %s", why);
    return CLI_OK;
}

static int keep_paths(struct view_served *served, const struct probity_reader *reader)
{
    size_t count = probity_reader_traces(reader);

    served->paths = calloc(count, sizeof *served->paths);
    for (size_t i = 0; served->paths != NULL && i < count; i++) {
        served->paths[i] = strdup(probity_reader_facts(reader, i)->path);
        if (served->paths[i] == NULL)
            return PROBITY_ERROR_MEMORY;
        served->path_count++;
    }
    return served->paths != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

int view_served_keep(struct view_served *served, const struct probity_view_answer *answer)
{
    char *page = NULL;
    FILE *stream = open_memstream(&page, &served->options.page_bytes);

    if (stream == NULL)
        return PROBITY_ERROR_MEMORY;
    int error = probity_view_html(stream, answer);
    if (fclose(stream) != 0 && error == 0)
        error = PROBITY_ERROR_MEMORY;
    served->options.page = page;
    served->longest_ns = probity_timeline_facts(answer->timeline).unit_ns;
    served->start_ns = probity_reader_start_ns(answer->reader);
    return error == 0 ? keep_paths(served, answer->reader) : error;
}

static int open_reader(struct view_served *served)
{
    struct probity_reader_options options = {0};

    if (served->longest_ns > 1)
        cli_index_use_always(ME, &options);
    cli_sched_use(&options);
    int status = cli_open_reader(ME, served->paths, served->path_count, &options, &served->reader);
    cli_progress_end();
    return status;
}

/* ---- Tiles -------------------------------------------------------------------------------------
 */

/* Opens the index of a trace in the directory of tiles; an index that belongs to another trace
 * cannot be used. */
static int open_index(void *context, const char *path, const struct probity_range *range,
                      int attempt)
{
    const struct view_served *served = context;
    char name[PROBITY_TILE_NAME_BYTES];
    size_t trace = 0;
    int file = -1;

    while (trace < served->path_count && strcmp(served->paths[trace], path) != 0)
        trace++;
    view_tiles_index_name(name, trace);
    if (attempt == 0 && trace < served->path_count)
        file = view_tiles_open_file(served->directory, name);
    return file >= 0 ? file
                     : cli_index_open_always((void *)(uintptr_t)ME, path, range, attempt);
}

/* Runs in the server process. */
static char *read_tile(void *context, uint32_t number, size_t *ret_bytes)
{
    const struct view_served *served = context;
    char name[PROBITY_TILE_NAME_BYTES];

    probity_tile_name(name, number);
    return view_tiles_read(served->directory, name, PROBITY_TILE_BYTES_MAX, ret_bytes);
}

static int copy_paths(struct view_served *served, char **paths, size_t count)
{
    served->paths = calloc(count + 1, sizeof *served->paths);
    for (size_t i = 0; served->paths != NULL && i < count; i++) {
        served->paths[i] = strdup(paths[i]);
        if (served->paths[i] == NULL)
            return PROBITY_ERROR_MEMORY;
        served->path_count++;
    }
    return served->paths != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

static void release_traces(struct view_served *served)
{
    if (served->reader != NULL)
        probity_reader_close(served->reader);
    for (size_t i = 0; i < served->path_count; i++)
        free(served->paths[i]);
    free(served->paths);
    if (served->directory > 0)
        close(served->directory);
    served->reader = NULL;
    served->paths = NULL;
    served->path_count = 0;
    served->directory = 0;
}

/* Takes ownership of what was found. */
static void take_found(struct view_served *served, const struct view_tiles_found *found)
{
    served->start_ns = found->start_ns;
    served->longest_ns = found->longest_ns;
    served->options.page = found->page;
    served->options.page_bytes = found->page_bytes;
    served->options.tile = read_tile;
}

int view_served_find(struct view_served *served, const struct view_tiles *tiles, char **paths,
                     size_t count)
{
    struct probity_reader_options options = {.open_index = open_index, .index_context = served};
    struct view_tiles_found found;
    const char *why = NULL;

    served->directory = open(tiles->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (served->directory < 0) {
        served->directory = 0;
        return errno == ENOENT ? CLI_OK : cli_fail(ME, "cannot open '%s': %s", tiles->path,
                                                   strerror(errno));
    }
    if (copy_paths(served, paths, count) != 0)
        return cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    cli_sched_use(&options);
    int status = cli_open_reader(ME, served->paths, served->path_count, &options, &served->reader);
    cli_progress_end();
    if (status == CLI_OK &&
        view_tiles_find(tiles, served->reader, served->directory, &found, &why) == 0) {
        cli_warn(ME, "'%s': %s; recreating it", tiles->path, why);
        release_traces(served);
    } else if (status == CLI_OK) {
        take_found(served, &found);
    }
    return status;
}

/* ---- Running -----------------------------------------------------------------------------------
 */

int view_served_run(struct view_served *served, int (*show)(const char *address))
{
    int status = served->reader == NULL ? open_reader(served) : CLI_OK;

    if (status != CLI_OK)
        return status;
    printf("%s\n", probity_server_address(served->server));
    fflush(stdout);
    if (show != NULL)
        status = show(probity_server_once_address(served->server));
    if (status == CLI_OK && probity_server_run(served->server) != 0)
        status = cli_fail(ME, "cannot serve: %s", strerror(errno));
    return status;
}

void view_served_release(struct view_served *served)
{
    if (served->server != NULL)
        probity_server_close(served->server);
    release_traces(served);
    free((void *)(uintptr_t)served->options.page);
}
