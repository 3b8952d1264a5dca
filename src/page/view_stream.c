/* SPDX-License-Identifier: MIT
 *
 * view_stream.c: compresses bytes with zlib and encodes them as base64, in constant memory.
 */
#include "page/view_stream.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

/* Compressed bytes are buffered, because three of them make four characters. */
enum { PACKED_BYTES = 3 << 14, TEXT_BYTES = 4 << 14, BUFFER_BYTES = 8192 };

/* Level 9 takes four times as long to save 1.5 % of the bytes. */
enum { LEVEL = 6 };

struct view_stream {
    FILE *to;
    z_stream deflate;
    uint8_t packed[PACKED_BYTES];
    char text[TEXT_BYTES];
    char buffer[BUFFER_BYTES]; /* if libc could not allocate a buffer, it would not buffer */
};

/* Writes `count` compressed bytes; only at the end may their number not be divisible by three. */
static int put_text(struct view_stream *stream, size_t count)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *from = stream->packed;
    char *at = stream->text;

    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        uint32_t bits = (uint32_t)from[i] << 16 | (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
                        (left > 2 ? from[i + 2] : 0);
        *at++ = digits[bits >> 18];
        *at++ = digits[bits >> 12 & 63];
        *at++ = left > 1 ? digits[bits >> 6 & 63] : '=';
        *at++ = left > 2 ? digits[bits & 63] : '=';
    }
    size_t bytes = (size_t)(at - stream->text);
    return fwrite(stream->text, 1, bytes, stream->to) == bytes ? 0 : -1;
}

/* Compresses pending data. Returns 0 or -1. */
static int advance(struct view_stream *stream, int flush)
{
    int result;

    do {
        result = deflate(&stream->deflate, flush);
        if (result == Z_STREAM_ERROR)
            return -1;
        int is_full = stream->deflate.avail_out == 0;
        size_t count = PACKED_BYTES - stream->deflate.avail_out;
        if (!is_full && result != Z_STREAM_END)
            break;
        if (put_text(stream, count) != 0)
            return -1;
        stream->deflate.next_out = stream->packed;
        stream->deflate.avail_out = PACKED_BYTES;
    } while (result != Z_STREAM_END);
    return 0;
}

static ssize_t stream_write(void *cookie, const char *bytes, size_t count)
{
    struct view_stream *stream = cookie;

    /* zlib does not write to its input; its interface predates const. */
    stream->deflate.next_in = (Bytef *)(uintptr_t)bytes;
    stream->deflate.avail_in = (uInt)count;
    /* Bytes flushed together are similar, so they compress best with a separate code. */
    return advance(stream, Z_BLOCK) == 0 ? (ssize_t)count : -1;
}

static int stream_close(void *cookie)
{
    struct view_stream *stream = cookie;

    stream->deflate.avail_in = 0;
    int result = ferror(stream->to) ? -1 : advance(stream, Z_FINISH);
    deflateEnd(&stream->deflate);
    free(stream);
    return result;
}

FILE *probity_view_stream_open(FILE *to)
{
    const cookie_io_functions_t functions = {.write = stream_write, .close = stream_close};
    struct view_stream *stream = calloc(1, sizeof *stream);

    if (stream == NULL)
        return NULL;
    stream->to = to;
    stream->deflate.next_out = stream->packed;
    stream->deflate.avail_out = PACKED_BYTES;
    /* For numbers, even in JSON, a good code for each byte saves more than finding short
     * repetitions. */
    if (deflateInit2(&stream->deflate, LEVEL, Z_DEFLATED, MAX_WBITS, MAX_MEM_LEVEL,
                     Z_FILTERED) != Z_OK) {
        free(stream);
        return NULL;
    }
    FILE *file = fopencookie(stream, "w", functions);
    if (file != NULL)
        setvbuf(file, stream->buffer, _IOFBF, BUFFER_BYTES);
    if (file == NULL) {
        deflateEnd(&stream->deflate);
        free(stream);
    }
    return file;
}
