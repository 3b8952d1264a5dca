/* SPDX-License-Identifier: MIT
 *
 * exported.c: records names, values, threads and levels that exports to other tools' formats must
 * preserve.
 *
 *     exported [THREADS [ROUNDS [kill|wait]]]    wait: prints "ready" and reads input to its end
 *     exported none|one|names                    no record, a single one, or 70,000 probes, each
 *                                                hit twice
 */
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <probity.h>

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 64, LONG_TEXT = 10000, RENAMED = 42, NUMBERED = 7, PROBES = 70000 };

static char long_text[LONG_TEXT + 1];
static long rounds = 3;

static __attribute__((noinline)) int measure(const char *text, int64_t number)
{
    int result = 0;
    FN_FUNC_PARAMS(int, result, FN_1, 2, text, number);

    result = (int)strlen(text);
    return result;
}

static __attribute__((noinline)) int descend(int depth)
{
    int result = depth;
    FN_FUNC_PARAMS(int, result, FN_1, 1, depth);

    PROBITY_PROBE(NUMBERED);
    if (depth > 0)
        result += descend(depth - 1);
    return result;
}

static void hit_names(void)
{
    PROBITY_PROBE_NAMED("<b onclick=\"alert('x')\">&amp;</b>");
    PROBITY_PROBE_NAMED("two\nlines\tand a tab");
    PROBITY_PROBE_NAMED("quote \" backslash \\ brace {%s} semicolon; comma,");
    PROBITY_PROBE_NAMED("broken \xff\xc3( UTF-8");
    PROBITY_PROBE_NAMED("snowman \xe2\x98\x83");
    PROBITY_PROBE(RENAMED);
}

static void *work(void *argument)
{
    char name[32] = "<i>worker\n";
    FN_FUNC(FN_VOID, FN_1);

    name[10] = (char)('0' + (intptr_t)argument % 10);
    probity_thread_set_name(name);
    for (long i = 0; i < rounds; i++) {
        measure("plain", i);
        descend(3);
        hit_names();
    }
    measure(long_text, -1);
    measure("</script>\xfe\n", INT64_MIN);
    FN_OUTPUT("message <b>\"", long_text, "\"</b>\n\xff");
    return NULL;
}

static __attribute__((noinline)) int run(int count)
{
    pthread_t threads[THREADS_MAX];
    FN_FUNC(int, FN_1);

    for (intptr_t i = 0; i < count && i < THREADS_MAX; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
            return 1;
    }
    for (int i = 0; i < count && i < THREADS_MAX; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static int record_little(const char *what)
{
    if (probity_start(NULL) != 0 && !probity_is_recording())
        return 1;
    if (strcmp(what, "one") == 0)
        PROBITY_PROBE(NUMBERED);
    for (uint32_t i = 0; strcmp(what, "names") == 0 && i < 2 * PROBES; i++)
        PROBITY_PROBE(i % PROBES);
    return 0;
}

int main(int argc, char **argv)
{
    const char *end = argc > 3 ? argv[3] : "";

    if (argc == 2 && strspn(argv[1], "0123456789") == 0)
        return record_little(argv[1]);
    rounds = argc > 2 ? atol(argv[2]) : rounds;
    memset(long_text, 'x', LONG_TEXT);
    probity_probe_set_name(RENAMED, "before");
    int status = run(argc > 1 ? atoi(argv[1]) : 2);
    probity_probe_set_name(RENAMED, "after");
    FN_INSTRUMENT_LEVEL(3, 4);
    hit_names();
    if (strcmp(end, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(end, "wait") == 0) {
        puts("ready");
        fflush(stdout);
        while (getchar() != EOF)
            continue;
    }
    return status;
}
