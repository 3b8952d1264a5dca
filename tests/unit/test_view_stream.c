/* SPDX-License-Identifier: MIT
 *
 * test_view_stream.c: the page of `view` receives exactly the bytes that were written, however
 * many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "page/view_stream.h"

enum { BYTES_MAX = 400 };

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Decodes whole groups of four characters; the last one may end in one or two '='. Returns the
 * number of bytes. */
static size_t decode(const char *text, size_t length, uint8_t *ret_bytes)
{
    size_t padding = 0, count = 0;

    assert_int_equal(length % 4, 0);
    for (size_t i = 0; i < length; i += 4) {
        uint32_t bits = 0;
        for (size_t j = i; j < i + 4; j++) {
            const char *digit = strchr(digits, text[j]);
            padding += text[j] == '=';
            assert_true(text[j] == '=' ? j + 2 >= length : digit != NULL && padding == 0);
            bits = bits << 6 | (uint32_t)(text[j] == '=' ? 0 : digit - digits);
        }
        for (int shift = 16; shift >= 0; shift -= 8)
            ret_bytes[count++] = (uint8_t)(bits >> shift);
    }
    return count - padding;
}

static void any_number_of_bytes_comes_back(void **state)
{
    uint8_t made[BYTES_MAX], packed[4 * BYTES_MAX], unpacked[BYTES_MAX];
    unsigned random = 1;

    (void)state;
    for (size_t bytes = 0; bytes <= BYTES_MAX; bytes++) {
        char *text = NULL;
        size_t length = 0;
        uLongf got = sizeof unpacked;
        FILE *page = open_memstream(&text, &length), *stream = probity_view_stream_open(page);
        for (size_t i = 0; i < bytes; i++)
            made[i] = (uint8_t)(rand_r(&random) >> 4);
        assert_non_null(stream);
        size_t before = bytes / 3; /* flushed separately from the following ones */
        assert_int_equal(fwrite(made, 1, before, stream), before);
        assert_int_equal(fflush(stream), 0);
        assert_int_equal(fwrite(made + before, 1, bytes - before, stream), bytes - before);
        assert_int_equal(fclose(stream), 0);
        assert_int_equal(fclose(page), 0);
        size_t count = decode(text, length, packed);
        assert_int_equal(uncompress(unpacked, &got, packed, (uLong)count), Z_OK);
        assert_int_equal(got, bytes);
        assert_memory_equal(unpacked, made, bytes);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_bytes_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
