/* SPDX-License-Identifier: MIT
 *
 * test_ceiling.c: how segments shrink to a limit, what each program may use, and what is in use.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "probity.h"
#include "runtime/ceiling.h"
#include "spool/usage.h"

static uint64_t most_bytes(const struct probity_settings *settings)
{
    return settings->segments_max *
           (PROBITY_SPOOL_HEADER_BYTES +
            (uint64_t)settings->segment_chunks *
                (settings->chunk_words * 8 + sizeof(struct probity_chunk_header)));
}

static const struct probity_settings usual = {
    .chunk_words = 4096, .segment_chunks = 128, .segments_max = 127};

static void what_fits_stays(void **state)
{
    struct probity_settings settings = usual;

    (void)state;
    assert_int_equal(probity_ceiling_fit(&settings, UINT64_MAX), 0);
    assert_memory_equal(&settings, &usual, sizeof usual);
}

/* Reduced in this order: number of segments, number of chunks, size of chunks, nothing. */
static void the_rest_is_cut_to_fit(void **state)
{
    int before = 0;

    (void)state;
    for (uint64_t bytes = UINT64_C(1) << 30; bytes > 0; bytes -= bytes / 16 + 1) {
        struct probity_settings settings = usual;
        int result = probity_ceiling_fit(&settings, bytes);
        if (result == PROBITY_ERROR_LIMIT) {
            assert_memory_equal(&settings, &usual, sizeof usual);
            assert_true(bytes < 8 * (4096 + 64) + 4096);
            before = result;
            continue;
        }
        assert_true(before >= 0); /* if it fails with more room, it fails with less */
        assert_true(most_bytes(&settings) <= bytes);
        assert_true(settings.segments_max >= 1 && settings.segment_chunks >= 8);
        assert_true(settings.chunk_words >= 512);
        assert_int_equal(settings.chunk_words & (settings.chunk_words - 1), 0);
        assert_int_equal(result, settings.segment_chunks < 128);
    }
    assert_int_equal(before, PROBITY_ERROR_LIMIT);
}

static void the_ceiling_is_never_passed(void **state)
{
    uint64_t total = UINT64_C(32) << 20, used = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        uint64_t share = probity_ceiling_share(total, used);
        assert_true(used + share <= total);
        /* Half of what is left is reserved for programs that start later. */
        if (used >= total / 2)
            assert_true(share <= (total - used) / 2);
        used += share < UINT64_C(4) << 20 ? share : UINT64_C(4) << 20;
    }
    assert_true(used > total - total / 16);
    assert_int_equal(probity_ceiling_share(total, total), 0);
    assert_int_equal(probity_ceiling_share(total, UINT64_MAX), 0);
}

static void make_file(const char *directory, int number, size_t bytes)
{
    char path[128], block[4096] = {1};

    snprintf(path, sizeof path, "%s/%d", directory, number);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(file >= 0);
    for (size_t done = 0; done < bytes; done += sizeof block)
        assert_int_equal(write(file, block, sizeof block), sizeof block);
    close(file);
}

/* Exact up to a limit; files beyond it count as average. The buffer is small, so it is filled
 * several times. */
static void files_are_added_up(void **state)
{
    char directory[] = "/dev/shm/probity-unit.XXXXXX", path[64], buffer[256];
    uint64_t used = 1, bytes, system_used;
    int files = 0;

    (void)state;
    assert_non_null(mkdtemp(directory));
    assert_int_equal(probity_usage_of_files(directory, buffer, sizeof buffer, &used), 0);
    assert_int_equal(used, 0);
    for (; files < PROBITY_USAGE_FILES_MAX; files++)
        make_file(directory, files, files % 2 == 0 ? 4096 : 12288);
    assert_int_equal(probity_usage_of_files(directory, buffer, sizeof buffer, &used), 0);
    assert_int_equal(used, PROBITY_USAGE_FILES_MAX * 8192);
    for (; files < 2 * PROBITY_USAGE_FILES_MAX; files++)
        make_file(directory, files, files % 2 == 0 ? 4096 : 12288);
    assert_int_equal(probity_usage_of_files(directory, buffer, sizeof buffer, &used), 0);
    assert_in_range(used, PROBITY_USAGE_FILES_MAX * 8192, 3 * PROBITY_USAGE_FILES_MAX * 8192);
    assert_int_equal(probity_usage_of_system(directory, &bytes, &system_used), 0);
    assert_true(system_used <= bytes && system_used >= 2 * PROBITY_USAGE_FILES_MAX * 8192);
    while (files-- > 0) {
        snprintf(path, sizeof path, "%s/%d", directory, files);
        unlink(path);
    }
    rmdir(directory);
    assert_int_equal(probity_usage_of_files(directory, buffer, sizeof buffer, &used),
                     PROBITY_ERROR_OPEN);
    assert_int_equal(probity_usage_of_system(directory, &bytes, &system_used), PROBITY_ERROR_OPEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_stays),
        cmocka_unit_test(the_rest_is_cut_to_fit),
        cmocka_unit_test(the_ceiling_is_never_passed),
        cmocka_unit_test(files_are_added_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
