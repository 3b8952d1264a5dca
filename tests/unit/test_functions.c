/* SPDX-License-Identifier: MIT
 *
 * Tests whether two instructions are found to be in different functions, with hand-written unwind
 * tables: entries with the instructions that compilers put before the first push, and parts that
 * were split off a function, which are in its frame from the beginning.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/functions.h"

/* Any instruction that is not a nop and that all assemblers accept: nothing is executed. */
#define BRANCH_TARGET "ret\n"
#define PUSH "ret\n"
#define IN_FRAME ".cfi_def_cfa_offset 16\n"

/* Each ends with nops, so that one_entry + 1, for example, is still inside. */
#define CODE(name, instructions)                                                                   \
    extern const char name[];                                                                      \
    __asm__(".text\n.balign 16\n.globl " #name "\n" #name ":\n"                                    \
            ".cfi_startproc\n" instructions "nop\nnop\n.cfi_endproc\n")

CODE(one_entry, PUSH IN_FRAME);
CODE(other_entry, PUSH IN_FRAME);
CODE(marked_entry, BRANCH_TARGET PUSH IN_FRAME);
CODE(patchable_entry, "nop\n" PUSH IN_FRAME);
CODE(marked_patchable_entry, BRANCH_TARGET "nop\n" PUSH IN_FRAME);
CODE(part, IN_FRAME "nop\n");
CODE(padded_part, "nop\n" IN_FRAME);

static int differ(const char *one, const char *other)
{
    struct probity_functions_cache cache = {{0}};
    int answer = probity_functions_differ(&cache, (uintptr_t)one, (uintptr_t)other);

    assert_int_equal(probity_functions_differ(&cache, (uintptr_t)one, (uintptr_t)other), answer);
    return answer;
}

static void entries_differ(void **state)
{
    (void)state;
    if (!differ(one_entry, other_entry))
        skip(); /* a libc without _dl_find_object() */
    assert_true(differ(one_entry, marked_entry));
    assert_true(differ(one_entry, patchable_entry));
    assert_true(differ(one_entry, marked_patchable_entry));
    assert_true(differ(patchable_entry, marked_patchable_entry));
    assert_false(differ(one_entry, one_entry + 1));
}

static void parts_may_belong_to_any_function(void **state)
{
    (void)state;
    assert_false(differ(one_entry, part));
    assert_false(differ(one_entry, padded_part));
    assert_false(differ(part, padded_part));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_differ),
        cmocka_unit_test(parts_may_belong_to_any_function),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
