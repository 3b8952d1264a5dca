/* SPDX-License-Identifier: MIT
 *
 * windows/posix_stdio.c: streams of posix/: a buffer in front of a descriptor or of functions.
 * Output is never translated: lines end with one character.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/windows/posix.h"

/* The buffer has the same size as glibc's for functions: pages are compressed in portions of that
 * size, so they are the same on both systems. */
enum { BUFFER_BYTES = 8192, PRINTED_BYTES = 1024, LINE_BYTES = 128, ERROR_STREAM = 2 };

struct _iobuf {
    int descriptor; /* -1: the stream has functions */
    char failed, ended, is_static;
    long put;          /* bytes written, including those in the buffer */
    size_t used, next; /* bytes in the buffer; how many of them were read */
    void *cookie;
    cookie_io_functions_t functions;
    char buffer[BUFFER_BYTES];
};

FILE *probity_posix_stream(int descriptor)
{
    static struct _iobuf standard[] = {{.descriptor = 0, .is_static = 1},
                                       {.descriptor = 1, .is_static = 1},
                                       {.descriptor = 2, .is_static = 1}};

    return &standard[descriptor];
}

/* ---- Opening -----------------------------------------------------------------------------------
 */

FILE *fdopen(int descriptor, const char *mode)
{
    FILE *stream = malloc(sizeof *stream);

    (void)mode;
    if (stream == NULL)
        return NULL;
    memset(stream, 0, offsetof(struct _iobuf, buffer));
    stream->descriptor = descriptor;
    return stream;
}

FILE *fopen(const char *path, const char *mode)
{
    int flags = mode[0] == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
    int descriptor = open(path, strchr(mode, 'x') != NULL ? flags | O_EXCL : flags, 0666);
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, mode) : NULL;

    if (stream == NULL && descriptor >= 0)
        close(descriptor);
    return stream;
}

FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions)
{
    FILE *stream = fdopen(-1, mode);

    if (stream != NULL) {
        stream->cookie = cookie;
        stream->functions = functions;
    }
    return stream;
}

int fflush(FILE *stream)
{
    size_t done = 0;

    while (done < stream->used && stream->next == 0 && !stream->failed) {
        ssize_t put = stream->descriptor >= 0
                          ? write(stream->descriptor, stream->buffer + done, stream->used - done)
                          : stream->functions.write(stream->cookie, stream->buffer + done,
                                                    stream->used - done);
        stream->failed = put <= 0;
        done += put > 0 ? (size_t)put : 0;
    }
    if (stream->next == 0)
        stream->used = 0;
    return stream->failed ? EOF : 0;
}

int fclose(FILE *stream)
{
    int result = fflush(stream), error = errno;

    if (stream->descriptor < 0 && stream->functions.close != NULL &&
        stream->functions.close(stream->cookie) != 0 && result == 0) {
        result = EOF;
        error = errno;
    }
    if (stream->descriptor >= 0 && close(stream->descriptor) != 0 && result == 0) {
        result = EOF;
        error = errno;
    }
    if (!stream->is_static)
        free(stream);
    errno = error;
    return result;
}

int ferror(FILE *stream)
{
    return stream->failed;
}

int feof(FILE *stream)
{
    return stream->ended;
}

int fileno(FILE *stream)
{
    return stream->descriptor;
}

long ftell(FILE *stream)
{
    return stream->put;
}

int setvbuf(FILE *stream, char *buffer, int mode, size_t bytes)
{
    (void)stream;
    (void)buffer;
    (void)mode;
    (void)bytes;
    return 0;
}

/* ---- Writing -----------------------------------------------------------------------------------
 */

static int put_bytes(FILE *stream, const char *bytes, size_t count)
{
    while (count > 0 && !stream->failed) {
        size_t part = BUFFER_BYTES - stream->used;
        part = part < count ? part : count;
        memcpy(stream->buffer + stream->used, bytes, part);
        stream->used += part;
        stream->put += (long)part;
        bytes += part;
        count -= part;
        if (stream->used == BUFFER_BYTES)
            fflush(stream);
    }
    if (stream->descriptor == ERROR_STREAM)
        fflush(stream);
    return stream->failed ? EOF : 0;
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *stream)
{
    return put_bytes(stream, bytes, size * count) == 0 ? count : 0;
}

int fputs(const char *text, FILE *stream)
{
    return put_bytes(stream, text, strlen(text));
}

int fputc(int byte, FILE *stream)
{
    char one = (char)byte;

    return put_bytes(stream, &one, 1) == 0 ? (unsigned char)byte : EOF;
}

int putchar(int byte)
{
    return fputc(byte, stdout);
}

int puts(const char *text)
{
    return fputs(text, stdout) == 0 && fputc('\n', stdout) != EOF ? 0 : EOF;
}

int vfprintf(FILE *stream, const char *format, va_list arguments)
{
    char room[PRINTED_BYTES], *text = room;
    va_list again;

    va_copy(again, arguments);
    int length = vsnprintf(room, sizeof room, format, arguments);
    if (length >= (int)sizeof room) {
        text = malloc((size_t)length + 1);
        if (text == NULL)
            stream->failed = 1;
        else
            vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    int result = length >= 0 && text != NULL && put_bytes(stream, text, (size_t)length) == 0
                     ? length
                     : -1;
    if (text != room)
        free(text);
    return result;
}

int fprintf(FILE *stream, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int result = vfprintf(stream, format, arguments);
    va_end(arguments);
    return result;
}

int probity_posix_print(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int result = vfprintf(stdout, format, arguments);
    va_end(arguments);
    return result;
}

int vasprintf(char **ret_text, const char *format, va_list arguments)
{
    va_list again;

    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    *ret_text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (*ret_text != NULL)
        vsnprintf(*ret_text, (size_t)length + 1, format, again);
    va_end(again);
    return *ret_text != NULL ? length : -1;
}

int asprintf(char **ret_text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int result = vasprintf(ret_text, format, arguments);
    va_end(arguments);
    return result;
}

/* ---- Memory ------------------------------------------------------------------------------------
 */

struct memory {
    char **text;
    size_t *bytes, room;
};

/* The text always ends with a zero byte, which is not counted. */
static ssize_t memory_write(void *cookie, const char *bytes, size_t count)
{
    struct memory *memory = cookie;
    size_t needed = *memory->bytes + count + 1;

    if (needed > memory->room) {
        size_t room = needed > 2 * memory->room ? needed : 2 * memory->room;
        char *text = realloc(*memory->text, room);
        if (text == NULL)
            return -1;
        *memory->text = text;
        memory->room = room;
    }
    memcpy(*memory->text + *memory->bytes, bytes, count);
    *memory->bytes += count;
    (*memory->text)[*memory->bytes] = 0;
    return (ssize_t)count;
}

static int memory_close(void *cookie)
{
    free(cookie);
    return 0;
}

FILE *open_memstream(char **ret_text, size_t *ret_bytes)
{
    const cookie_io_functions_t functions = {.write = memory_write, .close = memory_close};
    struct memory *memory = malloc(sizeof *memory);
    FILE *stream = memory != NULL ? fopencookie(memory, "w", functions) : NULL;

    *ret_text = calloc(1, 1);
    if (stream == NULL || *ret_text == NULL) {
        free(*ret_text);
        free(stream);
        free(memory);
        return NULL;
    }
    *ret_bytes = 0;
    *memory = (struct memory){ret_text, ret_bytes, 1};
    return stream;
}

/* ---- Reading -----------------------------------------------------------------------------------
 */

int fgetc(FILE *stream)
{
    if (stream->next == stream->used && !stream->ended) {
        ssize_t got = read(stream->descriptor, stream->buffer, BUFFER_BYTES);
        stream->next = 0;
        stream->used = got > 0 ? (size_t)got : 0;
        stream->failed |= got < 0;
        stream->ended = got == 0;
    }
    return stream->next < stream->used ? (unsigned char)stream->buffer[stream->next++] : EOF;
}

size_t fread(void *bytes, size_t size, size_t count, FILE *stream)
{
    size_t done = 0;
    int byte;

    while (done < size * count && (byte = fgetc(stream)) != EOF)
        ((char *)bytes)[done++] = (char)byte;
    return size > 0 ? done / size : 0;
}

char *fgets(char *text, int room, FILE *stream)
{
    int length = 0, byte = 0;

    while (length + 1 < room && byte != '\n' && (byte = fgetc(stream)) != EOF)
        text[length++] = (char)byte;
    text[length] = 0;
    return length > 0 ? text : NULL;
}

ssize_t getline(char **text, size_t *room, FILE *stream)
{
    size_t length = 0;
    int byte = 0;

    if (*text == NULL)
        *room = 0;
    while (byte != '\n' && (byte = fgetc(stream)) != EOF) {
        if (length + 2 > *room) {
            char *longer = realloc(*text, 2 * *room + LINE_BYTES);
            if (longer == NULL)
                return -1;
            *text = longer;
            *room = 2 * *room + LINE_BYTES;
        }
        (*text)[length++] = (char)byte;
        (*text)[length] = 0;
    }
    return length > 0 ? (ssize_t)length : -1;
}

int fscanf(FILE *stream, const char *format, ...)
{
    char line[PRINTED_BYTES];
    va_list arguments;
    int result = EOF;

    va_start(arguments, format);
    if (fgets(line, sizeof line, stream) != NULL)
        result = vsscanf(line, format, arguments);
    va_end(arguments);
    return result;
}

void rewind(FILE *stream)
{
    lseek(stream->descriptor, 0, SEEK_SET);
    stream->next = stream->used = 0;
    stream->ended = stream->failed = 0;
}
