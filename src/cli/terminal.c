/* SPDX-License-Identifier: MIT
 *
 * terminal.c: the terminal of a command that redraws its screen. Signals are read from a
 * descriptor, so that none interrupts setting up the terminal.
 */
#include "cli/terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Alternate screen, no cursor, no line wrapping; and the reverse. */
#define SCREEN_BEGIN "\033[?1049h\033[?25l\033[?7l\033[2J"
#define SCREEN_END "\033[?7h\033[?25h\033[?1049l"
#define SCREEN_TOP "\033[H"
#define SCREEN_REST "\033[0m\033[J"

static int put_all(const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t put = write(STDOUT_FILENO, text, bytes);
        if (put < 0 && errno != EINTR && errno != EAGAIN)
            return -1;
        if (put > 0) {
            text += put;
            bytes -= (size_t)put;
        }
    }
    return 0;
}

static void measure(struct cli_terminal *terminal)
{
    struct winsize size;

    terminal->columns = 80;
    terminal->rows = 24;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        terminal->columns = size.ws_col;
        terminal->rows = size.ws_row;
    }
}

static void take_over(struct cli_terminal *terminal)
{
    struct termios raw = terminal->before;

    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    put_all(SCREEN_BEGIN, sizeof SCREEN_BEGIN - 1);
    measure(terminal);
}

static void give_back(const struct cli_terminal *terminal)
{
    put_all(SCREEN_END, sizeof SCREEN_END - 1);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal->before);
}

int cli_terminal_open(struct cli_terminal *ret_terminal)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH};
    const char *type = getenv("TERM");
    sigset_t signals;

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
        (type != NULL && strcmp(type, "dumb") == 0) ||
        tcgetattr(STDIN_FILENO, &ret_terminal->before) != 0)
        return 0;
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaddset(&signals, caught[i]);
    ret_terminal->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (ret_terminal->signals < 0)
        return 0;
    sigprocmask(SIG_BLOCK, &signals, &ret_terminal->signals_before);
    take_over(ret_terminal);
    return 1;
}

/* Stops as if the signal had not been caught, with the terminal restored; returns once
 * continued. */
static void suspend(struct cli_terminal *terminal)
{
    sigset_t stop;

    give_back(terminal);
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, NULL);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    tcgetattr(STDIN_FILENO, &terminal->before);
    take_over(terminal);
}

static int take_signal(struct cli_terminal *terminal)
{
    struct signalfd_siginfo info;

    if (read(terminal->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return CLI_TERMINAL_TIMEOUT;
    if (info.ssi_signo == SIGWINCH)
        measure(terminal);
    else if (info.ssi_signo == SIGTSTP)
        suspend(terminal);
    else
        return CLI_TERMINAL_ENDED;
    return CLI_TERMINAL_RESIZED;
}

int cli_terminal_wait(struct cli_terminal *terminal, int timeout_ms)
{
    struct pollfd sources[] = {{.fd = terminal->signals, .events = POLLIN},
                               {.fd = STDIN_FILENO, .events = POLLIN}};
    char key;

    if (poll(sources, 2, timeout_ms) <= 0)
        return CLI_TERMINAL_TIMEOUT;
    if (sources[0].revents != 0)
        return take_signal(terminal);
    ssize_t got = read(STDIN_FILENO, &key, 1);
    if (got == 1)
        return (unsigned char)key;
    return got == 0 || errno != EINTR ? CLI_TERMINAL_ENDED : CLI_TERMINAL_TIMEOUT;
}

int cli_terminal_draw(const struct cli_terminal *terminal, const char *text, size_t bytes)
{
    (void)terminal;
    if (put_all(SCREEN_TOP, sizeof SCREEN_TOP - 1) != 0 || put_all(text, bytes) != 0)
        return -1;
    return put_all(SCREEN_REST, sizeof SCREEN_REST - 1);
}

void cli_terminal_close(struct cli_terminal *terminal)
{
    give_back(terminal);
    close(terminal->signals);
    sigprocmask(SIG_SETMASK, &terminal->signals_before, NULL);
}
