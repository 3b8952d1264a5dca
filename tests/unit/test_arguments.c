/* SPDX-License-Identifier: MIT
 *
 * test_arguments.c: descriptions of arguments: the library accepts valid ones and rejects every
 * damaged one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arguments.h"
#include "base/cpu.h"

/* The smallest description that contains every kind of item, and a second function. */
struct small {
    struct probity_arguments_head head;
    struct probity_arguments_object object;
    struct probity_arguments_function functions[2];
    struct probity_arguments_value values[3];
    struct probity_arguments_enumerator enumerators[2];
    char texts[8];
};

static const struct small valid = {
    .head = {.magic = PROBITY_ARGUMENTS_MAGIC,
             .version = PROBITY_ARGUMENTS_VERSION,
             .bytes = sizeof valid,
             .objects = 1,
             .functions = 2,
             .values = 3,
             .enumerators = 2,
             .text_bytes = sizeof valid.texts},
    .object = {.build_id_bytes = 20, .functions = 2},
    .functions = {{0x1000, 0, 2, 0}, {0x2000, 2, 0, 1}},
    .values = {{.kind = PROBITY_ARGUMENTS_ENUM, .type = 7, .bytes = 4, .enumerators = 2},
               {.name = 2,
                .kind = PROBITY_ARGUMENTS_PLAIN,
                .type = 12,
                .bytes = 16,
                .place = {{PROBITY_ARGUMENTS_STACK, 0, 255}, {PROBITY_ARGUMENTS_GENERAL, 0, 5}}},
               {.kind = PROBITY_ARGUMENTS_TEXT + PROBITY_ARGUMENTS_REFERENCE,
                .type = 17,
                .bytes = 8,
                .place = {{PROBITY_ARGUMENTS_GENERAL, 0, 1}}}},
    .enumerators = {{-2, 0, 0}, {9, 4, 0}},
    .texts = "a\0b\0nine"};

static int check(const struct small *made, size_t bytes)
{
    struct probity_arguments all;

    return probity_arguments_check(made, bytes, &all);
}

static void a_valid_description_is_accepted(void **state)
{
    struct probity_arguments all;

    (void)state;
    struct small made = valid;
    made.texts[7] = '\0';
    assert_int_equal(probity_arguments_check(&made, sizeof made, &all), 0);
    const struct probity_arguments_function *found =
        probity_arguments_find(&all, all.objects, 0x2000);
    assert_ptr_equal(found, &all.functions[1]);
    assert_null(probity_arguments_find(&all, all.objects, 0x1fff));
    assert_null(probity_arguments_find(&all, all.objects, 0x2001));
    assert_string_equal(probity_arguments_enumerator_name(&all, all.values, -2), "a");
    assert_string_equal(probity_arguments_enumerator_name(&all, all.values, 9), "nin");
    assert_null(probity_arguments_enumerator_name(&all, all.values, 8));
}

static void a_truncated_or_longer_one_is_refused(void **state)
{
    struct small *exact;

    (void)state;
    for (size_t bytes = 0; bytes < sizeof valid; bytes++) {
        exact = malloc(bytes + 1);
        assert_non_null(exact);
        memcpy(exact, &valid, bytes);
        assert_int_equal(check(exact, bytes), -1);
        free(exact);
    }
    struct small longer[2] = {valid, valid};
    longer[0].texts[7] = '\0';
    assert_int_equal(check(longer, sizeof valid + 1), -1);
}

/* Sets a member to a value, checks, and sets it back. */
#define REFUSES(member, value)                                                                     \
    do {                                                                                           \
        struct small damaged = valid;                                                              \
        damaged.texts[7] = '\0';                                                                   \
        assert_int_equal(check(&damaged, sizeof damaged), 0);                                      \
        damaged.member = (value);                                                                  \
        assert_int_equal(check(&damaged, sizeof damaged), -1);                                     \
    } while (0)

static void every_number_is_checked(void **state)
{
    (void)state;
    REFUSES(head.magic[7], 'x');
    REFUSES(head.version, 2);
    REFUSES(head.bytes, sizeof valid + 8);
    REFUSES(head.objects, UINT32_MAX);
    REFUSES(head.values, 2);
    REFUSES(head.enumerators, 0xf0000001);
    REFUSES(head.text_bytes, 0);
    REFUSES(object.build_id_bytes, 33);
    REFUSES(object.first_function, 1);
    REFUSES(object.functions, UINT32_MAX);
    REFUSES(functions[0].first_value, 2);
    REFUSES(functions[0].first_value, UINT32_MAX);
    REFUSES(functions[1].results, 2);
    REFUSES(functions[1].arguments, 33);
    REFUSES(functions[1].address, 0x1000);
    REFUSES(values[0].name, 8);
    REFUSES(values[0].kind, PROBITY_ARGUMENTS_KINDS);
    REFUSES(values[0].kind, 0x80);
    REFUSES(values[0].type, 17);
    REFUSES(values[0].bytes, 8);
    REFUSES(values[0].reserved, 1);
    REFUSES(values[0].first_enumerator, 1);
    REFUSES(values[0].enumerators, UINT32_MAX);
    REFUSES(values[0].place[0].where, PROBITY_ARGUMENTS_WHERES);
    REFUSES(values[0].place[0].index, PROBITY_CPU_ARGUMENTS);
    REFUSES(values[0].place[0].offset, 5);
    REFUSES(values[1].type, 0);
    REFUSES(values[1].type, 24);
    REFUSES(values[1].type, 21);
    REFUSES(values[1].bytes, 17);
    REFUSES(values[1].place[0].index, 256);
    REFUSES(values[1].place[0].offset, 1);
    REFUSES(values[1].place[1].index, PROBITY_CPU_ARGUMENTS);
    REFUSES(values[1].place[1].where, 255);
    REFUSES(values[2].place[0].index, 2); /* a result */
    REFUSES(values[2].place[0].where, PROBITY_ARGUMENTS_STACK);
    REFUSES(values[2].kind, PROBITY_ARGUMENTS_PLAIN);
    REFUSES(enumerators[1].name, 8);
    REFUSES(texts[7], 'e');
}

/* With any single byte changed, an accepted description still refers only to its own contents. */
static void a_changed_byte_leads_nowhere(void **state)
{
    struct probity_arguments all;

    (void)state;
    for (size_t i = 0; i < 8 * sizeof valid; i++) {
        struct small damaged = valid;
        damaged.texts[7] = '\0';
        ((uint8_t *)&damaged)[i / 8] ^= (uint8_t)(1u << i % 8);
        if (probity_arguments_check(&damaged, sizeof damaged, &all) != 0)
            continue;
        for (uint32_t j = 0; j < all.head->values; j++) {
            assert_in_range(all.values[j].name, 0, sizeof valid.texts - 1);
            assert_in_range(all.values[j].place[0].offset, 0, 8);
        }
        const struct probity_arguments_function *found =
            probity_arguments_find(&all, all.objects, 0x2000);
        assert_true(found == NULL || found->first_value <= 3);
        if (all.values[0].kind == PROBITY_ARGUMENTS_ENUM)
            probity_arguments_enumerator_name(&all, all.values, 9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_valid_description_is_accepted),
        cmocka_unit_test(a_truncated_or_longer_one_is_refused),
        cmocka_unit_test(every_number_is_checked),
        cmocka_unit_test(a_changed_byte_leads_nowhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
