/* SPDX-License-Identifier: MIT
 *
 * wide_names.c: calls, blocks, a request, a lock, a queue and threads with names that are hard to
 * draw: C++ templates of 2,000 characters that differ only at the end, wide characters,
 * right-to-left names, combining accents, line breaks. Each function is called next to the others
 * and below them, so that a label that is too wide would be drawn over its neighbor. Prints
 * nothing.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "probity_typed.h"

/* Names of objects must be literals. */
#define TEN "std::map<k,"
#define LONG_QUEUE TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "v>>>>>>>>>>"
#define WIDE_REQUEST "\xe8\xa6\x81\xe6\xb1\x82\xe3\x82\x92\xe5\x87\xa6\xe7\x90\x86"
#define ROCKET "\xf0\x9f\x9a\x80"
#define FAMILY "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7"
#define ARROW "\xe2\x9f\xbc"
#define EMOJI_LOCK ROCKET FAMILY ROCKET ROCKET ROCKET

enum { TEMPLATE_BYTES = 2000, ROUNDS = 12, SPIN = 20000 };

static char templates[2][TEMPLATE_BYTES + 1];

static const char *const names[] = {
    templates[0],
    templates[1],
    "\xe8\xa6\x81\xe6\xb1\x82\xe3\x82\x92\xe5\x87\xa6\xe7\x90\x86\xe3\x81\x99\xe3\x82\x8b"
    "\xe9\x96\xa2\xe6\x95\xb0\xe8\xa6\x81\xe6\xb1\x82\xe3\x82\x92\xe5\x87\xa6\xe7\x90\x86",
    "\xd7\x97\xd7\x99\xd7\xa9\xd7\x95\xd7\x91 \xd7\x94\xd7\xaa\xd7\xa9\xd7\x95\xd7\x91\xd7\x94"
    " (42)",
    "e\xcc\x81\xcc\x82\xcc\x83t\xcc\x81\xcc\x82\xcc\x83\x61\xcc\x80\xcc\x84t_of_the_request",
    ROCKET ROCKET ROCKET ROCKET ROCKET " launch " FAMILY,
    "first line\nsecond line\nthird line",
    "MMMMMMMMMMMMMMMMMMMMMMMM",
    ARROW ARROW ARROW ARROW ARROW ARROW ARROW ARROW,
    "plain",
};

enum { NAMES = sizeof names / sizeof *names };

static struct probity_site_function functions[NAMES];
static volatile unsigned sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queue; /* only its address is used */

static void spin(unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        sink = sink * 31 + i;
}

/* Does what FN_FUNC does, with a given name in place of the compiler's. Then calls the next one. */
static void call(uint32_t number, unsigned depth)
{
    uint32_t code = (uint32_t)probity_scope_enter_slow(&functions[number]);

    if (code != 0)
        probity_hit(code);
    spin(SPIN);
    if (depth > 0)
        call((number + 1) % NAMES, depth - 1);
    if (code != 0)
        probity_hit(code + 2);
}

static void *run(void *argument)
{
    uint32_t first = (uint32_t)(uintptr_t)argument;

    probity_thread_set_name(names[first % NAMES]);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t id = first * ROUNDS + round;

        PROBITY_REQUEST_BEGIN(WIDE_REQUEST, id);
        PROBITY_QUEUE_PUT(LONG_QUEUE, &queue, id);
        PROBITY_LOCK_WAIT(EMOJI_LOCK, &lock);
        pthread_mutex_lock(&lock);
        PROBITY_LOCK_HOLD(EMOJI_LOCK, &lock);
        PROBITY_QUEUE_GET(LONG_QUEUE, &queue, id);
        for (uint32_t i = 0; i < NAMES; i++) {
            PROBITY_PROBE(i);
            call(i, 3);
        }
        PROBITY_LOCK_RELEASE(EMOJI_LOCK, &lock);
        pthread_mutex_unlock(&lock);
        PROBITY_REQUEST_END(WIDE_REQUEST, id);
    }
    return NULL;
}

static void make_template(char *text, char last)
{
    size_t length = 0;

    while (length < TEMPLATE_BYTES - 60)
        length += (size_t)snprintf(text + length, TEMPLATE_BYTES - length,
                                   "std::map<std::basic_string<char%zu>, ", length);
    memset(text + length, '>', TEMPLATE_BYTES - length);
    text[TEMPLATE_BYTES - 1] = last;
}

int main(void)
{
    enum { THREADS = 6 };
    pthread_t threads[THREADS];

    make_template(templates[0], 'A');
    make_template(templates[1], 'B');
    for (uint32_t i = 0; i < NAMES; i++) {
        functions[i] = (struct probity_site_function){
            .name = names[i], .file = names[i], .returns = "void", .line = i, .level = 1};
        probity_probe_set_name(i, names[i]);
    }
    for (uintptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, run, (void *)i) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
