/* SPDX-License-Identifier: MIT
 *
 * windows_cxx.cc: windows.c in C++: the window is a class, its procedure a member function, and
 * the values shown are strings, enums and anything that can be written to a std::ostream.
 *
 *     PROBITY_OUT=windows.probity ./windows_cxx && probity log windows.probity
 */
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <thread>

#define FN_INSTRUMENT
#include <FnTrace.h>

enum class Message { create = 1, destroy = 2, size = 5, activate = 6, paint = 15, command = 273 };
constexpr unsigned IDM_OK = 40000;

struct Rectangle {
    int left, top, right, bottom;
};

static std::ostream &operator<<(std::ostream &os, const Rectangle *rectangle)
{
    if (rectangle == nullptr)
        return os << "(null)";
    return os << "RECT: left " << rectangle->left << ", top " << rectangle->top << ", right "
              << rectangle->right << ", bottom " << rectangle->bottom;
}

static std::ostream &operator<<(std::ostream &os, Message message)
{
    switch (message) {
    case Message::create: return os << "WM_CREATE";
    case Message::destroy: return os << "WM_DESTROY";
    case Message::activate: return os << "WM_ACTIVATE";
    case Message::command: return os << "WM_COMMAND";
    default: return os << "message " << static_cast<int>(message);
    }
}

class Window {
public:
    explicit Window(const std::string &title) : title_(title)
    {
        FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_2, 1, title);
        send(Message::create, 0, 470153100);
        send(Message::size, 640, 480);
        send(Message::activate, 1, 0);
    }
    Window(const Window &) = delete;
    Window &operator=(const Window &) = delete;
    ~Window()
    {
        FN_FUNC(FN_VOID, FN_2);
        FN_STREAM("the window '" << title_ << "' is gone");
    }

    long send(Message message, unsigned wParam, long lParam);
    bool is_open() const { return is_open_; }

private:
    std::string title_;
    Rectangle place_{};
    bool is_open_ = true;
};

long Window::send(Message message, unsigned wParam, long lParam)
{
    FN_ENTRY(FN_5);

    switch (message) {
    case Message::create:
        FN_CHECKPOINT("WM_CREATE", FN_5, 3, message, wParam, lParam);
        place_ = {0, 0, 640, 480};
        FN_PARAM(&place_);
        break;
    case Message::activate:
        FN_CHECKPOINT("WM_ACTIVATE", FN_5, 3, message, wParam, lParam);
        break;
    case Message::command:
        if (wParam != IDM_OK)
            break;
        FN_CHECKPOINT("IDM_OK", FN_5, 3, message, wParam, lParam);
        FN_OUTPUT("closing the window, which is at ", &place_);
        send(Message::activate, 0, 0);
        send(Message::destroy, 0, 0);
        break;
    case Message::destroy:
        FN_CHECKPOINT("WM_DESTROY", FN_5, 3, message, wParam, lParam);
        is_open_ = false;
        break;
    default: break; // the many other messages are not reported
    }
    return 0;
}

template <class Queue> static unsigned dispatch(Window &window, Queue queue)
{
    unsigned count = 0;
    FN_FUNC_RETVAL(unsigned, count, FN_3);

    while (window.is_open() && !queue.empty()) {
        FN_PAUSE(); // waiting for messages does not count as time of this function
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        FN_RESUME();
        window.send(queue.front(), IDM_OK, 2080871584);
        queue.pop_front();
        count++;
    }
    return count;
}

static std::string run(const std::string &title, bool is_shown)
{
    std::string result;
    FN_FUNC_PARAMS(std::string, result, FN_1, 2, title, is_shown);

    auto window = std::make_unique<Window>(title);
    dispatch(*window, std::deque<Message>{Message::paint, Message::command, Message::paint});
    result = "closed by the user";
    return result;
}

int main()
{
    return run("INSTRUMENT", true).empty() ? 1 : 0;
}
