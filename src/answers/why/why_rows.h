/* SPDX-License-Identifier: MIT
 *
 * why_rows.h: the details of a slow call that are worth showing: the paths below it that differed
 * most from their medians, and the activity of other threads on its critical path.
 */
#ifndef PROBITY_ANSWERS_WHY_WHY_ROWS_H
#define PROBITY_ANSWERS_WHY_WHY_ROWS_H

#include "answers/why/why_print.h"

enum {
    PROBITY_WHY_ROWS = 6,
    PROBITY_WHY_OTHERS = 3,
    PROBITY_WHY_WAITS_SHOWN = 3,
    PROBITY_WHY_PATH_BYTES = 256
};

/* A path, with its values in the case and its usual values. */
struct probity_why_row {
    size_t node;
    struct probity_why_value value, usual;
};

/* Activity of a thread while the case waited. */
struct probity_why_other {
    uint32_t thread_slot;
    enum probity_path_state state;
    struct probity_past_doing doing;
    uint64_t ns;
};

/* Returns the difference between the wall times of a row. */
uint64_t probity_why_row_distance(const struct probity_why_row *row);

/* Selects the paths with the largest differences of wall time, except the case itself, and returns
 * their number. */
size_t probity_why_rows(const struct probity_why_case *of,
                        struct probity_why_row ret_rows[PROBITY_WHY_ROWS]);

/* Selects the activities that took most time, longest first, and returns their number. */
size_t probity_why_others(const struct probity_why *why, const struct probity_why_case *of,
                          struct probity_why_other ret_others[PROBITY_WHY_OTHERS]);

/* Returns the name of the function or of the spans. */
const char *probity_why_group_name(const struct probity_why_answer *answer,
                                   const struct probity_why_group *group);

/* Writes "parse > read", without the function of the case. If the text is too long, its beginning
 * is left out. It is not yet safe to print. */
void probity_why_path_text(const struct probity_why_group *group, size_t node,
                           char ret_text[PROBITY_WHY_PATH_BYTES]);

#endif
