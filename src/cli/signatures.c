/* SPDX-License-Identifier: MIT
 *
 * signatures.c: finds the program that contains a function and reads its DWARF.
 */
#include "cli/signatures.h"

#include <string.h>

const char *cli_signature(struct symbols *symbols, const struct probity_reader *reader,
                          const struct probity_function *function)
{
    const struct probity_info *info = &probity_reader_facts(reader, function->trace)->info;
    const struct probity_text *path = &info->text[PROBITY_TAG_PROGRAM];
    char executable[4096];

    if (path->length >= sizeof executable)
        return NULL;
    memcpy(executable, path->length > 0 ? path->bytes : "", path->length);
    executable[path->length] = '\0';
    return symbols_signature(symbols, function, executable);
}

void cli_signatures_find(struct symbols *symbols, const struct probity_reader *reader,
                         struct probity_report_function *functions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (functions[i].function == NULL || *functions[i].signature != '\0')
            continue;
        const char *found = cli_signature(symbols, reader, functions[i].function);
        functions[i].signature = found != NULL ? found : "";
    }
}
