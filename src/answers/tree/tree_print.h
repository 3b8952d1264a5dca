/* SPDX-License-Identifier: MIT
 *
 * tree_print.h: a call tree as text, CSV, folded stacks for flame graph tools, and JSON.
 */
#ifndef PROBITY_ANSWERS_TREE_TREE_PRINT_H
#define PROBITY_ANSWERS_TREE_TREE_PRINT_H

#include <stdio.h>

#include "answers/tree/tree.h"

/* The same tree with the time in another state in place of the CPU time. The answer's own tree has
 * the running time. */
struct probity_tree_states {
    const struct probity_tree_node *waiting, *unknown; /* roots */
};

/* A tree and facts about it: the input of all output formats. */
struct probity_tree_answer {
    const struct probity_reader *reader;
    const struct probity_tree_node *root;
    const struct probity_scopes_repairs *repairs;
    uint64_t lost;     /* calls without a node */
    uint64_t profiled; /* calls of profile mode, which have no paths */
    size_t pruned;     /* nodes not shown */
    uint64_t counted;  /* calls only counted because of PROBITY_BUDGET; they have no paths */
    const struct probity_tree_states *states; /* split times by states; NULL: show CPU times */
};

/* In formats that write every path in full, the size grows with the square of the depth. To limit
 * it, only the outermost and innermost levels of a deeper path are written: self times stay with
 * their functions, and functions near the outermost level keep their full totals. */
enum { PROBITY_TREE_LEVELS_OUTER = 512, PROBITY_TREE_LEVELS_INNER = 512,
       PROBITY_TREE_LEVELS_SHOWN = PROBITY_TREE_LEVELS_OUTER + PROBITY_TREE_LEVELS_INNER };

#define PROBITY_TREE_LEVELS_BETWEEN "[truncated]"

struct probity_tree_layout {
    int has_color;
    int has_lines; /* draw lines with U+2500 etc. instead of ASCII */
    int has_places;
    int is_corrected; /* also show times without overhead */
    size_t line_columns; /* terminal width: columns that do not fit are omitted; 0: no limit */
};

/* Returns the name of a node's function, in C++ with its classes, or "site-N" (in ret_text) if its
 * declaration is lost. */
const char *probity_tree_label(const struct probity_tree_node *node, char ret_text[32],
                               size_t *ret_bytes);

/* Prints a line for each node, children below their callers; then repairs and whether the traces
 * are complete. The caller checks the stream for errors. */
void probity_tree_text(FILE *stream, const struct probity_tree_layout *layout,
                       const struct probity_tree_answer *answer);

/* Prints a header line, then one line for each node: its number, its caller's (0: none), its depth
 * ... Times are ns; unknown values are empty. Returns 0 or PROBITY_ERROR_MEMORY; the caller checks
 * the stream for errors. */
int probity_tree_csv(FILE *stream, const struct probity_tree_answer *answer);

/* Prints lines "outermost;...;function VALUE". key is CALLS, or one of the self times in ns, to
 * which the total time of pruned children is added. Lines with 0 are left out. Returns the same as
 * above. *ret_shortened: number of lines with levels left out; see PROBITY_TREE_LEVELS_SHOWN. */
int probity_tree_folded(FILE *stream, const struct probity_tree_answer *answer,
                        enum probity_tree_key key, uint64_t *ret_shortened);

enum { PROBITY_TREE_THREAD_BYTES = 128 };

/* Writes the outermost level of a folded stack by thread: "NAME-TID". Thread ids are unique only
 * within a process, and process ids within a container, so it adds what is needed to distinguish
 * the threads. */
void probity_tree_thread_text(const struct probity_reader *reader,
                              const struct probity_thread_label *thread,
                              char ret_text[PROBITY_TREE_THREAD_BYTES]);

/* Prints one object: the traces, the repairs, the omissions, and "tree", a list of nodes, each with
 * its "children". Times are ns; unknown values are null. Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_WRITE. */
int probity_tree_json(FILE *stream, const struct probity_tree_answer *answer);

#endif
