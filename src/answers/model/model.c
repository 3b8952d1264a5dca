/* SPDX-License-Identifier: MIT
 *
 * model.c: follows each thread from hit to hit, and computes the model's totals.
 */
#include "answers/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "answers/model/model_internal.h"
#include "base/array_grow.h"
#include "probity.h"

static struct model_thread *grow_threads(struct probity_model *model, uint32_t slot)
{
    struct model_thread *threads =
        probity_array_grow(model->threads, sizeof *threads, slot, &model->thread_count);

    if (threads != NULL)
        model->threads = threads;
    return threads;
}

/* A thread's name at its first hit determines its group. */
static int set_name(struct model_thread *thread, const struct probity_event *event)
{
    if (thread->seed != NULL)
        return 0;
    free(thread->name);
    thread->name = strndup((const char *)event->payload, event->payload_bytes);
    return thread->name != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

static inline int add_block(struct probity_model_block *block, const struct model_thread *thread,
                            const struct probity_event *event)
{
    /* If CLOCK_REALTIME was set back in between, the block counts as 0. */
    uint64_t wall_ns = event->wall_ns > thread->wall_ns ? event->wall_ns - thread->wall_ns : 0;
    int error = probity_duration_stats_add(&block->wall, wall_ns);

    if (!event->cpu_known || !thread->is_cpu_known || error != 0)
        return error;
    uint64_t cpu_ns = event->cpu_ns > thread->cpu_ns ? event->cpu_ns - thread->cpu_ns : 0;
    error = probity_duration_stats_add(&block->cpu, cpu_ns);
    return error != 0 ? error
                      : probity_duration_stats_add(&block->off,
                                                   wall_ns > cpu_ns ? wall_ns - cpu_ns : 0);
}

/* Starts a thread at its first hit. */
static struct model_node *start_thread(struct probity_model *model, struct model_thread *thread,
                                       const struct probity_probe *probe, uint32_t role)
{
    struct model_seed *seed = probity_model_seed(model, thread, probe);
    struct model_node *node = seed != NULL ? probity_model_node(seed, probe, role) : NULL;

    if (node == NULL)
        return NULL;
    thread->seed = seed;
    seed->group.threads++;
    model->result.threads++;
    node->node.starts++;
    return node;
}

/* Returns the node of this hit, after adding the block that it ends. */
static inline struct model_node *follow_thread(struct model_thread *thread,
                                               const struct probity_probe *probe,
                                               const struct probity_event *event)
{
    struct model_node *from = thread->last;
    struct model_pair *pair = from->recent[probe->place & (MODEL_RECENT - 1)];

    if (__builtin_expect(pair == NULL || pair->to->node.probe != probe, 0)) {
        struct model_node *to = probity_model_node(thread->seed, probe, event->role);
        pair = to != NULL ? probity_model_pair(from, to) : NULL;
        if (pair == NULL)
            return NULL;
    }
    from->node.followed++;
    return add_block(&pair->block, thread, event) == 0 ? pair->to : NULL;
}

static inline int put_hit(struct probity_model *model, struct model_thread *thread,
                          const struct probity_event *event)
{
    struct probity_model_result *result = &model->result;
    struct probity_probe *probe = probity_probes_of(&model->probes, event);

    if (probe == NULL)
        return PROBITY_ERROR_MEMORY;
    struct model_node *node = thread->last == NULL
                                  ? start_thread(model, thread, probe, event->role)
                              : thread->is_cut
                                  ? probity_model_node(thread->seed, probe, event->role)
                                  : follow_thread(thread, probe, event);
    if (node == NULL)
        return PROBITY_ERROR_MEMORY;
    thread->is_cut = 0;
    node->node.hits++;
    thread->last = node;
    thread->wall_ns = event->wall_ns;
    thread->cpu_ns = event->cpu_ns;
    thread->is_cpu_known = event->cpu_known != 0;
    if (event->wall_ns > model->now_ns)
        model->now_ns = event->wall_ns;
    if (result->hits++ == 0)
        result->from_ns = event->wall_ns;
    return event->role != 0 ? probity_model_put_role(model, thread, event) : 0;
}

/* Marks the thread's hits as not successive: records between them were lost, or sites were
 * switched. */
static void cut(struct model_thread *thread)
{
    thread->is_cut = 1;
    thread->is_waiting = 0;
    thread->call = NULL;
}

static int cut_trace(struct probity_model *model, uint32_t trace)
{
    for (uint32_t slot = 0; slot < model->thread_count; slot++) {
        if (model->threads[slot].trace == trace)
            cut(&model->threads[slot]);
    }
    return probity_model_forget(model, trace);
}

int probity_model_put(struct probity_model *model, const struct probity_event *event)
{
    if (__builtin_expect(event->thread_slot >= model->thread_count, 0) &&
        grow_threads(model, event->thread_slot) == NULL)
        return PROBITY_ERROR_MEMORY;
    struct model_thread *thread = &model->threads[event->thread_slot];
    if (event->kind == PROBITY_EVENT_THREAD_NAME)
        return set_name(thread, event);
    if (event->kind == PROBITY_EVENT_THREAD_STATE)
        return probity_model_put_state(model, thread, event);
    if (event->kind == PROBITY_EVENT_LOST)
        cut(thread);
    if (event->kind == PROBITY_EVENT_SITES_SWITCHED)
        return cut_trace(model, event->trace);
    if (!probity_event_is_record(event->kind) || event->wall_ns < model->from_ns ||
        event->wall_ns >= model->to_ns)
        return 0;
    if (!thread->is_seen) {
        thread->is_seen = 1;
        thread->trace = event->trace;
        thread->first_ns = thread->last_ns = event->wall_ns;
    }
    if (event->wall_ns > thread->last_ns)
        thread->last_ns = event->wall_ns;
    if (event->kind == PROBITY_EVENT_ENTER || event->kind == PROBITY_EVENT_LEAVE)
        return probity_model_put_call(thread, event);
    return event->kind == PROBITY_EVENT_HIT ? put_hit(model, thread, event) : 0;
}

/* ---- Finishing ---------------------------------------------------------------------------------
 */

static void finish_threads(struct probity_model *model)
{
    for (uint32_t slot = 0; slot < model->thread_count; slot++) {
        struct model_thread *thread = &model->threads[slot];
        if (thread->seed == NULL)
            continue;
        thread->last->node.ends++;
        thread->seed->group.lifetime_ns += thread->last_ns - thread->first_ns;
        if (thread->is_cpu_known)
            thread->seed->group.cpu_known_ns += thread->cpu_ns;
    }
}

static void sum_groups(struct probity_model_result *result)
{
    for (size_t i = 0; i < result->group_count; i++) {
        const struct probity_model_group *group = result->groups[i];
        result->lifetime_ns += group->lifetime_ns;
        result->wall_ns += group->wall_ns;
        result->cpu_known_ns += group->cpu_known_ns;
        result->cpu_ns += group->cpu_ns;
    }
}

/* Accepts only digits, as doc/trace-format.md requires. */
static uint64_t number_of(const struct probity_text *text)
{
    uint64_t number = 0;

    for (size_t i = 0; i < text->length && text->bytes[i] >= '0' && text->bytes[i] <= '9'; i++)
        number = 10 * number + (uint64_t)(text->bytes[i] - '0');
    return number;
}

/* Returns 0 unless all traces agree. */
static uint64_t cores_of(const struct probity_reader *reader)
{
    uint64_t cores = 0;

    for (size_t i = 0; reader != NULL && i < probity_reader_traces(reader); i++) {
        const struct probity_info *info = &probity_reader_facts(reader, i)->info;
        uint64_t number = number_of(&info->text[PROBITY_TAG_PROCESSORS]);
        if (i > 0 && number != cores)
            return 0;
        cores = number;
    }
    return cores;
}

int probity_model_finish(struct probity_model *model, const struct probity_reader *reader,
                         const struct probity_model_result **ret_result)
{
    struct probity_model_result *result = &model->result;

    result->to_ns = result->hits > 0 ? model->now_ns : 0;
    result->cores = cores_of(reader);
    finish_threads(model);
    int error = probity_model_finish_groups(model);
    if (error == 0)
        error = probity_model_finish_stations(model);
    if (error != 0)
        return error;
    sum_groups(result);
    *ret_result = result;
    return 0;
}

int probity_model_open(uint64_t from_ns, uint64_t to_ns, struct probity_model **ret_model)
{
    struct probity_model *model = calloc(1, sizeof *model);

    if (model == NULL)
        return PROBITY_ERROR_MEMORY;
    model->probes.item_bytes = sizeof(struct probity_probe);
    model->from_ns = from_ns;
    model->to_ns = to_ns > 0 ? to_ns : UINT64_MAX;
    *ret_model = model;
    return 0;
}

void probity_model_close(struct probity_model *model)
{
    for (uint32_t slot = 0; slot < model->thread_count; slot++)
        free(model->threads[slot].name);
    free(model->threads);
    free(model->switched);
    probity_model_free_groups(model);
    probity_model_free_stations(model);
    probity_inflight_release(&model->open);
    probity_probes_release(&model->probes);
    free(model);
}
