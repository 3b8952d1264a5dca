/* SPDX-License-Identifier: MIT
 *
 * timeline_lane.c: merges spans, and stores values.
 *
 *     values of a call:   bytes u64 │ head, values, padding │ head, values, padding │ ...
 *     its number:         offset among the values of all calls, in units of 8 bytes
 */
#include "answers/timeline/timeline_lane.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "probity.h"

enum { VALUES_UNIT = 8 };

/* ---- Spans -------------------------------------------------------------------------------------
 */

static inline int is_narrow(const struct probity_timeline_span *span, uint64_t unit_ns)
{
    return span->count > 1 || span->length_ns < unit_ns;
}

/* Whether both spans begin in the same unit, a power of two, and are too short to be shown
 * separately. Unknown time between states must remain visible. */
static inline int may_join(const struct probity_timeline_span *last,
                           const struct probity_timeline_span *span, uint64_t unit_ns)
{
    return is_narrow(span, unit_ns) && is_narrow(last, unit_ns) &&
           !(span->flags & PROBITY_TIMELINE_APART) &&
           (last->start_ns ^ span->start_ns) < unit_ns;
}

/* Finds the name with most time by majority vote: a name with more than half of the time leads at
 * the end. Each name votes with its time against the leading name. Each span adds a nanosecond, so
 * that marks count, too. */
static void vote(struct probity_timeline_span *to, const struct probity_timeline_span *span)
{
    uint64_t lead_ns = to->count > 1 ? to->lead_ns : to->busy_ns + 1;
    uint64_t add_ns = span->count > 1 ? span->lead_ns : span->busy_ns + 1;

    if (to->name == span->name) {
        to->lead_ns = lead_ns + add_ns;
    } else if (add_ns > lead_ns) {
        to->name = span->name;
        to->lead_ns = add_ns - lead_ns;
    } else {
        to->lead_ns = lead_ns - add_ns;
    }
}

static void join(struct probity_timeline_span *to, const struct probity_timeline_span *span)
{
    uint64_t end_ns = span->start_ns + span->length_ns;

    vote(to, span);
    if (end_ns > to->start_ns + to->length_ns)
        to->length_ns = end_ns - to->start_ns;
    to->busy_ns += span->busy_ns;
    to->off_ns += span->off_ns;
    to->count += span->count;
    to->flags |= span->flags;
    to->values = 0;
}

static int lane_grow(struct probity_timeline_lane *lane, size_t count)
{
    struct probity_timeline_span *spans =
        probity_array_fit(lane->spans, sizeof *spans, count, &lane->capacity);

    if (spans == NULL)
        return PROBITY_ERROR_MEMORY;
    lane->spans = spans;
    return 0;
}

int probity_timeline_lane_add(struct probity_timeline_lane *lane,
                              const struct probity_timeline_span *span, uint64_t unit_ns)
{
    struct probity_timeline_span *last = lane->count > 0 ? &lane->spans[lane->count - 1] : NULL;

    if (last != NULL && may_join(last, span, unit_ns)) {
        join(last, span);
        return 0;
    }
    if (__builtin_expect(lane->count == lane->capacity, 0) &&
        lane_grow(lane, lane->count + 1) != 0)
        return PROBITY_ERROR_MEMORY;
    lane->spans[lane->count++] = *span;
    return 1;
}

size_t probity_timeline_lane_merge(struct probity_timeline_lane *lane, uint64_t unit_ns)
{
    size_t kept = 0;

    for (size_t i = 0; i < lane->count; i++) {
        if (kept > 0 && may_join(&lane->spans[kept - 1], &lane->spans[i], unit_ns))
            join(&lane->spans[kept - 1], &lane->spans[i]);
        else
            lane->spans[kept++] = lane->spans[i];
    }
    lane->count = kept;
    return kept;
}

int probity_timeline_lane_move(struct probity_timeline_lane *from, struct probity_timeline_lane *to,
                               uint64_t from_ns)
{
    size_t first = from->count;

    while (first > 0 && from->spans[first - 1].start_ns >= from_ns)
        first--;
    size_t count = from->count - first;
    if (count == 0)
        return 0;
    if (to->count + count > to->capacity && lane_grow(to, to->count + count) != 0)
        return PROBITY_ERROR_MEMORY;
    memcpy(to->spans + to->count, from->spans + first, count * sizeof *from->spans);
    to->count += count;
    from->count = first;
    return 0;
}

/* ---- Values ------------------------------------------------------------------------------------
 */

struct value_head {
    const struct probity_format *format;
    uint32_t kind, bytes;
};

static size_t padded(size_t bytes)
{
    return (bytes + VALUES_UNIT - 1) / VALUES_UNIT * VALUES_UNIT;
}

/* Makes room for `count` more bytes and returns their address. Returns NULL if out of memory. */
static uint8_t *bytes_room(struct timeline_bytes *bytes, size_t count)
{
    uint8_t *grown = probity_array_fit(bytes->bytes, 1, bytes->used + count, &bytes->capacity);

    if (grown == NULL)
        return NULL;
    bytes->bytes = grown;
    return grown + bytes->used;
}

int probity_timeline_bytes_add(struct timeline_bytes *bytes,
                               const struct probity_timeline_values *values)
{
    const struct value_head head = {values->format, values->kind, (uint32_t)values->bytes};
    uint8_t *at = bytes_room(bytes, sizeof head + padded(values->bytes));

    if (at == NULL)
        return PROBITY_ERROR_MEMORY;
    memcpy(at, &head, sizeof head);
    if (values->bytes > 0)
        memcpy(at + sizeof head, values->values, values->bytes);
    bytes->used += sizeof head + padded(values->bytes);
    return 0;
}

int probity_timeline_bytes_keep(struct timeline_bytes *all, const struct timeline_bytes *of_call,
                                uint32_t *ret_values)
{
    uint64_t count = of_call->used;

    if (all->used == 0)
        all->used = VALUES_UNIT; /* 0 means no values */
    uint8_t *at = bytes_room(all, sizeof count + of_call->used);
    if (at == NULL) {
        all->used = all->bytes != NULL ? all->used : 0;
        return PROBITY_ERROR_MEMORY;
    }
    *ret_values = (uint32_t)(all->used / VALUES_UNIT);
    memcpy(at, &count, sizeof count);
    memcpy(at + sizeof count, of_call->bytes, of_call->used);
    all->used += sizeof count + of_call->used;
    return 0;
}

struct timeline_bytes probity_timeline_bytes_of(const struct timeline_bytes *all, uint32_t values)
{
    size_t from = (size_t)values * VALUES_UNIT;
    uint64_t count;

    memcpy(&count, all->bytes + from, sizeof count);
    return (struct timeline_bytes){all->bytes + from + sizeof count, count, count};
}

int probity_timeline_bytes_next(const struct timeline_bytes *of_call, size_t *at,
                                struct probity_timeline_values *ret_values)
{
    struct value_head head;

    if (*at >= of_call->used)
        return 0;
    memcpy(&head, of_call->bytes + *at, sizeof head);
    *ret_values = (struct probity_timeline_values){head.kind, head.format,
                                                   of_call->bytes + *at + sizeof head, head.bytes};
    *at += sizeof head + padded(head.bytes);
    return 1;
}
