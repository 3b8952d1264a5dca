/* SPDX-License-Identifier: MIT
 *
 * control.c: the writer's half of requests, in the traced program. The tool's half is
 * control_ask.c.
 */
#include "spool/control.h"

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
