/* SPDX-License-Identifier: MIT
 *
 * print.c: the only function that libprobity-print exports, which returns the others. It is called
 * by the library that records; programs have no use for it.
 */
#include "embed_print/print.h"

#include <stddef.h>

#include "writer/recover.h"

static int close_trace(const char *trace_path)
{
    struct probity_recover_result recovered;

    return probity_recover(trace_path, 0, &recovered);
}

static const struct probity_session_hooks hooks = {
    .make_csv = probity_csv_print,
    .print_log = probity_log_print,
    .print_summary = probity_summary_print,
    .close_trace = close_trace,
};

extern __attribute__((visibility("default"))) probity_hooks_entry probity_print_hooks;

const struct probity_session_hooks *probity_print_hooks(uint32_t version)
{
    return version == PROBITY_HOOKS_VERSION ? &hooks : NULL;
}
