/* SPDX-License-Identifier: MIT
 *
 * dumps.c: merges windows that overlap, and writes a window to a file once it has passed, unless a
 * limit prevents it. Runs in the writer thread of the traced program: no malloc(), and a failure
 * affects the dump only.
 */
#include "writer/dumps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/os.h"
#include "base/ticks.h"
#include "writer/dump_chunks.h"
#include "writer/ring.h"
#include "writer/watch.h"

static void dumps_open(struct probity_dumps *dumps)
{
    int descriptor = open(dumps->directory_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    dumps->directory = descriptor;
    /* Not a standard descriptor: libc's messages would be written to the file. */
    if (descriptor >= 0 && descriptor < 3) {
        dumps->directory = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
        close(descriptor);
    }
}

static void dumps_close(struct probity_dumps *dumps)
{
    if (dumps->directory >= 0)
        close(dumps->directory);
    dumps->directory = -1;
}

/* ---- Windows -----------------------------------------------------------------------------------
 */

static int is_asked_for(const struct probity_notice *notice)
{
    return notice->condition == PROBITY_NOTICE_NO_CONDITION ||
           notice->kind == PROBITY_DUMP_SIGNAL;
}

/* Returns the window that this one overlaps and may extend, or NULL. */
static struct probity_dumps_window *window_of(struct probity_dumps *dumps, uint64_t begin,
                                              uint64_t end)
{
    for (uint32_t i = 0; i < dumps->windows; i++) {
        struct probity_dumps_window *window = &dumps->window[i];
        if (begin <= window->end && end >= window->begin && end <= window->end_max)
            return window;
    }
    return NULL;
}

static void add_notice(struct probity_dumps *dumps, struct probity_pass *pass,
                       const struct probity_notice *notice)
{
    enum { WAIT_NS_MAX = 2000000000 };
    const struct probity_live *live = pass->live;
    uint64_t first = live->first.ticks, end = notice->end + dumps->after;
    uint64_t begin = notice->start > first + dumps->before ? notice->start - dumps->before : first;
    struct probity_dumps_window *window = window_of(dumps, begin, end);

    if (window == NULL && dumps->windows == PROBITY_DUMPS_WINDOWS) {
        dumps->left_out++;
        return;
    }
    if (window == NULL) {
        uint64_t wait = 30 * probity_ticks_of_ns(WAIT_NS_MAX, probity_live_rate(live));
        window = &dumps->window[dumps->windows++];
        window->begin = begin;
        window->end = end;
        window->end_max = end + dumps->before + wait;
        window->count = window->more = 0;
        window->is_asked_for = 0;
    }
    window->begin = begin < window->begin ? begin : window->begin;
    window->end = end > window->end ? end : window->end;
    window->is_asked_for |= is_asked_for(notice);
    if (window->count < PROBITY_DUMPS_REASONS)
        window->notices[window->count++] = *notice;
    else
        window->more++;
}

static void note_needs(const struct probity_dumps *dumps, struct probity_pass *pass)
{
    pass->needed_from = UINT64_MAX;
    for (uint32_t i = 0; i < dumps->windows; i++) {
        if (dumps->window[i].begin < pass->needed_from)
            pass->needed_from = dumps->window[i].begin;
    }
}

static void look(void *context, struct probity_pass *pass, uint32_t chunk, uint32_t used)
{
    probity_watch_chunk(context, pass, chunk, used);
}

static void dumps_take(struct probity_dumps *dumps, struct probity_pass *pass, int is_last)
{
    struct probity_notice notice;
    uint32_t at = 0;

    pass->look_context = dumps->watch;
    pass->look = dumps->watch != NULL ? look : NULL;
    if (dumps->watch != NULL)
        probity_watch_pass(dumps->watch, pass, is_last);
    pass->noticed = probity_clock_ticks(pass->live->clock); /* before the notices are read */
    dumps->posted_seen = __atomic_load_n(&dumps->notices.posted, __ATOMIC_SEQ_CST);
    while (probity_notices_take(&dumps->notices, &at, &notice))
        add_notice(dumps, pass, &notice);
    note_needs(dumps, pass);
}

static uint64_t dumps_due(const struct probity_dumps *dumps)
{
    uint64_t due = dumps->watch != NULL ? probity_watch_due(dumps->watch) : UINT64_MAX;

    for (uint32_t i = 0; i < dumps->windows; i++)
        due = dumps->window[i].end < due ? dumps->window[i].end : due;
    return due;
}

/* ---- Limits ------------------------------------------------------------------------------------
 */

static uint64_t size_of(int64_t number)
{
    return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

/* Stores the amount that is compared with the limit, and the limit. */
static void amount_of(const struct probity_notice *notice, uint64_t *ret_amount,
                      uint64_t *ret_limit)
{
    int is_number = notice->kind == PROBITY_DUMP_RATE || notice->kind == PROBITY_DUMP_VALUE;
    uint64_t amount = is_number ? size_of((int64_t)notice->id) : notice->end - notice->start;
    uint64_t limit = is_number ? size_of((int64_t)notice->limit) : notice->limit;
    int is_least = notice->kind == PROBITY_DUMP_RATE && notice->flags & PROBITY_DUMP_IS_LEAST;

    *ret_amount = is_least ? limit : amount;
    *ret_limit = is_least ? amount : limit;
}

/* Returns by how much the worst call exceeded its limit, in thousandths. */
static uint64_t badness_of(const struct probity_dumps_window *window)
{
    uint64_t badness = 0;

    for (uint32_t i = 0; i < window->count; i++) {
        uint64_t amount, limit;
        amount_of(&window->notices[i], &amount, &limit);
        uint64_t times = (uint64_t)((double)amount * 1000 / (double)(limit != 0 ? limit : 1));
        badness = times > badness ? times : badness;
    }
    return badness;
}

/* Returns the least bad of the dumps that are kept. */
static uint32_t least_bad(const struct probity_dumps *dumps)
{
    uint32_t least = 0;

    probity_assert(dumps->kept_count > 0);
    for (uint32_t i = 1; i < dumps->kept_count; i++) {
        if (dumps->kept[i].badness < dumps->kept[least].badness)
            least = i;
    }
    return least;
}

static int is_full(const struct probity_dumps *dumps)
{
    return dumps->settings.keep != PROBITY_DUMPS_KEEP_ALL &&
           dumps->kept_count >= dumps->settings.kept;
}

/* Returns whether a dump of the window replaces another one. */
static int may_replace(const struct probity_dumps *dumps, const struct probity_dumps_window *window)
{
    return dumps->settings.keep == PROBITY_DUMPS_KEEP_WORST && is_full(dumps) &&
           !window->is_asked_for &&
           badness_of(window) > dumps->kept[least_bad(dumps)].badness;
}

static int is_left_out(const struct probity_dumps *dumps, const struct probity_dumps_window *window,
                       uint64_t now)
{
    uint64_t oldest = dumps->recent[dumps->recent_at % dumps->settings.at_most];

    if (dumps->bytes >= dumps->settings.limit_bytes && !may_replace(dumps, window))
        return 1;
    if (window->is_asked_for)
        return 0;
    if (oldest != 0 && now - oldest < dumps->period)
        return 1;
    return is_full(dumps) && !may_replace(dumps, window);
}

/* Removes a file that this process created, unless another file has its name now. */
static void remove_kept(struct probity_dumps *dumps, uint32_t index)
{
    const struct probity_dumps_kept *kept = &dumps->kept[index];
    struct stat status;

    if (probity_dump_name(dumps->pattern, kept->number, dumps->name) == 0 &&
        fstatat(dumps->directory, dumps->name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode) && status.st_dev == kept->device && status.st_ino == kept->inode)
        unlinkat(dumps->directory, dumps->name, 0);
    dumps->bytes -= kept->bytes < dumps->bytes ? kept->bytes : dumps->bytes;
    dumps->kept[index] = dumps->kept[--dumps->kept_count];
}

static void note_made(struct probity_dumps *dumps, const struct probity_dumps_window *window,
                      const struct probity_dump_file *file, uint64_t now)
{
    struct stat status;

    dumps->made++;
    dumps->bytes += file->append.committed;
    if (!window->is_asked_for) {
        dumps->recent[dumps->recent_at % dumps->settings.at_most] = now;
        dumps->recent_at++;
    }
    if (dumps->settings.keep == PROBITY_DUMPS_KEEP_ALL || window->is_asked_for ||
        fstat(file->append.descriptor, &status) != 0)
        return;
    if (may_replace(dumps, window))
        remove_kept(dumps, least_bad(dumps));
    if (dumps->kept_count < PROBITY_DUMPS_KEPT_MAX)
        dumps->kept[dumps->kept_count++] =
            (struct probity_dumps_kept){status.st_dev, status.st_ino, file->append.committed,
                                        badness_of(window), dumps->number};
}

/* ---- Writing -----------------------------------------------------------------------------------
 */

static void reason_of(const struct probity_dumps *dumps, const struct probity_notice *notice,
                      struct probity_dump_reason *ret_reason)
{
    *ret_reason = (struct probity_dump_reason){
        .kind = notice->kind, .thread = notice->thread, .tid = notice->tid,
        .number = notice->number, .from = notice->from, .flags = notice->flags,
        .start = notice->start, .end = notice->end, .limit = notice->limit, .id = notice->id,
        .text = {notice->text, strlen(notice->text)}};
    if (notice->condition < 0 || (uint32_t)notice->condition >= dumps->conditions)
        return;
    ret_reason->condition.bytes = dumps->condition[notice->condition];
    ret_reason->condition.length = dumps->condition_bytes[notice->condition];
}

/* Gives the file the next free number. Returns 0 or an errno. */
static int name_file(struct probity_dumps *dumps, struct probity_dump_file *file)
{
    int result = PROBITY_ERROR_EXISTS;

    for (int i = 0; result == PROBITY_ERROR_EXISTS && i < PROBITY_DUMP_TRIES; i++) {
        result = probity_dump_name(dumps->pattern, ++dumps->number, dumps->name);
        if (result == 0)
            result = probity_dump_file_name(file, dumps->name);
    }
    return result == 0                       ? 0
           : result == PROBITY_ERROR_EXISTS ? EEXIST
           : result == PROBITY_ERROR_OPEN   ? errno
                                            : ENAMETOOLONG;
}

static void note_failure(struct probity_dumps *dumps, int system_error)
{
    dumps->failed++;
    if (dumps->failed == 1)
        __atomic_store_n(&dumps->failure_to_report, (uint32_t)system_error, __ATOMIC_RELEASE);
}

/* Returns the size in bytes of all dumps, without the one that this dump replaces. */
static uint64_t bytes_before(const struct probity_dumps *dumps,
                             const struct probity_dumps_window *window)
{
    uint64_t replaced = may_replace(dumps, window) ? dumps->kept[least_bad(dumps)].bytes : 0;

    return dumps->bytes > replaced ? dumps->bytes - replaced : 0;
}

/* Writes the file and names it. Returns 0 or an errno. */
static int write_file(struct probity_dumps *dumps, const struct probity_dumps_window *window,
                      struct probity_dump_content *content, uint64_t now)
{
    struct probity_dump_file file;
    int result = probity_dump_file_open(&file, dumps->directory, content->chunk_words,
                                        content->session);

    if (result != 0)
        return result == PROBITY_ERROR_OPEN ? errno : ENOMEM;
    int error = 0;
    result = probity_dump_file_fill(&file, content);
    if (result != 0) {
        error = file.append.error != 0 ? file.append.error : EIO;
    } else if (bytes_before(dumps, window) + file.append.committed >
               dumps->settings.limit_bytes) {
        dumps->left_out++;
    } else {
        error = name_file(dumps, &file);
        if (error == 0)
            note_made(dumps, window, &file, now);
    }
    probity_dump_file_close(&file);
    return error;
}

static void make(struct probity_dumps *dumps, struct probity_pass *pass,
                 const struct probity_dumps_window *window, uint64_t now)
{
    struct probity_dump_reason reasons[PROBITY_DUMPS_REASONS];
    struct probity_dump dump = {.number = dumps->number + 1,
                                .wanted = window->begin,
                                .end = window->end < now ? window->end : now,
                                .reasons = window->count,
                                .more = window->more,
                                .left_out = dumps->left_out,
                                .lost = __atomic_load_n(&dumps->notices.lost, __ATOMIC_RELAXED)};
    struct probity_dump_chunks chunks;

    probity_assert(window->count > 0);
    for (uint32_t i = 0; i < window->count; i++)
        reason_of(dumps, &window->notices[i], &reasons[i]);
    probity_ring_note_drops(pass);
    if (dumps->directory < 0 || probity_dump_chunks_pin(&chunks, pass, window->begin) != 0) {
        note_failure(dumps, dumps->directory < 0 ? ENOENT : ENOMEM);
        return;
    }
    uint64_t complete_from = pass->live->header->complete_from;
    dump.had = complete_from > window->begin ? complete_from : window->begin;
    dump.flags = dump.had <= dump.wanted && !chunks.is_partial ? PROBITY_DUMP_WHOLE : 0;
    dump.had = dump.had < dump.end ? dump.had : dump.end;
    chunks.content.dump = &dump;
    chunks.content.reasons = reasons;
    int error = write_file(dumps, window, &chunks.content, now);
    probity_dump_chunks_release(&chunks);
    if (error != 0)
        note_failure(dumps, error);
}

static void dumps_write(struct probity_dumps *dumps, struct probity_pass *pass, int all)
{
    uint64_t now = probity_clock_ticks(pass->live->clock);

    for (uint32_t i = 0; i < dumps->windows;) {
        struct probity_dumps_window *window = &dumps->window[i];
        if (!all && (int64_t)(window->end - now) > 0) {
            i++;
            continue;
        }
        if (is_left_out(dumps, window, now))
            dumps->left_out++;
        else
            make(dumps, pass, window, now);
        if (i != --dumps->windows)
            *window = dumps->window[dumps->windows];
    }
    note_needs(dumps, pass);
}

const struct probity_dumps_calls probity_dumps_calls = {.open = dumps_open,
                                                        .close = dumps_close,
                                                        .take = dumps_take,
                                                        .due = dumps_due,
                                                        .write = dumps_write};
