/* SPDX-License-Identifier: MIT
 *
 * arguments.c: functions that print their own arguments and results in the form that `probity log`
 * should show: "NAME(A = VALUE, ...) = RESULT" in the order of calls. Arguments: the file to print
 * to, and the number of threads, whose calls of in_thread() are not printed.
 */
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT_OF_LINE __attribute__((noinline))

static FILE *out;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vfprintf(out, format, values);
    va_end(values);
}

enum mode { MODE_SLOW, MODE_FAST = 7, MODE_NEGATIVE = -3 };
typedef unsigned char small_t;
struct mixed { int count; double weight; };
struct point { float x, y; };
struct inner { short a; char b; };
struct outer { struct inner in; const char *name; };
struct large { long values[4]; };
struct wide { double a, b; };
struct triple { int i[3]; };
union either { int i; float f; };
struct bits { unsigned low : 4, high : 12; };

OUT_OF_LINE signed char do_sizes(signed char a, small_t b, short c, unsigned short d, int e,
                                 unsigned f)
{
    say("do_sizes(a = %d, b = %u, c = %d, d = %u, e = %d, f = %u) = %d\n", a, b, c, d, e, f, a);
    return a;
}

OUT_OF_LINE int64_t do_extremes(int64_t a, uint64_t b, long long c)
{
    say("do_extremes(a = %lld, b = %llu, c = %lld) = %lld\n", (long long)a,
        (unsigned long long)b, c, (long long)a);
    return a;
}

OUT_OF_LINE float do_floats(float a, double b, float c, double d)
{
    say("do_floats(a = %g, b = %g, c = %g, d = %g) = %g\n", (double)a, b, (double)c, d,
        (double)(a + c));
    return a + c;
}

OUT_OF_LINE double do_interleaved(int a, double b, int c, double d)
{
    say("do_interleaved(a = %d, b = %g, c = %d, d = %g) = %g\n", a, b, c, d, b * d);
    return b * d;
}

OUT_OF_LINE bool do_bool(bool yes, bool no, char letter)
{
    say("do_bool(yes = %s, no = %s, letter = '%c') = %s\n", yes ? "true" : "false",
        no ? "true" : "false", letter, yes ? "true" : "false");
    return yes;
}

OUT_OF_LINE const char *do_text(const char *text, const char *other)
{
    say("do_text(text = \"%s\", other = NULL) = \"%s\"\n", text, text + 1);
    return other == NULL ? text + 1 : other;
}

OUT_OF_LINE void *do_wild(const char *text, void *pointer)
{
    say("do_wild(text = unreadable %p, pointer = %p) = %p\n", (const void *)text, pointer, pointer);
    return pointer;
}

OUT_OF_LINE int do_long(const char *text)
{
    int length = (int)strlen(text);
    say("do_long(text = \"%.1000s\"...) = %d\n", text, length);
    return length;
}

OUT_OF_LINE enum mode do_enum(enum mode known, enum mode negative, enum mode unknown)
{
    say("do_enum(known = MODE_FAST, negative = MODE_NEGATIVE, unknown = %d) = MODE_SLOW\n",
        (int)unknown);
    return known == negative ? known : MODE_SLOW;
}

OUT_OF_LINE struct mixed do_mixed(struct mixed m, struct point p)
{
    struct mixed made = {m.count + 1, m.weight * 2};
    say("do_mixed(m.count = %d, m.weight = %g, p.x = %g, p.y = %g) = count = %d, weight = %g\n",
        m.count, m.weight, (double)p.x, (double)p.y, made.count, made.weight);
    return made;
}

OUT_OF_LINE struct point do_point(struct point p)
{
    struct point made = {p.y, p.x};
    say("do_point(p.x = %g, p.y = %g) = x = %g, y = %g\n", (double)p.x, (double)p.y,
        (double)made.x, (double)made.y);
    return made;
}

OUT_OF_LINE struct wide do_wide(int first, struct wide w)
{
    struct wide made = {w.b, w.a};
    say("do_wide(first = %d, w.a = %g, w.b = %g) = a = %g, b = %g\n", first, w.a, w.b, made.a,
        made.b);
    return made;
}

OUT_OF_LINE struct triple do_triple(struct triple t)
{
    say("do_triple(t.i[0] = %d, t.i[1] = %d, t.i[2] = %d) = i[0] = %d, i[1] = %d, i[2] = %d\n",
        t.i[0], t.i[1], t.i[2], t.i[0], t.i[1], t.i[2]);
    return t;
}

OUT_OF_LINE int do_outer(struct outer o, union either e, struct bits b)
{
    say("do_outer(o.in.a = %d, o.in.b = '%c', o.name = \"%s\", e = ?, b.low = ?, b.high = ?) = "
        "%d\n", o.in.a, o.in.b, o.name, e.i + (int)b.low);
    return e.i + (int)b.low;
}

OUT_OF_LINE int do_large(int before, struct large large, int after)
{
    say("do_large(before = %d, large = ?, after = %d) = %d\n", before, after,
        (int)large.values[2]);
    return (int)large.values[2];
}

OUT_OF_LINE struct large do_return_large(int a, int b)
{
    struct large made = {{a, b, 0, 0}};
    say("do_return_large(a = %d, b = %d)\n", a, b);
    return made;
}

OUT_OF_LINE long do_many(int a, long b, int c, long d, int e, long f, int g, const char *h,
                         enum mode i, struct mixed j)
{
    say("do_many(a = %d, b = %ld, c = %d, d = %ld, e = %d, f = %ld, g = %d, h = \"%s\", "
        "i = MODE_FAST, j.count = %d, j.weight = %g) = %ld\n", a, b, c, d, e, f, g, h, j.count,
        j.weight, b + d + f + (long)i);
    return b + d + f + (long)i;
}

/* Eight vector registers, then the stack. */
OUT_OF_LINE double do_many_doubles(double a, double b, double c, double d, double e, double f,
                                   double g, double h, double i, float j)
{
    say("do_many_doubles(a = %g, b = %g, c = %g, d = %g, e = %g, f = %g, g = %g, h = %g, i = %g, "
        "j = %g) = %g\n", a, b, c, d, e, f, g, h, i, (double)j, i);
    return i;
}

/* A struct that does not fit in the remaining registers is passed on the stack as a whole; later
 * parameters may still be in registers. */
OUT_OF_LINE int do_split(int a, int b, int c, int d, int e, struct triple t, int f)
{
    say("do_split(a = %d, b = %d, c = %d, d = %d, e = %d, t.i[0] = %d, t.i[1] = %d, t.i[2] = %d, "
        "f = %d) = %d\n", a, b, c, d, e, t.i[0], t.i[1], t.i[2], f, f);
    return f;
}

OUT_OF_LINE long double do_long_double(int a, long double b, int c)
{
    say("do_long_double(a = %d, b = %Lg, c = %d)\n", a, b, c);
    return b;
}

__extension__ typedef __int128 int128;

OUT_OF_LINE int128 do_int128(int a, int128 b)
{
    say("do_int128(a = %d, b = %lld) = %lld\n", a, (long long)b, (long long)b);
    return b;
}

OUT_OF_LINE int do_variadic(const char *format, ...)
{
    say("do_variadic(format = \"%s\") = %d\n", format, 3);
    return 3;
}

OUT_OF_LINE void do_nothing(void)
{
    say("do_nothing()\n");
}

OUT_OF_LINE unsigned do_recursion(unsigned n)
{
    say("do_recursion(n = %u)\n", n);
    unsigned result = n == 0 ? 1 : n * do_recursion(n - 1);
    say("do_recursion returns %u\n", result);
    return result;
}

static int (*volatile callback)(int, int);
OUT_OF_LINE int do_callback(int a, int b)
{
    say("do_callback(a = %d, b = %d) = %d\n", a, b, a - b);
    return a - b;
}

OUT_OF_LINE int in_thread(int thread, int i)
{
    return thread * 100000 + i;
}

static void *run_thread(void *number)
{
    int sum = 0;

    for (int i = 0; i < 2000; i++)
        sum += in_thread((int)(intptr_t)number, i) & 1;
    return (void *)(intptr_t)sum;
}

static void run_values(void)
{
    static char text[3000];
    struct mixed mixed = {-5, 2.5};
    struct point point = {1.5f, -2};
    struct large large = {{1, 2, 3, 4}};
    struct outer outer = {{-2, 'z'}, "nested"};
    union either either = {17};
    struct bits bits = {5, 9};
    struct triple triple = {{1, -2, 3}};
    struct wide wide = {0.5, 1e300};

    do_sizes(SCHAR_MIN, UCHAR_MAX, SHRT_MIN, USHRT_MAX, INT_MIN, UINT_MAX);
    do_extremes(INT64_MIN, UINT64_MAX, INT64_MAX);
    do_floats(0.5f, -1e100, -0.25f, 3);
    do_interleaved(1, 2.5, -3, 4);
    do_bool(true, false, 'x');
    do_text("/index.html", NULL);
    do_wild((const char *)0x1230, (void *)0xdeadbeef000);
    memset(text, 'y', sizeof text - 1);
    do_long(text);
    do_enum(MODE_FAST, MODE_NEGATIVE, (enum mode)5);
    do_mixed(mixed, point);
    do_point(point);
    do_wide(4, wide);
    do_triple(triple);
    do_outer(outer, either, bits);
    do_large(-1, large, 77);
    do_return_large(3, 4);
    do_many(1, -2, 3, 4, 5, 6, -7, "eighth", MODE_FAST, mixed);
    do_many_doubles(1, 2, 3, 4, 5, 6, 7, 8, 9.5, 10.5f);
    do_split(1, 2, 3, 4, 5, triple, 6);
    do_long_double(1, 2.5L, 3);
    do_int128(1, -12);
    do_variadic("%d", 1);
    do_nothing();
    do_recursion(3);
    callback = do_callback;
    callback(3, 5);
}

#ifdef IN_LIBRARY
int do_library(int a, const char *b);
#endif

int main(int argc, char **argv)
{
    pthread_t threads[4];
    int count = argc > 2 ? atoi(argv[2]) : 0;

    out = argc > 1 ? fopen(argv[1], "w") : stdout;
    if (out == NULL)
        return 1;
    run_values();
#ifdef IN_LIBRARY
    say("do_library(a = -8, b = \"in it\") = %d\n", -8);
    if (do_library(-8, "in it") != -8)
        return 1;
#endif
    for (intptr_t i = 0; i < count && i < 4; i++)
        pthread_create(&threads[i], NULL, run_thread, (void *)i);
    for (int i = 0; i < count && i < 4; i++)
        pthread_join(threads[i], NULL);
    return fclose(out) == 0 ? 0 : 1;
}
