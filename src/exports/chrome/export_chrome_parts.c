/* SPDX-License-Identifier: MIT
 *
 * export_chrome_parts.c: builds texts that many lines share, once: process and thread, category and
 * name.
 */
#include <stdlib.h>
#include <string.h>

#include "exports/chrome/export_chrome_parts.h"
#include "print/values.h"

enum { NAME_BYTES_MAX = 2 * PROBITY_VALUE_TEXT_MAX };

/* Processes in containers may have the same process id, and viewers would merge them, so later ones
 * get an id beyond the range of Linux. */
uint64_t chrome_pid(const struct probity_export *export, size_t trace)
{
    uint32_t pid = probity_reader_facts(export->reader, trace)->info.pid;
    uint64_t beyond = 0;

    for (size_t i = 0; i < trace && beyond == 0; i++) {
        if (probity_reader_facts(export->reader, i)->info.pid == pid)
            beyond = (uint64_t)trace * CHROME_PIDS;
    }
    return pid + beyond;
}

__attribute__((noinline)) struct chrome_thread *chrome_make_thread(
    struct probity_export *export, struct probity_export_thread *thread)
{
    struct chrome_thread *made = calloc(1, sizeof *made);

    if (made == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return NULL;
    }
    made->pid = chrome_pid(export, thread->trace);
    char *at = export_put(made->text, "\"pid\":");
    at = probity_digits_put(at, made->pid);
    at = probity_digits_put(export_put(at, ",\"tid\":"), thread->tid);
    at = export_put(at, ",\"ts\":");
    made->bytes = (uint32_t)(at - made->text);
    thread->user = made;
    return made;
}

/* Sets the text to ',"cat":"function","name":"..."'. */
__attribute__((noinline)) void chrome_make_name(struct export_name *name, const char *category,
                                                const char *text, size_t bytes)
{
    char line[NAME_BYTES_MAX], *at = export_put(export_put(line, ",\"cat\":\""), category);

    at = export_json_text(export_put(at, "\",\"name\":"), line + sizeof line, text, bytes);
    name->bytes = (uint32_t)(at - line);
    name->text = malloc(name->bytes);
    if (name->text != NULL)
        memcpy(name->text, line, name->bytes);
}
