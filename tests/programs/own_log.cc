/* SPDX-License-Identifier: MIT
 *
 * own_log.cc: prints a log of itself while it runs (PROBITY_LOG).
 *
 *     own_log run COUNT     in two threads, COUNT times three scopes with values and a message
 *     own_log slow COUNT    same as above with 10 ms between rounds, until its log has grown,
 *                           when it prints "seen"; at most 40 times
 *     own_log levels COUNT  scopes of each level under each level
 *     own_log fork COUNT    a child that logs, too
 *     own_log start COUNT   an explicit start, with the log as an option
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static long count;
static useconds_t pause_us;

static int innermost(long round, const std::string &text)
{
    int result = 0;
    FN_FUNC_ARGS(int, result, FN_3, round, text);
    result = static_cast<int>(round % 7);
    return result;
}

static void middle(long round)
{
    FN_FUNC(void, FN_2);
    FN_OUTPUT("round ", round);
    innermost(round, "of " + std::to_string(count));
}

static void *rounds(void *)
{
    FN_FUNC(void *, FN_1);
    for (long i = 0; i < count; i++) {
        middle(i);
        if (pause_us != 0)
            usleep(pause_us);
    }
    return nullptr;
}

static void run()
{
    pthread_t thread[2];

    for (pthread_t &one : thread)
        pthread_create(&one, nullptr, rounds, nullptr);
    for (pthread_t one : thread)
        pthread_join(one, nullptr);
}

static void slow()
{
    const char *log = getenv("PROBITY_LOG");
    struct stat status;

    pause_us = 10000;
    for (int i = 0; i < 40; i++) {
        run();
        if (log != nullptr && stat(log, &status) == 0 && status.st_size > 0) {
            puts("seen");
            return;
        }
    }
}

template <int level> static void of_level()
{
    FN_FUNC(void, level);
}

static void levels()
{
    for (int level = 0; level <= 5; level++) {
        FN_INSTRUMENT_LEVEL(level, level);
        for (long i = 0; i < count; i++) {
            of_level<0>();
            of_level<1>();
            of_level<2>();
            of_level<3>();
            of_level<4>();
            of_level<5>();
        }
    }
}

static void fork_too()
{
    middle(1);
    pid_t child = fork();
    if (child == 0) {
        middle(2);
        std::exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (status != 0)
        std::exit(1);
    middle(3);
}

static void start()
{
    struct probity_options options;

    std::memset(&options, 0, sizeof options);
    options.struct_bytes = sizeof options;
    options.out = "trace";
    options.log = "%n-%%.log";
    if (probity_start(&options) != 0)
        std::exit(1);
    run();
    probity_stop();
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    count = argc > 2 ? std::atol(argv[2]) : 100;
    if (std::strcmp(how, "run") == 0)
        run();
    else if (std::strcmp(how, "slow") == 0)
        slow();
    else if (std::strcmp(how, "levels") == 0)
        levels();
    else if (std::strcmp(how, "fork") == 0)
        fork_too();
    else if (std::strcmp(how, "start") == 0)
        start();
    else
        return 2;
    return 0;
}
