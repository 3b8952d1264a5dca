#!/usr/bin/env bash
# Scopes left by longjmp are found at the next enter, counted, and excluded from later times; scopes
# that only look abandoned stay open. Both recorded and in profile mode.
# variants: clang asan
# campaign: tsan
. "$(dirname "$0")/../common.bash"

# $1 way, $2 count, $3 number of scopes left by jumps
case_of() {
    fresh
    PROBITY_OUT=$WORK/trace "$PROGRAMS/$program" "$1" "$2" > calls || fail "$1: status $?"
    "$PROBITY" report --json trace > report || fail "$1: no report"
    expect "$program $mode $1: calls" "$(cat calls)" \
        "$(jq '[.functions[].calls] | add' report)"
    expect "$program $mode $1: unwound" "$3" "$(jq .repairs.unwound report)"
    for repair in orphans open pauses_unmatched; do
        expect "$program $mode $1: $repair" 0 "$(jq ".repairs.$repair // 0" report)"
    done
}

# Prints a member of a function's JSON. $1 function, $2 member
of() {
    jq ".functions[] | select(.name == \"$1\") | .$2" report
}

for program in $(forms_of jumps); do
    for mode in 0 1; do
        export PROBITY_PROFILE=$mode
        case_of inlined 100 0
        case_of handlers 100 0
        case_of turns 100 0
        case_of far 40 41
        PROBITY_LEVEL=1 case_of off 100 100
        case_of loop 2000 6000
        # The outermost scope spins for 20 ms, none of which belongs to the scopes left each time.
        # CPU time, because on a busy machine any call may take long.
        [ "$(of serves self_ns)" -ge 20000000 ] ||
            fail "$program $mode: serves $(of serves self_ns)"
        for name in handles succeeds; do
            [ "$(($(of $name cpu_total_ns) * 2))" -lt "$(of serves cpu_total_ns)" ] ||
                fail "$program $mode: $name lasted"
        done
        if [ "$mode" = 0 ]; then
            # Nothing nests in the abandoned scopes: no line is nested deeper than the deepest call.
            "$PROBITY" log --color=never trace |
                awk '{ sub(/^[0-9]*: /, ""); match($0, /^ */); if (RLENGTH > 10) exit 1 }' ||
                fail "$program: indentation grows"
        fi
    done
done
unset PROBITY_PROFILE

# Prints the stacks without times. $1 description, $2 compiler, $3 source
stacks() {
    rm -f trace
    # shellcheck disable=SC2086 # a compiler and its flags
    $2 -g -O2 -I "$SOURCE/include" ${SANITIZE:+"-fsanitize=$SANITIZE"} -pthread -o program "$3" \
        "$BUILD/lib/libprobity.a" || fail "$1: does not compile"
    PROBITY_OUT=$WORK/trace ./program || fail "$1: status $?"
    "$PROBITY" export --format folded trace 2> errors | sed 's/ [0-9]*$//' | LC_ALL=C sort |
        xargs
}

# An exception handler that begins with a scope and that gcc has moved out of its function.
cat > caught.cc << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <stdexcept>
#include <string>
#include <vector>

__attribute__((noinline)) static void spin()
{
    for (volatile int i = 0; i < 100000; i++) {
    }
}
static inline void handle(int k)
{
    FN_FUNC(void, FN_1);
    spin();
    __asm__ volatile("" : : "r"(k));
}
__attribute__((noinline)) void use(const std::string &text)
{
    __asm__ volatile("" : : "r"(&text));
    if (text.size() > 1000)
        throw 1;
}
__attribute__((noinline)) int thrower(int k)
{
    if (k % 3 == 0)
        throw std::runtime_error("x");
    return k;
}
__attribute__((noinline)) int load(int k)
{
    FN_FUNC(int, FN_1);
    std::vector<std::string> list;
    for (int i = 0; i < 3; i++) {
        try {
            list.push_back(std::to_string(thrower(k + i)));
        } catch (const std::exception &error) {
            use(error.what());
            handle(k);
            spin();
            throw std::runtime_error(std::string("y") + error.what());
        }
    }
    return 1;
}
int main()
{
    FN_FUNC(int, FN_1);
    for (int k = 0; k < 3; k++) {
        try {
            load(k);
        } catch (...) {
        }
    }
}
END
expect "caught" "main main;load main;load;handle" \
    "$(stacks caught "${CXX:-g++} -std=c++17" caught.cc)"

# A scope in a block that called setjmp() stays open.
cat > block.c << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <setjmp.h>

static jmp_buf back;
static volatile int count = 3;

__attribute__((noinline)) static void leaves(void)
{
    FN_FUNC(void, FN_1);
    if (count > 0)
        longjmp(back, 1);
}
static inline void after(void)
{
    FN_FUNC(void, FN_1);
    for (volatile int i = 0; i < 100000; i++) {
    }
}
__attribute__((noinline)) static void work(void)
{
    FN_FUNC(void, FN_1);
    for (volatile int i = 0; i < count; i++) {
        FN_FUNC(void, FN_1);
        if (!setjmp(back))
            leaves();
        after();
    }
}
int main(void)
{
    FN_FUNC(int, FN_1);
    work();
    return 0;
}
END
found=$(stacks block "${CC:-gcc}" block.c)
work="main;work main;work;work"
[[ $found =~ ^main\ ${work}\ main\;work\;work(\;leaves\ main\;work\;work)*\;after$ ]] ||
    fail "block: $found"

# If a function is inlined into the target of its jump, its end is found at the target's next
# record, not only at the target's end: otherwise other functions inlined there would be shown as
# its callees. CPU times, because on a busy machine any call may take long.
cat > said.c << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <setjmp.h>

static jmp_buf back;

static void spin(int count)
{
    for (volatile int i = 0; i < count * 100000; i++) {
    }
}
static inline __attribute__((always_inline)) void leaves(void)
{
    FN_FUNC(void, FN_1);
    spin(1);
    longjmp(back, 1);
}
static inline __attribute__((always_inline)) void after(void)
{
    FN_FUNC(void, FN_1);
    spin(1);
}
__attribute__((noinline)) static void says(void)
{
    FN_FUNC(void, FN_1);
    if (setjmp(back) == 0)
        leaves();
    FN_OUTPUT("caught");
    spin(40);
    after();
}
__attribute__((noinline)) static void shows(void)
{
    volatile int shown = 1;
    FN_FUNC(void, FN_1);
    if (setjmp(back) == 0)
        leaves();
    FN_PARAM(shown);
    spin(40);
    after();
}
__attribute__((noinline)) static void resumes(void)
{
    FN_FUNC(void, FN_1);
    if (setjmp(back) == 0)
        leaves();
    FN_PAUSE();
    FN_RESUME();
    spin(40);
    after();
}
__attribute__((noinline)) static void reaches(void)
{
    FN_ENTRY(FN_1);
    FN_CHECKPOINT("first", FN_1, 0);
    if (setjmp(back) == 0)
        leaves();
    FN_CHECKPOINT("second", FN_1, 0);
    spin(40);
    after();
}
int main(void)
{
    says();
    shows();
    resumes();
    reaches();
    return 0;
}
END
"${CC:-gcc}" -g -O2 -I "$SOURCE/include" ${SANITIZE:+"-fsanitize=$SANITIZE"} -pthread -o said \
    said.c "$BUILD/lib/libprobity.a" || fail "said.c does not compile"
for mode in 0 1; do
    rm -f trace
    PROBITY_PROFILE=$mode PROBITY_OUT=$WORK/trace ./said || fail "said $mode: status $?"
    "$PROBITY" report --json trace > report || fail "said $mode: no report"
    expect "said $mode: unwound" 4 "$(jq .repairs.unwound report)"
    for name in says shows resumes reaches; do
        [ "$(($(of leaves cpu_total_ns) * 2))" -lt "$(of $name cpu_self_ns)" ] ||
            fail "said $mode: leaves took $(of leaves cpu_total_ns), $name $(of $name cpu_self_ns)"
    done
done
finish
