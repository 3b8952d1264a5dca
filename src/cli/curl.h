/* SPDX-License-Identifier: MIT
 *
 * curl.h: the parts of libcurl that are used. libcurl is loaded only when needed: linking it would
 * more than double every command's start-up time. Include only if libcurl's headers exist.
 */
#ifndef PROBITY_CLI_CURL_H
#define PROBITY_CLI_CURL_H

#include <curl/curl.h>
#include <dlfcn.h>
#include <string.h>

struct cli_curl {
    void *library;
    __typeof__(curl_easy_init) *init;
    __typeof__(curl_easy_cleanup) *cleanup;
    CURLcode (*set)(CURL *handle, CURLoption option, ...);
    CURLcode (*get)(CURL *handle, CURLINFO info, ...);
    __typeof__(curl_easy_perform) *perform;
    __typeof__(curl_easy_strerror) *text;
    __typeof__(curl_slist_append) *append;
    __typeof__(curl_slist_free_all) *free_all;
};

static inline int cli_curl_find(struct cli_curl *curl, const char *name, void *ret_function)
{
    void *found = dlsym(curl->library, name);

    memcpy(ret_function, &found, sizeof found);
    return found != NULL;
}

/* Returns 1, or 0, with the cause in dlerror() unless that is NULL. The library stays loaded,
 * because unloading its dependencies may not be safe. */
static inline int cli_curl_load(struct cli_curl *curl)
{
    curl->library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    return curl->library != NULL && cli_curl_find(curl, "curl_easy_init", &curl->init) &&
           cli_curl_find(curl, "curl_easy_cleanup", &curl->cleanup) &&
           cli_curl_find(curl, "curl_easy_setopt", &curl->set) &&
           cli_curl_find(curl, "curl_easy_getinfo", &curl->get) &&
           cli_curl_find(curl, "curl_easy_perform", &curl->perform) &&
           cli_curl_find(curl, "curl_easy_strerror", &curl->text) &&
           cli_curl_find(curl, "curl_slist_append", &curl->append) &&
           cli_curl_find(curl, "curl_slist_free_all", &curl->free_all);
}

#endif
