#!/usr/bin/env bash
# Scopes of files compiled with PROBITY_PATCHABLE: programs have the same log and report as without
# it, with both compilers and various flags. A scope that is not recorded executes two instructions.
# The code is changed when a recording begins, even in the middle of open scopes and while threads
# run it, and is restored byte for byte after a recording that was started on request. FLAGS: number
# of further sets of flags, chosen by SEED, by default all; 0: only -O2.
# variants: clang asan
# timeout: 900
. "$(dirname "$0")/../common.bash"
[ "$(uname -m)" = x86_64 ] || { echo "skipped: code is patched on x86-64 only"; exit 77; }
libraries="-Wl,--start-group $BUILD/lib/libprobity-functions.a $BUILD/lib/libprobity.a
    -Wl,--end-group -lm"

# $1 source, $2 program, the rest: flags
build() {
    local source=$1 program=$2 compiler="$CC -std=gnu11"
    shift 2
    [[ $source != *.cc ]] || compiler="$CXX -std=gnu++17"
    # clang warns about flags that only the linker uses.
    # shellcheck disable=SC2086
    { compile_cached $compiler -g -pthread -D_GNU_SOURCE -Wall -Wextra -Werror \
        -Wno-unused-command-line-argument -I"$SOURCE/include" $SANITIZE_FLAG "$@" -MD -c \
        -o "$program.o" "$source" &&
        $compiler -pthread $SANITIZE_FLAG "$@" -o "$program" "$program.o" $libraries; } 2> errors ||
        fail "$* $source: $(head -n 5 errors)"
}

# Writes what does not differ from run to run to "log.$1", and the sums of the report to
# "report.$1". The rest: a program
record() {
    local name=$1 status=0
    shift
    rm -f trace*
    PROBITY_OUT=$WORK/trace "$@" > out 2> errors || status=$?
    [ "$status" = 0 ] || fail "$*: status $status: $(head -n 3 errors)"
    "$PROBITY" log --color=never trace 2> log.errors |
        sed -E -e 's/^[0-9]+: //' -e '/^\[(thread|levels) .*\]$/d' -e 's/(elapsed:\t).*/\1TIME/' \
            -e 's/0x[1-7][0-9a-f]{10,11}\b/ADDRESS/g' > "log.$name"
    "$PROBITY" report --json trace 2> report.errors |
        jq -c '.repairs, (.functions | sort_by(.name, .calls)[] |
            [.name, .calls, .calls_exception])' > "report.$name"
    [ -s "report.$name" ] || fail "$*: no report: $(cat report.errors)"
}

# $1 description, $2 name of the programs NAME.plain and NAME.patchable, the rest: arguments
same() {
    local what=$1 program=$2
    shift 2
    record plain "./$program.plain" "$@"
    record patchable "./$program.patchable" "$@"
    cmp -s log.plain log.patchable ||
        fail "$what $*: log: $(diff log.plain log.patchable | head -n 10)"
    cmp -s report.plain report.patchable ||
        fail "$what $*: report: $(diff report.plain report.patchable | head -n 10)"
}

# $1 source, $2 program, the rest: flags
build_both() {
    local source=$SOURCE/tests/programs/$1 program=$2
    shift 2
    build "$source" "$program.plain" "$@"
    build "$source" "$program.patchable" -DPROBITY_PATCHABLE "$@"
    is_patchable "$program" "$@"
}

# $1 program, the rest: its flags
is_patchable() {
    nm "$1.patchable" | grep -q probity_scope_site_enter_hook || fail "$*: is not patchable"
}

ways=(jump recursion itself leave pauses levels profile entries fork)
further=("-O3" "-O2 -fPIE -pie" "-O2 -fno-pie -no-pie" "-O2 -fcf-protection"
    "-O2 -fomit-frame-pointer" "-O2 -ffunction-sections -Wl,--gc-sections" "-O2 -masm=intel")
[ -n "${SANITIZE:-}" ] || further+=("-O2 -static" "-O2 -flto")
seed=${SEED:-$RANDOM}
echo "seed $seed"
mapfile -t flags < <(printf '%s\n' "${further[@]}" | awk -v seed="$seed" 'BEGIN { srand(seed) }
    { print rand() "\t" $0 }' | sort | cut -f 2 | head -n "${FLAGS:-99}")
flags=(-O0 -O2 "${flags[@]}")
[ "${FLAGS:-99}" != 0 ] || flags=(-O2)
for flag in "${flags[@]}"; do
    read -r -a words <<< "$flag"
    # As tests/fntrace/fntrace.sh says, functions that are inlined into one another are nested
    # differently after a jump.
    build_both fntrace_scopes.c scopes "${words[@]}" -fno-inline
    for way in "${ways[@]}"; do same "$CC $flag" scopes "$way" 3; done
    build_both fntrace_scopes_cxx.cc scopes_cxx "${words[@]}"
    same "$CXX $flag" scopes_cxx throw
done
# The build's own programs are compiled without PROBITY_PATCHABLE, and take long to compile.
for source in fntrace_values.c fntrace_values_cxx.cc; do
    name=${source%.*}
    ln -s "$PROGRAMS/$name" "$name.plain"
    build "$SOURCE/tests/programs/$source" "$name.patchable" -O2 -DPROBITY_PATCHABLE
    is_patchable "$name"
    same "$name" "$name"
done
PROBITY_PROFILE=1 same "profile mode" scopes jump 3

# The code that is executed when nothing is recorded: two instructions, and the room for the scope.
cat > leaf.c << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
int scaled(int a)
{
    FN_FUNC(int, FN_1);
    return a * 3;
}
static inline int inlined(int a)
{
    FN_FUNC(int, FN_1);
    return a ^ 5;
}
int two(int a)
{
    return inlined(a) + inlined(a + 1);
}
int valued(int a, int b)
{
    int r = a;
    FN_FUNC_PARAMS(int, r, FN_1, 2, a, b);
    r += b;
    return r;
}
int reported(int a)
{
    FN_ENTRY(FN_1);
    return a * 7;
}
END
if [ -z "${SANITIZE:-}" ]; then
    "$CC" -O2 -DPROBITY_PATCHABLE -I"$SOURCE/include" -c leaf.c
    objdump -d --no-show-raw-insn leaf.o | sed -n '/<scaled>:/,/ret/p' > code
    expect "sites of a leaf" 2 "$(grep -c 'test  *\$0x' code)"
    expect "branches of a leaf" 0 "$(grep -cE '\b(j[a-z]+|call)\b' code)"
    [ "$(wc -l < code)" -le 11 ] || fail "a leaf: $(cat code)"
    for name in valued reported; do
        objdump -d --no-show-raw-insn leaf.o | sed -n "/<$name>:/,/ret/p" > code
        expect "sites of $name" 2 "$(grep -c 'test  *\$0x' code)"
        expect "branches of $name" 0 "$(grep -cE '\b(j[a-z]+|call)\b' code)"
    done
    expect "sites of a function with two inlined ones" 4 \
        "$(objdump -d --no-show-raw-insn leaf.o | sed -n '/<two>:/,/ret/p' | grep -c 'test  *\$0x')"
fi

# The stack can be unwound at each instruction of the hooks; a sanitizer has its own unwinder.
if [ -z "${SANITIZE:-}" ]; then
    ordered=-fno-toplevel-reorder
    "$CC" -Werror $ordered -x c -c -o empty.o - < /dev/null 2> errors || ordered=
    build "$SOURCE/tests/functions/unwind.c" unwind -O2 $ordered -DPROBITY_PATCHABLE -DSCOPES
    rm -f trace
    PROBITY_OUT=trace ./unwind > out 2> errors || fail "unwind: status $?: $(cat errors)"
    read -r sum steps lost < out
    expect "unwind: sum" 57 "$sum"
    expect "unwind: walks that do not come to their caller, of $steps" 0 "$lost"
    [ "$steps" -ge 300 ] || fail "unwind: $steps steps"
fi

# Values, and scopes left by exceptions, of functions with all kinds of parameters and results.
cat > thrown.cc << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

static int evaluated;
static int once(int n)
{
    evaluated++;
    return n;
}
static inline double scaled(double by, float f, char c)
{
    double r = by;
    FN_FUNC_PARAMS(double, r, FN_1, 3, by, f, c);
    r = by * f + c;
    return r;
}
static std::string named(const std::string &text, std::optional<int> number)
{
    std::string r;
    FN_FUNC_PARAMS(std::string, r, FN_1, 2, text, number);
    r = text + std::to_string(number.value_or(0));
    return r;
}
template <typename T> static T thrower(T n)
{
    T r = n;
    FN_FUNC_RETVAL(T, r, FN_1, 2, n, once(3));
    if (n > 1) {
        FN_OUTPUT("throws at ", n);
        throw std::runtime_error("thrown");
    }
    r = n + 1;
    return r;
}
static int outer(int n)
{
    int r = -1;
    FN_FUNC_RETVAL(int, r, FN_1);
    try {
        FN_ENTRY(FN_1);
        thrower(n);
        FN_CHECKPOINT("came back", FN_1, 1, n);
    } catch (const std::exception &) {
        r = 0;
        return r;
    }
    auto last = [&](long m) {
        long result = m;
        FN_FUNC_PARAMS(long, result, FN_2, 1, m);
        return result += n;
    };
    r = static_cast<int>(last(7));
    return r;
}
int main()
{
    FN_FUNC(int, FN_1);
    std::vector<int> values = {0, 1, 2, 3};
    double sum = 0;
    for (int n : values)
        sum += outer(n) + scaled(n, 2, 'a') + static_cast<double>(named("n", n).size());
    thrower(0.5);
    FN_OUTPUT("sum ", sum, " ", evaluated);
    return sum > 400 ? 0 : 1;
}
END
further=(-O0 "-O3 -fPIE -pie" "-O2 -masm=intel")
[ "${FLAGS:-99}" != 0 ] || further=()
for flag in -O2 "${further[@]}"; do
    # shellcheck disable=SC2086
    build thrown.cc thrown.plain $flag
    # shellcheck disable=SC2086
    build thrown.cc thrown.patchable $flag -DPROBITY_PATCHABLE
    same "exceptions, $flag" thrown
    PROBITY_LEVEL=1,2 same "exceptions, $flag, levels" thrown
    grep -q 'sum .* 5$' log.patchable || fail "exceptions, $flag: $(grep sum log.patchable)"
    ./thrown.patchable || fail "exceptions, $flag: not recorded: status $?"
done
PROBITY_PROFILE=1 same "exceptions, profile mode" thrown
PROBITY_BUDGET=0.1% ./thrown.patchable || fail "exceptions, budget: status $?"

# Scopes that are open when a recording begins are not recorded, but those that are open when it
# ends are; threads execute the code while it is patched.
cat > middle.c << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static int is_over;
static volatile int sink;

static __attribute__((noinline)) void busy(void)
{
    FN_FUNC(FN_VOID, FN_1);
    sink++;
}
static void *run(void *unused)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
        busy();
    return unused;
}
static __attribute__((noinline)) void inside(int n)
{
    FN_FUNC(FN_VOID, FN_1);
    FN_OUTPUT("n ", n);
}
/* What an uninitialized scope may find there. */
static __attribute__((noinline)) void fill(int with)
{
    volatile char room[4096];
    memset((char *)room, with, sizeof room);
}
static __attribute__((noinline)) void begins(const char *out)
{
    FN_FUNC(FN_VOID, FN_1);
    FN_OUTPUT("not recorded");
    probity_start(&(struct probity_options){.out = out});
    for (int before = sink; sink == before || sink == before + 1;)
        sched_yield();
    FN_OUTPUT("not recorded either");
    inside(1);
}
static __attribute__((noinline)) void ends(void)
{
    FN_FUNC(FN_VOID, FN_1);
    inside(2);
    probity_stop();
    inside(3);
}
int main(int argc, char **argv)
{
    pthread_t thread[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, run, NULL);
    for (int i = 1; i < argc; i++) {
        fill(i == 3 ? 255 : i - 1);
        begins(argv[i]);
        ends();
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
END
build middle.c middle -O1 -DPROBITY_PATCHABLE
rm -f trace*
./middle trace-1 trace-2 trace-3 2> errors || fail "middle: status $?: $(cat errors)"
expect "middle: errors" "" "$(cat errors)"
count=0
for trace in trace-*; do
    count=$((count + 1))
    "$PROBITY" report --json "$trace" > report 2> errors || fail "middle: $(cat errors)"
    expect "middle: calls" "begins 0 ends 1 inside 2" \
        "$(jq -r '[["begins", "ends", "inside"][] as $name | $name, ([.functions[] |
            select(.name == $name) | .calls] | add // 0)] | map(tostring) | join(" ")' report)"
    [ "$(jq '[.functions[] | select(.name == "busy") | .calls] | add' report)" -gt 0 ] ||
        fail "middle: no call in another thread"
    "$PROBITY" log --color=never "$trace" 2> errors | grep 'not recorded' &&
        fail "middle: a message of a scope that is not recorded"
done
expect "middle: traces" 3 "$count"

# On request: scopes are patched in, and the code is restored byte for byte.
cat > waits.c << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <stdio.h>

static __attribute__((noinline)) int step(int n)
{
    FN_FUNC(int, FN_1);
    return n + 1;
}
int main(void)
{
    const unsigned char *code = (const unsigned char *)step;
    int n = 0, byte;

    for (;;) {
        int i = 0;
        while (code[i] != 0xa9 && code[i] != 0xe8)
            i++;
        printf("%02x %d\n", code[i], n);
        fflush(stdout);
        if ((byte = getchar()) == EOF)
            return 0;
        for (int j = 0; j < 1000; j++)
            n = step(n);
    }
}
END
if [ -z "${SANITIZE:-}" ]; then
    build waits.c waits -O2 -DPROBITY_PATCHABLE
    gcc -g -pthread -O2 -DPROBITY_PATCHABLE -I"$SOURCE/include" -o waits waits.c -L"$BUILD/lib" \
        -Wl,-rpath,"$BUILD/lib" -lprobity-functions -lprobity || fail "waits: does not link"
    mkfifo go
    PROBITY_CONTROL=1 ./waits < go > out 2> errors &
    job=$!
    exec {gate}> go
    wait_until "$job" has_lines out 1
    "$PROBITY" attach -o "$WORK/asked" "$job" > attach.out 2>&1 || fail "attach: $(cat attach.out)"
    echo -n x >&"$gate"
    wait_until "$job" has_lines out 2
    "$PROBITY" detach "$job" > attach.out 2>&1 || fail "detach: $(cat attach.out)"
    echo -n x >&"$gate"
    wait_until "$job" has_lines out 3
    exec {gate}>&-
    wait "$job" || fail "waits: status $?"
    expect "on request: code" "a9 0 e8 1000 a9 2000" "$(xargs < out)"
    expect "on request: calls" 1000 "$("$PROBITY" report --json asked |
        jq '.functions[] | select(.name == "step") | .calls')"
fi

# Plugins: no matter what loads a plugin and under which name, its scopes are recorded from its
# constructors on, even when it is loaded again; a host with libprobity-functions.a keeps its own
# dlopen().
cat > plug.c << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
static __attribute__((constructor)) void born(void)
{
    FN_FUNC(FN_VOID, FN_1);
}
static __attribute__((destructor)) void dies(void)
{
    FN_FUNC(FN_VOID, FN_1);
}
int work(int n)
{
    FN_FUNC(int, FN_1);
    FN_OUTPUT("n ", n);
    return n + 1;
}
END
cat > host.c << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <dlfcn.h>
int main(int argc, char **argv)
{
    FN_FUNC(int, FN_1);
    for (int i = 0; argc > 1 && i < 20; i++) {
        void *plugin = dlopen(argv[1], RTLD_NOW);
        int (*work)(int) = plugin != NULL ? (int (*)(int))dlsym(plugin, "work") : NULL;
        if (work == NULL || work(i) != i + 1)
            return 1;
        dlclose(plugin);
    }
    return 0;
}
END
shared="-L$BUILD/lib -Wl,-rpath,$BUILD/lib -lprobity-functions -lprobity"
if [ -z "${SANITIZE:-}" ]; then
    libraries=$shared build plug.c plug.so -O2 -DPROBITY_PATCHABLE -fPIC -shared
    libraries=$shared build host.c host -O2 -DPROBITY_PATCHABLE
    build host.c static-host -O2 -DPROBITY_PATCHABLE -rdynamic
    for how in "host ./plug.so" "host plug.so" "static-host ./plug.so"; do
        read -r host plugin <<< "$how"
        LD_LIBRARY_PATH=$WORK record plugin "./$host" "$plugin"
        sed -i 1d report.plugin
        expect "plugin: $how: repairs" 0 "$("$PROBITY" report --json trace |
            jq '[.repairs[]] | add')"
        expect "plugin: $how" '["born",20,null] ["dies",20,null] ["main",1,null] ["work",20,null]' \
            "$(xargs -d '\n' < report.plugin)"
        expect "plugin: $how: messages" 20 "$(grep -c 'n 1*[0-9]$' log.plugin)"
    done
fi

# In a forked child, another thread of the parent may hold the dynamic linker's lock: if the parent
# has patched the code, it stays patched; otherwise a message reports that scopes are not recorded.
cat > forks.c << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void *waits(void *unused)
{
    pause();
    return unused;
}
static __attribute__((noinline)) void step(void)
{
    FN_FUNC(FN_VOID, FN_1);
}
static void record(const char *out)
{
    probity_start(&(struct probity_options){.out = out});
    step();
    probity_stop();
}
int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, NULL, waits, NULL);
    if (argc > 2)
        record(argv[2]);
    if (fork() == 0) {
        record(argv[1]);
        _exit(0);
    }
    wait(NULL);
    return 0;
}
END
build forks.c forks -O2 -DPROBITY_PATCHABLE
./forks trace-child trace-parent 2> errors || fail "forks: $(cat errors)"
expect "forks: errors of the second recording" "" "$(cat errors)"
for trace in trace-child trace-parent; do
    expect "forks: $trace" 1 "$("$PROBITY" report --json "$trace" | jq '.functions[0].calls')"
done
rm -f trace*
./forks trace-child 2> errors || fail "forks: $(cat errors)"
expect "forks: errors" "probity: scopes of FN_FUNC are not recorded: cannot change their code in a \
process forked from one with several threads" "$(cat errors)"

# If the kernel does not make code writable, a message reports that, and nothing is recorded.
cat > refused.c << 'END'
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int mprotect(void *at, size_t bytes, int protection)
{
    if ((protection & (PROT_WRITE | PROT_EXEC)) == (PROT_WRITE | PROT_EXEC)) {
        errno = EACCES;
        return -1;
    }
    return (int)syscall(SYS_mprotect, at, bytes, protection);
}
END
if [ -z "${SANITIZE:-}" ]; then
    gcc -O1 -shared -fPIC -o refused.so refused.c
    rm -f trace*
    echo -n x | LD_PRELOAD=$WORK/refused.so PROBITY_OUT=$WORK/trace ./waits > out 2> errors ||
        fail "refused: status $?"
    expect "refused: message" "probity: 1 scopes of FN_FUNC in 1 objects are not recorded: cannot \
change their code: Permission denied" "$(cat errors)"
    expect "refused: code" "a9 0 a9 1000" "$(xargs < out)"
fi
finish
