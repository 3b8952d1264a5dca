/* SPDX-License-Identifier: MIT
 *
 * found.h: counts what can be recorded in the loaded objects, and reports it on stderr.
 */
#ifndef PROBITY_FUNCTIONS_FOUND_H
#define PROBITY_FUNCTIONS_FOUND_H

#include <stdint.h>

struct probity_found {
    uint32_t objects, functions, selected, foreign, replaced, damaged;
    uint32_t patchable_objects, patchable_functions, patchable_selected;
    int why, sites_why; /* errno, if sleds, or sites of FN_FUNC, could not be replaced */
    int are_sites_loaded; /* an object has reported that it has scopes of FN_FUNC */
};
extern struct probity_found probity_found __attribute__((visibility("hidden")));

/* Prints one line, if `probity record` started the program or there is a problem. */
void probity_found_report(void);

/* Returns whether there are scopes of FN_FUNC whose code is changed. */
int probity_found_has_sites(void);

/* Prints one line, if scopes of FN_FUNC are not recorded because code cannot be changed. */
void probity_found_report_sites(void);

#endif
