/* SPDX-License-Identifier: MIT
 *
 * found.c: see found.h. Runs when the program is loaded, and when it begins a recording.
 */
#include "functions/found.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "functions/scope_sites.h"

struct probity_found probity_found;

/* Returns the number with commas between groups of three digits. */
static const char *number_text(uint32_t number, char room[16])
{
    char *at = room + 15;

    *at = '\0';
    for (int digits = 0; digits == 0 || number > 0; digits++, number /= 10) {
        if (digits > 0 && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + number % 10);
    }
    return at;
}

/* Returns whether `probity record` started this process: programs started by this one do not
 * report. */
static int is_recorders_child(void)
{
    const char *recorder = probity_os_is_privileged() ? NULL : getenv("PROBITY_RECORDER");

    return recorder != NULL && strtol(recorder, NULL, 10) == (long)getppid();
}

enum { PROBLEM_BYTES = 160 };

/* Describes the most serious problem. Returns whether there is any. */
static int find_problem(char ret_problem[PROBLEM_BYTES])
{
    ret_problem[0] = '\0';
    if (probity_found.why != 0)
        snprintf(ret_problem, PROBLEM_BYTES, "; cannot change their code: %.99s",
                 strerror(probity_found.why));
    else if (probity_found.replaced > 0)
        snprintf(ret_problem, PROBLEM_BYTES, "; not recorded because XRay's runtime has patched "
                 "them (XRAY_OPTIONS): %u", probity_found.replaced);
    else if (probity_found.foreign > 0)
        snprintf(ret_problem, PROBLEM_BYTES, "; not recorded because their sleds are damaged: %u",
                 probity_found.foreign);
    else if (probity_found.damaged > 0)
        snprintf(ret_problem, PROBLEM_BYTES, "; not recorded because their tables of sleds are "
                 "damaged: objects: %u", probity_found.damaged);
    return ret_problem[0] != '\0';
}

void probity_found_report(void)
{
    uint32_t usable = probity_found.functions - probity_found.foreign - probity_found.replaced;
    char line[512], number[16], part[64] = "", more[64] = "", problem[PROBLEM_BYTES];
    int is_sleds = probity_found.objects > 0 || probity_found.patchable_objects == 0;
    uint32_t count = is_sleds ? probity_found.objects : probity_found.patchable_objects;

    if (!find_problem(problem) && (count == 0 || !is_recorders_child()))
        return;
    uint32_t selected = is_sleds ? probity_found.selected : probity_found.patchable_selected;
    if (probity_found.why == 0 &&
        selected < (is_sleds ? usable : probity_found.patchable_functions))
        snprintf(part, sizeof part, ", %s selected", number_text(selected, number));
    if (is_sleds && probity_found.patchable_objects > 0)
        snprintf(more, sizeof more, ", and %s by patchable entries in %u",
                 number_text(probity_found.patchable_functions, number),
                 probity_found.patchable_objects);
    uint32_t functions = is_sleds ? probity_found.functions : probity_found.patchable_functions;
    int length = snprintf(line, sizeof line, "probity: %s function%s by %s in %u object%s%s%s%s\n",
                          number_text(functions, number), functions == 1 ? "" : "s",
                          is_sleds ? "XRay sleds" : "patchable entries", count,
                          count == 1 ? "" : "s", part, more, problem);
    probity_os_say(line, (size_t)length);
}

int probity_found_has_sites(void)
{
    return probity_scope_sites_found.scopes > 0 ||
           __atomic_load_n(&probity_found.are_sites_loaded, __ATOMIC_RELAXED);
}

void probity_found_report_sites(void)
{
    static const char forked[] = "probity: scopes of FN_FUNC are not recorded: cannot change their "
                                 "code in a process forked from one with several threads\n";
    char line[192];

    if (probity_found.sites_why == 0 || !probity_found_has_sites())
        return;
    if (probity_found.sites_why == ECHILD) {
        probity_os_say(forked, sizeof forked - 1);
        return;
    }
    int length = snprintf(line, sizeof line, "probity: %u scopes of FN_FUNC in %u objects are not "
                          "recorded: cannot change their code: %.64s\n",
                          probity_scope_sites_found.scopes, probity_scope_sites_found.objects,
                          strerror(probity_found.sites_why));
    probity_os_say(line, (size_t)length);
}
