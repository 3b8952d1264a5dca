/* SPDX-License-Identifier: MIT
 *
 * fuzz_dwarf.c: the parts of an executable or shared library that the tool reads with libdw. The
 * input is such a file; more bytes of its .debug sections are changed here, because the driver
 * changes bytes anywhere. Each input is read in a child, because libdw may call abort(). A file is
 * kept as "failed.N" in the current directory if the child does not exit normally. If UNCHANGED is
 * in the environment, nothing is changed here, and the child fails unless it finds two signatures
 * and some places: what is not found in a seed is not tested with changed copies either.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "fuzz/target.h"
#include "symbols/address.h"
#include "symbols/arguments.h"
#include "symbols/locate.h"
#include "symbols/symbols.h"

enum { SECONDS_MAX = 20, SECTIONS_MAX = 32, ADDRESSES = 192 };

const int target_ways = 0;

/* The functions of the seeds, below the lines of their declarations. Results are cached by the
 * address of a function. */
enum { LINE = 1000 };
static const struct probity_function functions[] = {
    {.name = "take", .file = "types.cc", .line = LINE, .object = ""},
    {.name = "visit", .file = "types.cc", .line = LINE, .object = ""},
    {.name = "take", .file = "cyclic.c", .line = LINE, .object = ""},
    {.name = "main", .file = "cyclic.c", .line = LINE, .object = ""}};

/* What was found in a file. */
struct results {
    unsigned signatures, places, lines;
};

struct range {
    uint64_t offset, bytes;
};

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Sections that are not loaded, without the names of sections, if the headers are intact. */
static size_t find_sections(const uint8_t *bytes, size_t size, struct range ret_found[SECTIONS_MAX],
                            uint64_t *ret_first)
{
    Elf64_Ehdr head;
    size_t count = 0;

    *ret_first = 0x1000;
    if (size < sizeof head)
        return 0;
    memcpy(&head, bytes, sizeof head);
    for (unsigned i = 0; i < head.e_shnum && count < SECTIONS_MAX; i++) {
        Elf64_Shdr section;
        if (head.e_shoff > size || (i + 1) * sizeof section > size - head.e_shoff)
            break;
        memcpy(&section, bytes + head.e_shoff + i * sizeof section, sizeof section);
        if ((section.sh_flags & SHF_EXECINSTR) != 0)
            *ret_first = section.sh_addr;
        if (section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_ALLOC) == 0 &&
            section.sh_size > 0 && section.sh_offset < size &&
            section.sh_size <= size - section.sh_offset)
            ret_found[count++] = (struct range){section.sh_offset, section.sh_size};
    }
    return count;
}

static void change(uint8_t *bytes, const struct range *found, size_t count, uint64_t *state)
{
    static const uint64_t edges[] = {0, 1, 2, 3, 4, 5, 127, 128, 255, 0x7fff, 0xffff, 0x7fffffff,
                                     0xfffffff0, 0xffffffff, UINT64_MAX};

    for (uint64_t i = draw(state) % 4; i < 4; i++) {
        struct range in = found[draw(state) % count], from = found[draw(state) % count];
        uint64_t at = draw(state) % in.bytes, room = in.bytes - at, some = 1u << draw(state) % 4;
        uint64_t value = edges[draw(state) % (sizeof edges / sizeof *edges)];
        some = some < room ? some : room;
        switch (draw(state) % 5) {
        case 0: bytes[in.offset + at] = (uint8_t)draw(state); break;
        case 1: bytes[in.offset + at] ^= (uint8_t)(1 << draw(state) % 8); break;
        case 2: bytes[in.offset + at] = (uint8_t)(draw(state) % 64); break;
        case 3: memcpy(bytes + in.offset + at, &value, some); break;
        default: {
            uint64_t start = draw(state) % from.bytes, left = from.bytes - start;
            memmove(bytes + in.offset + at, bytes + from.offset + start, some < left ? some : left);
        }
        }
    }
}

/* The trace of a file without a build id contains an empty one. */
static struct results read_all(const char *path, uint64_t first)
{
    const struct symbols_wanted wanted = {"*", "*", 1};
    struct symbols_arguments *arguments = symbols_arguments_new();
    struct symbols_addresses *addresses = symbols_addresses_open(NULL);
    struct symbols *symbols = symbols_open(NULL);
    struct symbols_found found;
    struct symbols_place place;
    struct results results = {0};
    uint32_t line;
    size_t bytes;

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        results.signatures += symbols_signature(symbols, &functions[i], path) != NULL;
        for (uint64_t at = 0; at < ADDRESSES; at++) {
            char *file = symbols_locate(path, functions[i].name, first + at, &line);
            results.lines += file != NULL;
            free(file);
        }
    }
    for (uint64_t at = 0; at < ADDRESSES; at++) {
        symbols_address_find(addresses, path, "", first + at, &place);
        results.places += place.file != NULL && place.symbol != NULL;
    }
    symbols_arguments_add(arguments, path, &wanted, &found);
    free(symbols_arguments_bytes(arguments, &bytes));
    symbols_arguments_release(arguments);
    symbols_addresses_close(addresses);
    symbols_close(symbols);
    return results;
}

static void keep(const uint8_t *bytes, size_t size, int status)
{
    static unsigned count;
    char name[32];

    snprintf(name, sizeof name, "failed.%u", count++);
    FILE *file = fopen(name, "w");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        abort();
    printf("%s: status %#x\n", name, (unsigned)status);
    fflush(stdout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t copy[TARGET_BYTES_MAX];
    struct range found[SECTIONS_MAX];
    uint64_t state = size, first;
    char path[64];
    int status = -1;

    memcpy(copy, data, size);
    for (size_t i = 0; i < size; i++)
        state = state * 31 + data[i];
    size_t count = find_sections(copy, size, found, &first);
    int is_unchanged = getenv("UNCHANGED") != NULL;
    if (count > 0 && !is_unchanged)
        change(copy, found, count, &state);
    int file = memfd_create("object", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file < 0 || write(file, copy, size) != (ssize_t)size)
        abort();
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit seconds = {SECONDS_MAX, SECONDS_MAX};
        setrlimit(RLIMIT_CPU, &seconds);
        struct results results = read_all(path, first);
        _exit(is_unchanged &&
              (results.signatures != 2 || results.places == 0 || results.lines == 0));
    }
    close(file);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        keep(copy, size, status);
    return 0;
}
