/* SPDX-License-Identifier: MIT
 *
 * fntrace_article_cxx.cc: the examples of the FnTrace article, in its order and spelling, as C++.
 * tests/fntrace/fntrace.sh also compiles it as C++20, with both compilers.
 */
#include <cstdio>
#include <cwchar>

#define FN_INSTRUMENT
#define FN_FUNC_LEVEL_DEF FN_5
#define FN_PARAM_LEVEL_DEF FN_5
#include <FnTrace.h>

struct RECT {
    int left, top, right, bottom;
};

enum { WM_COMMAND = 273, IDM_HELP_ABOUT = 104, MESSAGES = 3 };

static std::wostream &operator<<(std::wostream &os, const RECT *rect)
{
    if (rect == nullptr)
        return os << L"(null)";
    return os << "RECT: left " << rect->left << ", top " << rect->top << ", right " << rect->right
              << ", bottom " << rect->bottom;
}

static bool IsEmptyFunc()
{
    FN_FUNC(bool, FN_1);
    return true;
}

static bool IsEmptyRetval()
{
    bool retVal = false;
    FN_FUNC(bool, FN_1);
    FN_RETVAL(retVal);
    retVal = true;
    return retVal;
}

static bool IsEmptyFuncRetval()
{
    bool retVal = false;
    FN_FUNC_RETVAL(bool, retVal, FN_1);
    retVal = true;
    return retVal;
}

static int SetRect(RECT *lprc, int xLeft, int yTop, int xRight, int yBottom)
{
    int retVal = 0;
    FN_FUNC_PARAMS(int, retVal, FN_1, 5, lprc, xLeft, yTop, xRight, yBottom);
    if (lprc == nullptr)
        return retVal;
    *lprc = {xLeft, yTop, xRight, yBottom};
    retVal = 1;
    return retVal;
}

/* The article has this example's parameters in FN_FUNC_RETVAL. */
static int SetRectRetval(RECT *lprc, int xLeft, int yTop, int xRight, int yBottom)
{
    int retVal = 0;
    FN_FUNC_RETVAL(int, retVal, FN_1, 5, lprc, xLeft, yTop, xRight, yBottom);
    *lprc = {xLeft, yTop, xRight, yBottom};
    retVal = 1;
    return retVal;
}

static void ShowWindow()
{
    wchar_t windowName[100];
    int x = 100;
    FN_FUNC(FN_VOID, FN_2);

    swprintf(windowName, sizeof windowName / sizeof *windowName, L"Test Application");
    FN_OUTPUT(L"The current window name is: " << windowName);
    FN_OUTPUT("The current window name is: ", windowName);
    FN_STREAM("The length of the name is: " << std::wstring(windowName).size());
    FN_PARAM(x);
}

static long WndProc(void *hWnd, unsigned message, unsigned wParam, long lParam)
{
    FN_ENTRY(FN_5);

    switch (message) {
    case WM_COMMAND:
        switch (wParam) {
        case IDM_HELP_ABOUT: {
            FN_CHECKPOINT("IDM_HELP_ABOUT", FN_5, 4, hWnd, message, wParam, lParam);
            FN_OUTPUT("about");
        } break;
        default: break;
        }
        break;
    default: break;
    }
    return 0;
}

static int GetMessage(unsigned *message)
{
    static unsigned count;

    *message = ++count == 2 ? static_cast<unsigned>(WM_COMMAND) : count;
    return count <= MESSAGES;
}

static void Loop()
{
    unsigned msg;
    FN_FUNC(FN_VOID, FN_1);

    FN_PAUSE();
    while (GetMessage(&msg)) {
        FN_RESUME();
        WndProc(nullptr, msg, IDM_HELP_ABOUT, -1);
        FN_PAUSE();
    }
    FN_RESUME();
}

int main()
{
    RECT rect = {0, 0, 0, 0};

    FN_INSTRUMENT_THREAD;
    FN_INSTRUMENT_THREAD();
    FN_PROFILE(1);
    IsEmptyFunc();
    IsEmptyRetval();
    IsEmptyFuncRetval();
    SetRect(&rect, 0, 0, 640, 480);
    SetRect(&rect, -1, 0, 1, 2);
    SetRect(nullptr, 0, 0, 640, 480);
    SetRectRetval(&rect, 0, 0, 320, 200);
    ShowWindow();
    Loop();
    FN_INSTRUMENT_LEVEL(FN_1, FN_1);
    ShowWindow();
    Loop();
    FN_INSTRUMENT_LEVEL(FN_0, FN_0);
    IsEmptyFunc();
    FN_INSTRUMENT_LEVEL(FN_1, FN_0); // raises the second level
    IsEmptyFuncRetval();
    FN_PROFILE(0);
    IsEmptyFunc();
    return 0;
}
