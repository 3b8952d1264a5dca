/* SPDX-License-Identifier: MIT
 *
 * top_feed.c: turns the events of one reader into rows: calls by scopes, blocks by successive hits
 * of a thread, waits for locks, threads and processes by all their records. A call, block or wait
 * counts when it ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/probes.h"
#include "analysis/scopes.h"
#include "answers/top/top_internal.h"
#include "answers/top/top_locks.h"
#include "base/array_grow.h"
#include "probity.h"

enum { RECENT = 64 }; /* a power of two */

struct probe_item {
    struct probity_probe probe;
    struct {
        const struct probe_item *to;
        struct probity_top_row *row;
    } recent[RECENT]; /* blocks that begin here, by second probe */
};

struct thread_state {
    struct probity_top_row *row;
    uint64_t wall_ns, cpu_ns; /* of the last record */
    int is_cpu_known;
    char name[64];
    struct probe_item *hit; /* its last hit; NULL: none */
    uint64_t hit_wall_ns, hit_cpu_ns;
};

struct probity_top_feed {
    struct probity_top *top;
    struct probity_scopes *scopes;
    struct probity_scopes_listener listener;
    struct probity_probes probes;
    struct thread_state *threads; /* by slot */
    uint32_t thread_count;
    struct probity_top_row *process;
    struct probity_top_profile profile;
    struct probity_top_locks locks;
    uint64_t interval_from_ns, all_from_ns;
    int has_cpu, error;
};

/* A call, block, wait or record to add to a row. */
struct piece {
    uint64_t end_ns; /* CLOCK_REALTIME */
    uint64_t wall_ns, cpu_ns, duration_ns;
    int is_timed, is_cpu_known, is_partial; /* partial: the duration is only a lower bound */
};

static int add_to(struct probity_top_sums *sums, const struct piece *piece)
{
    sums->calls++;
    if (!piece->is_timed)
        return 0;
    sums->wall_ns += piece->wall_ns;
    if (piece->is_cpu_known) {
        sums->cpu_ns += piece->cpu_ns;
        sums->off_ns += piece->wall_ns > piece->cpu_ns ? piece->wall_ns - piece->cpu_ns : 0;
    }
    if (piece->is_partial)
        return 0;
    if (piece->duration_ns > sums->max_ns)
        sums->max_ns = piece->duration_ns;
    return probity_histogram_add(&sums->durations, piece->duration_ns);
}

static int add(const struct probity_top_feed *feed, struct probity_top_row *row,
               const struct piece *piece)
{
    int error = 0;

    if (row == NULL)
        return PROBITY_ERROR_MEMORY;
    row->is_cpu_known |= piece->is_cpu_known;
    if (piece->end_ns >= feed->all_from_ns)
        error = add_to(&row->all, piece);
    if (error == 0 && piece->end_ns >= feed->all_from_ns &&
        piece->end_ns >= feed->interval_from_ns)
        error = add_to(&row->interval, piece);
    return error;
}

/* ---- Calls -------------------------------------------------------------------------------------
 */

static void closed(void *context, const struct probity_scope *scope, enum probity_scope_end how,
                   uint32_t thread_slot, const struct probity_event *event)
{
    struct probity_top_feed *feed = context;
    const struct piece piece = {
        .end_ns = event != NULL ? event->wall_ns : 0,
        .wall_ns = scope->recursion == 0 ? scope->total.wall_ns : 0,
        .cpu_ns = scope->recursion == 0 ? scope->total.cpu_ns : 0,
        .duration_ns = scope->total.wall_ns,
        .is_timed = !scope->is_untimed,
        .is_partial = !probity_scope_end_is_recorded(how),
        .is_cpu_known = feed->has_cpu};

    (void)thread_slot;
    if (how == PROBITY_SCOPE_OPEN || feed->error != 0)
        return;
    if (*scope->of_function == NULL)
        *scope->of_function = probity_top_row_of(feed->top, scope->function);
    feed->error = add(feed, *scope->of_function, &piece);
}

/* ---- Blocks ------------------------------------------------------------------------------------
 */

static const char *probe_text(const struct probity_probe *probe)
{
    return probe->name != NULL ? probe->name : probe->text;
}

static struct probity_top_row *block_row(struct probity_top_feed *feed, struct probe_item *from,
                                         const struct probe_item *to)
{
    size_t place = to->probe.place & (RECENT - 1);
    char name[1200];

    if (from->recent[place].to == to)
        return from->recent[place].row;
    int length = snprintf(name, sizeof name, "%s -> %s", probe_text(&from->probe),
                          probe_text(&to->probe));
    size_t bytes = length < (int)sizeof name ? (size_t)length : sizeof name - 1;
    from->recent[place].row =
        probity_top_row_at(feed->top, PROBITY_TOP_BLOCKS, 0, name, bytes, NULL);
    from->recent[place].to = to;
    return from->recent[place].row;
}

static int put_hit(struct probity_top_feed *feed, struct thread_state *thread,
                   const struct probity_event *event)
{
    struct probe_item *to = (void *)probity_probes_of(&feed->probes, event);
    struct probe_item *from = thread->hit;
    struct piece piece = {.end_ns = event->wall_ns, .is_timed = 1, .is_cpu_known = feed->has_cpu};

    if (to == NULL)
        return PROBITY_ERROR_MEMORY;
    thread->hit = to;
    if (event->wall_ns > thread->hit_wall_ns)
        piece.wall_ns = piece.duration_ns = event->wall_ns - thread->hit_wall_ns;
    if (event->cpu_ns > thread->hit_cpu_ns)
        piece.cpu_ns = event->cpu_ns - thread->hit_cpu_ns;
    thread->hit_wall_ns = event->wall_ns;
    thread->hit_cpu_ns = event->cpu_ns;
    return from != NULL ? add(feed, block_row(feed, from, to), &piece) : 0;
}

/* ---- Locks -------------------------------------------------------------------------------------
 */

static int take_lock(void *context, const char *name, uint64_t from_ns, uint64_t to_ns)
{
    struct probity_top_feed *feed = context;
    uint64_t ns = to_ns > from_ns ? to_ns - from_ns : 0;
    const struct piece piece = {.end_ns = to_ns, .wall_ns = ns, .duration_ns = ns, .is_timed = 1};

    return add(feed, probity_top_row_of_lock(feed->top, feed->process->pid, name), &piece);
}

/* ---- Threads and processes ---------------------------------------------------------------------
 */

static struct thread_state *thread_at(struct probity_top_feed *feed, uint32_t slot)
{
    struct thread_state *thread =
        probity_array_grow(feed->threads, sizeof *thread, slot, &feed->thread_count);

    if (thread != NULL)
        feed->threads = thread;
    return thread != NULL ? &feed->threads[slot] : NULL;
}

static struct probity_top_row *thread_row(struct probity_top_feed *feed,
                                          struct thread_state *thread,
                                          const struct probity_event *event)
{
    char name[96];

    if (thread->row == NULL) {
        int length = snprintf(name, sizeof name, "%u %s", (unsigned)event->tid, thread->name);
        thread->row = probity_top_row_at(feed->top, PROBITY_TOP_THREADS, event->pid, name,
                                         (size_t)length, NULL);
    }
    return thread->row;
}

static void add_records(const struct probity_top_feed *feed, struct probity_top_row *row,
                        const struct piece *piece, uint64_t interval_wall_ns)
{
    row->is_cpu_known |= piece->is_cpu_known;
    if (piece->end_ns < feed->all_from_ns)
        return;
    row->all.calls++;
    row->all.wall_ns += piece->wall_ns;
    row->all.cpu_ns += piece->cpu_ns;
    row->all.off_ns += piece->wall_ns > piece->cpu_ns ? piece->wall_ns - piece->cpu_ns : 0;
    if (piece->end_ns < feed->interval_from_ns)
        return;
    row->interval.calls++;
    row->interval.wall_ns += interval_wall_ns;
    row->interval.cpu_ns += piece->cpu_ns;
    row->interval.off_ns +=
        interval_wall_ns > piece->cpu_ns ? interval_wall_ns - piece->cpu_ns : 0;
}

/* Adds the time since the thread's last record; for a wait, only the part in the interval. */
static int put_record(struct probity_top_feed *feed, struct thread_state *thread,
                      const struct probity_event *event)
{
    struct probity_top_row *row = thread_row(feed, thread, event);
    struct piece piece = {.end_ns = event->wall_ns, .is_cpu_known = feed->has_cpu};
    uint64_t from_ns = thread->wall_ns;

    if (row == NULL)
        return PROBITY_ERROR_MEMORY;
    if (from_ns != 0 && event->wall_ns > from_ns)
        piece.wall_ns = event->wall_ns - from_ns;
    if (from_ns != 0 && event->cpu_known && event->cpu_ns > thread->cpu_ns)
        piece.cpu_ns = event->cpu_ns - thread->cpu_ns;
    uint64_t late_ns = from_ns != 0 && feed->interval_from_ns > from_ns
                           ? feed->interval_from_ns - from_ns
                           : 0;
    uint64_t interval_ns = piece.wall_ns > late_ns ? piece.wall_ns - late_ns : 0;
    thread->wall_ns = event->wall_ns;
    if (event->cpu_known)
        thread->cpu_ns = event->cpu_ns;
    add_records(feed, row, &piece, interval_ns);
    add_records(feed, feed->process, &piece, interval_ns);
    return 0;
}

static void name_thread(struct thread_state *thread, const struct probity_event *event)
{
    size_t bytes = event->payload_bytes;

    if (bytes >= sizeof thread->name)
        bytes = sizeof thread->name - 1;
    memcpy(thread->name, event->payload, bytes);
    thread->name[bytes] = 0;
}

/* ---- All ---------------------------------------------------------------------------------------
 */

/* A block does not span the time at which sites were switched. */
static void forget_hits(struct probity_top_feed *feed)
{
    for (uint32_t slot = 0; slot < feed->thread_count; slot++)
        feed->threads[slot].hit = NULL;
}

int probity_top_feed_put(struct probity_top_feed *feed, const struct probity_event *event)
{
    struct thread_state *thread = event->thread_slot < feed->thread_count
                                      ? &feed->threads[event->thread_slot]
                                      : thread_at(feed, event->thread_slot);
    int is_record = event->kind == PROBITY_EVENT_HIT || event->kind == PROBITY_EVENT_ENTER ||
                    event->kind == PROBITY_EVENT_LEAVE;

    if (thread == NULL)
        return PROBITY_ERROR_MEMORY;
    if (event->kind == PROBITY_EVENT_THREAD_NAME)
        name_thread(thread, event);
    else if (event->kind == PROBITY_EVENT_LOST)
        thread->hit = NULL;
    else if (event->kind == PROBITY_EVENT_SITES_SWITCHED)
        forget_hits(feed);
    int error = is_record ? put_record(feed, thread, event) : 0;
    if (error == 0 && event->kind == PROBITY_EVENT_HIT)
        error = put_hit(feed, thread, event);
    if (error == 0 && event->kind != PROBITY_EVENT_HIT)
        error = probity_scopes_put(feed->scopes, event, &feed->listener);
    if (error == 0 && probity_top_has_locks(feed->top))
        error = probity_top_locks_put(&feed->locks, event);
    return error != 0 ? error : feed->error;
}

int probity_top_feed_profile(struct probity_top_feed *feed, const struct probity_reader *reader)
{
    return probity_top_profile_read(&feed->profile, reader);
}

void probity_top_feed_limit(struct probity_top_feed *feed, uint64_t interval_from_ns,
                            uint64_t all_from_ns)
{
    feed->interval_from_ns = interval_from_ns;
    feed->all_from_ns = all_from_ns;
}

int probity_top_feed_open(struct probity_top *top, const struct probity_info *info,
                          struct probity_top_feed **ret_feed)
{
    const struct probity_text *program = &info->text[PROBITY_TAG_PROGRAM];
    struct probity_top_feed *feed = calloc(1, sizeof *feed);
    const char *name = program->bytes != NULL ? program->bytes : "";
    size_t bytes = program->length;

    if (feed == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < program->length; i++) {
        if (program->bytes[i] == '/') {
            name = program->bytes + i + 1;
            bytes = program->length - i - 1;
        }
    }
    feed->top = feed->profile.top = top;
    feed->locks.names.symbols = probity_top_symbols(top);
    feed->locks.take = take_lock;
    feed->locks.context = feed;
    feed->has_cpu = feed->profile.has_cpu = (info->flags & PROBITY_INFO_CPU_TIME) != 0;
    feed->probes.item_bytes = sizeof(struct probe_item);
    feed->listener = (struct probity_scopes_listener){.closed = closed, .context = feed};
    feed->process =
        probity_top_row_at(top, PROBITY_TOP_PROCESSES, info->pid, name, bytes, NULL);
    if (feed->process == NULL || probity_scopes_open(&feed->scopes) != 0) {
        free(feed);
        return PROBITY_ERROR_MEMORY;
    }
    *ret_feed = feed;
    return 0;
}

void probity_top_feed_close(struct probity_top_feed *feed)
{
    probity_top_locks_release(&feed->locks);
    probity_scopes_close(feed->scopes);
    probity_probes_release(&feed->probes);
    probity_top_profile_release(&feed->profile);
    free(feed->threads);
    free(feed);
}
