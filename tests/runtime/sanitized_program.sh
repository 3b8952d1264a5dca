#!/usr/bin/env bash
# Programs built with -fsanitize=thread and linked with the installed library, which is not built
# with it: no race is reported in the library, but races in the program still are.
# variants: clang
. "$(dirname "$0")/../common.bash"
sources=$SOURCE/tests/programs
aslr=()
# With strong address space randomization, there may be mappings where the sanitizer needs its
# shadow memory.
if setarch -R true 2> /dev/null; then aslr=(setarch -R); fi

# $1 program, $2 source; the rest: what it is linked with
build() {
    "$CC" -std=gnu11 -O1 -g -pthread -D_GNU_SOURCE -fsanitize=thread -I "$SOURCE/include" \
        -I "$SOURCE/tests" -I "$SOURCE/src" -o "$1" "$2" "${@:3}" -lm 2> errors ||
        fail "$1: $CC -fsanitize=thread: $(head -n 3 errors)"
}

# $1 program and arguments
run() {
    status=0
    rm -f trace*
    PROBITY_OUT=$WORK/trace TSAN_OPTIONS=exitcode=66 timeout 300 "${aslr[@]}" "$@" > out \
        2> errors || status=$?
}

# The program records, and the sanitizer reports nothing. $1 program, the rest: arguments
clean() {
    run "$@"
    expect "$*: status, reports" "0 0" "$status $(grep -c 'WARNING: ThreadSanitizer' errors)"
    [ "$status" -eq 0 ] || fail "$(grep -A 12 -m 1 WARNING errors)"
    "$PROBITY" check trace > checked 2>&1 || fail "$*: $(cat checked)"
}

cat > racing.c << 'END'
#include <pthread.h>
#include <sched.h>
#define FN_INSTRUMENT
#include <FnTrace.h>
static int shared, begun;
static void *race(void *argument)
{
    FN_FUNC(void *, FN_1);
    /* Both at a time: one after the other they might share memory of the library. */
    __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < 2)
        sched_yield();
    for (int i = 0; i < 1000; i++) {
        FN_OUTPUT("shared is ", i);
        shared++;
    }
    return argument;
}
int main(void)
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, race, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
END

for library in "$BUILD/lib/libprobity.a" "-L$BUILD/lib -Wl,-rpath,$BUILD/lib -lprobity"; do
    for name in threads typed fntrace_scopes parallel; do
        # shellcheck disable=SC2086
        build $name "$sources/$name.c" $library
    done
    clean ./threads churn 100 1000
    clean ./threads crowds 200 100
    clean ./parallel 4 1000
    clean ./fntrace_scopes exit 3
    clean ./fntrace_scopes cancel 3
    for _ in 1 2 3; do
        clean ./fntrace_scopes disorder 100
        clean ./typed 100
    done
    # shellcheck disable=SC2086
    build racing racing.c $library
    run ./racing
    expect "a race of the program: status" 66 "$status"
    grep -q 'data race' errors || fail "a race in the program is not reported: $(head -n 5 errors)"
done

# The memory sanitizer (clang only) does not detect stores by the library.
cat > stored.c << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <probity_typed.h>
static int plain(int a)
{
    FN_FUNC(int, FN_1);
    FN_OUTPUT("a is ", a);
    FN_PARAM(a);
    FN_PAUSE();
    FN_RESUME();
    return a;
}
static int with_values(int a, const char *text)
{
    int result = a;
    FN_FUNC_PARAMS(int, result, FN_1, 2, a, text);
    PROBITY_PROBE_WITH(1, a);
    return result;
}
static void deferred(int a)
{
    FN_ENTRY(FN_1);
    FN_CHECKPOINT("here", FN_1, 1, a);
    FN_CHECKPOINT("there", FN_1, 1, a);
}
int main(void)
{
    deferred(1);
    return plain(1) + with_values(2, "text") - 3;
}
END
if echo 'int main(void) { return 0; }' | clang -fsanitize=memory -x c -o none - 2> errors; then
    clang -std=gnu11 -O1 -g -fsanitize=memory -I "$SOURCE/include" -o stored stored.c \
        -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -lprobity || fail "stored: does not compile"
    rm -f trace*
    PROBITY_OUT=$WORK/trace "${aslr[@]}" ./stored 2> errors || fail "stored: $(head -n 4 errors)"
    expect "stored: calls" "1 1 1" \
        "$("$PROBITY" report --json trace | jq -r '[.functions[] | select(.name != "main") |
            .calls] | join(" ")')"
else
    echo "left out: no clang with the memory sanitizer: $(head -n 1 errors)"
fi
finish
