/* SPDX-License-Identifier: MIT
 *
 * terminal.h: a screen that is redrawn, with single keys as input, using only ANSI sequences. The
 * terminal has its original state after cli_terminal_close() and while the command is suspended.
 */
#ifndef PROBITY_CLI_TERMINAL_H
#define PROBITY_CLI_TERMINAL_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

struct cli_terminal {
    struct termios before;
    sigset_t signals_before;
    int signals; /* descriptor from which the signals are read */
    size_t columns, rows;
};

/* Results of cli_terminal_wait() other than keys. */
enum cli_terminal_event {
    CLI_TERMINAL_TIMEOUT = 0,
    CLI_TERMINAL_RESIZED = -1, /* resized or continued: redraw */
    CLI_TERMINAL_ENDED = -2    /* ended by a signal, or at the end of input */
};

/* Takes over the terminal if standard input and output are a terminal. Returns 1; or 0 with nothing
 * changed. From then on, only cli_terminal_wait() receives signals that end the command, suspend it
 * or report a new size. */
int cli_terminal_open(struct cli_terminal *ret_terminal);

/* Waits for a key, at most timeout_ms (0: does not wait). Returns the key or an event. */
int cli_terminal_wait(struct cli_terminal *terminal, int timeout_ms);

/* Draws a screen. Returns 0, or -1 if the terminal is gone. */
int cli_terminal_draw(const struct cli_terminal *terminal, const char *text, size_t bytes);

void cli_terminal_close(struct cli_terminal *terminal);

#endif
