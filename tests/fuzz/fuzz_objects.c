/* SPDX-License-Identifier: MIT
 *
 * fuzz_objects.c: the parts of an executable or shared library that libprobity-functions reads:
 * sections, symbols and line tables. The input is such a file. Its program headers are replaced,
 * because they must be those that were loaded.
 */
#include "functions/line_table.c"
#include "functions/symbol_table.c"

#include <sys/mman.h>

#include "base/selection.h"
#include "fuzz/target.h"

enum { PARTS_MAX = 4096, WHOLE_BYTES_MAX = 64 << 20 };

const int target_ways = 0;

static void *parts[PARTS_MAX];
static size_t part_count;

/* On the heap, so that a sanitizer detects reads past the end. */
void *probity_arena_map(size_t bytes)
{
    void *made = part_count < PARTS_MAX && bytes <= WHOLE_BYTES_MAX ? calloc(1, bytes) : NULL;

    if (made != NULL)
        parts[part_count++] = made;
    return made;
}

void probity_arena_unmap(void *at, size_t bytes)
{
    (void)bytes;
    for (size_t i = 0; i < part_count; i++) {
        if (parts[i] == at) {
            free(at);
            parts[i] = parts[--part_count];
            return;
        }
    }
    abort();
}

static const char rules[] = "file *.c;file src/*;file /usr/*";

static int takes(const void *context, const char *path)
{
    return probity_selection_takes_file(context, path);
}

static void read_all(const char *path, const struct probity_object *object)
{
    struct probity_line_sections lines = {.text_bytes = 0};
    const struct probity_line_search search = {takes, rules};
    struct probity_symbol_table table;
    uint64_t address, bytes, sum = 0;

    probity_symbol_table_read(path, object, &table);
    (void)probity_section_find(path, object, "xray_instr_map", &address, &bytes);
    lines.lines = probity_section_load(path, object, ".debug_line", &lines.line_bytes);
    lines.texts = probity_section_load(path, object, ".debug_line_str", &lines.text_bytes);
    if (lines.lines != NULL)
        probity_line_table_mark(&lines, &search, &table);
    for (size_t i = 0; i < table.count; i++) {
        const struct probity_symbol *found =
            probity_symbol_find(&table, table.symbols[i].address);
        sum += strlen(table.symbols[i].name) + strlen(table.symbols[i].file);
        if (found == NULL || found->source > PROBITY_SOURCE_OTHER ||
            (i > 0 && table.symbols[i - 1].address >= found->address))
            abort();
    }
    if (sum > (uint64_t)WHOLE_BYTES_MAX * TARGET_BYTES_MAX)
        abort();
    while (part_count > 0)
        free(parts[--part_count]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t copy[TARGET_BYTES_MAX];
    ElfW(Phdr) header = {.p_type = PT_NULL};
    ElfW(Ehdr) *head = (ElfW(Ehdr) *)copy;
    char path[64];

    if (size < sizeof *head + sizeof header || size > sizeof copy)
        return 0;
    memcpy(copy, data, size);
    head->e_phoff = sizeof *head;
    head->e_phnum = 1;
    memcpy(copy + sizeof *head, &header, sizeof header);
    int descriptor = memfd_create("object", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    const struct probity_object object = {
        .path = path, .headers = &header, .header_count = 1};
    if (descriptor >= 0 && write(descriptor, copy, size) == (ssize_t)size)
        read_all(path, &object);
    close(descriptor);
    return 0;
}
