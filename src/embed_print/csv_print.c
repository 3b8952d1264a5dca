/* SPDX-License-Identifier: MIT
 *
 * csv_print.c: converts a trace that has just been closed to the requested CSV file. Runs in the
 * thread that ends the recording, at exit after the program's own handlers.
 */
#include "embed_print/print.h"

#include <string.h>

#include "base/parent.h"
#include "embed_print/text_file.h"
#include "exports/csv/csv.h"

_Static_assert((int)PROBITY_HOOKS_WHY_BYTES >= (int)PROBITY_CSV_WHY_BYTES, "room for the reason");

/* Both files are in one directory, which may have been renamed since. */
static int write_csv(const struct probity_hooks_job *print, char ret_why[PROBITY_CSV_WHY_BYTES])
{
    const char *slash = strrchr(print->csv_path, '/');
    struct probity_csv_job job = {.trace_path = print->trace_path,
                                  .csv_name = slash != NULL ? slash + 1 : print->csv_path,
                                  .device = print->trace_device,
                                  .inode = print->trace_inode};
    struct probity_parent parent;

    if (probity_parent_open(print->trace_path, &parent) != 0)
        return PROBITY_ERROR_OPEN;
    job.directory = parent.directory;
    int result = probity_parent_holds(&parent, job.device, job.inode)
                     ? probity_csv_write_file(&job, ret_why)
                     : PROBITY_ERROR_OPEN;
    probity_parent_close(&parent);
    return result;
}

int probity_csv_print(const struct probity_hooks_job *job, char ret_why[PROBITY_HOOKS_WHY_BYTES])
{
    struct probity_text_guard guard;

    probity_text_guard_begin(&guard);
    int result = write_csv(job, ret_why);
    probity_text_guard_end(&guard);
    return result;
}
