/* SPDX-License-Identifier: MIT
 *
 * export_gzip.h: compresses the output of an exporter on its way to the descriptor.
 */
#ifndef PROBITY_EXPORTS_EXPORT_GZIP_H
#define PROBITY_EXPORTS_EXPORT_GZIP_H

#include <stddef.h>
#include <sys/types.h>

struct export_gzip;

/* The caller owns the descriptor. Returns NULL if out of memory. */
struct export_gzip *export_gzip_open(int descriptor);

/* Compresses and writes. Returns count, or -1 with errno. `gzip` is a struct export_gzip. */
ssize_t export_gzip_write(void *gzip, const char *bytes, size_t count);

/* Writes the remaining output. Returns 0, or -1 with errno. */
int export_gzip_finish(struct export_gzip *gzip);

void export_gzip_close(struct export_gzip *gzip);

#endif
