/* SPDX-License-Identifier: MIT
 *
 * test_address.c: names addresses in this program, from its own file.
 */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/address.h"

struct table {
    int cells[40];
};

__attribute__((used)) static struct table table_of_cells;

__attribute__((noinline, used)) static int called(int number)
{
    return number + 1;
}
enum { CALLED_LINE = __LINE__ - 4 };

static const char self[] = "/proc/self/exe";

/* Of the executable. */
static struct {
    uint64_t bias;
    char build_id[129];
} own;

static void take_note(const ElfW(Nhdr) *note)
{
    const unsigned char *bits = (const unsigned char *)(note + 1) + 4;

    if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4 || note->n_descsz > 64)
        return;
    for (unsigned i = 0; i < note->n_descsz; i++)
        snprintf(own.build_id + 2 * i, 3, "%02x", bits[i]);
}

static int take_executable(struct dl_phdr_info *info, size_t bytes, void *context)
{
    (void)bytes;
    (void)context;
    own.bias = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const char *at = (const char *)(info->dlpi_addr + header->p_vaddr);
        const char *end = at + header->p_memsz;
        while (header->p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
            take_note(note);
            at += sizeof *note + (note->n_namesz + 3u) / 4 * 4 + (note->n_descsz + 3u) / 4 * 4;
        }
    }
    return 1;
}

static uint64_t linked(uintptr_t address)
{
    return address - own.bias;
}

static void functions_and_data_are_named(void **state)
{
    struct symbols_addresses *addresses = symbols_addresses_open(NULL);
    struct symbols_place place;
    uint64_t data = linked((uintptr_t)&table_of_cells);
    uint64_t function = linked((uintptr_t)called);

    (void)state;
    assert_int_equal(called(1), 2);
    for (int time = 0; time < 2; time++) {
        assert_int_equal(symbols_address_find(addresses, self, own.build_id, data + 8, &place), 1);
        assert_string_equal(place.symbol, "table_of_cells");
        assert_int_equal(place.offset, 8);
        assert_null(place.file);
        assert_int_equal(symbols_address_find(addresses, self, own.build_id, function, &place), 1);
        assert_string_equal(place.symbol, "called");
        assert_int_equal(place.offset, 0);
        assert_string_equal(place.file, "tests/unit/test_address.c");
        assert_in_range(place.line, CALLED_LINE, CALLED_LINE + 3);
    }
    symbols_addresses_close(addresses);
}

static void other_files_are_not_used(void **state)
{
    struct symbols_addresses *addresses = symbols_addresses_open(NULL);
    uint64_t address = linked((uintptr_t)called);
    struct symbols_place place;
    char fifo[] = "/tmp/test_address.XXXXXX", other[129];

    (void)state;
    memcpy(other, own.build_id, sizeof other);
    other[1] = other[1] == '0' ? '1' : '0';
    assert_int_equal(symbols_address_find(addresses, self, other, address, &place), 0);
    assert_int_equal(symbols_address_find(addresses, self, "", address, &place), 0);
    other[1] = own.build_id[1];
    other[strlen(other) - 2] = '\0';
    assert_int_equal(symbols_address_find(addresses, self, other, address, &place), 0);
    assert_int_equal(symbols_address_find(addresses, "/nowhere/at/all", "", address, &place), 0);
    assert_int_equal(symbols_address_find(addresses, "", "", address, &place), 0);
    assert_int_equal(symbols_address_find(addresses, "/proc/self/maps", "", address, &place), 0);
    assert_int_equal(symbols_address_find(addresses, self, own.build_id, UINT64_MAX, &place), 0);
    assert_int_equal(symbols_address_find(NULL, self, own.build_id, address, &place), 0);
    assert_non_null(mkdtemp(fifo));
    assert_int_equal(rmdir(fifo), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(symbols_address_find(addresses, fifo, "", address, &place), 0);
    unlink(fifo);
    assert_null(place.symbol);
    symbols_addresses_close(addresses);
    symbols_addresses_close(NULL);
}

/* A compressed file that is small, but would be large in memory. */
static void compressed_files_are_not_used(void **state)
{
    struct symbols_addresses *addresses = symbols_addresses_open(NULL);
    struct symbols_place place;
    char path[] = "/tmp/test_address.XXXXXX", command[256];
    int file = mkstemp(path);

    (void)state;
    assert_true(file >= 0);
    close(file);
    snprintf(command, sizeof command, "gzip -c /proc/%ld/exe > %s", (long)getpid(), path);
    assert_int_equal(system(command), 0);
    assert_int_equal(symbols_address_find(addresses, path, own.build_id,
                                          linked((uintptr_t)called), &place), 0);
    unlink(path);
    symbols_addresses_close(addresses);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_and_data_are_named),
        cmocka_unit_test(other_files_are_not_used),
        cmocka_unit_test(compressed_files_are_not_used),
    };

    dl_iterate_phdr(take_executable, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
