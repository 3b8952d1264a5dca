/* SPDX-License-Identifier: MIT
 *
 * model_demands.c: demands of groups besides their blocks: the time that their threads waited for a
 * CPU, according to thread states, and their I/O calls to the C library.
 */
#include <stdlib.h>
#include <string.h>

#include "answers/model/model_internal.h"
#include "probity.h"

static int is_runnable(const struct probity_model *model, const struct model_thread *thread)
{
    return thread->state == PROBITY_STATE_RUNNABLE && thread->state_ns >= model->from_ns &&
           thread->state_ns < model->to_ns;
}

int probity_model_put_state(struct probity_model *model, struct model_thread *thread,
                            const struct probity_event *event)
{
    struct probity_state_event state;
    int error = 0;

    if (probity_state_event_get(event->payload, event->payload_bytes, &state) != 0)
        return 0;
    model->result.has_states = 1;
    int was_runnable = is_runnable(model, thread);
    if (was_runnable && thread->seed != NULL && event->wall_ns > thread->state_ns)
        error = probity_duration_stats_add(&thread->seed->group.run_queue,
                                           event->wall_ns - thread->state_ns);
    thread->state = state.state;
    thread->state_ns = event->wall_ns;
    model->runnable += (uint32_t)is_runnable(model, thread) - (uint32_t)was_runnable;
    return error;
}

uint64_t probity_model_pending(const struct probity_model *model)
{
    return model->runnable;
}

/* Returns NULL if out of memory. Equal names from several traces count as one function. */
static struct probity_model_call *call_at(struct probity_model_group *group, const char *name)
{
    struct probity_model_call **place = &group->calls;

    while (*place != NULL && strcmp((*place)->name, name) < 0)
        place = &(*place)->next;
    if (*place != NULL && strcmp((*place)->name, name) == 0)
        return *place;
    struct probity_model_call *call = calloc(1, sizeof *call);
    if (call == NULL)
        return NULL;
    call->name = name;
    call->next = *place;
    *place = call;
    return call;
}

static int end_call(struct model_thread *thread, const struct probity_event *event)
{
    struct probity_model_call *call = call_at(&thread->seed->group, event->function->name);
    uint64_t wall_ns = event->wall_ns > thread->call_ns ? event->wall_ns - thread->call_ns : 0;
    uint64_t cpu_ns =
        event->cpu_ns > thread->call_cpu_ns ? event->cpu_ns - thread->call_cpu_ns : 0;

    if (call == NULL)
        return PROBITY_ERROR_MEMORY;
    int error = probity_duration_stats_add(&call->wall, wall_ns);
    if (error == 0 && event->cpu_known && thread->is_call_cpu_known)
        error = probity_duration_stats_add(&call->off, wall_ns > cpu_ns ? wall_ns - cpu_ns : 0);
    return error;
}

int probity_model_put_call(struct model_thread *thread, const struct probity_event *event)
{
    if (event->function == NULL || strcmp(event->function->recorded_file, "libc/io") != 0)
        return 0;
    if (event->kind == PROBITY_EVENT_ENTER) {
        thread->call = event->function;
        thread->call_ns = event->wall_ns;
        thread->call_cpu_ns = event->cpu_ns;
        thread->is_call_cpu_known = event->cpu_known != 0;
        return 0;
    }
    int is_end = thread->call == event->function && thread->seed != NULL;
    thread->call = NULL;
    return is_end ? end_call(thread, event) : 0;
}

int probity_model_join_demands(struct probity_model_group *to,
                               const struct probity_model_group *from)
{
    int error = probity_duration_stats_merge(&to->run_queue, &from->run_queue);

    for (const struct probity_model_call *call = from->calls; error == 0 && call != NULL;
         call = call->next) {
        struct probity_model_call *into = call_at(to, call->name);
        error = into != NULL ? probity_duration_stats_merge(&into->wall, &call->wall)
                             : PROBITY_ERROR_MEMORY;
        if (error == 0)
            error = probity_duration_stats_merge(&into->off, &call->off);
    }
    return error;
}

void probity_model_free_demands(struct probity_model_group *group)
{
    probity_duration_stats_release(&group->run_queue);
    for (struct probity_model_call *call = group->calls, *next; call != NULL; call = next) {
        next = call->next;
        probity_duration_stats_release(&call->wall);
        probity_duration_stats_release(&call->off);
        free(call);
    }
}
