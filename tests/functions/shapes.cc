/* SPDX-License-Identifier: MIT
 *
 * shapes.cc: C++ without macros, for -finstrument-functions: names, templates, exceptions.
 */
#include <cstdio>
#include <stdexcept>

namespace shape {
struct box {
    int width;
    explicit box(int width_) : width(width_)
    {
    }
    ~box()
    {
        width = 0;
    }
    int area() const
    {
        return width * width;
    }
    bool operator<(const box &other) const
    {
        return width < other.width;
    }
};

template <class T> T twice(T x)
{
    return x + x;
}

namespace {
int checked(int x)
{
    const box guard(x);

    if (guard.area() > 4)
        throw std::runtime_error("too large");
    return x;
}
} // namespace
} // namespace shape

static int call(int x)
{
    return shape::checked(x) + 1;
}

int main()
{
    const shape::box small(3), large(4);
    int sum = small.area() + (small < large) + shape::twice(3) + static_cast<int>(shape::twice(.5));

    for (int i = 0; i < 5; i++) {
        try {
            sum += call(i);
        } catch (const std::exception &) {
            sum++;
        }
    }
    std::printf("%d\n", sum);
}
