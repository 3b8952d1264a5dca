/* SPDX-License-Identifier: MIT
 *
 * arguments_cxx.cc: like arguments.c, for what C++ adds: references, this, classes by value and by
 * address. Argument: the file to print to.
 */
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

#include <wchar.h>

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

enum class color : unsigned char { red, green = 200 };

struct base {
    int id;
};
struct derived : base {
    float weight;
};
struct empty {
};
struct counted { /* passed by address, because copies count */
    int count;
    explicit counted(int count_) : count(count_)
    {
    }
    counted(const counted &other) : count(other.count + 1)
    {
    }
};

namespace shop {
class box {
    int width;
    double height;

  public:
    box(int width_, double height_) : width(width_), height(height_)
    {
    }
    OUT_OF_LINE double do_area(int times, double scale) const
    {
        say("do_area(this = %p, times = %d, scale = %g) = %g\n",
            static_cast<const void *>(this), times, scale, width * height * times * scale);
        return width * height * times * scale;
    }
    OUT_OF_LINE static int do_static(short a)
    {
        say("do_static(a = %d) = %d\n", a, a + 1);
        return a + 1;
    }
    OUT_OF_LINE virtual color do_virtual(color c)
    {
        say("do_virtual(this = %p, c = green) = red\n", static_cast<void *>(this));
        return c == color::green ? color::red : c;
    }
    virtual ~box() = default;
};

template <class T> OUT_OF_LINE T do_template(T a, T b)
{
    say("do_template(a = %d, b = %d) = %d\n", static_cast<int>(a), static_cast<int>(b),
        static_cast<int>(a - b));
    return static_cast<T>(a - b);
}
} // namespace shop

OUT_OF_LINE int &do_references(int &a, const double &b, color &c, const char *const &text,
                               const std::string &object)
{
    say("do_references(a = %d, b = %g, c = green, text = \"%s\", object = %p) = %d\n", a, b, text,
        static_cast<const void *>(&object), a);
    return c == color::red ? *const_cast<int *>(reinterpret_cast<const int *>(&b)) : a;
}

OUT_OF_LINE int do_wild_reference(int before, const long &wild)
{
    say("do_wild_reference(before = %d, wild = %p) = %d\n", before,
        static_cast<const void *>(&wild), before);
    return before;
}

OUT_OF_LINE int do_move(int &&a, int b)
{
    say("do_move(a = %d, b = %d) = %d\n", a, b, a + b);
    return a + b;
}

OUT_OF_LINE derived do_classes(derived d, empty, counted by_address, int after)
{
    say("do_classes(d.id = %d, d.weight = %g, by_address = ?, after = %d) = id = %d, weight = %g\n",
        d.id, static_cast<double>(d.weight), after, after, static_cast<double>(d.weight));
    d.id = after + 0 * by_address.count;
    return d;
}

OUT_OF_LINE counted do_hidden_result(int a, const char *b)
{
    say("do_hidden_result(a = %d, b = \"%s\")\n", a, b);
    return counted(a);
}

OUT_OF_LINE int do_wide_text(const wchar_t *text, wchar_t letter, char16_t other, bool flag)
{
    say("do_wide_text(text = \"w\xc3\xa4h\", letter = '\xc3\xa9', other = 'u', flag = true) = %d\n",
        static_cast<int>(wcslen(text)));
    return static_cast<int>(wcslen(text)) + (letter + other == 1) + flag - 1;
}

OUT_OF_LINE int do_throw(int a)
{
    say("do_throw(a = %d)\n", a);
    if (a > 0)
        throw std::runtime_error("thrown");
    return a;
}

OUT_OF_LINE int do_after(unsigned long a)
{
    say("do_after(a = %lu) = 5\n", a);
    return 5;
}

int main(int argc, char **argv)
{
    int number = -17;
    double real = 2.25;
    color green = color::green;
    const char *text = "text";
    const std::string object("object");
    shop::box box(3, 1.5);
    derived d;
    static const wchar_t wide[] = {'w', 0xe4, 'h', 0};

    out = argc > 1 ? fopen(argv[1], "w") : stdout;
    if (out == nullptr)
        return 1;
    box.do_area(2, .5);
    shop::box::do_static(-3);
    shop::box *volatile hidden = &box;
    hidden->do_virtual(color::green);
    shop::do_template<short>(4, 9);
    shop::do_template<int64_t>(1, 2);
    do_references(number, real, green, text, object);
    do_wild_reference(6, *reinterpret_cast<const long *>(0x5550));
    do_move(4 + number, 2);
    d.id = 8;
    d.weight = -.5f;
    do_classes(d, empty(), counted(1), 33);
    do_hidden_result(-4, "hidden");
    do_wide_text(wide, 0xe9, u'u', true);
    try {
        do_throw(1);
    } catch (const std::exception &) {
        do_after(UINT64_MAX);
    }
    return fclose(out) == 0 ? 0 : 1;
}
