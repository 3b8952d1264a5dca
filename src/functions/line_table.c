/* SPDX-License-Identifier: MIT
 *
 * line_table.c: see line_table.h. A line table is a sequence of units, each with its own list of
 * files, and a program for a machine with registers, including an address and a file. A unit's
 * program emits rows: the code from this address to that of the next row comes from this file. A
 * unit that is damaged ends early.
 */
#include "functions/line_table.h"

#include <string.h>

#include "functions/arena.h"

enum { FILES_MAX = 1 << 16, DIRECTORIES_MAX = 1 << 16, PATH_BYTES = 4096 };

/* The contents and forms of entries in a list of files (DWARF 5, 6.2.4.1). */
enum { CONTENT_PATH = 1, CONTENT_DIRECTORY = 2 };
enum {
    FORM_BLOCK2 = 3,
    FORM_BLOCK4 = 4,
    FORM_DATA2 = 5,
    FORM_DATA4 = 6,
    FORM_DATA8 = 7,
    FORM_STRING = 8,
    FORM_BLOCK = 9,
    FORM_BLOCK1 = 10,
    FORM_DATA1 = 11,
    FORM_STRP = 14,
    FORM_UDATA = 15,
    FORM_DATA16 = 30,
    FORM_LINE_STRP = 31
};

/* Opcodes (6.2.5). */
enum {
    EXTENDED = 0,
    COPY = 1,
    ADVANCE_PC = 2,
    SET_FILE = 4,
    CONST_ADD_PC = 8,
    FIXED_ADVANCE_PC = 9,
    END_SEQUENCE = 1,
    SET_ADDRESS = 2
};

struct cursor {
    const uint8_t *at, *end;
    int is_damaged;
};

struct source {
    const char *name;
    uint32_t directory;
    uint32_t source; /* an enum probity_source */
};

/* Data of the unit being read. Only the used part of each list takes pages. */
struct lists {
    struct source files[FILES_MAX];
    const char *directories[DIRECTORIES_MAX];
};

struct unit {
    unsigned version, offset_bytes;
    unsigned step; /* minimum size of an instruction in bytes */
    unsigned line_range, first_special;
    const uint8_t *operands; /* number of operands, by opcode from 1 */
    struct lists *lists;
    size_t file_count, directory_count;
};

struct machine {
    uint64_t address, file;
    uint64_t row_address, row_file; /* those of the last row that began */
    int has_row, is_ignored;
};

struct marking {
    const struct probity_line_sections *sections;
    const struct probity_line_search *search;
    struct probity_symbol_table *table;
    size_t visits_left; /* number of visits to symbols: limits the time for overlapping rows */
};

/* ---- Bytes -------------------------------------------------------------------------------------
 */

static const uint8_t *take(struct cursor *cursor, uint64_t bytes)
{
    const uint8_t *at = cursor->at;

    if (bytes > (size_t)(cursor->end - at)) {
        cursor->is_damaged = 1;
        cursor->at = cursor->end;
        return NULL;
    }
    cursor->at += bytes;
    return at;
}

/* Reads a number in the byte order of this machine, of at most 8 bytes. */
static uint64_t take_number(struct cursor *cursor, unsigned bytes)
{
    const uint8_t *at = take(cursor, bytes);
    uint64_t number = 0;

    if (at != NULL)
        memcpy((uint8_t *)&number + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 8 - bytes : 0), at,
               bytes);
    return number;
}

/* Reads a LEB128 number; also skips a signed one, whose value is not used. */
static uint64_t take_leb(struct cursor *cursor)
{
    uint64_t number = 0;

    for (unsigned shift = 0;; shift += 7) {
        const uint8_t *at = take(cursor, 1);
        if (at == NULL)
            return 0;
        number |= shift < 64 ? (uint64_t)(*at & 0x7f) << shift : 0;
        if ((*at & 0x80) == 0)
            return number;
    }
}

static const char *text_at(const uint8_t *at, const uint8_t *end)
{
    return at < end && memchr(at, '\0', (size_t)(end - at)) != NULL ? (const char *)at : NULL;
}

/* Reads a text. Never returns NULL; "" if damaged. */
static const char *take_text(struct cursor *cursor)
{
    const char *text = text_at(cursor->at, cursor->end);

    if (text == NULL)
        (void)take(cursor, UINT64_MAX);
    else
        cursor->at += strlen(text) + 1;
    return text != NULL ? text : "";
}

/* ---- Lists of files ----------------------------------------------------------------------------
 */

static void add_directory(struct unit *unit, const char *name)
{
    if (unit->directory_count < DIRECTORIES_MAX)
        unit->lists->directories[unit->directory_count++] = name;
}

static void add_file(struct unit *unit, const char *name, uint64_t directory)
{
    if (unit->file_count < FILES_MAX)
        unit->lists->files[unit->file_count++] =
            (struct source){name, directory < UINT32_MAX ? (uint32_t)directory : UINT32_MAX,
                          PROBITY_SOURCE_UNKNOWN};
}

/* Reads the lists from before DWARF 5. Both are numbered from 1; directory 0, that of the
 * compilation, is not listed. */
static void take_old_lists(struct unit *unit, struct cursor *cursor)
{
    const char *text;

    add_directory(unit, "");
    while (*(text = take_text(cursor)) != '\0')
        add_directory(unit, text);
    add_file(unit, "", 0);
    while (*(text = take_text(cursor)) != '\0') {
        add_file(unit, text, take_leb(cursor));
        (void)take_leb(cursor);
        (void)take_leb(cursor);
    }
}

static const char *text_of_section(const struct marking *marking, uint64_t offset)
{
    const struct probity_line_sections *sections = marking->sections;

    if (offset >= sections->text_bytes)
        return "";
    const uint8_t *at = sections->texts + offset;
    size_t room = sections->text_bytes - offset < PATH_BYTES ? sections->text_bytes - offset
                                                             : PATH_BYTES;
    return text_at(at, at + room) != NULL ? (const char *)at : "";
}

static unsigned number_bytes(uint64_t form)
{
    return form == FORM_DATA1   ? 1
           : form == FORM_DATA2 ? 2
           : form == FORM_DATA4 ? 4
           : form == FORM_DATA8 ? 8
                                : 0;
}

/* Reads one value: a text, or a number, or neither. Each takes at least one byte. */
static void take_form(const struct marking *marking, const struct unit *unit,
                      struct cursor *cursor, uint64_t form, const char **ret_text,
                      uint64_t *ret_number)
{
    *ret_text = "";
    *ret_number = 0;
    if (form == FORM_STRING)
        *ret_text = take_text(cursor);
    else if (form == FORM_LINE_STRP)
        *ret_text = text_of_section(marking, take_number(cursor, unit->offset_bytes));
    else if (form == FORM_STRP)
        (void)take_number(cursor, unit->offset_bytes);
    else if (form == FORM_UDATA)
        *ret_number = take_leb(cursor);
    else if (form == FORM_DATA16)
        (void)take(cursor, 16);
    else if (form == FORM_BLOCK)
        (void)take(cursor, take_leb(cursor));
    else if (form == FORM_BLOCK1 || form == FORM_BLOCK2 || form == FORM_BLOCK4)
        (void)take(cursor, take_number(cursor, form == FORM_BLOCK1   ? 1
                                               : form == FORM_BLOCK2 ? 2
                                                                     : 4));
    else if (number_bytes(form) > 0)
        *ret_number = take_number(cursor, number_bytes(form));
    else
        (void)take(cursor, UINT64_MAX);
}

/* Reads a list of directories or of files. */
static void take_list(const struct marking *marking, struct unit *unit, struct cursor *cursor,
                      int is_files)
{
    unsigned formats = (unsigned)take_number(cursor, 1);
    struct cursor format = *cursor;

    for (unsigned i = 0; i < 2 * formats; i++)
        (void)take_leb(cursor);
    uint64_t count = take_leb(cursor);
    for (uint64_t i = 0; i < count && formats > 0 && !cursor->is_damaged; i++) {
        const char *name = "", *text;
        uint64_t directory = 0, number;
        struct cursor at = format;
        for (unsigned j = 0; j < formats; j++) {
            uint64_t content = take_leb(&at);
            take_form(marking, unit, cursor, take_leb(&at), &text, &number);
            name = content == CONTENT_PATH ? text : name;
            directory = content == CONTENT_DIRECTORY ? number : directory;
        }
        if (is_files)
            add_file(unit, name, directory);
        else
            add_directory(unit, name);
    }
}

/* ---- Paths -------------------------------------------------------------------------------------
 */

/* Removes "." and "DIRECTORY/..", as in "src/net/../common.h". */
static void normalize(char *path)
{
    char *to = path;

    for (char *at = path, *end; *at != '\0'; at = end) {
        size_t bytes = strcspn(at, "/");
        end = at + bytes + (at[bytes] == '/');
        char *last = to - path > 1 ? memrchr(path, '/', (size_t)(to - path) - 1) : NULL;
        char *parent = last != NULL ? last + 1 : path;
        if (bytes == 1 && *at == '.')
            continue;
        if (bytes == 2 && memcmp(at, "..", 2) == 0 && to > parent && *parent != '/' &&
            memcmp(parent, "../", 3) != 0) {
            to = parent;
            continue;
        }
        memmove(to, at, (size_t)(end - at));
        to += end - at;
    }
    *to = '\0';
}

/* Returns 0 if there is no room. */
static int append(char *path, size_t *used, const char *part)
{
    size_t bytes = strlen(part), slash = *used > 0 && path[*used - 1] != '/';

    if (bytes == 0)
        return 1;
    if (bytes >= PATH_BYTES - *used - slash)
        return 0;
    memcpy(path + *used, "/", slash);
    memcpy(path + *used + slash, part, bytes + 1);
    *used += slash + bytes;
    return 1;
}

static int is_wanted(const struct marking *marking, const struct unit *unit,
                     const struct source *file)
{
    const char *name = file->name, *directory = "", *first = "";
    char path[PATH_BYTES] = "";
    size_t used = 0;

    if (*name != '/' && file->directory < unit->directory_count)
        directory = unit->lists->directories[file->directory];
    if (*name != '/' && *directory != '/' && file->directory > 0 && unit->directory_count > 0)
        first = unit->lists->directories[0];
    if (*name == '\0' || !append(path, &used, first) || !append(path, &used, directory) ||
        !append(path, &used, name))
        return 0;
    normalize(path);
    return marking->search->is_wanted(marking->search->context, path);
}

static uint32_t source_of(const struct marking *marking, const struct unit *unit, uint64_t number)
{
    if (number >= unit->file_count)
        return PROBITY_SOURCE_UNKNOWN;
    struct source *file = &unit->lists->files[number];
    if (file->source == PROBITY_SOURCE_UNKNOWN)
        file->source = is_wanted(marking, unit, file) ? PROBITY_SOURCE_WANTED
                                                      : PROBITY_SOURCE_OTHER;
    return file->source;
}

/* ---- Rows --------------------------------------------------------------------------------------
 */

static size_t first_symbol_from(const struct probity_symbol_table *table, uint64_t address)
{
    size_t from = 0, to = table->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (table->symbols[middle].address < address)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Marks the functions that begin at these addresses. */
static void mark(struct marking *marking, const struct unit *unit, uint64_t from, uint64_t to,
                 uint64_t file)
{
    struct probity_symbol_table *table = marking->table;

    for (size_t i = first_symbol_from(table, from);
         i < table->count && table->symbols[i].address < to && marking->visits_left > 0; i++) {
        struct probity_symbol *symbol = &table->symbols[i];
        marking->visits_left--;
        if (symbol->source != PROBITY_SOURCE_UNKNOWN)
            continue;
        symbol->source = source_of(marking, unit, file);
        table->sources += symbol->source != PROBITY_SOURCE_UNKNOWN;
    }
}

/* Adds a row. Of several rows at one address, the first is the function's; the others may belong to
 * inlined functions. Linkers move discarded functions to address 0. */
static void add_row(struct marking *marking, const struct unit *unit, struct machine *machine)
{
    if (!machine->has_row)
        machine->is_ignored = machine->address == 0;
    else if (machine->address == machine->row_address)
        return;
    else if (machine->address < machine->row_address)
        machine->is_ignored = 1;
    if (machine->has_row && !machine->is_ignored)
        mark(marking, unit, machine->row_address, machine->address, machine->row_file);
    machine->has_row = 1;
    machine->row_address = machine->address;
    machine->row_file = machine->file;
}

static void run_extended(struct marking *marking, const struct unit *unit, struct cursor *cursor,
                         struct machine *machine)
{
    uint64_t bytes = take_leb(cursor);
    const uint8_t *at = bytes > 0 ? take(cursor, bytes) : NULL;

    if (at == NULL)
        return;
    if (*at == END_SEQUENCE) {
        add_row(marking, unit, machine);
        *machine = (struct machine){.file = 1};
    } else if (*at == SET_ADDRESS && bytes <= 9) {
        struct cursor operand = {at + 1, at + bytes, 0};
        machine->address = take_number(&operand, (unsigned)(bytes - 1));
    }
}

static void run_standard(struct marking *marking, const struct unit *unit, struct cursor *cursor,
                         struct machine *machine, unsigned opcode)
{
    if (opcode == COPY)
        add_row(marking, unit, machine);
    else if (opcode == ADVANCE_PC)
        machine->address += take_leb(cursor) * unit->step;
    else if (opcode == SET_FILE)
        machine->file = take_leb(cursor);
    else if (opcode == CONST_ADD_PC)
        machine->address += (255 - unit->first_special) / unit->line_range * unit->step;
    else if (opcode == FIXED_ADVANCE_PC)
        machine->address += take_number(cursor, 2);
    else
        for (unsigned i = 0; i < unit->operands[opcode - 1]; i++)
            (void)take_leb(cursor);
}

static void run(struct marking *marking, const struct unit *unit, struct cursor *cursor)
{
    struct machine machine = {.file = 1};

    while (cursor->at < cursor->end) {
        unsigned opcode = (unsigned)take_number(cursor, 1);
        if (opcode >= unit->first_special) {
            machine.address += (opcode - unit->first_special) / unit->line_range * unit->step;
            add_row(marking, unit, &machine);
        } else if (opcode == EXTENDED) {
            run_extended(marking, unit, cursor, &machine);
        } else {
            run_standard(marking, unit, cursor, &machine, opcode);
        }
    }
}

/* ---- Units -------------------------------------------------------------------------------------
 */

/* Returns 0 if the unit cannot be read. */
static int take_head(const struct marking *marking, struct unit *unit, struct cursor *cursor)
{
    unit->version = (unsigned)take_number(cursor, 2);
    if (unit->version < 2 || unit->version > 5)
        return 0;
    if (unit->version == 5)
        (void)take(cursor, 2); /* sizes of addresses and of segment selectors */
    uint64_t head_bytes = take_number(cursor, unit->offset_bytes);
    if (head_bytes > (size_t)(cursor->end - cursor->at))
        return 0;
    struct cursor head = {cursor->at, cursor->at + head_bytes, 0};
    cursor->at = head.end;
    unit->step = (unsigned)take_number(&head, 1);
    (void)take(&head, unit->version >= 4 ? 3 : 2); /* operations, statements, lines */
    unit->line_range = (unsigned)take_number(&head, 1);
    unit->first_special = (unsigned)take_number(&head, 1);
    if (unit->line_range == 0 || unit->first_special == 0)
        return 0;
    unit->operands = take(&head, unit->first_special - 1);
    if (unit->version < 5) {
        take_old_lists(unit, &head);
    } else {
        take_list(marking, unit, &head, 0);
        take_list(marking, unit, &head, 1);
    }
    return !head.is_damaged;
}

void probity_line_table_mark(const struct probity_line_sections *sections,
                             const struct probity_line_search *search,
                             struct probity_symbol_table *table)
{
    struct marking marking = {sections, search, table, 8 * table->count + (1 << 16)};
    struct cursor all = {sections->lines, sections->lines + sections->line_bytes, 0};
    struct lists *lists = probity_arena_map(sizeof *lists);

    while (lists != NULL && all.at < all.end) {
        struct unit unit = {.offset_bytes = 4, .lists = lists};
        uint64_t bytes = take_number(&all, 4);
        if (bytes == UINT32_MAX) {
            unit.offset_bytes = 8;
            bytes = take_number(&all, 8);
        }
        struct cursor cursor = {all.at, all.at, 0};
        if (take(&all, bytes) == NULL)
            break;
        cursor.end = all.at;
        if (take_head(&marking, &unit, &cursor))
            run(&marking, &unit, &cursor);
    }
    if (lists != NULL)
        probity_arena_unmap(lists, sizeof *lists);
}
