/* SPDX-License-Identifier: MIT
 *
 * test_bundle.c: bundles of traces: reading returns what was written, and a damaged or hostile
 * table is rejected.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "probity.h"
#include "random_numbers.h"
#include "reader/bundle.h"
#include "reader/range.h"

enum { BYTES_MAX = 512, HEADER_BYTES = 40 };

/* A bundle file, and its path. */
static struct file {
    int file;
    char path[64];
    uint8_t bytes[BYTES_MAX];
    size_t size, head_bytes;
} made;

static void write_bytes(void)
{
    assert_int_equal(ftruncate(made.file, 0), 0);
    assert_int_equal(pwrite(made.file, made.bytes, made.size, 0), made.size);
}

/* Two members: "first" with the bytes 1 2 3, and "second" with 16 times 4. */
static void make_bundle(void)
{
    struct probity_bundle_member members[] = {
        {.bytes = 3, .kind = PROBITY_BUNDLE_TRACE, .name = "first"},
        {.bytes = 16, .kind = PROBITY_BUNDLE_SCHED, .name = "second"},
    };
    uint8_t *head = probity_bundle_layout(members, 2, &made.head_bytes);

    assert_non_null(head);
    memset(&made.bytes, 0, sizeof made.bytes);
    memcpy(made.bytes, head, made.head_bytes);
    free(head);
    assert_int_equal(members[0].offset, made.head_bytes);
    memcpy(made.bytes + members[0].offset, "\1\2\3", 3);
    memset(made.bytes + members[1].offset, 4, 16);
    made.size = probity_bundle_end(&members[1]);
    if (made.file == 0)
        made.file = memfd_create("bundle", MFD_CLOEXEC);
    assert_true(made.file > 0);
    snprintf(made.path, sizeof made.path, "/proc/self/fd/%d", made.file);
    write_bytes();
}

/* Recomputes the checksum. */
static void seal(void)
{
    uint32_t sum = probity_checksum(0, made.bytes, 32);

    sum = probity_checksum(sum, made.bytes + HEADER_BYTES, made.head_bytes - HEADER_BYTES);
    probity_put_u32(made.bytes + 32, sum);
    write_bytes();
}

static int open_made(void)
{
    struct probity_bundle bundle;
    int error = probity_bundle_open(made.path, &bundle);

    if (error == 0)
        probity_bundle_release(&bundle);
    else
        assert_int_equal(bundle.why != NULL, error == PROBITY_ERROR_DAMAGED);
    return error;
}

static int open_member(const char *name, struct probity_range *ret_range)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", made.path, name);
    return probity_bundle_open_member(path, ret_range);
}

static void what_is_written_is_read(void **unused)
{
    struct probity_bundle bundle;

    (void)unused;
    make_bundle();
    assert_int_equal(probity_bundle_open(made.path, &bundle), 0);
    assert_int_equal(bundle.count, 2);
    assert_string_equal(bundle.members[0].name, "first");
    assert_string_equal(bundle.members[1].name, "second");
    assert_int_equal(bundle.members[1].kind, PROBITY_BUNDLE_SCHED);
    assert_int_equal(bundle.members[1].bytes, 16);
    assert_int_equal(bundle.members[1].offset % 8, 0);
    probity_bundle_release(&bundle);
}

static void a_member_is_a_range(void **unused)
{
    struct probity_range range;
    uint8_t bytes[32];

    (void)unused;
    make_bundle();
    assert_int_equal(open_member("first", &range), 0);
    assert_true(probity_range_is_member(&range));
    assert_int_equal(probity_range_size(&range), 3);
    assert_int_equal(probity_range_read(&range, bytes, sizeof bytes, 0), 3);
    assert_memory_equal(bytes, "\1\2\3", 3);
    assert_int_equal(probity_range_read(&range, bytes, sizeof bytes, 2), 1);
    assert_int_equal(bytes[0], 3);
    assert_int_equal(probity_range_read(&range, bytes, sizeof bytes, 3), 0);
    assert_int_equal(probity_range_read(&range, bytes, sizeof bytes, UINT64_MAX), 0);
    assert_int_equal(probity_range_data(&range, 1), 1);
    assert_int_equal(probity_range_data(&range, 3), INT64_MAX);
    assert_int_equal(ftruncate(made.file, (off_t)made.head_bytes + 1), 0);
    assert_int_equal(probity_range_size(&range), 1);
    assert_int_equal(probity_range_read(&range, bytes, sizeof bytes, 0), 1);
    close(range.file);
}

static void other_paths_are_no_members(void **unused)
{
    struct probity_range range;

    (void)unused;
    make_bundle();
    assert_int_equal(open_member("third", &range), PROBITY_ERROR_OPEN);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(open_member("first/first", &range), PROBITY_ERROR_FORMAT);
    assert_int_equal(probity_bundle_open_member("none", &range), PROBITY_ERROR_FORMAT);
    assert_int_equal(probity_bundle_open_member("/none/none", &range), PROBITY_ERROR_FORMAT);
    assert_int_equal(probity_bundle_open_member("/dev/null/none", &range), PROBITY_ERROR_FORMAT);
}

static void names_are_checked(void **unused)
{
    char name[258];

    (void)unused;
    assert_true(probity_bundle_is_name("a b\xc3\xa4~2.probity"));
    assert_true(probity_bundle_is_name("..."));
    assert_false(probity_bundle_is_name(""));
    assert_false(probity_bundle_is_name("."));
    assert_false(probity_bundle_is_name(".."));
    assert_false(probity_bundle_is_name("../a"));
    assert_false(probity_bundle_is_name("a\nb"));
    assert_false(probity_bundle_is_name("a\x7f"));
    memset(name, 'a', sizeof name);
    name[256] = '\0';
    assert_false(probity_bundle_is_name(name));
    name[255] = '\0';
    assert_true(probity_bundle_is_name(name));
}

static void each_changed_byte_is_found(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < made.head_bytes; i++) {
        make_bundle();
        made.bytes[i] ^= 0x10;
        write_bytes();
        int error = open_made();
        if (i >= 36 && i < HEADER_BYTES)
            assert_int_equal(error, 0); /* reserved */
        else
            assert_int_not_equal(error, 0);
    }
}

static void each_truncation_is_found(void **unused)
{
    (void)unused;
    make_bundle();
    size_t size = made.size;
    for (made.size = 0; made.size < size; made.size++) {
        write_bytes();
        assert_int_equal(open_made(), made.size < 12 ? PROBITY_ERROR_FORMAT
                                                     : PROBITY_ERROR_DAMAGED);
    }
    made.size = size + 1;
    write_bytes();
    assert_int_equal(open_made(), PROBITY_ERROR_DAMAGED);
}

/* The first entry is at offset 40 and has 32 bytes; the second one is at 72. */
static void hostile_tables_are_refused(void **unused)
{
    static const struct {
        size_t at, bytes;
        uint64_t value;
    } changes[] = {
        {16, 4, 0}, {16, 4, 3}, {16, 4, UINT32_MAX}, {16, 4, 4097}, /* number of members */
        {20, 4, 0}, {20, 4, UINT32_MAX}, {20, 4, 1 << 24},          /* size of the table */
        {24, 8, 0}, {24, 8, UINT64_MAX},                            /* size of the file */
        {40, 8, 0}, {40, 8, UINT64_MAX}, {40, 8, UINT64_MAX - 7}, {40, 8, 1 << 20}, /* offset */
        {48, 8, UINT64_MAX}, {48, 8, 1 << 20}, {48, 8, 12},         /* size, overlapping */
        {72, 8, 105}, {72, 8, 104},                                 /* offset of the second */
        {58, 2, 0}, {58, 2, 4}, {58, 2, 6}, {58, 2, UINT16_MAX},    /* length of the name */
        {64, 1, '\n'}, {64, 1, '/'}, {64, 1, 0}, {64, 1, 0x7f},     /* the name */
        {69, 1, 'x'},                                               /* its padding */
    };

    (void)unused;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        make_bundle();
        memcpy(made.bytes + changes[i].at, &changes[i].value, changes[i].bytes);
        seal();
        assert_int_equal(open_made(), PROBITY_ERROR_DAMAGED);
    }
    make_bundle();
    probity_put_u16(made.bytes + 12, 2);
    seal();
    assert_int_equal(open_made(), PROBITY_ERROR_VERSION);
}

static void names_are_unique(void **unused)
{
    (void)unused;
    make_bundle();
    probity_put_u16(made.bytes + 72 + 18, 5);
    memcpy(made.bytes + 72 + 24, "first\0\0\0", 8);
    seal();
    assert_int_equal(open_made(), PROBITY_ERROR_DAMAGED);
}

static void members_are_within_the_file(void **unused)
{
    unsigned opened = 0;

    (void)unused;
    for (unsigned round = 0; round < 20000; round++) {
        struct probity_bundle bundle;
        make_bundle();
        for (unsigned i = 0; i < 1 + round % 3; i++)
            made.bytes[12 + (size_t)(uniform() * (double)(made.head_bytes - 12))] =
                (uint8_t)(uniform() * 256);
        seal();
        if (probity_bundle_open(made.path, &bundle) != 0)
            continue;
        for (size_t i = 0; i < bundle.count; i++) {
            assert_true(bundle.members[i].offset <= made.size);
            assert_true(bundle.members[i].bytes <= made.size - bundle.members[i].offset);
            assert_true(probity_bundle_is_name(bundle.members[i].name));
        }
        opened++;
        probity_bundle_release(&bundle);
    }
    assert_true(opened > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_member_is_a_range),
        cmocka_unit_test(other_paths_are_no_members),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(each_changed_byte_is_found),
        cmocka_unit_test(each_truncation_is_found),
        cmocka_unit_test(hostile_tables_are_refused),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(members_are_within_the_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
