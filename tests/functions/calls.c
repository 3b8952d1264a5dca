/* SPDX-License-Identifier: MIT
 *
 * calls.c: a program without macros, for compilers' hooks, in which each function counts its calls.
 * main() prints "NAME CALLS" for each at the end.
 *
 *     calls [PLUGIN...]    loads, calls and unloads the plugins, one after another
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTIONS(X)                                                                               \
    X(leaf) X(fib) X(tail) X(even) X(odd) X(deep) X(jump_from) X(try_jump) X(after_jump)           \
    X(use_array) X(compare) X(handler) X(in_thread) X(run_thread) X(in_child) X(same_name)        \
    X(before_main) X(main)

enum {
#define NUMBER(name) number_##name,
    FUNCTIONS(NUMBER) COUNT
};

static const char *const names[] = {
#define NAME(name) #name,
    FUNCTIONS(NAME)};

static unsigned counts[COUNT];
static volatile int sink;
static jmp_buf target;

#define COUNT_CALL(name) __atomic_add_fetch(&counts[number_##name], 1, __ATOMIC_RELAXED)

static int leaf(int x)
{
    COUNT_CALL(leaf);
    return 3 * x + sink;
}

static int fib(int n)
{
    COUNT_CALL(fib);
    return n < 2 ? leaf(n) : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static int tail(int x)
{
    COUNT_CALL(tail);
    return leaf(x);
}

static int odd(unsigned n);

__attribute__((noinline)) static int even(unsigned n)
{
    COUNT_CALL(even);
    return n == 0 ? 1 : odd(n - 1);
}

__attribute__((noinline)) static int odd(unsigned n)
{
    COUNT_CALL(odd);
    return n == 0 ? 0 : even(n - 1);
}

__attribute__((noinline)) static int deep(unsigned n)
{
    COUNT_CALL(deep);
    sink = n == 0 ? 0 : deep(n - 1);
    return sink + 1;
}

__attribute__((noinline)) static void jump_from(int depth)
{
    COUNT_CALL(jump_from);
    if (depth == 0)
        longjmp(target, 1);
    jump_from(depth - 1);
    sink++;
}

static void after_jump(void)
{
    COUNT_CALL(after_jump);
    sink++;
}

__attribute__((noinline)) static void try_jump(int depth)
{
    COUNT_CALL(try_jump);
    if (setjmp(target) == 0)
        jump_from(depth);
    after_jump();
}

__attribute__((noinline)) static int use_array(size_t bytes)
{
    COUNT_CALL(use_array);
    char memory[bytes];

    memset(memory, 1, bytes);
    return leaf(memory[bytes / 2]);
}

static int compare(const void *one, const void *other)
{
    COUNT_CALL(compare);
    return *(const int *)one - *(const int *)other;
}

static void handler(int number)
{
    COUNT_CALL(handler);
    leaf(number);
}

/* Calls in a loop, while other threads do the same. */
static void in_thread(int rounds)
{
    COUNT_CALL(in_thread);
    for (int i = 0; i < rounds; i++)
        leaf(i);
}

static void *run_thread(void *argument)
{
    COUNT_CALL(run_thread);
    in_thread(1000);
    deep(100);
    return argument;
}

static void in_child(void)
{
    COUNT_CALL(in_child);
    fib(5);
}

static void same_name(void)
{
    COUNT_CALL(same_name);
}

__attribute__((constructor)) static void before_main(void)
{
    COUNT_CALL(before_main);
    leaf(1);
}

#ifdef __clang__
#define UNCOUNTED __attribute__((no_instrument_function, xray_never_instrument)) static
#else
#define UNCOUNTED __attribute__((no_instrument_function)) static
#endif

UNCOUNTED void run_threads(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, run_thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

UNCOUNTED void run_handlers(void)
{
    static char stack[65536];
    stack_t elsewhere = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = handler};

    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    sigaltstack(&elsewhere, NULL);
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
}

/* The child has counts and a trace separate from its parent's. */
UNCOUNTED void run_child(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        in_child();
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        abort();
}

UNCOUNTED void run_plugin(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW);
    void (*run)(void) = plugin != NULL ? (void (*)(void))dlsym(plugin, "run_plugin") : NULL;

    if (run == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    run();
    dlclose(plugin);
}

int main(int argc, char **argv)
{
    static int numbers[] = {5, 3, 9, 1, 7, 2, 8};

    COUNT_CALL(main);
    fib(12);
    tail(1);
    even(1000);
    deep(200);
    deep(80000);
    for (int i = 0; i < 4; i++)
        try_jump(i);
    for (size_t bytes = 64; bytes < 4096; bytes *= 4)
        use_array(bytes);
    qsort(numbers, sizeof numbers / sizeof *numbers, sizeof *numbers, compare);
    same_name();
    run_threads();
    run_handlers();
    run_child();
    for (int i = 1; i < argc; i++)
        run_plugin(argv[i]);
    for (int i = 0; i < COUNT; i++)
        printf("%s %u\n", names[i], counts[i]);
    return 0;
}
