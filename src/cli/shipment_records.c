/* SPDX-License-Identifier: MIT
 *
 * shipment_records.c: writes a trace's bytes as rows, one for each of its blocks, from which a file
 * with the same bytes can be made. Damaged parts are sent unchanged.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/shipment.h"
#include "fleet/rows.h"
#include "probity.h"
#include "reader/range.h"
#include "reader/scan.h"

enum { PIECE_BYTES_MAX = PROBITY_BLOCK_PAYLOAD_MAX + PROBITY_BLOCK_HEADER_BYTES };

struct records {
    struct probity_fleet_rows *rows;
    struct probity_range range;
    uint64_t place; /* everything before this offset was written */
    uint8_t *bytes;
};

static int read_piece(const struct records *records, uint64_t bytes)
{
    ssize_t got = probity_range_read(&records->range, records->bytes, bytes, records->place);

    if (got >= 0 && (uint64_t)got < bytes)
        errno = ESTALE; /* the file has become shorter */
    return got >= 0 && (uint64_t)got == bytes ? 0 : PROBITY_ERROR_READ;
}

/* Writes rows for the bytes up to `end`: one row if they are a block. */
static int put_up_to(struct records *records, uint64_t end, const struct probity_scan_item *block)
{
    int error = 0;

    while (error == 0 && records->place < end) {
        uint64_t bytes = end - records->place;
        struct probity_data data = {.thread = 0};
        bytes = bytes < PIECE_BYTES_MAX ? bytes : PIECE_BYTES_MAX;
        error = read_piece(records, bytes);
        if (error != 0)
            return error;
        if (block != NULL && block->header.type == PROBITY_BLOCK_DATA &&
            probity_data_get(records->bytes + PROBITY_BLOCK_HEADER_BYTES,
                             (size_t)bytes - PROBITY_BLOCK_HEADER_BYTES, &data) != 0)
            data = (struct probity_data){.thread = 0};
        const struct probity_fleet_piece piece = {
            records->place, block != NULL ? block->header.type : 0, data.thread, data.records,
            records->bytes, (size_t)bytes};
        error = probity_fleet_rows_piece(records->rows, &piece);
        records->place += bytes;
    }
    return error;
}

static int put_blocks(struct records *records, uint64_t size)
{
    struct probity_scan scan;
    struct probity_scan_item item;
    int got = probity_scan_init_range(&scan, &records->range, size, 0);

    if (got == 0) {
        while (got >= 0 && (got = probity_scan_next(&scan, &item)) > 0) {
            int is_block = item.kind == PROBITY_SCAN_BLOCK;
            if (item.offset > records->place)
                got = put_up_to(records, item.offset, NULL);
            if (got >= 0)
                got = put_up_to(records, item.offset + item.bytes, is_block ? &item : NULL);
        }
    }
    probity_scan_release(&scan);
    return got == 0 ? put_up_to(records, size, NULL) : got;
}

int cli_shipment_put_records(struct probity_fleet_rows *rows,
                             const struct probity_trace_facts *facts)
{
    struct records records = {.rows = rows, .range = {.file = -1}};
    struct stat status;
    int error = probity_range_open(facts->path, &records.range);

    if (error != 0)
        return error;
    int64_t size = probity_range_size(&records.range);
    if (size < 0 || fstat(records.range.file, &status) != 0 || status.st_dev != facts->device ||
        status.st_ino != facts->inode) {
        errno = ESTALE;
        error = PROBITY_ERROR_OPEN;
    }
    records.bytes = error == 0 ? malloc(PIECE_BYTES_MAX) : NULL;
    if (error == 0)
        error = records.bytes != NULL ? put_blocks(&records, (uint64_t)size)
                                      : PROBITY_ERROR_MEMORY;
    int error_number = errno;
    free(records.bytes);
    close(records.range.file);
    errno = error_number;
    return error;
}
