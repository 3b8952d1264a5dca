/* SPDX-License-Identifier: MIT
 *
 * control.c: the writer's side of requests, in the traced program. The tool's side is
 * control_ask.c.
 */
#include "spool/control.h"

#include <string.h>

int probity_control_pending(const struct probity_spool_header *header, uint32_t *ret_serial,
                            int *ret_functions, int *ret_parameters)
{
    uint64_t request = __atomic_load_n(&header->level_request, __ATOMIC_ACQUIRE);

    if ((uint32_t)request == __atomic_load_n(&header->level_answered, __ATOMIC_RELAXED))
        return 0;
    *ret_serial = (uint32_t)request;
    *ret_functions = (int)(request >> PROBITY_CONTROL_FUNCTIONS_SHIFT & 255) - 1;
    *ret_parameters = (int)(request >> PROBITY_CONTROL_PARAMETERS_SHIFT & 255) - 1;
    return 1;
}

void probity_control_answer(struct probity_spool_header *header, uint32_t serial)
{
    /* Release: a process that sees the reply sees the levels. Pairs with wait_for in
     * control_ask.c. */
    __atomic_store_n(&header->level_answered, serial, __ATOMIC_RELEASE);
}

static struct probity_spool_change *change_of(const struct probity_spool_header *header)
{
    return (struct probity_spool_change *)((uintptr_t)header + PROBITY_SPOOL_CHANGE_OFFSET);
}

int probity_control_change_pending(const struct probity_spool_header *header, uint32_t *ret_serial,
                                   char ret_text[PROBITY_SPOOL_CHANGE_TEXT])
{
    /* Acquire: the text is complete. Pairs with change_make in control_ask.c. */
    uint32_t asked = __atomic_load_n(&header->change_asked, __ATOMIC_ACQUIRE);

    if (asked == __atomic_load_n(&header->change_taken, __ATOMIC_RELAXED))
        return 0;
    *ret_serial = asked;
    memcpy(ret_text, change_of(header)->text, PROBITY_SPOOL_CHANGE_TEXT);
    ret_text[PROBITY_SPOOL_CHANGE_TEXT - 1] = 0;
    return 1;
}

void probity_control_change_answer(struct probity_spool_header *header, uint32_t serial, int result,
                                   const char *text)
{
    struct probity_spool_change *change = change_of(header);
    size_t length = strlen(text);

    length = length < sizeof change->text ? length : sizeof change->text - 1;
    memset(change->text, 0, sizeof change->text);
    memcpy(change->text, text, length);
    change->result = result;
    __atomic_store_n(&header->change_taken, serial, __ATOMIC_RELEASE);
}
