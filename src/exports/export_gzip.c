/* SPDX-License-Identifier: MIT
 *
 * export_gzip.c: writes a gzip stream with zlib, without name and time, so that equal input gives
 * equal output.
 */
#include "exports/export_gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

enum { OUT_BYTES = 64 << 10, LEVEL = 4, WINDOW_BITS = 15, AS_GZIP = 16, MEMORY_LEVEL = 8 };

struct export_gzip {
    z_stream stream;
    int descriptor;
    unsigned char out[OUT_BYTES];
};

struct export_gzip *export_gzip_open(int descriptor)
{
    struct export_gzip *gzip = calloc(1, sizeof *gzip);

    if (gzip == NULL)
        return NULL;
    gzip->descriptor = descriptor;
    if (deflateInit2(&gzip->stream, LEVEL, Z_DEFLATED, WINDOW_BITS + AS_GZIP, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        free(gzip);
        return NULL;
    }
    gzip->stream.next_out = gzip->out;
    gzip->stream.avail_out = OUT_BYTES;
    return gzip;
}

static int write_out(struct export_gzip *gzip)
{
    const unsigned char *at = gzip->out, *end = gzip->stream.next_out;

    while (at < end) {
        ssize_t put = write(gzip->descriptor, at, (size_t)(end - at));
        if (put < 0 && errno != EINTR)
            return -1;
        at += put > 0 ? put : 0;
    }
    gzip->stream.next_out = gzip->out;
    gzip->stream.avail_out = OUT_BYTES;
    return 0;
}

ssize_t export_gzip_write(void *context, const char *bytes, size_t count)
{
    struct export_gzip *gzip = context;

    count = count < INT_MAX ? count : INT_MAX;
    gzip->stream.next_in = (Bytef *)(uintptr_t)bytes;
    gzip->stream.avail_in = (uInt)count;
    while (gzip->stream.avail_in > 0) {
        deflate(&gzip->stream, Z_NO_FLUSH);
        if (gzip->stream.avail_out == 0 && write_out(gzip) != 0)
            return -1;
    }
    return (ssize_t)count;
}

int export_gzip_finish(struct export_gzip *gzip)
{
    int done;

    do {
        done = deflate(&gzip->stream, Z_FINISH) == Z_STREAM_END;
        if (write_out(gzip) != 0)
            return -1;
    } while (!done);
    return 0;
}

void export_gzip_close(struct export_gzip *gzip)
{
    deflateEnd(&gzip->stream);
    free(gzip);
}
