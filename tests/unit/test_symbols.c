/* SPDX-License-Identifier: MIT
 *
 * test_symbols.c: prototypes from this program's own DWARF.
 */
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

#include "symbols/symbols.h"

#define KEPT __attribute__((noinline, used))

struct rect {
    int left;
};
typedef struct {
    int x;
} point;
enum color { RED };
union either {
    int i;
};

KEPT static int plain(void)
{
    return 1;
}
enum { PLAIN_LINE = __LINE__ - 3 };

KEPT static struct rect *pointers(const char *const *names, char *const last, void *any)
{
    return names != NULL && last != NULL ? any : NULL;
}
enum { POINTERS_LINE = __LINE__ - 3 };

KEPT static void functions(int (*order)(const void *, void *), point (*(*nested)(int))[4], ...)
{
    if (order != NULL)
        nested(1);
}
enum { FUNCTIONS_LINE = __LINE__ - 3 };

KEPT static union either types(enum color color, point at, volatile int *seen, int cells[3][5])
{
    return (union either){.i = (int)color + at.x + *seen + cells[0][0]};
}
enum { TYPES_LINE = __LINE__ - 3 };

static const char self[] = "/proc/self/exe";

static const char *signature(struct symbols *symbols, struct probity_function *function,
                             const char *name, uint32_t line)
{
    *function = (struct probity_function){.name = name, .line = line,
                                          .file = "/elsewhere/test_symbols.c", .signature = "",
                                          .returns = "", .object = ""};
    return symbols_signature(symbols, function, self);
}

static void prototypes_are_as_in_the_source(void **state)
{
    struct symbols *symbols = symbols_open(NULL);
    struct probity_function f[4];
    (void)state;
    assert_int_equal(plain(), 1);
    assert_string_equal(signature(symbols, &f[0], "plain", PLAIN_LINE), "int plain(void)");
    assert_string_equal(
        signature(symbols, &f[1], "pointers", POINTERS_LINE),
        "struct rect *pointers(const char *const *names, char *const last, void *any)");
    assert_string_equal(
        signature(symbols, &f[2], "functions", FUNCTIONS_LINE),
        "void functions(int (*order)(const void *, void *), point (*(*nested)(int))[4], ...)");
    assert_string_equal(
        signature(symbols, &f[3], "types", TYPES_LINE),
        "union either types(enum color color, point at, volatile int *seen, int (*cells)[5])");
    assert_string_equal(symbols_signature(symbols, &f[0], "ignored"), "int plain(void)");
    symbols_close(symbols);
}

static void what_is_not_there_is_not_made_up(void **state)
{
    struct symbols *symbols = symbols_open(NULL);
    struct probity_function f[6];
    char fifo[] = "/tmp/test_symbols.XXXXXX";
    (void)state;
    assert_null(signature(symbols, &f[0], "plain", PLAIN_LINE - 5));
    assert_null(signature(symbols, &f[1], "no_such_function", 1000));
    f[2] = f[0];
    f[2].file = "other.c";
    f[2].line = PLAIN_LINE;
    assert_null(symbols_signature(symbols, &f[2], self));
    f[3] = f[2];
    f[3].file = "test_symbols.c";
    assert_null(symbols_signature(symbols, &f[3], "/nowhere/at/all"));
    assert_non_null(mkdtemp(fifo));
    assert_int_equal(rmdir(fifo), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    f[4] = f[3];
    f[4].object = fifo;
    assert_null(symbols_signature(symbols, &f[4], self));
    unlink(fifo);
    f[5] = f[3];
    f[5].object = "/proc/self/maps";
    assert_null(symbols_signature(symbols, &f[5], self));
    assert_null(symbols_signature(NULL, &f[5], self));
    symbols_close(symbols);
    symbols_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prototypes_are_as_in_the_source),
        cmocka_unit_test(what_is_not_there_is_not_made_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
