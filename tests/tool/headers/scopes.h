/* SPDX-License-Identifier: MIT */
/* For checks of the headers: every macro of FnTrace.h, as statements of both languages. */
#define FN_FUNC_LEVEL_DEF FN_4
#define FN_PARAM_LEVEL_DEF FN_5
#include <stdio.h>
#include "FnTrace.h"
struct user_rect { int left, top; };
#ifdef __cplusplus
#include <ostream>
#include <string>
inline std::ostream &operator<<(std::ostream &os, const user_rect *rect)
{
    return os << rect->left;
}
#else
extern size_t user_format(const void *value, char *text, size_t bytes);
size_t user_format(const void *value, char *text, size_t bytes)
{
    const struct user_rect *rect = *(struct user_rect *const *)value;
    return (size_t)snprintf(text, bytes, "%d", rect->left);
}
#endif
extern void user_plain(void);
extern int user_both(int x);
extern long user_all(struct user_rect *rect, const char *text, unsigned char byte, double real);
extern void user_entry(int message, void *window);
void user_plain(void)
{
    FN_INSTRUMENT_THREAD();
    FN_FUNC(FN_VOID, FN_0);
    FN_PROFILE(1);
    FN_PAUSE();
    FN_RESUME();
    if (FN_5 > FN_0)
        FN_OUTPUT("literal");
    else
        FN_INSTRUMENT_LEVEL(FN_1, FN_2);
}
int user_both(int x)
{
    int result = x;
    FN_FUNC(int, FN_1);
    FN_RETVAL(result);
    for (int i = 0; i < x; i++)
        FN_PARAM(i);
    {
        FN_FUNC_RETVAL(int, result, FN_2);
        FN_PRINTF("%d and %d", x, result);
    }
    return result;
}
long user_all(struct user_rect *rect, const char *text, unsigned char byte, double real)
{
    long result = byte;
    unsigned char bytes[4] = {byte, 1, 2, 3};
    FN_FUNC_PARAMS(long, result, FN_3, 4, rect, text, byte, real);
    {
        FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_5, 0);
        FN_OUTPUT(text, " ", byte, bytes, FN_BYTES(bytes, 2), FN_WIDE(L"wide"), real > 1);
    }
    {
        FN_FUNC_ARGS(long, result, FN_5, result, bytes, "text");
    }
#ifdef __cplusplus
    FN_STREAM(text << ' ' << real);
    auto inner = [text](std::string x) {
        FN_FUNC_ARGS(FN_VOID, FN_VOID, FN_4, x, text);
        FN_OUTPUT(std::string(text), x);
        (void)x;
        (void)text;
    };
    inner("x");
#if __cplusplus >= 201402L
    auto generic = [text](auto x) {
        FN_FUNC_ARGS(FN_VOID, FN_VOID, FN_4, x, text);
        (void)x;
        (void)text;
    };
    generic(byte);
#endif
#endif
    (void)bytes;
    (void)real;
    (void)text;
    (void)rect;
    return result;
}
void user_entry(int message, void *window)
{
    FN_ENTRY(FN_4);
    switch (message) {
    case 1: FN_CHECKPOINT("one", FN_4, 2, message, window); break;
    case 2: FN_CHECKPOINT("two", FN_5, 0); break;
    default: break;
    }
    (void)window;
}
