/* SPDX-License-Identifier: MIT
 *
 * view_stream.h: a stream whose bytes are compressed (zlib) and put into another one as base64, so
 * that whatever a trace holds can stand inside a page of HTML. Needs libz.
 */
#ifndef PROBITY_OUTPUT_VIEW_STREAM_H
#define PROBITY_OUTPUT_VIEW_STREAM_H

#include <stdio.h>

/* Opens it. `to` must stay open; it is not closed. fclose() ends what is compressed, and fails
 * where `to` did. NULL without memory. */
FILE *probity_view_stream_open(FILE *to);

#endif
