/* SPDX-License-Identifier: MIT
 *
 * control_ask.c: the tool's side of requests. All input is untrusted: levels are only displayed,
 * and timeouts use the tool's own clock.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/assert.h"
#include "base/os.h"
#include "probity.h"
#include "spool/control.h"

static uint64_t request_of(uint32_t serial, int functions, int parameters)
{
    probity_assert(functions >= -1 && functions < 255 && parameters >= -1 && parameters < 255);
    return serial | (uint64_t)(uint8_t)(functions + 1) << PROBITY_CONTROL_FUNCTIONS_SHIFT |
           (uint64_t)(uint8_t)(parameters + 1) << PROBITY_CONTROL_PARAMETERS_SHIFT;
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int probity_control_read(const struct probity_attach *attach, int *ret_functions,
                         int *ret_parameters)
{
    const struct probity_spool_header *header = probity_attach_header(attach);
    uint32_t levels = __atomic_load_n(&header->levels, __ATOMIC_RELAXED);

    if ((levels & PROBITY_CONTROL_ANSWERS) == 0)
        return PROBITY_ERROR_VERSION;
    *ret_functions = (int)(levels & 255);
    *ret_parameters = (int)(levels >> 8 & 255);
    return 0;
}

/* Returns whether no writer thread has held the draining lock for a while. One that is just being
 * created takes it within that time, unless it gets no CPU; then it will find the request. */
static int is_unserved(const struct probity_attach *attach, int64_t *since_ns)
{
    const int64_t long_ns = 200000000;

    if (probity_attach_has_drainer(attach))
        *since_ns = 0;
    else if (*since_ns == 0)
        *since_ns = now_ns();
    return *since_ns != 0 && now_ns() - *since_ns >= long_ns;
}

/* Waits for the reply to the request with this serial, or to a later one. Wakes a sleeping writer
 * repeatedly, because it may have looked for requests just before the store, and then gone to
 * sleep. */
static int wait_for(const struct probity_attach *attach, const struct probity_spool_header *header,
                    const uint32_t *answered, uint32_t serial, int64_t until_ns)
{
    static const struct timespec a_moment = {0, 1000000};
    int64_t unserved_since_ns = 0;

    while ((int32_t)(__atomic_load_n(answered, __ATOMIC_ACQUIRE) - serial) < 0) {
        if (!probity_attach_is_alive(attach) ||
            __atomic_load_n(&header->failed, __ATOMIC_ACQUIRE) != 0)
            return PROBITY_ERROR_STATE;
        if (now_ns() >= until_ns || is_unserved(attach, &unserved_since_ns))
            return PROBITY_ERROR_LIMIT;
        probity_os_wake_shared(&header->wake, 1);
        nanosleep(&a_moment, NULL);
    }
    return 0;
}

/* Maps a timeout while waiting for an earlier request to another error: this request was not made,
 * so it will not be carried out later. */
static int unasked(int result)
{
    return result == PROBITY_ERROR_LIMIT ? PROBITY_ERROR_EXISTS : result;
}

/* Makes the request once no other is pending: one that is pending was made by another tool. */
static int request_make(const struct probity_attach *attach, struct probity_spool_header *header,
                        uint64_t wanted, int64_t until_ns, uint32_t *ret_serial)
{
    for (;;) {
        uint64_t before = __atomic_load_n(&header->level_request, __ATOMIC_ACQUIRE);
        int result =
            wait_for(attach, header, &header->level_answered, (uint32_t)before, until_ns);
        if (result != 0)
            return unasked(result);
        *ret_serial = (uint32_t)before + 1;
        if (__atomic_compare_exchange_n(&header->level_request, &before, wanted | *ret_serial, 0,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return 0;
    }
}

/* Maps the header for writing, with a guard. Returns NULL if that is not possible. */
static struct probity_spool_header *map_header(const struct probity_attach *attach,
                                               struct probity_sigbus_guard *watch)
{
    void *header = mmap(NULL, PROBITY_SPOOL_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                        attach->file, 0);

    if (header == MAP_FAILED)
        return NULL;
    probity_sigbus_guard_begin(watch, attach->place.text, header, PROBITY_SPOOL_HEADER_BYTES);
    return header;
}

static void unmap_header(struct probity_spool_header *header, struct probity_sigbus_guard *watch)
{
    probity_sigbus_guard_end(watch);
    munmap(header, PROBITY_SPOOL_HEADER_BYTES);
}

int probity_control_ask(const struct probity_attach *attach, int functions, int parameters,
                        int64_t wait_ns, int *ret_functions, int *ret_parameters)
{
    int64_t until_ns = now_ns() + wait_ns;
    uint32_t serial = 0;
    int result = probity_control_read(attach, ret_functions, ret_parameters);

    probity_assert(attach->file >= 0 && wait_ns >= 0);
    if (result != 0)
        return result;
    struct probity_sigbus_guard watch;
    struct probity_spool_header *header = map_header(attach, &watch);
    if (header == NULL)
        return PROBITY_ERROR_SYSTEM;
    result =
        request_make(attach, header, request_of(0, functions, parameters), until_ns, &serial);
    if (result == 0)
        result = wait_for(attach, header, &header->level_answered, serial, until_ns);
    unmap_header(header, &watch);
    return result != 0 ? result : probity_control_read(attach, ret_functions, ret_parameters);
}

/* Wakes the writer repeatedly, like wait_for(). */
static int wait_for_end(const struct probity_attach *attach,
                        const struct probity_spool_header *header, int64_t until_ns)
{
    static const struct timespec a_moment = {0, 1000000};

    for (;;) {
        uint32_t state = __atomic_load_n(&header->state, __ATOMIC_ACQUIRE);
        if (state == PROBITY_SPOOL_CLOSED || !probity_attach_is_alive(attach))
            return 0;
        if (__atomic_load_n(&header->failed, __ATOMIC_ACQUIRE) != 0)
            return PROBITY_ERROR_STATE;
        if (now_ns() >= until_ns)
            return PROBITY_ERROR_LIMIT;
        probity_os_wake_shared(&header->wake, 1);
        nanosleep(&a_moment, NULL);
    }
}

int probity_control_end(const struct probity_attach *attach, int64_t wait_ns, int *ret_why)
{
    int64_t until_ns = now_ns() + wait_ns;

    if ((__atomic_load_n(&probity_attach_header(attach)->levels, __ATOMIC_RELAXED) &
         PROBITY_CONTROL_ENDS) == 0)
        return PROBITY_ERROR_VERSION;
    struct probity_sigbus_guard watch;
    struct probity_spool_header *header = map_header(attach, &watch);
    if (header == NULL)
        return PROBITY_ERROR_SYSTEM;
    __atomic_store_n(&header->end_asked, PROBITY_CONTROL_END_ASKED, __ATOMIC_RELEASE);
    int result = wait_for_end(attach, header, until_ns);
    uint32_t answer = __atomic_load_n(&header->end_asked, __ATOMIC_ACQUIRE);
    *ret_why = (answer & 255) == PROBITY_CONTROL_END_PARTLY ? (int)(answer >> 8) : 0;
    unmap_header(header, &watch);
    return result;
}

static int change_make(const struct probity_attach *attach, struct probity_spool_header *header,
                       const char *text, int64_t until_ns, char *ret_why)
{
    struct probity_spool_change *change =
        (struct probity_spool_change *)((char *)header + PROBITY_SPOOL_CHANGE_OFFSET);
    uint32_t asked = __atomic_load_n(&header->change_asked, __ATOMIC_ACQUIRE);
    int result = wait_for(attach, header, &header->change_taken, asked, until_ns);

    if (result != 0)
        return unasked(result);
    memset(change->text, 0, sizeof change->text);
    memcpy(change->text, text, strlen(text));
    /* Release: pairs with probity_control_change_pending(). */
    __atomic_store_n(&header->change_asked, asked + 1, __ATOMIC_RELEASE);
    result = wait_for(attach, header, &header->change_taken, asked + 1, until_ns);
    if (result != 0)
        return result;
    memcpy(ret_why, change->text, sizeof change->text);
    ret_why[sizeof change->text - 1] = 0;
    return change->result == 0 ? 0 : PROBITY_ERROR_ARGUMENT;
}

static int change_mapped(const struct probity_attach *attach, const char *text, int64_t until_ns,
                         char *ret_why)
{
    struct probity_sigbus_guard watch;
    struct probity_spool_header *header = map_header(attach, &watch);

    if (header == NULL)
        return PROBITY_ERROR_SYSTEM;
    int result = change_make(attach, header, text, until_ns, ret_why);
    unmap_header(header, &watch);
    return result;
}

int probity_control_change(const struct probity_attach *attach, const char *text, int64_t wait_ns,
                           char ret_why[PROBITY_SPOOL_CHANGE_TEXT])
{
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = PROBITY_SPOOL_LOCK_CHANGE,
                         .l_len = 1};
    uint32_t levels =
        __atomic_load_n(&probity_attach_header(attach)->levels, __ATOMIC_RELAXED);

    probity_assert(strlen(text) < PROBITY_SPOOL_CHANGE_TEXT);
    if ((levels & PROBITY_CONTROL_CHANGES) == 0)
        return PROBITY_ERROR_VERSION;
    if (fcntl(attach->file, F_OFD_SETLK, &lock) != 0)
        return PROBITY_ERROR_EXISTS;
    int result = change_mapped(attach, text, now_ns() + wait_ns, ret_why);
    lock.l_type = F_UNLCK;
    fcntl(attach->file, F_OFD_SETLK, &lock);
    return result;
}
