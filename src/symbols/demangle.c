/* SPDX-License-Identifier: MIT
 *
 * demangle.c: demangles names with the C++ library, in a child process: a name of 200 bytes may
 * expand to gigabytes, and names come from untrusted traces. The child has limited memory and CPU
 * time. If it dies, the name is left unchanged, and a new child is started for the next name, up to
 * a few times. The library is loaded for the first name that needs it, so it is not required for
 * building the tool.
 */
#include "symbols/symbols.h"

#include <ctype.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_BYTES = 8192, MEMORY_BYTES = 64 << 20, CPU_SECONDS = 2, CHILDREN_MAX = 4 };

typedef char *demangler(const char *symbol, char *text, size_t *bytes, int *ret_status);

/* ---- The child ---------------------------------------------------------------------------------
 */

static void limit(void)
{
    struct rlimit cpu = {CPU_SECONDS, CPU_SECONDS}, core = {0, 0}, memory;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    if (file == NULL || fscanf(file, "%lu", &pages) != 1)
        _exit(1);
    fclose(file);
    memory.rlim_cur = memory.rlim_max = pages * (rlim_t)getpagesize() + MEMORY_BYTES;
    /* Otherwise, the CPU time limit would end the child with a core dump. */
    if (setrlimit(RLIMIT_CORE, &core) != 0 || setrlimit(RLIMIT_AS, &memory) != 0 ||
        setrlimit(RLIMIT_CPU, &cpu) != 0)
        _exit(1);
}

/* Replies to each symbol with its text, or with "?". */
static _Noreturn void serve(int channel)
{
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    demangler *demangle = NULL;
    char symbol[TEXT_BYTES];
    ssize_t bytes;
    int status;

    if (library != NULL)
        demangle = (demangler *)(uintptr_t)dlsym(library, "__cxa_demangle");
    limit();
    while ((bytes = recv(channel, symbol, sizeof symbol - 1, 0)) > 0) {
        symbol[bytes] = '\0';
        char *text = demangle != NULL ? demangle(symbol, NULL, NULL, &status) : NULL;
        size_t length = text != NULL ? strlen(text) : 0;
        if (length >= TEXT_BYTES)
            length = 0;
        /* An empty message would look like the end of the connection. */
        if (send(channel, length > 0 ? text : "?", length > 0 ? length : 1, MSG_NOSIGNAL) < 0)
            break;
        free(text);
    }
    _exit(0);
}

/* ---- The tool ----------------------------------------------------------------------------------
 */

static struct {
    pid_t child, owner; /* owner: the process that started the child, since the tool may fork */
    int channel, started;
} server;

static int start_server(void)
{
    int ends[2];
    pid_t owner = getpid();

    if (server.started++ >= CHILDREN_MAX ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != owner)
            _exit(1);
        close(ends[0]);
        serve(ends[1]);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return -1;
    }
    server.child = child;
    server.owner = owner;
    server.channel = ends[0];
    return 0;
}

/* malloc'ed; NULL if the symbol cannot be demangled. */
static char *ask_server(const char *symbol)
{
    char text[TEXT_BYTES];

    if ((server.child == 0 || server.owner != getpid()) && start_server() != 0)
        return NULL;
    ssize_t bytes = send(server.channel, symbol, strlen(symbol), MSG_NOSIGNAL);
    if (bytes > 0)
        bytes = recv(server.channel, text, sizeof text, 0);
    if (bytes > 0)
        return bytes > 1 || text[0] != '?' ? strndup(text, (size_t)bytes) : NULL;
    close(server.channel);
    kill(server.child, SIGKILL);
    waitpid(server.child, NULL, 0);
    server.child = 0;
    return NULL;
}

/* Finds the parenthesis that opens the list of parameters. Returns NULL if there is none. */
static const char *find_parameters(const char *text)
{
    const char *at = strrchr(text, ')');
    int depth = 0;

    for (; at != NULL && at >= text; at--) {
        depth += *at == ')' ? 1 : *at == '(' ? -1 : 0;
        if (depth == 0)
            return at;
    }
    return NULL;
}

static int is_after_operator(const char *text, const char *at)
{
    static const char word[] = "operator";
    size_t length = sizeof word - 1;

    return (size_t)(at - text) >= length && memcmp(at - length, word, length) == 0;
}

/* A template's signature begins with its return type: the name comes after the last space outside
 * brackets. */
static const char *skip_return_type(const char *text, const char *end)
{
    const char *start = text;
    int depth = 0;

    for (const char *at = text; at < end; at++) {
        if (is_after_operator(text, at) && (at == text + 8 || !isalnum((unsigned char)at[-9])))
            return start;
        depth += *at == '<' || *at == '(' || *at == '{' || *at == '[' ? 1 : 0;
        depth -= *at == '>' || *at == ')' || *at == '}' || *at == ']' ? 1 : 0;
        if (depth == 0 && *at == ' ')
            start = at + 1;
    }
    return start;
}

char *symbols_demangle(const char *symbol, char **ret_name)
{
    char *text = strncmp(symbol, "_Z", 2) == 0 ? ask_server(symbol) : NULL;

    if (text == NULL)
        return NULL;
    const char *end = find_parameters(text);
    if (end == NULL || end == text)
        end = text + strlen(text);
    const char *start = skip_return_type(text, end);
    *ret_name = strndup(start, (size_t)(end - start));
    if (*ret_name != NULL)
        return text;
    free(text);
    return NULL;
}
