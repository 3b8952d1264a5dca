// SPDX-License-Identifier: MIT
//
// msvc.cc: macros of FnTrace.h, which must record the same with MSVC's rules as with gcc.
#define FN_INSTRUMENT
#include <FnTrace.h>

#define TWO 2

static int inner(int depth, const char *text)
{
    int result = depth * TWO;
    FN_FUNC_PARAMS(int, result, FN_1, 2, depth, text);
    FN_OUTPUT("depth is ", depth, ", '\"(' ", TWO);
    if (depth > 0)
        inner(depth - 1, "deeper");
    FN_PARAM(result);
    return result;
}

static void dispatch(unsigned message, const wchar_t *title)
{
    FN_ENTRY(FN_2);
    if (message == 1)
        FN_CHECKPOINT("created", FN_2, 2, message, title);
    else if (message == TWO)
        FN_CHECKPOINT(L"closed", FN_2, 0);
}

static bool ordered(float x)
{
    bool result = x > 1;
    FN_ORDERED(FN_FUNC_RETVAL(bool, result, FN_1, 1, x));
    PROBITY_PROBE(7);
    PROBITY_PROBE_NAMED("named");
    return result;
}

struct shape {
    virtual ~shape() = default;
    virtual long area(unsigned char scale) const
    {
        long result = 12L * scale;
        FN_FUNC_RETVAL(long, result, FN_3);
        {
            FN_FUNC_ARGS(FN_VOID, FN_VOID, FN_4, scale, this == nullptr, (result, "b, c"));
        }
        return result;
    }
};

int main()
{
    const wchar_t title[] = L"title";
    const shape one;

    FN_FUNC(int, FN_0);
    for (unsigned i = 0; i < 4; i++)
        dispatch(i, title);
    FN_PRINTF("%d", inner(2, "outer"));
    ordered(1.5F);
    one.area('a');
    FN_PAUSE();
    FN_RESUME();
    FN_OUTPUT(title, L"literal", 'c', 1.5, true, "a, b");
    FN_OUTPUT(title);
    FN_OUTPUT("alone");
    return 0;
}
