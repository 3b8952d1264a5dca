/* SPDX-License-Identifier: MIT
 *
 * cgi.c: runs a program below cgi-bin/ and turns its output into a response (CGI/1.1, RFC 3875).
 * Runs in a worker, which waits for the program, but never longer than CGI_TIME_MS_MAX. The program
 * is started by posix_spawn: no code of ours runs between fork and exec, where locks of other
 * threads would be held forever. It gets a new environment, and only the three standard
 * descriptors.
 */
#define _GNU_SOURCE 1
#include "response.h"
#include "server.h"
#include "stages.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char cgi_prefix[] = "/cgi-bin/";

struct cgi {
    pid_t process; /* also its process group, which is killed at a timeout */
    int input;     /* the request's body is written to it */
    int output;    /* the response is read from it */
    int64_t end_ms;
    size_t written;
    char *text;
    size_t used;
    size_t capacity;
};

struct environment {
    char *variables[20];
    size_t count;
    char room[4 * HEAD_BYTES_MAX];
    size_t used;
};

/* The limits of a request's head bound the sum of all values, so there is enough room. */
static void environment_add(struct environment *environment, const char *name, const char *value)
{
    char *variable = environment->room + environment->used;
    size_t room = sizeof(environment->room) - environment->used;
    int length = snprintf(variable, room, "%s=%s", name, value);

    if (length < 0 || (size_t)length >= room)
        return;
    environment->used += (size_t)length + 1;
    environment->variables[environment->count++] = variable;
}

/* "/cgi-bin/NAME/more": NAME into program, "/more" is returned. */
static const char *cgi_split(const struct request *request, char *program, size_t program_bytes)
{
    const char *name = request->path + sizeof(cgi_prefix) - 1;
    size_t length = strcspn(name, "/");

    snprintf(program, program_bytes, "%.*s", (int)length, name);
    return name + length;
}

int cgi_find(int root, const struct request *request)
{
    char program[LINE_BYTES_MAX + 2];
    char path[LINE_BYTES_MAX + 16];
    struct stat status;

    cgi_split(request, program, sizeof(program));
    snprintf(path, sizeof(path), "cgi-bin/%s", program);
    if (*program == '\0' || fstatat(root, path, &status, 0) < 0)
        return 404;
    return S_ISREG(status.st_mode) && faccessat(root, path, X_OK, 0) == 0 ? 0 : 403;
}

/* Nothing from the server's environment: neither its secrets, nor a PROBITY_OUT that would let the
 * program overwrite the server's trace. No "HTTP_" variables either, which clients control. */
static void cgi_set_environment(const struct request *request, uint16_t port, const char *program,
                                const char *path_info, struct environment *environment)
{
    char number[32];
    char script[LINE_BYTES_MAX + 16];

    environment->count = 0;
    environment->used = 0;
    environment_add(environment, "GATEWAY_INTERFACE", "CGI/1.1");
    environment_add(environment, "SERVER_SOFTWARE", "probity-httpd");
    environment_add(environment, "SERVER_PROTOCOL", "HTTP/1.1");
    environment_add(environment, "SERVER_NAME", "127.0.0.1");
    snprintf(number, sizeof(number), "%u", (unsigned)port);
    environment_add(environment, "SERVER_PORT", number);
    environment_add(environment, "REMOTE_ADDR", "127.0.0.1");
    environment_add(environment, "REQUEST_METHOD", request_method_name(request->method));
    environment_add(environment, "QUERY_STRING", request->query);
    snprintf(script, sizeof(script), "%s%s", cgi_prefix, program);
    environment_add(environment, "SCRIPT_NAME", script);
    environment_add(environment, "PATH_INFO", path_info);
    environment_add(environment, "PATH", "/usr/local/bin:/usr/bin:/bin");
    if (request->body) {
        snprintf(number, sizeof(number), "%zu", request->content_length);
        environment_add(environment, "CONTENT_LENGTH", number);
        environment_add(environment, "CONTENT_TYPE", request->content_type);
    }
    environment->variables[environment->count] = NULL;
}

/* The program must not inherit the server's blocked signals and ignored SIGPIPE. */
static int cgi_spawn(const char *directory, const char *program, char **variables, int input,
                     int output, pid_t *ret_process)
{
    char name[LINE_BYTES_MAX + 8];
    char *arguments[] = {name, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t defaults;

    snprintf(name, sizeof(name), "./%s", program);
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETPGROUP);
    int error = posix_spawn_file_actions_addchdir_np(&files, directory);
    error = error ? error : posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    error = error ? error : posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn(ret_process, name, &files, &attributes, arguments, variables);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error ? -1 : 0;
}

/* Starts the program. Returns 0, or -1 with everything released. */
static int cgi_start(const char *root_path, uint16_t port, const struct request *request,
                     struct cgi *cgi)
{
    struct environment environment;
    char program[LINE_BYTES_MAX + 2];
    char directory[4096 + sizeof(cgi_prefix)];
    int input[2];
    int output[2];

    /* Close-on-exec from the start: another worker may spawn at any moment, and the pipe would not
     * end as long as its program holds the other end. */
    *cgi = (struct cgi){.end_ms = clock_now_ms() + CGI_TIME_MS_MAX};
    const char *path_info = cgi_split(request, program, sizeof(program));
    cgi_set_environment(request, port, program, path_info, &environment);
    snprintf(directory, sizeof(directory), "%s%s", root_path, cgi_prefix);
    if (pipe2(input, O_CLOEXEC) < 0)
        return -1;
    if (pipe2(output, O_CLOEXEC) < 0) {
        close(input[0]);
        close(input[1]);
        return -1;
    }
    int result = cgi_spawn(directory, program, environment.variables, input[0], output[1],
                           &cgi->process);
    close(input[0]);
    close(output[1]);
    cgi->input = input[1];
    cgi->output = output[0];
    if (result == 0 && fcntl(cgi->input, F_SETFL, O_NONBLOCK) == 0 &&
        fcntl(cgi->output, F_SETFL, O_NONBLOCK) == 0)
        return 0;
    close(cgi->input);
    close(cgi->output);
    return -1;
}

/* Writes as much of the body as the pipe takes; closes the pipe at the end of the body, or if it
 * has no reader: a program may ignore its input. */
static void cgi_write(struct cgi *cgi, const struct request *request)
{
    size_t left = request->body ? request->content_length - cgi->written : 0;
    ssize_t count = left ? write(cgi->input, request->body + cgi->written, left) : 0;

    if (count > 0)
        cgi->written += (size_t)count;
    if ((size_t)(count > 0 ? count : 0) == left ||
        (count < 0 && errno != EAGAIN && errno != EINTR)) {
        close(cgi->input);
        cgi->input = -1;
    }
}

/* Reads the contents of the pipe. Returns > 0 if more may come, 0 at the end, -1 if it is too
 * much. */
static int cgi_read(struct cgi *cgi)
{
    if (cgi->used == cgi->capacity) {
        size_t capacity = cgi->capacity ? cgi->capacity * 2 : 16384;
        char *text = capacity <= CGI_OUTPUT_BYTES_MAX ? realloc(cgi->text, capacity) : NULL;
        if (!text)
            return -1;
        cgi->text = text;
        cgi->capacity = capacity;
    }
    ssize_t count = read(cgi->output, cgi->text + cgi->used, cgi->capacity - cgi->used);
    if (count < 0)
        return errno == EAGAIN || errno == EINTR ? 1 : -1;
    cgi->used += (size_t)count;
    return count > 0;
}

/* Feeds the program and collects its output at the same time: otherwise both pipes could fill up
 * and cause a deadlock. Returns 0 or a status. */
static int cgi_exchange(struct cgi *cgi, const struct request *request)
{
    for (;;) {
        struct pollfd pipes[] = {{.fd = cgi->output, .events = POLLIN},
                                 {.fd = cgi->input, .events = POLLOUT}};
        int64_t left_ms = cgi->end_ms - clock_now_ms();

        if (left_ms <= 0 || poll(pipes, 2, (int)left_ms) == 0)
            return 504;
        if (pipes[1].revents)
            cgi_write(cgi, request);
        int more = pipes[0].revents ? cgi_read(cgi) : 1;
        if (more <= 0)
            return more == 0 ? 0 : 500;
    }
}

/* Waits for the program's end. If it has closed its output, it may run for the rest of its time. */
static void cgi_end(struct cgi *cgi, bool at_once)
{
    if (cgi->input >= 0)
        close(cgi->input);
    close(cgi->output);
    while (!at_once && clock_now_ms() < cgi->end_ms) {
        pid_t process = waitpid(cgi->process, NULL, WNOHANG);
        if (process != 0)
            return;
        poll(NULL, 0, 1);
    }
    kill(-cgi->process, SIGKILL);
    while (waitpid(cgi->process, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Handles a header line of the program. Returns 0, or -1 if it cannot be passed on. */
static int cgi_take_field(char *line, struct response *response)
{
    static const char *const ours[] = {"Content-Length", "Connection", "Transfer-Encoding", "Date"};
    char *colon = strchr(line, ':');

    if (!colon || colon == line)
        return -1;
    *colon = '\0';
    char *value = colon + 1 + strspn(colon + 1, " \t");
    for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
        if (strcasecmp(line, ours[i]) == 0)
            return 0;
    }
    if (strcasecmp(line, "Status") == 0) {
        long status = strtol(value, NULL, 10);
        response->status = (int)status;
        return status >= 200 && status <= 599 ? 0 : -1;
    }
    if (strcasecmp(line, "Location") == 0 && response->status == 200)
        response->status = 302;
    if (strcasecmp(line, "Content-Type") == 0) {
        response->content_type = value;
        return strchr(value, '\r') || strlen(value) > 256 ? -1 : 0;
    }
    return response_add_field(response, line, value);
}

/* Splits the output into header and body; the response owns the memory. Returns the status. */
static int cgi_take_output(struct cgi *cgi, struct response *response)
{
    size_t at = 0;

    response_init(response, 200);
    response->memory = cgi->text;
    for (;;) {
        char *line = cgi->text + at;
        char *end = memchr(line, '\n', cgi->used - at);
        if (!end || memchr(line, '\0', (size_t)(end - line)))
            break; /* no blank line: not the output of a CGI program */
        at = (size_t)(end - cgi->text) + 1;
        *end = '\0';
        if (end > line && end[-1] == '\r')
            *--end = '\0';
        if (end == line) {
            response->body = cgi->text + at;
            response->length = (off_t)(cgi->used - at);
            return response->status;
        }
        if (cgi_take_field(line, response) < 0)
            break;
    }
    response_release(response);
    response_init(response, 500);
    return 500;
}

int cgi_run(const char *root_path, uint16_t port, const struct request *request,
            struct response *response)
{
    FN_FUNC(int, 2);
    struct cgi cgi;
    int status = cgi_start(root_path, port, request, &cgi) == 0 ? 0 : 500;
    bool started = status == 0;

    STAGE_HIT(STAGE_CGI_STARTED);
    if (started) {
        status = cgi_exchange(&cgi, request);
        cgi_end(&cgi, status != 0);
    }
    STAGE_HIT(STAGE_CGI_DONE);
    if (status == 0 && cgi.used > 0)
        return cgi_take_output(&cgi, response);
    free(started ? cgi.text : NULL);
    response_init(response, status ? status : 500);
    return response->status;
}
