#!/usr/bin/env bash
# Conditions under which an instrumented program must continue to work: invalid pointers in any kind
# of executable, a plugin whose constructor waits for a thread, formatters that print their own type
# or are cancelled, small signal stacks, conflicting macros, a thread sanitizer.
# campaign: tsan
# variants: clang
# timeout: 600
. "$(dirname "$0")/../common.bash"

cd "$OLDPWD" || exit
include=$PWD/include
library=$BUILD/lib/libprobity.a
cd "$WORK" || exit
export PROBITY_OUT=trace

# $1 name, for NAME.c or NAME.cc; the rest: compiler arguments
build() {
    local name=$1 compiler="${CC:-gcc} -std=gnu11" source=$1.c
    shift
    [ -f "$source" ] || { compiler="${CXX:-g++} -std=gnu++17" source=$name.cc; }
    # shellcheck disable=SC2086
    $compiler -O1 -g -Wall -Wextra -Werror -D_GNU_SOURCE -I"$include" $SANITIZE_FLAG -o "$name" \
        "$source" "$@" $library -pthread || fail "$name does not compile with $*"
}

# $1 description; the rest: the command. Writes the log to "log".
run() {
    local what=$1
    shift
    rm -f trace
    timeout 300 "$@" > output 2> errors || fail "$what: exit status $?: $(tail -n 3 errors)"
    "$PROBITY" log trace > log 2> log_errors || true
}

# $1 description, $2 how often, $3 text in the log
logged() {
    expect "$1: '$3'" "$2" "$(grep -cF "$3" log || true)"
}

cat > pointers.c << 'PROGRAM'
#define FN_INSTRUMENT
#include <FnTrace.h>

static void look(const char *low, const char *wrong, unsigned char bytes[16])
{
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 3, low, wrong, bytes);
    const char *here = "in the image";
    FN_OUTPUT("text ", here);
}

int main(void)
{
    look((const char *)0x10, (const char *)0x2345, NULL);
    return 0;
}
PROGRAM
for how in "-O1" "-no-pie" "-static" "-static-pie -fPIE" "-flto" "-Os"; do
    if [[ $how == -static* ]] && unfollowed "pointers, $how" "it needs shared libraries"; then
        continue
    fi
    # shellcheck disable=SC2086
    build pointers $how
    run "pointers, $how" ./pointers
    logged "pointers, $how" 1 "low = unreadable 0x10"
    logged "pointers, $how" 1 "wrong = unreadable 0x2345"
    logged "pointers, $how" 1 "text in the image"
done

# The dynamic linker's lock is held while a constructor runs.
cat > plugin.cc << 'PROGRAM'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <pthread.h>

static void *in_plugin(void *unused)
{
    FN_FUNC(void *, FN_1);
    return unused;
}

__attribute__((constructor)) static void begin(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, in_plugin, NULL) == 0)
        pthread_join(thread, NULL);
}
PROGRAM
cat > host.c << 'PROGRAM'
#include <dlfcn.h>

int main(void)
{
    for (int i = 0; i < 3; i++) {
        void *plugin = dlopen("./plugin", RTLD_NOW);
        if (plugin == 0)
            return 1;
        dlclose(plugin);
    }
    return 0;
}
PROGRAM
library=
build plugin -shared -fPIC -L"$BUILD/lib" -lprobity -Wl,-rpath,"$BUILD/lib"
build host
library=$BUILD/lib/libprobity.a
run "a plugin that waits" ./host
logged "a plugin that waits" 3 "in_plugin"

cat > formatters.cc << 'PROGRAM'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <iostream>
#include <pthread.h>

struct rect {
    int left, right;
};
struct slow {
    int value;
};

static std::ostream &operator<<(std::ostream &stream, const rect &rect)
{
    FN_FUNC_PARAMS(std::ostream &, FN_VOID, FN_1, 1, rect);
    return stream << rect.left << ':' << rect.right;
}

static std::ostream &operator<<(std::ostream &stream, const slow &slow)
{
    for (;;)
        pthread_testcancel();
    return stream << slow.value;
}

static void *show_slowly(void *unused)
{
    slow value = {1};
    FN_FUNC_PARAMS(void *, FN_VOID, FN_1, 1, value);
    return unused;
}

int main()
{
    pthread_t thread;
    std::cout << rect{3, 4} << '\n';
    if (pthread_create(&thread, nullptr, show_slowly, nullptr) != 0)
        return 1;
    pthread_cancel(thread);
    return pthread_join(thread, nullptr);
}
PROGRAM
build formatters
run "formatters" ./formatters
expect "formatters: output" 3:4 "$(cat output)"
logged "formatters" 3 "rect = 3:4"
logged "formatters" 1 "rect = (inside its own formatter)"

# A thread's and a function's first scope, on an 8 KiB stack that also holds the signal frame.
small_stack() {
    cat > stack.c << 'PROGRAM'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <signal.h>

enum { BYTES = 8192, GUARD = 16384 };
static unsigned char stack[GUARD + BYTES];

static void show(int number, const char *text)
{
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 2, number, text);
    FN_OUTPUT("text ", text);
}

static void on_signal(int number)
{
    show(number, "of a handler");
}

int main(void)
{
    stack_t own = {.ss_sp = stack + GUARD, .ss_size = BYTES};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

    if (sigaltstack(&own, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
        return 77; /* a frame of this CPU is larger */
    raise(SIGUSR1);
    for (int i = 0; i < GUARD; i++) {
        if (stack[i] != 0)
            return 1;
    }
    return 0;
}
PROGRAM
    build stack
    run "a small stack" ./stack
    logged "a small stack" 1 'text = "of a handler"'
}
unfollowed "a small stack" "its own frames are larger" || small_stack

# A scope that is open when a recording in the other mode starts; errno.
cat > modes.c << 'PROGRAM'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <stdlib.h>
#include <wchar.h>

static void start(const char *out, int profile)
{
    struct probity_options options = {.out = out, .profile = profile};
    if (probity_start(&options) != 0)
        _Exit(1);
}

static void profiled(void)
{
    FN_FUNC(FN_VOID, FN_1);
    probity_stop();
    start("trace", 0);
}

static void traced(void)
{
    FN_FUNC(FN_VOID, FN_1);
    errno = 7;
    FN_PRINTF("%ls", L"\x7fffffff");
    if (errno != 7)
        _Exit(2);
    probity_stop();
    start("profile", 1);
}

int main(void)
{
    start("first", 0);
    traced();
    profiled();
    FN_FUNC(int, FN_1);
    FN_OUTPUT("the end");
    return 0;
}
PROGRAM
unset PROBITY_OUT
build modes
run "modes" ./modes
logged "modes" 1 "the end"
logged "modes" 0 "profiled"
"$PROBITY" log profile > log 2> log_errors
logged "modes: records in the profile" 0 "leave"
"$PROBITY" report profile > log 2> log_errors || true
expect "modes: calls in the profile" 0 "$(grep -c traced log || true)"
export PROBITY_OUT=trace

# Macros defined after the include, and attributes defined before it.
{
    echo '#define cold __attribute__((cold))'
    echo '#define always_inline inline __attribute__((always_inline))'
    echo '#define noinline __attribute__((noinline))'
    echo '#define FN_INSTRUMENT'
    echo '#include <FnTrace.h>'
    for word in at count room code depth level kind entered function text bytes ret number name \
        file line format value self tick slot cleanup constructor; do
        echo "#define $word 77"
    done
    cat << 'PROGRAM'
static int all(int a, const char *s)
{
    int result = 1;
    FN_FUNC_PARAMS(int, result, FN_1, 2, a, s);
    FN_OUTPUT("x", a);
    FN_PRINTF("%d", a);
    FN_PARAM(a);
    FN_PAUSE();
    FN_RESUME();
    return result;
}

static void points(void)
{
    FN_ENTRY(FN_2);
    FN_CHECKPOINT("first", FN_1, 0);
    FN_CHECKPOINT("second", FN_1, 1, 4);
}

int main(void)
{
    all(1, "s");
    points();
    FN_INSTRUMENT_LEVEL(1, 2);
    return 0;
}
PROGRAM
} > words.c
build words
run "macros of the program" ./words
logged "macros of the program" 1 "second"
cp words.c words_cxx.cc
build words_cxx

# Passing chunks and thread states from thread to thread is not reported as a race.
cat > sanitized.c << 'PROGRAM'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <pthread.h>
#include <unistd.h>

static int show(int a, int b, int c, int d)
{
    int result = a;
    FN_FUNC_PARAMS(int, result, FN_1, 4, a, b, c, d);
    FN_OUTPUT("c is ", c);
    return result;
}

static void *work(void *unused)
{
    for (int i = 0; i < 3000; i++)
        show(i, 1, 2, 3);
    return unused;
}

int main(void)
{
    enum { THREADS = 8 };
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&thread[i], NULL, work, NULL) != 0)
            return 1;
        usleep(10000);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
PROGRAM
export PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=16384
for sanitizer in thread address,undefined; do
    if [ -n "$SANITIZE_FLAG" ] && [ "$SANITIZE_FLAG" != "-fsanitize=$sanitizer" ]; then continue; fi
    build sanitized -fsanitize=$sanitizer -fno-sanitize-recover=undefined
    run "sanitizer $sanitizer" ./sanitized
    logged "sanitizer $sanitizer" 24000 "c is 2"
done
finish
