/* SPDX-License-Identifier: MIT
 *
 * dump_file.c: writes INFO, DUMP, the trace's declarations, the chunks, SYNC and END. The trace
 * and, in the tool, the chunks are untrusted.
 */
#include "writer/dump_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/temporary.h"
#include "format/stream.h"
#include "probity.h"

enum {
    TAIL_ROOM = 65536,             /* for DUMP, SYNC and END after a full batch */
    THREADS_BYTES = 1 << 17,       /* of the set: threads with higher numbers are always in it */
    WINDOW_BYTES = 256 * 1024      /* size of a batch, as in doc/triggers.md */
};

static size_t align(size_t bytes)
{
    return (bytes + 4095) & ~(size_t)4095;
}

int probity_dump_file_open(struct probity_dump_file *ret_file, int directory, uint32_t chunk_words,
                           const uint8_t unique[16])
{
    struct probity_dump_file file = {.directory = directory, .serial = 0};
    size_t scratch = align((size_t)chunk_words * sizeof(struct probity_drain_entry));

    probity_assert(probity_chunk_words_is_valid(chunk_words));
    file.room = align(WINDOW_BYTES + probity_drain_room(chunk_words) + TAIL_ROOM);
    file.memory_bytes = 2 * file.room + scratch + THREADS_BYTES;
    file.memory = mmap(NULL, file.memory_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (file.memory == MAP_FAILED)
        return PROBITY_ERROR_MEMORY;
    file.batch = file.memory;
    file.input = file.batch + file.room;
    file.scratch.entries = (struct probity_drain_entry *)(file.input + file.room);
    file.scratch.capacity = chunk_words;
    file.threads = file.input + file.room + scratch;
    file.temporary[0] = '.';
    for (int i = 0; i < 8; i++)
        snprintf(file.temporary + 1 + 2 * i, 3, "%02x", unique[i]);
    memcpy(file.temporary + 17, ".tmp", 5);
    file.append.descriptor = probity_temporary_open(directory, file.temporary, &file.is_unnamed);
    if (file.append.descriptor < 0) {
        munmap(file.memory, file.memory_bytes);
        return PROBITY_ERROR_OPEN;
    }
    *ret_file = file;
    return 0;
}

static int write_batch(struct probity_dump_file *file)
{
    int result = 0;

    if (file->batch_bytes > 0)
        result = probity_append_bytes(&file->append, file->batch, file->batch_bytes);
    file->batch_bytes = 0;
    return result;
}

/* Makes room for a block of this size. */
static int make_room(struct probity_dump_file *file, size_t bytes)
{
    return file->batch_bytes + bytes > file->room ? write_batch(file) : 0;
}

static uint8_t *payload_of(const struct probity_dump_file *file)
{
    return file->batch + file->batch_bytes + PROBITY_BLOCK_HEADER_BYTES;
}

static void add_block(struct probity_dump_file *file, uint16_t type, size_t payload_bytes)
{
    probity_block_seal(file->batch + file->batch_bytes, type, file->serial++,
                       (uint32_t)payload_bytes);
    file->batch_bytes += PROBITY_BLOCK_HEADER_BYTES + payload_bytes;
    probity_assert(file->batch_bytes <= file->room);
}

/* ---- From the trace ----------------------------------------------------------------------------
 */

/* Reads exactly `count` bytes. Returns 1, or 0 on failure. */
static int read_at(int file, uint64_t offset, void *bytes, size_t count)
{
    size_t done = 0;

    while (done < count) {
        ssize_t got = pread(file, (char *)bytes + done, count - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        done += (size_t)got;
    }
    return 1;
}

/* Reads the header of the block at *offset, and advances *offset; *ret_at: where its payload
 * begins. Returns 0 at the end, and if there is no block. */
static int next_block(const struct probity_dump_content *content, uint64_t *offset,
                      struct probity_block_header *ret_header, uint64_t *ret_at)
{
    uint8_t bytes[PROBITY_BLOCK_HEADER_BYTES];

    if (*offset + sizeof bytes > content->trace_bytes ||
        !read_at(content->trace, *offset, bytes, sizeof bytes) ||
        probity_block_header_get(bytes, ret_header) != 0 ||
        ret_header->payload_bytes > content->trace_bytes - *offset - sizeof bytes)
        return 0;
    *ret_at = *offset + sizeof bytes;
    *offset = *ret_at + ret_header->payload_bytes;
    return 1;
}

/* Reads the whole block into file->input. */
static int read_block(struct probity_dump_file *file, const struct probity_dump_content *content,
                      const struct probity_block_header *header, uint64_t at)
{
    size_t bytes = PROBITY_BLOCK_HEADER_BYTES + (size_t)header->payload_bytes;

    return bytes <= file->room &&
           read_at(content->trace, at - PROBITY_BLOCK_HEADER_BYTES, file->input, bytes) &&
           probity_block_is_whole(file->input, header);
}

/* Writes the recording's INFO, with a new session id, and DUMP. */
static int put_head(struct probity_dump_file *file, const struct probity_dump_content *content,
                    uint64_t *offset)
{
    struct probity_block_header header;
    struct probity_dump dump = *content->dump;
    struct probity_info info;
    uint64_t at;

    *offset = PROBITY_FILE_HEADER_BYTES;
    if (!next_block(content, offset, &header, &at) || header.type != PROBITY_BLOCK_INFO ||
        !read_block(file, content, &header, at) ||
        probity_info_get(file->input + PROBITY_BLOCK_HEADER_BYTES, header.payload_bytes,
                         &info) != 0)
        return PROBITY_ERROR_DAMAGED;
    memcpy(dump.session, info.session, sizeof dump.session);
    memcpy(info.session, content->session, sizeof info.session);
    info.flags &= ~(uint32_t)PROBITY_INFO_MARKS_START;
    info.text[PROBITY_TAG_SPOOL].bytes = info.text[PROBITY_TAG_CSV].bytes = NULL;
    info.text[PROBITY_TAG_SPOOL].length = info.text[PROBITY_TAG_CSV].length = 0;
    probity_file_header_put(file->batch);
    file->batch_bytes = PROBITY_FILE_HEADER_BYTES;
    size_t bytes = probity_info_put(payload_of(file), file->room - TAIL_ROOM - 64, &info);
    if (bytes == 0)
        return PROBITY_ERROR_DAMAGED;
    add_block(file, PROBITY_BLOCK_INFO, bytes);
    probity_assert(probity_dump_room(dump.reasons) < TAIL_ROOM);
    add_block(file, PROBITY_BLOCK_DUMP,
              probity_dump_put(payload_of(file), &dump, content->reasons));
    return 0;
}

static int has_thread(const struct probity_dump_file *file, uint32_t thread)
{
    return thread / 8 >= THREADS_BYTES || (file->threads[thread / 8] >> thread % 8 & 1);
}

/* Returns whether a dump needs the record although it precedes the window. */
static int is_copied(const struct probity_dump_file *file, const struct probity_record *record,
                     uint32_t thread)
{
    return probity_event_declares(record->kind) && record->kind != PROBITY_EVENT_SITES_SWITCHED &&
           (record->kind != PROBITY_EVENT_THREAD_NAME || has_thread(file, thread));
}

/* Returns the tick for a switch of sites. Switches from before the dump get ticks after those of
 * all declarations, in the order in which they are copied. */
static uint64_t switched_at(struct probity_dump_file *file, uint64_t tick)
{
    return tick > file->first_tick + file->switched ? tick : file->first_tick + ++file->switched;
}

/* Copies the declarations of a DATA block in file->input, as of the dump's first tick, and then its
 * switches of sites. */
static int copy_declarations(struct probity_dump_file *file, size_t bytes)
{
    const uint8_t *from = file->input + PROBITY_BLOCK_HEADER_BYTES;
    uint64_t table[PROBITY_STREAM_TABLE];
    struct probity_unpacker unpacker, again;
    struct probity_record record;
    struct probity_data data;

    if (probity_data_get(from, bytes, &data) != 0)
        return 0;
    int result = make_room(file, PROBITY_BLOCK_HEADER_BYTES + bytes + PROBITY_VARINT_SLACK);
    if (result != 0)
        return result;
    uint8_t *payload = payload_of(file);
    probity_unpacker_init(&unpacker, from + PROBITY_DATA_FIXED_BYTES,
                          bytes - PROBITY_DATA_FIXED_BYTES, data.first_tick);
    struct probity_packer packer =
        probity_packer_start(payload + PROBITY_DATA_FIXED_BYTES, file->first_tick, table);
    data.records = 0;
    again = unpacker;
    while (probity_unpack(&unpacker, &record) > 0) {
        if (!is_copied(file, &record, data.thread))
            continue;
        probity_pack_event(&packer, file->first_tick, record.kind, record.payload,
                           record.payload_bytes);
        data.records++;
    }
    while (probity_unpack(&again, &record) > 0) {
        if (record.kind != PROBITY_EVENT_SITES_SWITCHED)
            continue;
        probity_pack_event(&packer, switched_at(file, record.tick), record.kind, record.payload,
                           record.payload_bytes);
        data.records++;
    }
    if (data.records == 0)
        return 0;
    data.first_tick = file->first_tick;
    data.last_tick = packer.tick;
    data.flags = PROBITY_DATA_HAS_EVENTS;
    /* No words: the chunk itself may follow, if it was discarded after it had been copied. */
    data.holes = data.first_word = data.end_word = 0;
    probity_data_put(payload, &data);
    add_block(file, PROBITY_BLOCK_DATA, (size_t)(packer.at - payload));
    file->records += data.records;
    return 0;
}

static int copy_block(struct probity_dump_file *file, uint16_t type, size_t payload_bytes)
{
    int result = make_room(file, PROBITY_BLOCK_HEADER_BYTES + payload_bytes);

    if (result != 0)
        return result;
    memcpy(payload_of(file), file->input + PROBITY_BLOCK_HEADER_BYTES, payload_bytes);
    add_block(file, type, payload_bytes);
    return 0;
}

/* Copies earlier declarations and lists of sites, without the records of an earlier flush. */
static int put_declared(struct probity_dump_file *file, const struct probity_dump_content *content,
                        uint64_t offset)
{
    struct probity_block_header header;
    uint64_t at;
    int result = 0;

    while (result == 0 && next_block(content, &offset, &header, &at)) {
        int is_list = header.type == PROBITY_BLOCK_SITES || header.type == PROBITY_BLOCK_COST;
        uint8_t flags = 0;
        if (header.type == PROBITY_BLOCK_DATA && !read_at(content->trace, at + 28, &flags, 1))
            return 0;
        if ((!is_list && !(flags & PROBITY_DATA_HAS_EVENTS)) ||
            !read_block(file, content, &header, at))
            continue;
        result = is_list ? copy_block(file, header.type, header.payload_bytes)
                         : copy_declarations(file, header.payload_bytes);
    }
    return result;
}

/* ---- The chunks --------------------------------------------------------------------------------
 */

static void pause_after_chunk(const struct probity_dump_content *content)
{
    if (content->pause != NULL)
        content->pause(content->context);
}

/* Copies the declarations of chunks that are older than the window. */
static int put_older(struct probity_dump_file *file, const struct probity_dump_content *content)
{
    struct probity_drain_output output;
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < content->declaring_count; i++) {
        probity_drain_chunk(&content->declaring[i], &file->scratch, 0, file->input, &output);
        if (output.records > 0)
            result = copy_declarations(file, output.block_bytes - PROBITY_BLOCK_HEADER_BYTES);
        pause_after_chunk(content);
    }
    return result;
}

static void look_at_chunks(struct probity_dump_file *file,
                           const struct probity_dump_content *content)
{
    file->first_tick = content->dump->end;
    for (uint32_t i = 0; i < content->chunk_count; i++) {
        const struct probity_drain_input *chunk = &content->chunks[i];
        if (chunk->base_tick < file->first_tick)
            file->first_tick = chunk->base_tick;
        if (chunk->thread / 8 < THREADS_BYTES)
            file->threads[chunk->thread / 8] |= (uint8_t)(1 << chunk->thread % 8);
    }
}

static int put_chunks(struct probity_dump_file *file, const struct probity_dump_content *content)
{
    struct probity_drain_output output;
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < content->chunk_count; i++) {
        const struct probity_drain_input *chunk = &content->chunks[i];
        probity_assert(chunk->end <= file->scratch.capacity);
        probity_assert(file->batch_bytes + probity_drain_room(chunk->end) + TAIL_ROOM / 2 <=
                       file->room);
        probity_drain_chunk(chunk, &file->scratch, file->serial, file->batch + file->batch_bytes,
                            &output);
        if (output.records > 0) {
            file->batch_bytes += output.block_bytes;
            file->serial++;
            file->records += output.records;
        }
        pause_after_chunk(content);
        if (file->batch_bytes < WINDOW_BYTES && i + 1 < content->chunk_count)
            continue;
        result = write_batch(file);
        if (result == 0 && content->written != NULL)
            result = content->written(content->context, i + 1);
    }
    return result;
}

/* Writes all anchors newer than that of INFO, and END. */
static int put_end(struct probity_dump_file *file, const struct probity_dump_content *content)
{
    struct probity_sync sync = {.watermark = content->dump->end, .totals = content->totals};

    sync.totals.records = file->records;
    for (uint32_t i = 0; i < content->anchor_count; i++) {
        const struct probity_spool_anchor *anchor = &content->anchors[i];
        sync.anchor = (struct probity_anchor){anchor->ticks, anchor->raw_ns, anchor->monotonic_ns,
                                              anchor->realtime_ns, anchor->width_ns};
        probity_sync_put(payload_of(file), &sync);
        add_block(file, PROBITY_BLOCK_SYNC, PROBITY_SYNC_BYTES);
    }
    sync.reason = PROBITY_END_DUMP;
    probity_sync_put(payload_of(file), &sync);
    add_block(file, PROBITY_BLOCK_END, PROBITY_SYNC_BYTES);
    return write_batch(file);
}

int probity_dump_file_fill(struct probity_dump_file *file,
                           const struct probity_dump_content *content)
{
    uint64_t offset;

    look_at_chunks(file, content);
    int result = put_head(file, content, &offset);
    if (result == 0)
        result = put_declared(file, content, offset);
    if (result == 0)
        result = put_older(file, content);
    if (result == 0)
        result = write_batch(file);
    if (result == 0)
        result = put_chunks(file, content);
    return result == 0 ? put_end(file, content) : result;
}

/* ---- Names -------------------------------------------------------------------------------------
 */

int probity_dump_file_name(struct probity_dump_file *file, const char *name)
{
    int result;

    if (file->is_unnamed)
        result = probity_temporary_link(file->append.descriptor, file->directory, name);
    else
        result = linkat(file->directory, file->temporary, file->directory, name, 0);
    if (result != 0)
        return errno == EEXIST ? PROBITY_ERROR_EXISTS : PROBITY_ERROR_OPEN;
    return 0;
}

int probity_dump_file_replace(struct probity_dump_file *file, const char *name)
{
    if (file->is_unnamed &&
        probity_temporary_link(file->append.descriptor, file->directory, file->temporary) != 0)
        return PROBITY_ERROR_OPEN;
    file->is_unnamed = 0; /* closing it removes the temporary name, if it still exists */
    return renameat(file->directory, file->temporary, file->directory, name) == 0
               ? 0 : PROBITY_ERROR_OPEN;
}

void probity_dump_file_close(struct probity_dump_file *file)
{
    int before = errno;

    if (!file->is_unnamed)
        unlinkat(file->directory, file->temporary, 0);
    close(file->append.descriptor);
    munmap(file->memory, file->memory_bytes);
    errno = before;
}

int probity_dump_name(const char *pattern, uint32_t number, char ret_name[PROBITY_DUMP_NAME_BYTES])
{
    size_t used = 0;

    for (const char *at = pattern; *at != 0; at++) {
        if (at[0] == '%' && at[1] == 'i') {
            int length = snprintf(ret_name + used, PROBITY_DUMP_NAME_BYTES - used, "%u", number);
            used += (size_t)length;
            at++;
        } else {
            at += at[0] == '%' && at[1] == '%';
            ret_name[used++] = *at;
        }
        if (used + 12 >= PROBITY_DUMP_NAME_BYTES)
            return PROBITY_ERROR_ARGUMENT;
    }
    ret_name[used] = 0;
    return used > 0 ? 0 : PROBITY_ERROR_ARGUMENT;
}
