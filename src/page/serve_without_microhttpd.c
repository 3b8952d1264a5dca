/* SPDX-License-Identifier: MIT
 *
 * serve_without_microhttpd.c: replaces serve.c if the tool is built without libmicrohttpd's header
 * or with -DPROBITY_WITHOUT_MICROHTTPD: no server can be opened.
 */
#include "page/serve.h"

#if defined(PROBITY_WITHOUT_MICROHTTPD) || !__has_include(<microhttpd.h>)

#ifndef PROBITY_WITHOUT_MICROHTTPD
#pragma message("no <microhttpd.h>: building without `probity view --serve`")
#endif

int probity_server_open(const struct probity_serve_options *options,
                        struct probity_server **ret_server, const char **ret_why)
{
    (void)options;
    *ret_server = NULL;
    *ret_why = "built without --serve (requires libmicrohttpd)";
    return -1;
}

/* Without a server, these are never called. */

const char *probity_server_address(const struct probity_server *server)
{
    (void)server;
    return "";
}

const char *probity_server_once_address(const struct probity_server *server)
{
    (void)server;
    return "";
}

int probity_server_run(struct probity_server *server)
{
    (void)server;
    return -1;
}

void probity_server_close(struct probity_server *server)
{
    (void)server;
}

#endif
