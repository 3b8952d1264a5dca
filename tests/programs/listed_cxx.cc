/* SPDX-License-Identifier: MIT
 *
 * listed_cxx.cc: like listed.c, for what only C++ has: templates, lambdas, members, inline
 * functions.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"

#include "probity_typed.h"

int listed_run(int argc, char **argv);
int listed_unused(int number);

#ifndef LISTED_MAIN

namespace shapes {

enum number { ROUND = 70000 };

template <typename Type> Type once(Type value)
{
    FN_FUNC(Type, FN_2);         /* list: function once 2 */
    PROBITY_PROBE_NAMED("once"); /* list: site once - */
    PROBITY_PROBE(ROUND);        /* list: probe 70000 - */
    return value;
}

inline int flat(int value)
{
    FN_FUNC(int, FN_1);          /* list: function flat 1 */
    PROBITY_PROBE_NAMED("flat"); /* list: site flat - */
    return value;
}

struct shape {
    int size;

    int grow(int by)
    {
        FN_FUNC(int, FN_3); /* list: function grow 3 */
        auto add = [this](int more) {
            FN_FUNC(int, FN_4);            /* list: function operator() 4 */
            PROBITY_PROBE_NAMED("lambda"); /* list: site lambda - */
            return size + more;
        };
        return add(by);
    }

    int shrink(int by)
    {
        FN_FUNC(int, FN_3);            /* list: function shrink 3 */
        PROBITY_PROBE_NAMED("shrink"); /* list: site shrink - */
        PROBITY_PROBE(4000000000u);    /* list: probe 4000000000 - */
        return size - by;
    }
};

} // namespace shapes

int listed_unused(int number)
{
    FN_FUNC(int, FN_0);            /* gone: function listed_unused 0 */
    PROBITY_PROBE_NAMED("unused"); /* gone: site unused - */
    return number;
}

int listed_run(int argc, char **)
{
    shapes::shape shape{argc};
    constexpr uint32_t known = 5;
    uint32_t counted = 2000;

    PROBITY_PROBE(known); /* list: probe 5 - */
    PROBITY_PROBE(counted++);
    int sum = shapes::once(1) + static_cast<int>(shapes::once(2.0)) + shapes::flat(3);
    sum += argc > 100 ? shape.shrink(1) : shape.grow(1);
    return sum > 0 && counted == 2001 ? 0 : 1;
}

#endif

#ifndef LISTED_LIBRARY
int main(int argc, char **argv)
{
    return listed_run(argc, argv);
}
#endif
