/* SPDX-License-Identifier: MIT
 *
 * terminal_without_signals.c: replaces terminal.c if the tool is built with
 * -DPROBITY_WITHOUT_SIGNALS: there is no screen, so `probity top` prints one table after another.
 */
#include "cli/terminal.h"

#ifdef PROBITY_WITHOUT_SIGNALS

int cli_terminal_open(struct cli_terminal *ret_terminal)
{
    (void)ret_terminal;
    return 0;
}

/* Without a screen, these are never called. */

int cli_terminal_wait(struct cli_terminal *terminal, int timeout_ms)
{
    (void)terminal;
    (void)timeout_ms;
    return CLI_TERMINAL_ENDED;
}

int cli_terminal_draw(const struct cli_terminal *terminal, const char *text, size_t bytes)
{
    (void)terminal;
    (void)text;
    (void)bytes;
    return -1;
}

void cli_terminal_close(struct cli_terminal *terminal)
{
    (void)terminal;
}

#endif
