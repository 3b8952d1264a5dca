// SPDX-License-Identifier: MIT
//
// memory.cc [kill]: allocates blocks of 12,347 bytes in all places where a program may, and prints
// its own counts of blocks allocated and of blocks live at the end. kill: ends by a signal.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <new>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 12347 };
static int allocated, freed;

extern "C" void *allocate()
{
    void *volatile at = malloc(BYTES);
    allocated++;
    return at;
}

extern "C" void release(void *at)
{
    free(at);
    freed++;
}

static void pair()
{
    release(allocate());
}

__attribute__((constructor)) static void construct()
{
    pair();
}

struct local {
    volatile int is_used = 0;
    ~local() { pair(); }
};
static thread_local local of_thread;
static pthread_key_t key;

static void end_thread(void *at)
{
    release(at);
}

static void *run(void *)
{
    of_thread.is_used = 1;
    pthread_setspecific(key, allocate());
    pair();
    return nullptr;
}

static void handle(int)
{
    pair();
}

static void use_operators()
{
    char *volatile one = new char[BYTES];
    delete[] one;
    void *volatile two = ::operator new(BYTES);
    ::operator delete(two);
    void *volatile three = ::operator new(BYTES, std::nothrow);
    ::operator delete(three);
    void *volatile four = ::operator new(BYTES, std::align_val_t(64));
    ::operator delete(four, std::align_val_t(64));
    allocated += 4;
    freed += 4;
    try {
        volatile size_t most = SIZE_MAX / 4;
        char *volatile never = new char[most];
        delete[] never;
    } catch (const std::bad_alloc &) {
        pair();
    }
}

static void use_relatives()
{
    void *volatile at = calloc(1, BYTES);
    release(at);
    at = realloc(nullptr, 5);
    at = realloc(at, BYTES);
    volatile size_t too_much = SIZE_MAX / 4;
    if (realloc(at, too_much) != nullptr)
        abort();
    release(at);
    void *aligned;
    if (posix_memalign(&aligned, 64, BYTES) != 0)
        abort();
    release(aligned);
    allocated += 3;
}

static void in_child()
{
    pid_t child = fork();

    if (child == 0) {
        for (int i = 0; i < 7; i++)
            pair();
        _exit(0);
    }
    waitpid(child, nullptr, 0);
}

int main(int argc, char **)
{
    pthread_t thread;

    pthread_key_create(&key, end_thread);
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    for (int i = 0; i < 20; i++) {
        pthread_create(&thread, nullptr, run, nullptr);
        pthread_join(thread, nullptr);
    }
    void *plugin = dlopen("./plugin.so", RTLD_NOW);
    if (plugin == nullptr)
        return 1;
    dlclose(plugin);
    use_operators();
    use_relatives();
    in_child();
    for (int i = 0; i < 1000; i++)
        pair();
    for (int i = 0; i < 3; i++)
        allocate();
    printf("%d %d\n", allocated, allocated - freed);
    fflush(stdout);
    if (argc > 1)
        raise(SIGKILL);
    return 0;
}
