/* SPDX-License-Identifier: MIT
 *
 * static_file.c: responses from files below the document root. Runs in a worker. Symbolic links
 * inside the root are followed, since its owner made them. The client's path cannot leave the root:
 * request.c removes any "..", and any "//" that would make it absolute.
 */
#define _GNU_SOURCE 1
#include "response.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *content_type_of(const char *path)
{
    static const struct {
        const char *ending;
        const char *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"}, {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript"},            {".json", "application/json"},
        {".txt", "text/plain; charset=utf-8"}, {".md", "text/markdown; charset=utf-8"},
        {".csv", "text/csv; charset=utf-8"},   {".svg", "image/svg+xml"},
        {".png", "image/png"},                 {".jpg", "image/jpeg"},
        {".gif", "image/gif"},                 {".ico", "image/x-icon"},
        {".pdf", "application/pdf"},           {".wasm", "application/wasm"},
    };
    const char *ending = strrchr(path, '.');

    for (size_t i = 0; ending && i < sizeof(types) / sizeof(*types); i++) {
        if (strcmp(ending, types[i].ending) == 0)
            return types[i].type;
    }
    return "application/octet-stream";
}

static int status_of_error(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
        return 404;
    case EACCES:
    case EPERM:
    case ELOOP:
    case ENXIO: /* a socket */
        return 403;
    default:
        return 500;
    }
}

static int response_fail(struct response *response, int status)
{
    response_init(response, status);
    return status;
}

/* Links in a page are relative to its directory, so the address of a directory must end with
 * '/'. */
static int static_file_redirect(const struct request *request, struct response *response)
{
    char location[LINE_BYTES_MAX + 2];

    response_init(response, 301);
    /* With more than one leading slash, it would be a link to another host. */
    snprintf(location, sizeof(location), "/%s/", request->target + strspn(request->target, "/"));
    if (response_add_field(response, "Location", location) < 0)
        return response_fail(response, 414);
    return 301;
}

static int static_file_describe(const struct request *request, const char *path, int file,
                                struct response *response)
{
    struct stat status;
    struct tm calendar;
    char modified[64];

    if (fstat(file, &status) < 0)
        return response_fail(response, 500);
    if (S_ISDIR(status.st_mode))
        return static_file_redirect(request, response);
    if (!S_ISREG(status.st_mode))
        return response_fail(response, 403);
    strftime(modified, sizeof(modified), "%a, %d %b %Y %H:%M:%S GMT",
             gmtime_r(&status.st_mtime, &calendar));
    /* Clients send back the text that they received, so comparing text is enough. */
    response_init(response, strcmp(request->if_modified_since, modified) == 0 ? 304 : 200);
    (void)response_add_field(response, "Last-Modified", modified);
    if (response->status == 200) {
        response->content_type = content_type_of(path);
        response->length = status.st_size;
        response->file = file;
    }
    return response->status;
}

int static_file_open(int root, const struct request *request, struct response *response)
{
    char path[LINE_BYTES_MAX + 16];
    size_t length = strlen(request->path);

    if (request->method == METHOD_POST)
        return response_fail(response, 405);
    snprintf(path, sizeof(path), "%s%s", request->path + 1,
             request->path[length - 1] == '/' ? "index.html" : "");
    /* O_NONBLOCK: a FIFO in the root must not block the worker. */
    int file = openat(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return response_fail(response, status_of_error(errno));
    int status = static_file_describe(request, path, file, response);
    if (response->file != file)
        close(file);
    return status;
}
