/* SPDX-License-Identifier: MIT
 *
 * fntrace_article.c: the examples of the FnTrace article, in its order, converted to C on this
 * system.
 */
#include <stdbool.h>
#include <stdio.h>

#define FN_INSTRUMENT
#define FN_FUNC_LEVEL_DEF FN_5
#define FN_PARAM_LEVEL_DEF FN_5
#define FN_USER_TYPES FN_USER_TYPE(RECT *, format_rect)
#include <FnTrace.h>

typedef struct {
    int left, top, right, bottom;
} RECT;

enum { WM_COMMAND = 273, IDM_HELP_ABOUT = 104, MESSAGES = 3 };

static size_t format_rect(const void *value, char *text, size_t bytes)
{
    const RECT *rect = *(RECT *const *)value;

    if (rect == NULL)
        return (size_t)snprintf(text, bytes, "(null)");
    return (size_t)snprintf(text, bytes, "RECT: left %d, top %d, right %d, bottom %d", rect->left,
                            rect->top, rect->right, rect->bottom);
}

static bool IsEmptyFunc(void)
{
    FN_FUNC(bool, FN_1);
    return true;
}

static bool IsEmptyRetval(void)
{
    bool retVal = false;
    FN_FUNC(bool, FN_1);
    FN_RETVAL(retVal);
    retVal = true;
    return retVal;
}

static bool IsEmptyFuncRetval(void)
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
    if (lprc == NULL)
        return retVal;
    *lprc = (RECT){xLeft, yTop, xRight, yBottom};
    retVal = 1;
    return retVal;
}

static void ShowWindow(void)
{
    char windowName[100];
    int x = 100;
    FN_FUNC(FN_VOID, FN_2);

    snprintf(windowName, sizeof windowName, "Test Application");
    FN_OUTPUT("The current window name is: ", windowName);
    FN_PRINTF("The current window name is: %s", windowName);
    FN_PARAM(x);
}

static long WndProc(void *hWnd, unsigned message, unsigned wParam, long lParam)
{
    FN_ENTRY(FN_5);

    switch (message) {
    case WM_COMMAND:
        switch (wParam) {
        case IDM_HELP_ABOUT:
            FN_CHECKPOINT("IDM_HELP_ABOUT", FN_5, 4, hWnd, message, wParam, lParam);
            FN_OUTPUT("about");
            break;
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

    *message = ++count == 2 ? WM_COMMAND : count;
    return count <= MESSAGES;
}

static void Loop(void)
{
    unsigned msg;
    FN_FUNC(FN_VOID, FN_1);

    FN_PAUSE();
    while (GetMessage(&msg)) {
        FN_RESUME();
        WndProc(NULL, msg, IDM_HELP_ABOUT, -1);
        FN_PAUSE();
    }
    FN_RESUME();
}

int main(void)
{
    RECT rect = {0, 0, 0, 0};

    FN_INSTRUMENT_THREAD();
    FN_PROFILE(1);
    IsEmptyFunc();
    IsEmptyRetval();
    IsEmptyFuncRetval();
    SetRect(&rect, 0, 0, 640, 480);
    SetRect(&rect, -1, 0, 1, 2);
    SetRect(NULL, 0, 0, 640, 480);
    ShowWindow();
    Loop();
    FN_INSTRUMENT_LEVEL(FN_1, FN_1);
    ShowWindow();
    Loop();
    FN_INSTRUMENT_LEVEL(FN_0, FN_0);
    IsEmptyFunc();
    FN_INSTRUMENT_LEVEL(FN_1, FN_0); /* raises the second level */
    IsEmptyFuncRetval();
    FN_PROFILE(0);
    IsEmptyFunc();
    return 0;
}
