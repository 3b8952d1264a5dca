/* SPDX-License-Identifier: MIT
 *
 * view_stream.h: a stream that compresses its bytes (zlib) and writes them to another stream as
 * base64, so that an HTML page can contain any trace. Needs libz.
 */
#ifndef PROBITY_PAGE_VIEW_STREAM_H
#define PROBITY_PAGE_VIEW_STREAM_H

#include <stdio.h>

/* Opens the stream. `to` must stay open, and is not closed here. fflush() between bytes of
 * different kinds improves compression if there are hundreds of each kind. fclose() ends the
 * compressed data, and fails if writing to `to` failed. Returns NULL if out of memory. */
FILE *probity_view_stream_open(FILE *to);

#endif
