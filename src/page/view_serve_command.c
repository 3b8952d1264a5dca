/* SPDX-License-Identifier: MIT
 *
 * view_serve_command.c: the part of `probity view` that serves a page. The traces are opened once
 * more by their indexes; that reader reads nothing in this process, but in the children of the
 * server, of which each has it as it is here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/index.h"
#include "cli/query.h"
#include "page/view_serve.h"
#include "page/window.h"

#define ME (&cli_command_view)

static int wants(void *answer, const struct probity_event *event)
{
    return cli_query_wants(answer, event);
}

/* Runs in a child process. */
static int write_window(void *context, uint64_t from_ns, uint64_t to_ns, FILE *stream)
{
    struct view_served *served = context;
    const struct probity_window window = {
        .from_ns = served->start_ns + from_ns, .to_ns = served->start_ns + to_ns,
        .longest_ns = served->longest_ns, .wants = wants, .context = served->answer};

    return probity_window_write(served->reader, &window, stream);
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
    int status = cli_open_reader(ME, served->paths, served->path_count, &options, &served->reader);
    cli_progress_end();
    return status;
}

int view_served_run(struct view_served *served, int (*show)(const char *address))
{
    const char *address = probity_server_address(served->server);
    int status = open_reader(served);

    if (status != CLI_OK)
        return status;
    printf("%s\n", address);
    fflush(stdout);
    if (show != NULL)
        status = show(address);
    if (status == CLI_OK && probity_server_run(served->server) != 0)
        status = cli_fail(ME, "cannot serve: %s", strerror(errno));
    return status;
}

void view_served_release(struct view_served *served)
{
    if (served->server != NULL)
        probity_server_close(served->server);
    if (served->reader != NULL)
        probity_reader_close(served->reader);
    for (size_t i = 0; i < served->path_count; i++)
        free(served->paths[i]);
    free(served->paths);
    free((void *)(uintptr_t)served->options.page);
}
