/* SPDX-License-Identifier: MIT
 *
 * fntrace_values.c: one value of every kind that C can print, and invalid pointers. The logs must
 * equal tests/golden/log/values.log.
 */
#include <complex.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <wchar.h>

#define FN_INSTRUMENT
#define FN_USER_TYPES                                                                              \
    FN_USER_TYPE(struct point, format_point)                                                       \
    FN_USER_TYPE(struct point *, format_point_at) FN_USER_TYPE(struct verbose, format_verbose)     \
        FN_USER_TYPE(struct silent, format_nothing)
#include <FnTrace.h>

struct point {
    int x, y;
};
struct silent {
    int unused;
};
struct opaque;
enum color { RED, GREEN = 7, BLUE = -3 };
enum large { LARGE = 0x7fffffff };
struct verbose {
    size_t length;
};

static int evaluations;

static size_t format_point(const void *value, char *text, size_t bytes)
{
    const struct point *point = value;

    return (size_t)snprintf(text, bytes, "(%d|%d)", point->x, point->y);
}

static size_t format_point_at(const void *value, char *text, size_t bytes)
{
    const struct point *point = *(struct point *const *)value;

    return point == NULL ? (size_t)snprintf(text, bytes, "no point")
                         : format_point(point, text, bytes);
}

/* The value is a number of bytes; this makes a string of that length. */
static size_t format_verbose(const void *value, char *text, size_t bytes)
{
    size_t length = ((const struct verbose *)value)->length;

    memset(text, 'v', length < bytes ? length : bytes);
    return length;
}

static size_t format_nothing(const void *value, char *text, size_t bytes)
{
    (void)value;
    (void)text;
    (void)bytes;
    return 0;
}

static void integers(void)
{
    _Bool yes = 1;
    bool no = false;
    char letter = 'a', quote = '\'', newline = '\n';
    signed char tiny = SCHAR_MIN;
    unsigned char byte = UCHAR_MAX;
    short small = SHRT_MIN;
    unsigned short usmall = USHRT_MAX;
    long wide = LONG_MIN;
    unsigned long uwide = ULONG_MAX;
    long long longest = LLONG_MIN;
    unsigned long long ulongest = ULLONG_MAX;
    __extension__ __int128 huge = -1;
    __extension__ unsigned __int128 uhuge = (unsigned __int128)1 << 127;
    size_t size = sizeof size;
    const volatile int seen = -5;
    FN_FUNC(FN_VOID, FN_0);

    FN_OUTPUT(yes, " ", no, " ", letter, " ", quote, " ", newline);
    FN_PARAM(yes);
    FN_PARAM(letter);
    FN_PARAM(quote);
    FN_PARAM(newline);
    FN_PARAM(tiny);
    FN_PARAM(byte);
    FN_PARAM(small);
    FN_PARAM(usmall);
    FN_PARAM(INT_MIN);
    FN_PARAM(UINT_MAX);
    FN_PARAM(wide);
    FN_PARAM(uwide);
    FN_PARAM(longest);
    FN_PARAM(ulongest);
    FN_PARAM(huge);
    FN_PARAM(uhuge);
    FN_PARAM(size);
    FN_PARAM(seen);
    FN_PARAM(small * 2);
    FN_PARAM((uint8_t)300);
}

static void enums(void)
{
    enum color color = BLUE;
    enum large large = LARGE;
    struct {
        unsigned three : 3;
        signed int few : 4;
        _Bool flag : 1;
    } bits = {5, -8, 1};
    FN_FUNC(FN_VOID, FN_0);

    FN_PARAM(color);
    FN_PARAM(GREEN);
    FN_PARAM(large);
    /* sizeof does not accept a bit-field, but it does accept its value. */
    FN_PARAM((int)bits.few);
    FN_PARAM(bits.three + 0u);
    FN_PARAM((bool)bits.flag);
}

static void numbers(void)
{
    float third = 1.0f / 3;
    double tenth = 0.1, infinite = -INFINITY, none = NAN, zero = -0.0;
    long double fine = 1.0L + LDBL_EPSILON;
    float _Complex narrow = 1.5f - 2.0f * I;
    double _Complex turned = -0.25 + 1e300 * I;
    FN_FUNC(FN_VOID, FN_0);

    FN_PARAM(third);
    FN_PARAM(FLT_MAX);
    FN_PARAM(tenth);
    FN_PARAM(DBL_MIN);
    FN_PARAM(infinite);
    FN_PARAM(none);
    FN_PARAM(zero);
    FN_PARAM(fine);
    FN_PARAM(narrow);
    FN_PARAM(turned);
}

/* Every qualifier, and lengths known only at run time. */
static void qualified(int n)
{
    char *_Atomic atomic_none = NULL, *_Atomic atomic_text = "atomic";
    _Atomic int atomic = 5;
    const char *volatile seen = "seen";
    char *const none = NULL;
    const unsigned char array[2] = {1, 2};
    const double _Complex number = 1;
    char variable[n + 1];
    FN_FUNC(FN_VOID, FN_0);

    snprintf(variable, sizeof variable, "abc");
    FN_PARAM(atomic_none);
    FN_PARAM(atomic_text);
    FN_PARAM(atomic);
    FN_PARAM(seen);
    FN_PARAM(none);
    FN_PARAM(array);
    FN_PARAM(number);
    FN_PARAM(variable);
    FN_PARAM(__func__);
    FN_PARAM(n > 1 ? "yes" : "no");
}

static void pointers(void)
{
    void *nothing = NULL, *one = (void *)1;
    const struct opaque *opaque = (const struct opaque *)0x1234;
    int (*function)(int) = NULL;
    int many[3] = {1, 2, 3};
    int *no_many = NULL;
    FN_FUNC(FN_VOID, FN_0);

    FN_PARAM(nothing);
    FN_PARAM(one);
    FN_PARAM(opaque);
    FN_PARAM(function);
    FN_PARAM(no_many);
    FN_PARAM(many);
    FN_PARAM((volatile char *)2);
}

/* Two pages, of which the second is unreadable. */
static char *map_border(void)
{
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE) != 0)
        exit(99);
    return pages;
}

static void strings(void)
{
    char array[8] = "array", full[4] = {'f', 'u', 'l', 'l'}, empty[3] = "";
    const char *text = "text with \"quotes\",\ttab and \x01", *null = NULL, *nothing = "";
    char *heap = strdup("from the heap");
    char *of_1000 = malloc(1001), *of_1001 = malloc(1002);
    FN_FUNC(FN_VOID, FN_0);

    memset(of_1000, 'k', 1000);
    memset(of_1001, 'm', 1001);
    of_1000[1000] = of_1001[1001] = 0;
    FN_PARAM(array);
    FN_PARAM(full);
    FN_PARAM(empty);
    FN_PARAM(text);
    FN_PARAM(null);
    FN_PARAM(nothing);
    FN_PARAM(heap);
    FN_PARAM("a literal");
    FN_OUTPUT("text ", text, " array ", array, " null ", null);
    FN_PARAM(of_1000);
    FN_PARAM(of_1001);
    FN_OUTPUT(of_1000, of_1000, heap);
    free(heap);
    free(of_1000);
    free(of_1001);
}

static void wides(void)
{
    const wchar_t *wide = L"wide \u00e4\U0001f600", *null = NULL;
    wchar_t *of_251 = malloc(252 * sizeof(wchar_t));
    FN_FUNC(FN_VOID, FN_0);

    wmemset(of_251, L'w', 251);
    of_251[251] = 0;
    FN_PARAM(FN_WIDE(wide));
    FN_PARAM(FN_WIDE(null));
    FN_PARAM(FN_WIDE(of_251 + 1));
    FN_PARAM(FN_WIDE(of_251));
    FN_PARAM(FN_WIDE(1));
    free(of_251);
}

static void bytes(void)
{
    unsigned char array[4] = {0, 1, 0xfe, 0xff};
    static uint8_t large[513];
    FN_FUNC(FN_VOID, FN_0);

    FN_PARAM(array);
    FN_PARAM(large);
    FN_PARAM(FN_BYTES(array, 2));
    FN_PARAM(FN_BYTES(array, 0));
    FN_PARAM(FN_BYTES(large, 512));
    FN_PARAM(FN_BYTES(large, sizeof large));
    FN_PARAM(FN_BYTES(NULL, 4));
    FN_PARAM(FN_BYTES((void *)1, 4));
}

static void unreadables(void)
{
    char *pages = map_border(), *closed = pages + 4096;
    char *into = closed - 4, *first = (char *)1, *outside = (char *)0x8000000000000000;
    char *last = (char *)UINTPTR_MAX;
    wchar_t *wide = (wchar_t *)(void *)(closed - 8);
    FN_FUNC(FN_VOID, FN_0);

    memset(pages, 0, 4096);
    memcpy(into, "into", 4);
    wide[0] = L'i';
    memcpy(closed - 4, "into", 4);
    FN_PARAM(into);
    FN_PARAM(closed);
    FN_PARAM(first);
    FN_PARAM(outside);
    FN_PARAM(last);
    FN_PARAM(FN_WIDE(closed));
    FN_PARAM(FN_BYTES(into, 100));
    FN_PARAM(FN_BYTES(closed, 4));
    FN_PARAM(FN_BYTES(last, 4));
    wide[1] = L'!';
    FN_PARAM(FN_WIDE(wide));
    munmap(pages, 8192);
    FN_PARAM(into);
}

static void users(void)
{
    struct point point = {1, -2}, *at = &point, *nowhere = NULL;
    struct verbose small = {3}, full = {1000}, longer = {5000};
    struct silent silent = {0};
    FN_FUNC(FN_VOID, FN_0);

    FN_PARAM(point);
    FN_PARAM(at);
    FN_PARAM(nowhere);
    FN_PARAM(small);
    FN_PARAM(full);
    FN_PARAM(longer);
    FN_PARAM(silent);
    FN_OUTPUT("at ", at, " of ", point);
}

static int once(int value)
{
    evaluations++;
    return value;
}

static void thirty_two(int a, long b, char c, double d)
{
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_0, 32, a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d, a,
                   b, c, d, a, b, c, d, a, b, c, d, a, b, c, once(32));
}

static void arguments(int a, const char *text)
{
    FN_FUNC_ARGS(FN_VOID, FN_VOID, FN_0, a, text, (a + 1) * 2, text[0], imaxabs((intmax_t)(-a)),
                 "x,y"[1]);
}

static void effects(int level)
{
    int value = 0;
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_2, 2, value++, once(level));

    FN_OUTPUT("value ", value++, " ", once(1));
    FN_PARAM(value++);
    FN_PRINTF("%d %d", value++, once(2));
    FN_OUTPUT(value);
    printf("level %d: value %d, %d evaluations\n", level, value, evaluations);
    evaluations = 0;
}

/* The compiler does not know the sizes of these: their operands, too, are evaluated once. */
static void variable_lengths(int count)
{
    char texts[2][4] = {"one", "two"}, (*text)[count] = (void *)texts;
    unsigned char bytes[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, (*byte)[count] = (void *)bytes;
    int numbers[2][4] = {{0}}, (*number)[count] = (void *)numbers;
    FN_FUNC(FN_VOID, FN_0);

    FN_PARAM(text[once(1)]);
    FN_PARAM(byte[once(1)]);
    FN_PARAM(number[once(1)]);
    FN_PARAM(number += once(1));
    FN_OUTPUT(text[once(0)], " ", byte[once(0)], " ", text[once(1)]);
    printf("variable lengths: %d evaluations, %d rows\n", evaluations,
           (int)((int (*)[4])(void *)number - numbers));
    evaluations = 0;
}

static struct point returns_point(int x)
{
    struct point result = {x, 0};
    FN_FUNC_RETVAL(struct point, result, FN_0);
    result.y = x + 1;
    return result;
}

static const char *returns_text(const char *text)
{
    const char *result = NULL;
    FN_FUNC_PARAMS(const char *, result, FN_0, 1, text);
    result = text + 1;
    return result;
}

static long double returns_long_double(void)
{
    long double result = 0;
    FN_FUNC_RETVAL(long double, result, FN_0);
    result = 2.5L;
    return result;
}

static enum color returns_enum(void)
{
    enum color result = RED;
    FN_FUNC(enum color, FN_0);
    FN_RETVAL(result);
    result = GREEN;
    return result;
}

int main(void)
{
    char text[] = "returned";

    errno = 77;
    integers();
    enums();
    numbers();
    pointers();
    if (errno != 77)
        return 98;
    qualified(3);
    strings();
    wides();
    bytes();
    errno = 78;
    unreadables();
    if (errno != 78)
        return 97;
    users();
    thirty_two(-1, 2, '3', 4.5);
    arguments(20, "text");
    returns_point(4);
    returns_text(text);
    returns_long_double();
    returns_enum();
    evaluations = 0;
    variable_lengths(4);
    effects(5);
    FN_INSTRUMENT_LEVEL(FN_1, FN_1);
    effects(1);
    FN_INSTRUMENT_LEVEL(FN_1, FN_3);
    effects(3);
    return 0;
}
