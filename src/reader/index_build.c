/* SPDX-License-Identifier: MIT
 *
 * index_build.c: builds the index of a closed trace in one pass over its file. Processes each
 * thread's records in order of time, without merging threads. One drain of the spool may write a
 * thread's newest block before an older one, so the blocks between two SYNCs are sorted, and no
 * mark separates such blocks. If a trace is out of order in any other way, it has no marks from
 * there on. Runs only in the tool.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "format/stream.h"
#include "probity.h"
#include "probity_typed.h"
#include "reader/file.h"
#include "reader/functions.h"
#include "reader/index.h"
#include "reader/index_cpu.h"
#include "reader/index_group.h"
#include "reader/index_write.h"
#include "reader/scan.h"
#include "reader/threads.h"

enum {
    ROLES = 65536,        /* sites whose roles are in a table */
    PROGRESS_BLOCKS = 1024,
    SEARCHES_MIN = 1 << 24 /* comparisons in stacks, beyond those allowed for the records */
};

/* The role of a site number, as far as it is known. */
enum { ROLE_UNKNOWN = 0, ROLE_ENTER, ROLE_LEAVE, ROLE_OTHER, ROLE_MET };

struct thread_state {
    struct probity_index_state at;
    int is_numbered, is_changed;
    uint64_t first_tick;
};

struct build {
    struct probity_index_writer writer;
    struct probity_index_sum sum;
    struct probity_threads_seen threads; /* slots of thread numbers */
    struct thread_state *states;         /* by slot */
    uint32_t state_capacity;
    uint32_t *changed; /* slots of threads with records since the last mark */
    size_t changed_count, changed_capacity;
    struct probity_index_group group;
    uint8_t *bytes; /* contents of the block being processed */
    size_t bytes_capacity;
    struct probity_range trace;
    uint64_t every_bytes;
    uint32_t numbered;
    struct probity_names names;
    struct probity_functions functions;
    uint8_t role[ROLES];
    int has_met_others;  /* a site outside the table was hit before it was declared */
    int must_restart;    /* a function was used before its declaration was found */
    int is_declaring;    /* first of two passes: only declarations */
    int is_out_of_order, without_waits;
    int has_mismatch, has_requests; /* has_mismatch: of calls, or calls are paused or unwound */
    struct probity_index_marks *marks; /* or NULL */
    uint64_t watermark, mark_tick; /* mark_tick: the latest tick so far */
    uint64_t last_mark, next_mark, searched;
    size_t declared; /* records in the current block of declarations */
    struct probity_packer declarations;
    uint64_t declarations_first;
};

/* ---- Marks -------------------------------------------------------------------------------------
 */

struct changed_item {
    uint64_t first_tick;
    uint32_t thread, slot;
};

static int compare_changed(const void *left, const void *right)
{
    const struct changed_item *a = left, *b = right;

    if (a->first_tick != b->first_tick)
        return a->first_tick < b->first_tick ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* Writes the states in the order in which the threads began, which is also that of a reader of the
 * whole trace. */
static int emit_states(struct build *build)
{
    struct changed_item *items = calloc(build->changed_count + 1, sizeof *items);
    int error = items != NULL ? 0 : PROBITY_ERROR_MEMORY;

    probity_assert(build->changed_count <= build->threads.count);
    for (size_t i = 0; error == 0 && i < build->changed_count; i++) {
        uint32_t slot = build->changed[i];
        items[i] = (struct changed_item){build->states[slot].first_tick,
                                         build->threads.seen[slot].thread, slot};
    }
    if (error == 0 && build->changed_count > 1)
        qsort(items, build->changed_count, sizeof *items, compare_changed);
    for (size_t i = 0; error == 0 && i < build->changed_count; i++) {
        struct thread_state *state = &build->states[items[i].slot];
        probity_assert(items[i].slot < build->threads.count && state->is_changed);
        if (!state->is_numbered) {
            state->is_numbered = 1;
            state->at.number = build->numbered++;
            error = probity_index_emit_began(&build->writer, state->first_tick);
        }
        state->is_changed = 0;
        if (error == 0)
            error = probity_index_emit_state(&build->writer, &state->at);
    }
    build->changed_count = 0;
    free(items);
    return error;
}

static int emit_mark(struct build *build, uint64_t offset, uint64_t serial)
{
    const struct probity_index_mark mark = {offset, serial, build->mark_tick};
    int error = emit_states(build);

    probity_assert(offset >= PROBITY_FILE_HEADER_BYTES);
    if (error != 0)
        return error;
    build->last_mark = offset;
    if (probity_index_room(&build->writer, PROBITY_INDEX_MARK_BYTES) == NULL ||
        probity_index_marks_add(build->marks, &mark) != 0)
        return PROBITY_ERROR_MEMORY;
    probity_index_mark_put(build->writer.block + PROBITY_BLOCK_HEADER_BYTES, &mark);
    return probity_index_emit(&build->writer, PROBITY_INDEX_MARK, PROBITY_INDEX_MARK_BYTES);
}

/* ---- Declarations ------------------------------------------------------------------------------
 */

static uint64_t code_of_site(uint32_t site)
{
    return 2 * (uint64_t)site + 1;
}

/* Stores the new role of a site, and records whether the site was used before. */
static void set_role(struct build *build, uint64_t site)
{
    const struct probity_name *name =
        site <= UINT32_MAX ? probity_names_find(&build->names, 2 * site + 1) : NULL;

    if (name == NULL)
        return;
    if (name->function != NULL && strncmp(name->function->recorded_file, "libc/", 5) == 0)
        build->sum.contents |= PROBITY_INDEX_HAS_WAITS;
    int is_function = name->function != NULL && !name->function->has_entries_only;
    if (site >= ROLES) {
        build->must_restart |= is_function && build->has_met_others;
        return;
    }
    build->must_restart |= is_function && build->role[site] == ROLE_MET;
    build->role[site] = !is_function                       ? ROLE_OTHER
                        : name->function->number == site ? ROLE_ENTER
                                                         : ROLE_LEAVE;
}

static int declare(struct build *build, const struct probity_record *record)
{
    const uint8_t *payload = record->payload;
    size_t bytes = record->payload_bytes;
    int error = 0;

    if (bytes < 4)
        return 0;
    uint64_t site = probity_get_u32(payload);
    if (record->kind == PROBITY_EVENT_FUNCTION)
        error = probity_functions_declare(&build->functions, &build->names, 0, NULL, payload,
                                          bytes);
    else if (record->kind == PROBITY_EVENT_SITE && bytes >= 10)
        error = probity_names_set(&build->names, 2 * site + 1, payload + 10, 0);
    else
        return 0;
    set_role(build, site);
    set_role(build, site + 1);
    return error;
}

static int is_kept(uint64_t kind)
{
    return probity_event_declares(kind) || kind == PROBITY_EVENT_PROFILING ||
           kind == PROBITY_EVENT_BUDGET;
}

/* Adds a record to the block of declarations. */
static int keep_declaration(struct build *build, const struct probity_record *record)
{
    int error = build->declared == 0
                    ? probity_index_start_records(&build->writer, record->tick,
                                                  &build->declarations)
                    : 0;

    if (build->declared == 0)
        build->declarations_first = record->tick;
    if (error == 0)
        error = probity_index_reserve(&build->writer, &build->declarations, record->payload_bytes);
    if (error != 0)
        return error;
    build->declared++;
    probity_pack_event(&build->declarations, record->tick, record->kind, record->payload,
                       record->payload_bytes);
    return 0;
}

static int emit_declarations(struct build *build, const struct probity_data *of)
{
    struct probity_data data = {.thread = of->thread, .tid = of->tid,
                                .records = (uint32_t)build->declared,
                                .first_tick = build->declarations_first};

    probity_assert(build->declared == 0 || build->declarations.at != NULL);
    if (build->declared == 0)
        return 0;
    build->declared = 0;
    return probity_index_emit_records(&build->writer, PROBITY_INDEX_DECLARED,
                                      &build->declarations, &data);
}

/* ---- Records -----------------------------------------------------------------------------------
 */

/* Returns the function that a site belongs to, or the site itself. */
static struct probity_stack_scope scope_of(const struct build *build, uint32_t site, uint64_t tick)
{
    const struct probity_name *name = probity_names_find(&build->names, code_of_site(site));
    int is_declared = name != NULL && name->function != NULL;

    return (struct probity_stack_scope){is_declared ? name->function->number : site, is_declared, 0,
                                        tick};
}

/* Whether it is the enter of a function whose calls have no recorded end, so that they are not open
 * scopes. */
static int is_entry(const struct build *build, uint32_t site)
{
    const struct probity_name *name = probity_names_find(&build->names, code_of_site(site));

    return name != NULL && name->function != NULL && name->function->has_entries_only;
}

/* Whether a record may be followed by exits that do not match, or affects only some open scopes. */
static int may_mismatch(uint64_t kind)
{
    return kind == PROBITY_EVENT_PAUSE || kind == PROBITY_EVENT_RESUME ||
           kind == PROBITY_EVENT_PROFILING || kind == PROBITY_EVENT_UNWOUND ||
           kind == PROBITY_EVENT_LOST || kind == PROBITY_EVENT_PAUSED_BEFORE;
}

static void leave(struct build *build, struct probity_thread_stack *stack, uint32_t number,
                  int is_declared)
{
    uint32_t depth = stack->depth;

    build->searched += probity_thread_stack_leave(stack, number, is_declared);
    build->has_mismatch |= stack->depth + 1 != depth;
}

static int take_event(struct build *build, struct thread_state *state,
                      const struct probity_record *record)
{
    size_t bytes = record->payload_bytes;
    uint32_t number = bytes >= 4 ? probity_get_u32(record->payload) : 0;
    struct probity_thread_stack *stack = &state->at.stack;
    struct probity_stack_scope scope;

    build->has_mismatch |= may_mismatch(record->kind);
    switch (record->kind) {
    case PROBITY_EVENT_ENTER:
        if (is_entry(build, number))
            return 0;
        scope = scope_of(build, number, record->tick);
        return probity_thread_stack_enter(stack, &scope);
    case PROBITY_EVENT_LEAVE:
        scope = scope_of(build, number, record->tick);
        leave(build, stack, scope.number, scope.is_declared);
        return 0;
    case PROBITY_EVENT_CHECKPOINT:
        /* A deferred scope may have begun before scopes that have since been closed. */
        return bytes >= 16 && probity_get_u64(record->payload + 8) != 0 ? PROBITY_ERROR_DAMAGED
                                                                        : 0;
    case PROBITY_EVENT_PAUSE: probity_thread_stack_pause(stack, 1); return 0;
    case PROBITY_EVENT_RESUME: probity_thread_stack_pause(stack, 0); return 0;
    case PROBITY_EVENT_UNWOUND: probity_thread_stack_unwind(stack, number); return 0;
    case PROBITY_EVENT_LOST: probity_thread_stack_unwind(stack, UINT32_MAX); return 0;
    default: return 0;
    }
}

static int take_site(struct build *build, struct thread_state *state,
                     const struct probity_record *record)
{
    uint32_t site = (uint32_t)(record->code >> 1);
    unsigned role = site < ROLES ? build->role[site] : ROLE_UNKNOWN;
    struct probity_stack_scope scope = {site, 1, 0, record->tick};

    if (__builtin_expect(role == ROLE_ENTER, 1))
        return probity_thread_stack_enter(&state->at.stack, &scope);
    if (role == ROLE_OTHER || role == ROLE_MET)
        return 0;
    if (role != ROLE_LEAVE) {
        if (is_entry(build, site))
            return 0;
        scope = scope_of(build, site, record->tick);
        if (!scope.is_declared) {
            build->has_met_others |= site >= ROLES;
            if (site < ROLES)
                build->role[site] = ROLE_MET;
            return 0;
        }
        if (scope.number == site)
            return probity_thread_stack_enter(&state->at.stack, &scope);
    }
    scope.number = role == ROLE_LEAVE ? site - 1 : scope.number;
    leave(build, &state->at.stack, scope.number, 1);
    return 0;
}

static unsigned role_of(const struct probity_record *record)
{
    return probity_get_u32(record->payload + 4) >> PROBITY_HIT_WITH_ROLE_SHIFT & 0xff;
}

/* Whether this is the role of a lock, condition or thread. */
static int is_of_wait(unsigned role)
{
    return (role >= PROBITY_ROLE_LOCK_WAIT && role <= PROBITY_ROLE_LOCK_RELEASE) ||
           (role >= PROBITY_ROLE_CONDITION_WAIT && role != PROBITY_ROLE_ALLOCATE &&
            role != PROBITY_ROLE_FREE);
}

static int take_rare(struct build *build, struct thread_state *state,
                     struct probity_index_cpu *walk, const struct probity_record *record)
{
    int is_hit = record->kind == PROBITY_EVENT_HIT_WITH && record->payload_bytes >= 8;

    if (is_hit && is_of_wait(role_of(record)))
        build->sum.contents |= PROBITY_INDEX_HAS_WAITS;
    build->has_requests |= is_hit && role_of(record) == PROBITY_ROLE_REQUEST_BEGIN;
    if (is_hit || (record->kind >= PROBITY_EVENT_ENTER && record->kind <= PROBITY_EVENT_RESUME))
        probity_index_cpu_walk(&state->at, walk, record);
    else if (record->kind <= UINT32_MAX && probity_event_is_record((uint32_t)record->kind))
        probity_index_cpu_other(&state->at, walk, record);
    int error = declare(build, record);
    if (error == 0 && is_kept(record->kind))
        error = keep_declaration(build, record);
    if (build->without_waits && build->sum.contents & PROBITY_INDEX_HAS_WAITS)
        return PROBITY_ERROR_DAMAGED;
    return error == 0 ? take_event(build, state, record) : error;
}

static int take_stream(struct build *build, struct thread_state *state,
                       const struct probity_data *data, const uint8_t *payload, size_t bytes)
{
    struct probity_unpacker unpacker;
    struct probity_record record = {0};
    struct probity_index_cpu walk = {.data = data,
                            .is_known = (data->flags & PROBITY_DATA_CPU_KNOWN) != 0};
    uint32_t taken = 0;
    int error = 0, got = 0;

    probity_unpacker_init(&unpacker, payload + PROBITY_DATA_FIXED_BYTES,
                          bytes - PROBITY_DATA_FIXED_BYTES, data->first_tick);
    while (error == 0 && (got = probity_unpack(&unpacker, &record)) > 0) {
        taken++;
        if (__builtin_expect(record.kind == PROBITY_EVENT_HIT, 1)) {
            probity_index_cpu_walk(&state->at, &walk, &record);
            if (record.code & 1)
                error = take_site(build, state, &record);
            continue;
        }
        error = take_rare(build, state, &walk, &record);
    }
    probity_index_cpu_moment(&state->at, &walk);
    if (walk.tick > state->at.record_tick)
        state->at.record_tick = walk.tick;
    /* Marks depend on the ticks in the header. */
    if (error == 0 && (got < 0 || taken != data->records || record.tick != data->last_tick))
        error = PROBITY_ERROR_DAMAGED;
    return error;
}

/* ---- Blocks of the trace -----------------------------------------------------------------------
 */

static struct thread_state *state_of(struct build *build, const struct probity_data *data,
                                     uint32_t *ret_slot)
{
    size_t known = build->threads.count;

    if (probity_threads_slot(&build->threads, 0, data->thread, data->tid, ret_slot) != 0)
        return NULL;
    if (*ret_slot >= build->state_capacity) {
        void *states = probity_array_grow(build->states, sizeof *build->states, *ret_slot,
                                          &build->state_capacity);
        if (states == NULL)
            return NULL;
        build->states = states;
    }
    struct thread_state *state = &build->states[*ret_slot];
    if (*ret_slot == known)
        *state = (struct thread_state){.at = {.thread = data->thread},
                                       .first_tick = data->first_tick};
    probity_assert(*ret_slot < build->state_capacity);
    return state;
}

static int note_changed(struct build *build, struct thread_state *state, uint32_t slot)
{
    probity_assert(slot < build->state_capacity);
    if (state->is_changed)
        return 0;
    void *changed = probity_array_room(build->changed, sizeof *build->changed,
                                       build->changed_count, &build->changed_capacity);
    if (changed == NULL)
        return PROBITY_ERROR_MEMORY;
    build->changed = changed;
    probity_assert(build->changed_count < build->changed_capacity);
    build->changed[build->changed_count++] = slot;
    state->is_changed = 1;
    return 0;
}

static void add_to_sum(struct build *build, const struct probity_data *data)
{
    struct probity_index_sum *sum = &build->sum;

    probity_assert(data->first_tick <= data->last_tick);
    if (sum->data_blocks++ == 0 || data->first_tick < sum->first_tick)
        sum->first_tick = data->first_tick;
    sum->last_tick = data->last_tick > sum->last_tick ? data->last_tick : sum->last_tick;
    sum->records += data->records;
    sum->holes += data->holes;
    build->mark_tick = sum->last_tick;
}

/* Checks the order of blocks. A mark cannot be used if the thread has records before it that are
 * later than those of this block. No more marks are written either, since the thread's state is
 * unknown from here on. */
static void check_order(struct build *build, const struct thread_state *state,
                        const struct probity_data *data)
{
    if (data->first_tick >= state->at.last_tick)
        return;
    build->is_out_of_order = 1;
    if (data->first_tick < build->sum.usable_tick)
        build->sum.usable_tick = data->first_tick;
}

/* Reads a complete block. Returns 0 or an error. */
static int read_block(struct build *build, const struct probity_index_group_block *block)
{
    struct probity_block_header header;

    if (probity_bytes_reserve(&build->bytes, &build->bytes_capacity, block->bytes) != 0)
        return PROBITY_ERROR_MEMORY;
    probity_assert(block->bytes <= build->bytes_capacity);
    ssize_t got = probity_range_read(&build->trace, build->bytes, block->bytes, block->offset);
    if (got < 0)
        return (int)got;
    return (uint64_t)got == block->bytes && probity_block_header_get(build->bytes, &header) == 0 &&
                   header.payload_bytes == block->bytes - PROBITY_BLOCK_HEADER_BYTES &&
                   probity_block_is_whole(build->bytes, &header)
               ? 0
               : PROBITY_ERROR_DAMAGED;
}

static int take_data(struct build *build, const struct probity_index_group_block *block)
{
    struct thread_state *state = &build->states[block->slot];
    const struct probity_data *data = &block->data;
    int error = read_block(build, block);

    probity_assert(block->slot < build->threads.count);
    if (error != 0)
        return error;
    check_order(build, state, data);
    add_to_sum(build, data);
    state->at.tid = data->tid;
    state->at.is_cpu_known |= (data->flags & PROBITY_DATA_CPU_KNOWN) != 0;
    error = note_changed(build, state, block->slot);
    if (error == 0)
        error = take_stream(build, state, data, build->bytes + PROBITY_BLOCK_HEADER_BYTES,
                            block->bytes - PROBITY_BLOCK_HEADER_BYTES);
    if (state->at.record_cpu_ns < state->at.seen_cpu_ns)
        state->at.record_cpu_ns = state->at.seen_cpu_ns;
    if (data->last_tick > state->at.last_tick)
        state->at.last_tick = data->last_tick;
    if (error == 0)
        error = emit_declarations(build, data);
    if (build->searched > SEARCHES_MIN + 64 * build->sum.records)
        return PROBITY_ERROR_DAMAGED;
    return error;
}

/* ---- Groups of blocks --------------------------------------------------------------------------
 */

static int add_to_group(struct build *build, const struct probity_scan_item *item)
{
    struct probity_index_group_block block = {.offset = item->offset, .bytes = item->bytes,
                                              .serial = item->header.serial};

    if (probity_data_get(item->payload, item->header.payload_bytes, &block.data) != 0 ||
        block.data.records == 0 || (block.data.flags & PROBITY_DATA_LATE) ||
        block.data.first_tick < build->watermark)
        return PROBITY_ERROR_DAMAGED;
    struct thread_state *state = state_of(build, &block.data, &block.slot);
    if (state == NULL)
        return PROBITY_ERROR_MEMORY;
    /* Its newest block may come before the oldest. */
    if (block.data.first_tick < state->first_tick)
        state->first_tick = block.data.first_tick;
    return probity_index_group_add(&build->group, &block);
}

static int take_blocks(struct build *build, struct probity_index_group_block *blocks, size_t count)
{
    int error = 0;

    probity_assert(count > 0);
    probity_index_group_sort(blocks, count);
    for (size_t i = 0; error == 0 && i < count; i++)
        error = take_data(build, &blocks[i]);
    return error;
}

/* Takes the blocks of a group, with marks in between. next_offset and next_serial are those of the
 * block that follows. */
static int take_group(struct build *build, uint64_t next_offset, uint64_t next_serial)
{
    struct probity_index_group_block *group = build->group.blocks;
    size_t count = build->group.count, first = 0;
    int error = probity_index_group_find_splits(&build->group);

    probity_assert(build->group.count <= build->group.capacity);
    for (size_t i = 0; error == 0 && i < count; i++) {
        int is_last = i + 1 == count;
        uint64_t offset = is_last ? next_offset : group[i + 1].offset;
        uint64_t serial = is_last ? next_serial : group[i + 1].serial;
        int is_mark = offset >= build->next_mark && !group[i].is_split;
        if (!is_mark && !is_last)
            continue;
        error = take_blocks(build, group + first, i + 1 - first);
        first = i + 1;
        if (error != 0 || !is_mark || build->is_out_of_order)
            continue;
        error = emit_mark(build, offset, serial);
        build->next_mark = offset + build->every_bytes;
    }
    build->group.count = 0;
    return error;
}

static int take_sync(struct build *build, const struct probity_scan_item *item)
{
    size_t bytes = item->header.payload_bytes;
    struct probity_sync sync;
    uint8_t *payload;

    if (probity_index_room(&build->writer, PROBITY_INDEX_RECORDS_BYTES + bytes) == NULL)
        return PROBITY_ERROR_MEMORY;
    payload = build->writer.block + PROBITY_BLOCK_HEADER_BYTES;
    if (probity_sync_get(item->payload, bytes, &sync) != 0)
        return PROBITY_ERROR_DAMAGED;
    if (sync.watermark > build->watermark)
        build->watermark = sync.watermark;
    probity_put_u64(payload, build->sum.records);
    memcpy(payload + PROBITY_INDEX_RECORDS_BYTES, item->payload, bytes);
    return probity_index_emit(&build->writer, item->header.type,
                              PROBITY_INDEX_RECORDS_BYTES + bytes);
}

static int take_place(struct build *build, const struct probity_scan_item *item)
{
    uint8_t *payload = probity_index_room(&build->writer, PROBITY_INDEX_PLACE_BYTES);

    if (payload == NULL)
        return PROBITY_ERROR_MEMORY;
    memset(payload, 0, PROBITY_INDEX_PLACE_BYTES);
    probity_put_u64(payload, item->offset);
    probity_put_u64(payload + 8, item->bytes);
    probity_put_u32(payload + 16, item->header.type);
    return probity_index_emit(&build->writer, PROBITY_INDEX_PLACE, PROBITY_INDEX_PLACE_BYTES);
}

static int take_end(struct build *build, const struct probity_scan_item *item, uint64_t size)
{
    build->sum.end_offset = item->offset;
    build->sum.end_checksum = item->header.checksum;
    if (item->offset + item->bytes != size)
        return PROBITY_ERROR_DAMAGED;
    /* The index must contain all threads. The last group may have ended with this mark. */
    int error = build->is_out_of_order ? emit_states(build) : 0;
    if (!build->is_out_of_order && build->last_mark != item->offset)
        error = emit_mark(build, item->offset, item->header.serial);
    return error == 0 ? take_sync(build, item) : error;
}

static int take_info(struct build *build, const struct probity_scan_item *item)
{
    struct probity_info info;

    if (probity_info_get(item->payload, item->header.payload_bytes, &info) != 0)
        return PROBITY_ERROR_DAMAGED;
    memcpy(build->sum.session, info.session, sizeof build->sum.session);
    return 0;
}

static int take_block(struct build *build, const struct probity_scan_item *item, uint64_t size)
{
    int is_sync = item->header.type == PROBITY_BLOCK_SYNC || item->header.type == PROBITY_BLOCK_END;
    int error = is_sync ? take_group(build, item->offset, item->header.serial) : 0;

    build->sum.blocks++;
    if (error != 0)
        return error;
    switch (item->header.type) {
    case PROBITY_BLOCK_INFO: return take_info(build, item);
    case PROBITY_BLOCK_DATA: return add_to_group(build, item);
    case PROBITY_BLOCK_SYNC: return take_sync(build, item);
    case PROBITY_BLOCK_END: return take_end(build, item, size);
    case PROBITY_BLOCK_PROFILE:
    case PROBITY_BLOCK_SITES:
    case PROBITY_BLOCK_DUMP:
    case PROBITY_BLOCK_COST: return take_place(build, item);
    default: return 0;
    }
}

/* ---- Passes ------------------------------------------------------------------------------------
 */

/* Makes the first of two passes. */
static int find_declarations(struct build *build, const struct probity_scan_item *item)
{
    const struct probity_index_group_block block = {.offset = item->offset, .bytes = item->bytes};
    struct probity_unpacker unpacker;
    struct probity_record record;
    struct probity_data data;

    if (item->header.type != PROBITY_BLOCK_DATA ||
        probity_data_get(item->payload, item->header.payload_bytes, &data) != 0 ||
        !(data.flags & PROBITY_DATA_HAS_EVENTS))
        return 0;
    int error = read_block(build, &block);
    if (error != 0)
        return error;
    probity_unpacker_init(&unpacker,
                          build->bytes + PROBITY_BLOCK_HEADER_BYTES + PROBITY_DATA_FIXED_BYTES,
                          item->header.payload_bytes - PROBITY_DATA_FIXED_BYTES, data.first_tick);
    while (error == 0 && probity_unpack(&unpacker, &record) > 0) {
        if (record.kind != PROBITY_EVENT_HIT)
            error = declare(build, &record);
    }
    return error;
}

static int pass(struct build *build, const struct probity_index_options *options)
{
    struct probity_scan scan;
    struct probity_scan_item item;
    uint64_t items = 0;
    int has_end = 0;
    int error = probity_scan_init_range(&scan, &build->trace, build->sum.file_bytes, 0);
    int got = error;

    while (error == 0 && !has_end && !build->must_restart &&
           (got = probity_scan_next(&scan, &item)) > 0) {
        has_end = item.kind == PROBITY_SCAN_BLOCK && item.header.type == PROBITY_BLOCK_END;
        if (item.kind != PROBITY_SCAN_BLOCK)
            error = PROBITY_ERROR_DAMAGED;
        else
            error = build->is_declaring
                        ? find_declarations(build, &item)
                        : take_block(build, &item, build->sum.file_bytes);
        if (options->progress != NULL && ++items % PROGRESS_BLOCKS == 0)
            options->progress(options->progress_context, item.offset, scan.size);
    }
    probity_scan_release(&scan);
    if (error == 0 && got < 0)
        error = got;
    return error != 0 || has_end || build->must_restart ? error : PROBITY_ERROR_DAMAGED;
}

/* Discards everything except the declarations. After memory ran out, a thread may have no state. */
static void clear(struct build *build)
{
    for (uint32_t slot = 0; slot < build->threads.count && slot < build->state_capacity; slot++)
        probity_thread_stack_release(&build->states[slot].at.stack);
    probity_threads_release(&build->threads);
    build->changed_count = build->numbered = 0;
    build->must_restart = build->is_out_of_order = build->has_met_others = 0;
    build->has_mismatch = build->has_requests = 0;
    build->watermark = build->mark_tick = build->last_mark = build->searched = 0;
    build->next_mark = PROBITY_FILE_HEADER_BYTES + 1;
    build->declared = build->group.count = 0;
    build->sum = (struct probity_index_sum){.file_bytes = build->sum.file_bytes,
                                            .usable_tick = UINT64_MAX};
}

static int begin(struct build *build)
{
    if (build->marks != NULL)
        build->marks->count = 0;
    clear(build);
    return probity_index_begin(&build->writer);
}

/* Makes one or two passes. In the order of the file, a function may be used before its declaration;
 * in the second pass all declarations are known. */
static int passes(struct build *build, const struct probity_index_options *options)
{
    int error = begin(build);

    if (error == 0)
        error = pass(build, options);
    if (error != 0 || !build->must_restart)
        return error;
    clear(build);
    build->is_declaring = 1;
    memset(build->role, ROLE_UNKNOWN, sizeof build->role);
    error = pass(build, options);
    build->is_declaring = 0;
    if (error == 0)
        error = begin(build);
    return error == 0 ? pass(build, options) : error;
}

/* Whether each exit matches the innermost open call and no call is open at the end. */
static int do_calls_match(const struct build *build)
{
    int match = !build->has_mismatch && !build->is_out_of_order;

    for (uint32_t slot = 0; match && slot < build->threads.count; slot++)
        match = build->states[slot].at.stack.depth == 0;
    return match;
}

static int conclude(struct build *build)
{
    uint8_t *payload = probity_index_room(&build->writer, PROBITY_INDEX_SUM_BYTES);

    if (payload == NULL)
        return PROBITY_ERROR_MEMORY;
    build->sum.threads = build->threads.count;
    build->sum.contents |= PROBITY_INDEX_CONTENTS_KNOWN;
    if (do_calls_match(build))
        build->sum.contents |= PROBITY_INDEX_CALLS_MATCH;
    if (!build->has_requests)
        build->sum.contents |= PROBITY_INDEX_NO_REQUESTS;
    probity_index_sum_put(payload, &build->sum);
    int error = probity_index_emit(&build->writer, PROBITY_INDEX_SUM, PROBITY_INDEX_SUM_BYTES);
    probity_index_marks_end(build->marks, &build->writer, &build->sum);
    return error == 0 ? probity_index_flush(&build->writer) : error;
}

int probity_index_build(const struct probity_range *trace, int file,
                        const struct probity_index_options *options)
{
    struct build *build = calloc(1, sizeof *build);
    int64_t size = probity_range_size(trace);

    if (build == NULL)
        return PROBITY_ERROR_MEMORY;
    build->writer.file = file;
    build->trace = *trace;
    build->without_waits = options->without_waits;
    build->marks = options->marks;
    build->every_bytes =
        options->every_bytes > 0 ? options->every_bytes : PROBITY_INDEX_EVERY_BYTES;
    build->sum.file_bytes = size > 0 ? (uint64_t)size : 0;
    int error = size < 0 ? PROBITY_ERROR_READ : passes(build, options);
    if (error == 0)
        error = conclude(build);
    clear(build);
    free(build->states);
    free(build->changed);
    probity_index_group_release(&build->group);
    free(build->bytes);
    free(build->writer.block);
    probity_names_release(&build->names);
    probity_functions_release(&build->functions);
    free(build);
    return error;
}
