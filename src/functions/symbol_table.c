/* SPDX-License-Identifier: MIT
 *
 * symbol_table.c: see symbol_table.h. Reads with pread() into private memory, since an access to a
 * mapped file that was truncated would kill the program.
 */
#include "functions/symbol_table.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "functions/arena.h"

enum { TABLE_BYTES_MAX = 1 << 30, HEADER_BYTES_MAX = 1 << 16 };

struct file {
    int descriptor;
    uint64_t bytes;
};

static int read_at(const struct file *file, uint64_t offset, void *to, size_t bytes)
{
    size_t done = 0;

    if (offset > file->bytes || bytes > file->bytes - offset)
        return -1;
    while (done < bytes) {
        ssize_t got = pread(file->descriptor, (uint8_t *)to + done, bytes - done,
                            (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -1;
        done += (size_t)got;
    }
    return 0;
}

/* Returns a part of the file, in memory of its size; NULL if it is empty, too large or cannot be
 * read. */
static void *load(const struct file *file, uint64_t offset, uint64_t bytes)
{
    void *at = bytes > 0 && bytes <= TABLE_BYTES_MAX ? probity_arena_map(bytes) : NULL;

    if (at != NULL && read_at(file, offset, at, bytes) != 0) {
        probity_arena_unmap(at, bytes);
        return NULL;
    }
    return at;
}

/* Returns whether a part of the file is the same as in memory. */
static int is_same(const struct file *file, uint64_t offset, const void *memory, size_t bytes)
{
    void *own = bytes <= HEADER_BYTES_MAX ? load(file, offset, bytes) : NULL;
    int is = own != NULL && memcmp(own, memory, bytes) == 0;

    if (own != NULL)
        probity_arena_unmap(own, bytes);
    return is;
}

/* Returns whether the notes, which contain the build id, are the same. The notes of many scopes are
 * long; linkers put the build id before them. */
static int has_same_notes(const struct file *file, const struct probity_object *object)
{
    const ElfW(Phdr) *header = object->headers;

    for (size_t i = 0; i < object->header_count; i++) {
        const void *memory = (const void *)(object->offset + header[i].p_vaddr);
        size_t bytes =
            header[i].p_filesz < HEADER_BYTES_MAX ? header[i].p_filesz : HEADER_BYTES_MAX;
        if (header[i].p_type == PT_NOTE && bytes > 0 &&
            probity_object_bytes(object, memory) >= bytes &&
            !is_same(file, header[i].p_offset, memory, bytes))
            return 0;
    }
    return 1;
}

static int is_loaded_file(const struct file *file, const ElfW(Ehdr) *head,
                          const struct probity_object *object)
{
    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
           head->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
           head->e_shentsize == sizeof(ElfW(Shdr)) && head->e_phnum == object->header_count &&
           is_same(file, head->e_phoff, object->headers,
                   object->header_count * sizeof(ElfW(Phdr))) &&
           has_same_notes(file, object);
}

/* Returns the section of a type, among those of the file; NULL if it has none with a valid link. */
static const ElfW(Shdr) *find_section(const ElfW(Shdr) *sections, size_t count, uint32_t type)
{
    for (size_t i = 0; i < count; i++) {
        if (sections[i].sh_type == type && sections[i].sh_link < count &&
            sections[i].sh_entsize == sizeof(ElfW(Sym)))
            return &sections[i];
    }
    return NULL;
}

/* ---- Sorting -----------------------------------------------------------------------------------
 */

static int is_before(const struct probity_symbol *one, const struct probity_symbol *other)
{
    if (one->address != other->address)
        return one->address < other->address;
    if (one->rank != other->rank)
        return one->rank < other->rank;
    return strcmp(one->name, other->name) < 0;
}

static void sift(struct probity_symbol *symbols, size_t root, size_t count)
{
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && is_before(&symbols[child], &symbols[child + 1]))
            child++;
        if (!is_before(&symbols[root], &symbols[child]))
            return;
        struct probity_symbol moved = symbols[root];
        symbols[root] = symbols[child];
        symbols[child] = moved;
    }
}

/* A heap sort: qsort() may call malloc(), which a signal handler must not do. */
static void sort(struct probity_symbol *symbols, size_t count)
{
    for (size_t i = count / 2; i > 0; i--)
        sift(symbols, i - 1, count);
    for (size_t left = count; left > 1; left--) {
        struct probity_symbol last = symbols[left - 1];
        symbols[left - 1] = symbols[0];
        symbols[0] = last;
        sift(symbols, 0, left - 1);
    }
}

static size_t drop_aliases(struct probity_symbol *symbols, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || symbols[kept - 1].address != symbols[i].address)
            symbols[kept++] = symbols[i];
    }
    return kept;
}

/* ---- Symbols -----------------------------------------------------------------------------------
 */

static uint32_t rank_of(unsigned binding)
{
    return binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
}

/* Copies the functions. strings ends with a zero byte. */
static size_t take_functions(const ElfW(Sym) *from, size_t count, const char *strings,
                             uint64_t string_bytes, struct probity_symbol *to)
{
    const char *file = "";
    size_t taken = 0;

    for (size_t i = 0; i < count; i++) {
        unsigned type = from[i].st_info & 15u, binding = from[i].st_info >> 4;
        if (from[i].st_name >= string_bytes)
            continue;
        if (type == STT_FILE)
            file = strings + from[i].st_name;
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || from[i].st_shndx == SHN_UNDEF ||
            strings[from[i].st_name] == '\0')
            continue;
        to[taken++] = (struct probity_symbol){.address = from[i].st_value,
                                              .bytes = from[i].st_size,
                                              .name = strings + from[i].st_name,
                                              .file = binding == STB_LOCAL ? file : "",
                                              .rank = rank_of(binding)};
    }
    return taken;
}

static void take_section(const struct file *file, const ElfW(Shdr) *section,
                         const ElfW(Shdr) *texts, struct probity_symbol_table *ret_table)
{
    size_t count = section->sh_size / sizeof(ElfW(Sym));
    ElfW(Sym) *from = load(file, section->sh_offset, count * sizeof *from);
    char *strings = load(file, texts->sh_offset, texts->sh_size);
    struct probity_symbol *symbols = NULL;

    if (from != NULL && strings != NULL && strings[texts->sh_size - 1] == '\0')
        symbols = probity_arena_map(count * sizeof *symbols);
    if (symbols != NULL) {
        size_t taken = take_functions(from, count, strings, texts->sh_size, symbols);
        sort(symbols, taken);
        ret_table->symbols = symbols;
        ret_table->count = drop_aliases(symbols, taken);
    } else if (strings != NULL) {
        probity_arena_unmap(strings, texts->sh_size);
    }
    if (from != NULL)
        probity_arena_unmap(from, count * sizeof *from);
}

/* Returns all sections of the object's file; NULL if the file has been replaced. */
static ElfW(Shdr) *load_sections(const struct file *file, const struct probity_object *object,
                                 ElfW(Ehdr) *ret_head)
{
    if (read_at(file, 0, ret_head, sizeof *ret_head) != 0 ||
        !is_loaded_file(file, ret_head, object))
        return NULL;
    return load(file, ret_head->e_shoff, (size_t)ret_head->e_shnum * sizeof(ElfW(Shdr)));
}

static void take_file(const struct file *file, const struct probity_object *object,
                      struct probity_symbol_table *ret_table)
{
    ElfW(Ehdr) head;
    ElfW(Shdr) *sections = load_sections(file, object, &head);

    if (sections == NULL)
        return;
    const ElfW(Shdr) *section = find_section(sections, head.e_shnum, SHT_SYMTAB);
    if (section == NULL)
        section = find_section(sections, head.e_shnum, SHT_DYNSYM);
    if (section != NULL)
        take_section(file, section, &sections[section->sh_link], ret_table);
    probity_arena_unmap(sections, head.e_shnum * sizeof *sections);
}

/* flags: SHF_ALLOC or 0. Compressed sections are not found. */
static const ElfW(Shdr) *find_named(const struct file *file, const ElfW(Shdr) *sections,
                                    const ElfW(Ehdr) *head, const char *name, unsigned flags)
{
    const ElfW(Shdr) *found = NULL, *texts = &sections[head->e_shstrndx];
    char *strings = head->e_shstrndx < head->e_shnum
                        ? load(file, texts->sh_offset, texts->sh_size)
                        : NULL;

    if (strings == NULL)
        return NULL;
    for (size_t i = 0; i < head->e_shnum && strings[texts->sh_size - 1] == '\0'; i++) {
        if (sections[i].sh_name < texts->sh_size &&
            (sections[i].sh_flags & (SHF_ALLOC | SHF_COMPRESSED)) == flags &&
            strcmp(strings + sections[i].sh_name, name) == 0)
            found = &sections[i];
    }
    probity_arena_unmap(strings, texts->sh_size);
    return found;
}

static int find_in_file(const struct file *file, const struct probity_object *object,
                        const char *name, uint64_t *ret_address, uint64_t *ret_bytes)
{
    ElfW(Ehdr) head;
    ElfW(Shdr) *sections = load_sections(file, object, &head);

    if (sections == NULL)
        return -1;
    const ElfW(Shdr) *found = find_named(file, sections, &head, name, SHF_ALLOC);
    if (found != NULL) {
        *ret_address = found->sh_addr;
        *ret_bytes = found->sh_size;
    }
    probity_arena_unmap(sections, head.e_shnum * sizeof *sections);
    return found != NULL ? 0 : -1;
}

static struct probity_file_id file_id(const struct stat *status)
{
    return (struct probity_file_id){
        .device = status->st_dev,
        .inode = status->st_ino,
        .bytes = (uint64_t)status->st_size,
        .changed_ns = (uint64_t)status->st_ctim.tv_sec * 1000000000 +
                      (uint64_t)status->st_ctim.tv_nsec};
}

struct probity_file_id probity_file_id_of(const char *path)
{
    int before = errno;
    struct stat status;
    int is_file = stat(path, &status) == 0 && S_ISREG(status.st_mode);

    errno = before;
    return is_file ? file_id(&status) : (struct probity_file_id){0};
}

int probity_file_is_same(const struct probity_file_id *one, const struct probity_file_id *other)
{
    return one->inode != 0 && one->device == other->device && one->inode == other->inode &&
           one->bytes == other->bytes && one->changed_ns == other->changed_ns;
}

/* Opens a regular file. Returns 0, or -1. */
static int open_file(const char *path, struct file *ret_file, struct stat *ret_status)
{
    ret_file->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (ret_file->descriptor < 0)
        return -1;
    if (fstat(ret_file->descriptor, ret_status) == 0 && S_ISREG(ret_status->st_mode)) {
        ret_file->bytes = (uint64_t)ret_status->st_size;
        return 0;
    }
    close(ret_file->descriptor);
    return -1;
}

void probity_symbol_table_read(const char *path, const struct probity_object *object,
                               struct probity_symbol_table *ret_table)
{
    int before = errno;
    struct file file;
    struct stat status;

    *ret_table = (struct probity_symbol_table){.count = 0};
    if (open_file(path, &file, &status) == 0) {
        ret_table->file = file_id(&status);
        take_file(&file, object, ret_table);
        close(file.descriptor);
    }
    errno = before;
}

int probity_section_find(const char *path, const struct probity_object *object, const char *name,
                         uint64_t *ret_address, uint64_t *ret_bytes)
{
    int before = errno, result = -1;
    struct file file;
    struct stat status;

    if (open_file(path, &file, &status) == 0) {
        result = find_in_file(&file, object, name, ret_address, ret_bytes);
        close(file.descriptor);
    }
    errno = before;
    return result;
}

static uint8_t *load_from_file(const struct file *file, const struct probity_object *object,
                               const char *name, size_t *ret_bytes)
{
    ElfW(Ehdr) head;
    ElfW(Shdr) *sections = load_sections(file, object, &head);

    if (sections == NULL)
        return NULL;
    const ElfW(Shdr) *found = find_named(file, sections, &head, name, 0);
    uint8_t *loaded = found != NULL && found->sh_type == SHT_PROGBITS
                          ? load(file, found->sh_offset, found->sh_size)
                          : NULL;
    if (loaded != NULL)
        *ret_bytes = found->sh_size;
    probity_arena_unmap(sections, head.e_shnum * sizeof *sections);
    return loaded;
}

uint8_t *probity_section_load(const char *path, const struct probity_object *object,
                              const char *name, size_t *ret_bytes)
{
    int before = errno;
    uint8_t *loaded = NULL;
    struct file file;
    struct stat status;

    if (open_file(path, &file, &status) == 0) {
        loaded = load_from_file(&file, object, name, ret_bytes);
        close(file.descriptor);
    }
    errno = before;
    return loaded;
}

const struct probity_symbol *probity_symbol_find(const struct probity_symbol_table *table,
                                                 uint64_t address)
{
    size_t from = 0, to = table->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (table->symbols[middle].address <= address)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == 0)
        return NULL;
    const struct probity_symbol *found = &table->symbols[from - 1];
    return address == found->address || address - found->address < found->bytes ? found : NULL;
}
