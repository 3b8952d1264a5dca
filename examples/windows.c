/* SPDX-License-Identifier: MIT
 *
 * windows.c: the demo of the FnTrace article, for any system: a window with a message queue, and a
 * window procedure that is called for every message but logged only if it reaches a checkpoint. The
 * names are those of the article.
 *
 *     PROBITY_OUT=windows.probity ./windows && probity log windows.probity
 */
#include <stdio.h>
#include <time.h>

/* Without this line, the macros below expand to nothing. */
#define FN_INSTRUMENT
/* How the log shows a rectangle: by a function that writes its text. */
#define FN_USER_TYPES FN_USER_TYPE(const struct rectangle *, format_rectangle)
#include <FnTrace.h>

enum { WM_CREATE = 1, WM_DESTROY = 2, WM_SIZE = 5, WM_ACTIVATE = 6, WM_PAINT = 15, WM_QUIT = 18 };
enum { WM_COMMAND = 273, IDM_OK = 40000, SW_SHOW = 5, QUEUE_MESSAGES = 16 };

struct rectangle {
    int left, top, right, bottom;
};

struct instance {
    const char *class_name;
};

struct window {
    struct instance *owner;
    struct rectangle place;
};

struct message {
    struct window *hWnd;
    unsigned message, wParam;
    long lParam;
};

static struct window only_window;
static struct message queue[QUEUE_MESSAGES];
static unsigned queue_first, queue_end;

static size_t format_rectangle(const void *value, char *text, size_t bytes)
{
    const struct rectangle *rectangle = *(const struct rectangle *const *)value;

    if (rectangle == NULL)
        return (size_t)snprintf(text, bytes, "(null)");
    return (size_t)snprintf(text, bytes, "RECT: left %d, top %d, right %d, bottom %d",
                            rectangle->left, rectangle->top, rectangle->right, rectangle->bottom);
}

static void PostMessage(struct window *hWnd, unsigned message, unsigned wParam, long lParam)
{
    if (queue_end < QUEUE_MESSAGES)
        queue[queue_end++] = (struct message){hWnd, message, wParam, lParam};
}

/* Waits as if for a user. Returns 0 at the end. */
static int GetMessage(struct message *ret_message)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    if (queue_first == queue_end)
        return 0;
    *ret_message = queue[queue_first++];
    return ret_message->message != WM_QUIT;
}

static void SetRect(struct rectangle *lprc, int xLeft, int yTop, int xRight, int yBottom)
{
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_3, 4, xLeft, yTop, xRight, yBottom);

    *lprc = (struct rectangle){xLeft, yTop, xRight, yBottom};
    const struct rectangle *area = lprc;
    FN_PARAM(area);
}

static long WndProc(struct window *hWnd, unsigned message, unsigned wParam, long lParam)
{
    FN_ENTRY(FN_5);

    switch (message) {
    case WM_CREATE:
        FN_CHECKPOINT("WM_CREATE", FN_5, 4, hWnd, message, wParam, lParam);
        SetRect(&hWnd->place, 0, 0, 640, 480);
        break;
    case WM_ACTIVATE:
        FN_CHECKPOINT("WM_ACTIVATE", FN_5, 4, hWnd, message, wParam, lParam);
        break;
    case WM_COMMAND:
        if (wParam != IDM_OK)
            break;
        FN_CHECKPOINT("IDM_OK", FN_5, 4, hWnd, message, wParam, lParam);
        FN_OUTPUT("closing the window, which is at ", (const struct rectangle *)&hWnd->place);
        WndProc(hWnd, WM_ACTIVATE, 0, 0);
        WndProc(hWnd, WM_DESTROY, 0, 0);
        break;
    case WM_DESTROY:
        FN_CHECKPOINT("WM_DESTROY", FN_5, 4, hWnd, message, wParam, lParam);
        PostMessage(NULL, WM_QUIT, 0, 0);
        break;
    default: break; /* the many other messages are not reported */
    }
    return 0;
}

static unsigned short MyRegisterClass(struct instance *hInstance, const char *szWindowClass)
{
    unsigned short atom = 0;
    FN_FUNC_PARAMS(unsigned short, atom, FN_2, 2, hInstance, szWindowClass);

    hInstance->class_name = szWindowClass;
    atom = 50540;
    return atom;
}

static int InitInstance(struct instance *hInstance, int nCmdShow)
{
    int result = 0;
    FN_FUNC_PARAMS(int, result, FN_1, 2, hInstance, nCmdShow);

    if (MyRegisterClass(hInstance, "INSTRUMENT") == 0)
        return result;
    only_window.owner = hInstance;
    FN_OUTPUT("The current window class is: ", hInstance->class_name);
    WndProc(&only_window, WM_CREATE, 0, 470153100);
    WndProc(&only_window, WM_SIZE, 640, 480);
    WndProc(&only_window, WM_ACTIVATE, 1, 0);
    PostMessage(&only_window, WM_PAINT, 0, 0);
    PostMessage(&only_window, WM_COMMAND, IDM_OK, 2080871584);
    result = nCmdShow != 0;
    return result;
}

static int WinMain(struct instance *hInstance, struct instance *hPrevInstance,
                   const char *lpCmdLine, int nCmdShow)
{
    struct message msg;
    int result = 1;
    FN_FUNC_PARAMS(int, result, FN_1, 4, hInstance, hPrevInstance, lpCmdLine, nCmdShow);

    if (!InitInstance(hInstance, nCmdShow))
        return result;
    FN_PAUSE(); /* waiting for messages does not count as time of this function */
    while (GetMessage(&msg)) {
        FN_RESUME();
        WndProc(msg.hWnd, msg.message, msg.wParam, msg.lParam);
        FN_PAUSE();
    }
    FN_RESUME();
    result = 0;
    return result;
}

int main(void)
{
    struct instance instance = {NULL};

    return WinMain(&instance, NULL, "", SW_SHOW);
}
