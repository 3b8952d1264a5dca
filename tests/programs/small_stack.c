/* SPDX-License-Identifier: MIT
 *
 * small_stack.c: scopes with values in a signal handler on an alternate stack of 8 KiB (AArch64,
 * whose signal frame is larger: 10 KiB), below which nothing is mapped. Exits with 0 if they
 * fit.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK_BYTES = sizeof(ucontext_t) > 4096 ? 10240 : 8192 };
enum { GUARD_BYTES = 65536, ROUNDS = 4000 };

__attribute__((noinline)) static int with_numbers(int number, long other, double third)
{
    int result = 0;
    FN_FUNC_PARAMS(int, result, FN_1, 3, number, other, third);
    result = number;
    return result;
}

__attribute__((noinline)) static int with_text(int number, const char *text)
{
    int result = 0;
    FN_FUNC_PARAMS(int, result, FN_1, 2, number, text);
    result = number;
    return result;
}

static void handle(int number)
{
    with_numbers(number, 1, 2);
    with_text(number, "some text");
}

int main(void)
{
    char *memory = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

    if (memory == MAP_FAILED || mprotect(memory, GUARD_BYTES, PROT_NONE) != 0)
        return 1;
    stack_t stack = {.ss_sp = memory + GUARD_BYTES, .ss_size = STACK_BYTES};
    if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        raise(SIGUSR1);
        if (i % 50 == 0)
            with_numbers(1, 2, 3);
    }
    return 0;
}
