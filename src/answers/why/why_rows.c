/* SPDX-License-Identifier: MIT
 *
 * why_rows.c: selects the details of a slow call to show.
 */
#include "answers/why/why_rows.h"

#include <stdlib.h>
#include <string.h>

uint64_t probity_why_row_distance(const struct probity_why_row *row)
{
    uint64_t value = row->value.wall_ns, usual = row->usual.wall_ns;

    return value > usual ? value - usual : usual - value;
}

size_t probity_why_rows(const struct probity_why_case *of,
                        struct probity_why_row ret_rows[PROBITY_WHY_ROWS])
{
    size_t count = 0;

    for (size_t node = 1; node < of->group->node_count; node++) {
        const struct probity_why_row row = {node, probity_why_value_of(of, node),
                                            probity_why_usual(of->group, node)};
        size_t at = count < PROBITY_WHY_ROWS ? count++ : PROBITY_WHY_ROWS;
        if (probity_why_row_distance(&row) == 0) {
            count -= at < PROBITY_WHY_ROWS;
            continue;
        }
        uint64_t ns = probity_why_row_distance(&row);
        for (; at > 0 && probity_why_row_distance(&ret_rows[at - 1]) < ns; at--) {
            if (at < PROBITY_WHY_ROWS)
                ret_rows[at] = ret_rows[at - 1];
        }
        if (at < PROBITY_WHY_ROWS)
            ret_rows[at] = row;
    }
    return count;
}

static int is_alike(const struct probity_why_other *other, const struct probity_path_part *part)
{
    return other->thread_slot == part->thread_slot && other->state == part->state &&
           other->doing.function == part->doing.function && other->doing.call == part->doing.call;
}

/* Sorts by time, longest first. Entries with equal times keep the order of the path. */
static void sort_others(struct probity_why_other *others, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct probity_why_other other = others[i];
        size_t at = i;
        for (; at > 0 && others[at - 1].ns < other.ns; at--)
            others[at] = others[at - 1];
        others[at] = other;
    }
}

/* Maximum number of entries to sum: the first ones are the most likely causes. */
enum { OTHERS_SUMMED = 64 };

size_t probity_why_others(const struct probity_why *why, const struct probity_why_case *of,
                          struct probity_why_other ret_others[PROBITY_WHY_OTHERS])
{
    const struct probity_path_span *span = probity_why_path(why, of);
    struct probity_why_other others[OTHERS_SUMMED];
    size_t count = 0;

    for (size_t i = 0; span != NULL && i < span->part_count; i++) {
        const struct probity_path_part *part = &span->parts[i];
        size_t at = 0;
        if (part->thread_slot == of->thread_slot)
            continue;
        while (at < count && !is_alike(&others[at], part))
            at++;
        if (at == OTHERS_SUMMED)
            continue;
        if (at == count)
            others[count++] = (struct probity_why_other){part->thread_slot, part->state,
                                                         part->doing, 0};
        others[at].ns += part->ns;
    }
    sort_others(others, count);
    count = count < PROBITY_WHY_OTHERS ? count : PROBITY_WHY_OTHERS;
    memcpy(ret_others, others, count * sizeof *others);
    return count;
}

static const char *name_of(const struct probity_function *function)
{
    return function != NULL ? function->name : "(unknown)";
}

const char *probity_why_group_name(const struct probity_why_answer *answer,
                                   const struct probity_why_group *group)
{
    return answer->span != NULL ? answer->span : name_of(group->function.key.function);
}

void probity_why_path_text(const struct probity_why_group *group, size_t node,
                           char ret_text[PROBITY_WHY_PATH_BYTES])
{
    static const char between[] = " > ", left_out[] = "... > ";
    char *end = ret_text + PROBITY_WHY_PATH_BYTES - 1, *at = end;

    *at = '\0';
    for (int is_first = 1; node != 0; node = group->nodes[node].parent, is_first = 0) {
        const char *name = name_of(group->nodes[node].key.function);
        size_t bytes = strlen(name), more = is_first ? 0 : strlen(between);
        if ((size_t)(at - ret_text) < bytes + more + strlen(left_out)) {
            at = is_first ? at : at - strlen(left_out);
            memcpy(at, left_out, is_first ? 0 : strlen(left_out));
            break;
        }
        at -= more;
        memcpy(at, between, more);
        at -= bytes;
        memcpy(at, name, bytes);
    }
    memmove(ret_text, at, (size_t)(end - at) + 1);
}
