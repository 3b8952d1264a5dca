#!/usr/bin/env bash
# Scopes left by longjmp, in qemu: at the next enter, the links between frames show that the scopes
# ended, whatever the sizes of the frames. Functions that break the links, because they use the
# frame pointer for something else, do not end the scopes of their callers.
. "$(dirname "$0")/../common.bash"
native=${NATIVE:?the build directory of this machine}

# Prints the stacks without times. $1 description, $2 source, the rest: compiler and flags
stacks() {
    local what=$1 source=$2
    shift 2
    rm -f trace
    "$@" -g -w -I "$SOURCE/include" -c -o program.o "$source" &&
        aarch64-linux-gnu-gcc -pthread -o program program.o "$BUILD/lib/libprobity.a" -lm ||
        fail "$what: does not compile"
    "${EMULATOR:?}" -L "${EMULATOR_ROOT:?}" -E PROBITY_OUT=trace ./program ||
        fail "$what: status $?"
    "$native/bin/probity" export --format folded trace 2> errors | sed 's/ [0-9]*$//' |
        LC_ALL=C sort | xargs
}

cat > functions.h << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <setjmp.h>
#include <stdint.h>

#define NOINLINE __attribute__((noinline)) static
static jmp_buf back;
static volatile char sink;

static void spin(void)
{
    for (volatile int i = 0; i < 100000; i++) {
    }
}
NOINLINE void small(void)
{
    FN_FUNC(void, FN_1);
    spin();
}
NOINLINE void large(void)
{
    char bytes[1000];
    __asm__ volatile("" : : "r"(bytes) : "memory");
    FN_FUNC(void, FN_1);
    spin();
}
NOINLINE void huge(void)
{
    char bytes[20000];
    __asm__ volatile("" : : "r"(bytes) : "memory");
    FN_FUNC(void, FN_1);
    spin();
}
END

# The next call is to a function with larger variables: from the target of the jump, with or without
# a scope, or from a function without a scope whose variables cover the old frames.
cat > larger.c << 'END'
#include "functions.h"

NOINLINE void leaves(void)
{
    FN_FUNC(void, FN_1);
    spin();
    longjmp(back, 1);
}
NOINLINE void calls(void)
{
    FN_FUNC(void, FN_1);
    spin();
    leaves();
    sink = 1;
}
NOINLINE void between(void (*function)(void))
{
    char bytes[300];
    __asm__ volatile("" : : "r"(bytes) : "memory");
    function();
    sink = 2;
}
NOINLINE void jumps(void)
{
    if (setjmp(back) == 0)
        calls();
}
NOINLINE void each(void)
{
    void (*const function[])(void) = {small, large, huge};
    for (volatile int i = 0; i < 3; i++) {
        jumps();
        function[i]();
        jumps();
        between(function[i]);
    }
}
NOINLINE void targets(void)
{
    FN_FUNC(void, FN_1);
    spin();
    each();
}
int main(void)
{
    each();
    targets();
    return 0;
}
END

# A scope calls back through code that uses the frame pointer for something else.
cat > broken.c << 'END'
#include "functions.h"

void calls_with(uintptr_t x29, void (*function)(void));
__asm__(".text\ncalls_with:\n\tstp x29, x30, [sp, #-16]!\n\tmov x29, x0\n\tblr x1\n"
        "\tldp x29, x30, [sp], #16\n\tret\n");

NOINLINE void outer(const uintptr_t *words)
{
    void (*const function[])(void) = {small, large, huge};
    const uintptr_t pointers[] = {0, 1, 8, (uintptr_t)words, (uintptr_t)(words + 2),
                                  (uintptr_t)words + 4, UINTPTR_MAX - 7};
    FN_FUNC(void, FN_1);
    spin();
    for (volatile unsigned i = 0; i < sizeof pointers / sizeof *pointers; i++) {
        for (volatile int k = 0; k < 3; k++)
            calls_with(pointers[i], function[k]);
    }
}
int main(void)
{
    uintptr_t words[8] = {0, 0, 7, 7};
    outer(words);
    return 0;
}
END
compilers=(aarch64-linux-gnu-gcc)
[ -z "$(command -v clang || true)" ] || compilers+=(clang)
for compiler in "${compilers[@]}"; do
    command=("$compiler")
    [ "$compiler" != clang ] || command+=(--target=aarch64-linux-gnu)
    for flags in -O0 -O2; do
        what="$compiler $flags"
        expect "$what" "calls huge large small targets $(
            printf 'targets;%s\n' calls huge large small | xargs)" \
            "$(stacks "$what" larger.c "${command[@]}" $flags)"
        what="$what, broken links"
        expect "$what" "outer outer;huge outer;large outer;small" \
            "$(stacks "$what" broken.c "${command[@]}" $flags)"
    done
done
finish
