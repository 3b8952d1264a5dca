#!/usr/bin/env bash
# Programs without macros, compiled with -pg -mfentry -minstrument-return=call: calls are counted as
# the program counts them, no register changes, and stacks can be unwound in the hooks. The flag is
# gcc's; clang has only the hook at entry.
# variants: clang
# timeout: 300
. "$(dirname "$0")/../common.bash"
# shellcheck source=tests/functions/functions.bash
. "$SOURCE/tests/functions/functions.bash"
sources=$SOURCE/tests/functions
[ "$(uname -m)" = x86_64 ] || { echo "skipped: compilers have -mfentry for x86 only"; exit 77; }
gcc --version > gcc.out 2>&1 || { echo "skipped: no gcc here, whose flag this is"; exit 77; }
hooks="-pg -mfentry -minstrument-return=call"
linked="-L$BUILD/lib -Wl,-rpath,$BUILD/lib -lprobity-functions -lprobity"

# $1 program, $2 source, $3 flags of the compilation, $4 of the link, with libraries. In two steps:
# -pg at the link would add start code that writes gmon.out.
compile() {
    local compiler=gcc
    [[ $2 != *.cc ]] || compiler="g++ -std=c++17"
    # shellcheck disable=SC2086
    {
        $compiler -g -pthread -I"$SOURCE/include" $3 ${SANITIZE:+"-fsanitize=$SANITIZE"} -c \
            -o "$1.o" "$2" &&
            $compiler -pthread -o "$1" "$1.o" ${SANITIZE:+"-fsanitize=$SANITIZE"} -lm -ldl $4
    } 2> errors || { fail "$1, $3: does not compile: $(cat errors)"; return 1; }
}

# $1 what, the rest: a program. Its libraries record it.
run() {
    what=$1
    shift
    rm -rf trace*
    PROBITY_OUT=trace "$@" > out 2> errors || fail "$what: status $?: $(tail -n 3 errors)"
    expect "$what: messages" "" "$(cat errors)"
}

# ---- Counts --------------------------------------------------------------------------------------

ulimit -s unlimited 2> /dev/null || ulimit -s 65536 || true
counted="$hooks -fno-inline -fno-optimize-sibling-calls"
for plugin in one two; do
    # shellcheck disable=SC2086
    gcc -g -O1 -fPIC -shared $hooks -DNAME=$plugin ${SANITIZE:+"-fsanitize=$SANITIZE"} \
        -o $plugin.so "$sources/plugin.c"
done
for flags in -O0 -O1 -O2 "-O3 -mtune=native" "-O2 -fno-pie" "-O2 -fcf-protection"; do
    link=$linked
    [[ $flags != *-fno-pie ]] || link="-no-pie $linked"
    compile calls "$sources/calls.c" "$flags $counted" "$link" || continue
    run "$flags" ./calls
    same_counts_of_these out trace
    expect "$flags: traces" 2 "$(find . -maxdepth 1 -name 'trace*' | wc -l)"
    counts trace.* > child
    grep -qx 'in_child 1' child || fail "$flags: the child's calls: $(cat child)"
done
expect "files of gprof" "" "$(find . -name 'gmon*')"

# By the command, and with plugins that are at the same address one after the other.
rm -rf trace*
"$PROBITY" record --functions -o trace -- ./calls ./one.so ./two.so ./one.so > out 2> errors ||
    fail "plugins: $(cat errors)"
counts trace '.object != "" and .object != null' > found
printf '%s\n' 'in_one 6' 'in_two 3' 'run_plugin 1' 'run_plugin 2' 'same_name 3' 'same_name 6' |
    diff - found > difference || fail "plugins: $(cat difference)"

# In the tree, a call after longjmp is not a child of the abandoned calls.
"$PROBITY" export --format folded trace 2> errors | sed -n 's/ [0-9]*$//p' > folded
grep 'after_jump$' folded > found || fail "after_jump: $(head -n 3 folded)"
! grep -v ';try_jump;after_jump$' found > other || fail "after_jump is called by: $(cat other)"

# Linked with the archives, and static: the library's hooks come before those of libc. Link-time
# optimization needs the flags at the link too, which then adds the start code of gprof.
compile calls "$sources/calls.c" "-O2 $counted" \
    "$BUILD/lib/libprobity-functions.a $BUILD/lib/libprobity.a"
run archives ./calls
same_counts_of_these out trace
if [ -z "${SANITIZE:-}" ]; then
    compile calls "$sources/calls.c" "-O2 $counted" \
        "-static $BUILD/lib/libprobity-functions.a $BUILD/lib/libprobity.a"
    run static ./calls
    same_counts_of_these out trace
    # shellcheck disable=SC2086
    gcc -g -O2 -flto -pthread $counted -o calls "$sources/calls.c" -ldl $linked
    run "link-time optimization" ./calls
    same_counts_of_these out trace
fi

# Functions left by exceptions, longjmp(), tail calls and pthread_exit(); coroutines.
for flags in -O0 -O2 "-O2 -fcf-protection"; do
    compile left "$sources/left.cc" "$flags $hooks" "$linked" || continue
    run "left, $flags" ./left
    same_counts_of_these out trace
    # Calls that throw, pass an exception or rethrow it; calls left by two jumps.
    expect "left, $flags: left by exceptions and jumps" "$((15 + 5 + 5 + 2 * 15))" \
        "$("$PROBITY" report --json trace 2> errors | jq .repairs.unwound)"
    expect "left, $flags: ends without a call" 0 \
        "$("$PROBITY" report --json trace 2> errors | jq .repairs.orphans)"
done
"$PROBITY" export --format folded trace 2> errors | sed 's/ [0-9]*$//' > folded
for stack in 'main;catches;after' 'main;catches;rethrows;after' \
    'main;catches;rethrows;passes;destroyed' 'main;jumps_over;after' 'main;last_of_two' \
    'in_thread;after'; do
    grep -qxF "$stack" folded || fail "no stack $stack: $(cat folded)"
done
left='(^|;)(throws|jumps|last|ends_in_call|last_of_two)'
! grep -E "$left;(after|destroyed|last)" folded > other ||
    fail "callees of what was left: $(cat other)"

# ---- Registers and stacks ------------------------------------------------------------------------

compile registers "$sources/fentry_registers.c" -O1 "$linked"
for how in PROBITY_PROFILE=0 PROBITY_CHUNK_RECORDS=512 PROBITY_PROFILE=1 PROBITY_CPU_GAP_NS=200 \
    PROBITY_CPU_TIME=0; do
    rm -f trace
    env "$how" PROBITY_OUT=trace ./registers 6000 > out 2> errors ||
        fail "registers, $how: status $?: $(cat out errors)"
    expect "registers, $how: messages" "" "$(cat errors)"
    "$PROBITY" check trace > /dev/null 2> errors || fail "registers, $how: $(cat errors)"
done
PROBITY_LEVEL=4 PROBITY_OUT=low ./registers 1000 > out || fail "registers, off: $(cat out)"

# The results are the same as without hooks.
for flags in "-O0 -DWIDE=4" "-O2 -DWIDE=4" "-fcf-protection -O2 -DWIDE=4" "-mavx -DWIDE=8" \
    "-mavx512f -DWIDE=16"; do
    instructions=${flags%% *}
    [[ $flags != -m* ]] || grep -qw "${instructions#-m}" /proc/cpuinfo || continue
    compile plain "$sources/values.c" "$flags" ""
    compile values "$sources/values.c" "$flags $hooks" "$linked" || continue
    ./plain > plain.out
    PROBITY_CHUNK_RECORDS=512 run "values, $flags" ./values
    cmp out plain.out || fail "values, $flags: $(diff plain.out out | head -n 4)"
done

# At each instruction; a sanitizer has its own unwinder. In clang's code of libprobity, unwind
# tables are wrong between the release of a frame and a tail call.
if [ -z "${SANITIZE:-}" ]; then
    compile unwind "$sources/unwind.c" "-O2 -fno-toplevel-reorder $hooks" "$linked"
    run unwind ./unwind
    read -r sum steps lost < out
    expect "unwind: sum" 57 "$sum"
    [ "$VARIANT" = clang ] ||
        expect "unwind: walks that do not come to their caller, of $steps" 0 "$lost"
    [ "$steps" -ge 1000 ] || fail "unwind: $steps steps"
fi

# CPU times: after each wait, the CPU clock is read.
cat > waits.c << 'END'
#include <time.h>
static long now(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}
__attribute__((noinline)) int waits(int a)
{
    for (long end = now(CLOCK_MONOTONIC) + 20000000; now(CLOCK_MONOTONIC) < end;)
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    return a;
}
__attribute__((noinline)) int computes(int a)
{
    for (long end = now(CLOCK_THREAD_CPUTIME_ID) + 20000000; now(CLOCK_THREAD_CPUTIME_ID) < end;)
        a++;
    return a;
}
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 5; i++)
        sum += waits(i) + (computes(i) > i);
    return sum != 15;
}
END
compile waits waits.c "-D_GNU_SOURCE -O2 $hooks" "$linked"
run waits ./waits
cpu=$("$PROBITY" report --json trace 2> errors | jq -c '[.functions[] |
    select(.name == "waits" or .name == "computes") | {(.name): .cpu_total_ns}] | add')
jq -e '.waits < 20000000 and .computes > 90000000' <<< "$cpu" > /dev/null ||
    fail "CPU times: $cpu"

# ---- Names, mixtures, functions without returns --------------------------------------------------

# Without a symbol, a function has the address where it begins.
for flags in "-O2 -fcf-protection" "-O0 -fno-pie" "-O2 -fPIE"; do
    link=$linked
    [[ $flags != *-fno-pie ]] || link="-no-pie $linked"
    compile calls "$sources/calls.c" "$flags $counted" "$link" || continue
    nm calls | awk '$2 ~ /[tT]/ { sub(/^0*/, "", $1); sub(/\..*/, "", $3); print $1, $3 }' > symbols
    strip calls
    run "stripped, $flags" ./calls
    counts trace "$own" | sed 's/.*+0x//' > found
    awk 'NR == FNR { name[$1] = $2; next } $1 in name { print name[$1], $2; next } { print }' \
        symbols found | LC_ALL=C sort > named
    grep -v ' 0$' out | LC_ALL=C sort | diff - named > difference ||
        fail "stripped, $flags: $(cat difference)"
done

# Objects with each kind of hook, and macros, in one program.
cat > macro.c << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
int with_hooks(int x);
int with_fentry(int x);
int with_macro(int x)
{
    int result = 0;
    FN_FUNC_PARAMS(int, result, FN_1, 1, x);
    result = x > 0 ? with_hooks(x - 1) : 0;
    return result;
}
int main(void)
{
    return with_fentry(9) + with_hooks(9);
}
END
echo 'int with_fentry(int); int with_hooks(int x) { return x > 0 ? with_fentry(x - 1) + 1 : 0; }' \
    > hooks.c
echo 'int with_macro(int); int with_fentry(int x) { return x > 0 ? with_macro(x - 1) + 1 : 0; }' \
    > fentry.c
# shellcheck disable=SC2086
gcc -O1 -g -c $hooks ${SANITIZE:+"-fsanitize=$SANITIZE"} fentry.c &&
    gcc -O1 -g -c -finstrument-functions ${SANITIZE:+"-fsanitize=$SANITIZE"} hooks.c &&
    gcc -O1 -g -I"$SOURCE/include" ${SANITIZE:+"-fsanitize=$SANITIZE"} -o mixed macro.c fentry.o \
        hooks.o $linked || fail "mixed: does not compile"
PROBITY_OUT=trace.mixed ./mixed || true
counts trace.mixed > found
printf '%s\n' 'with_fentry 7' 'with_hooks 7' 'with_macro 6' | diff - found > difference ||
    fail "mixed: $(cat difference)"
expect "mixed: repairs" 0 "$(jq '[.repairs[]] | add' report.json)"

# Without returns, the ends of calls are unknown: a message, entries, and no wrong times. A library
# that has returns is recorded as usual.
echo 'int in_library(int x) { return x + 1; }' > library.c
echo 'int in_library(int); __attribute__((noinline)) int plain(int x) { return in_library(x); }
    int main(void) { return plain(1) - 2; }' > entries.c
# shellcheck disable=SC2086
gcc -O1 -g -fPIC -shared $hooks ${SANITIZE:+"-fsanitize=$SANITIZE"} -o library.so library.c $linked
for compiler in gcc clang; do
    command -v $compiler > /dev/null || continue
    $compiler -O1 -g -c -pg -mfentry entries.c
    gcc -o entries entries.o ${SANITIZE:+"-fsanitize=$SANITIZE"} ./library.so
    rm -f trace
    "$PROBITY" record --functions -o trace -- ./entries 2> errors || fail "entries: $(cat errors)"
    expect "entries of $compiler: messages" 1 "$(grep -c . errors)"
    grep -q "entries: recording only the entries of functions: .*-minstrument-return=call" errors ||
        fail "entries of $compiler: $(cat errors)"
    expect "entries of $compiler: calls" "in_library 1 main 1 plain 1" \
        "$(counts trace | sort | xargs)"
    expect "entries of $compiler: entries" "main plain" "$("$PROBITY" report --json trace |
        jq -r '.functions[] | select(.calls_entries == .calls) | .name' | sort | xargs)"
    expect "entries of $compiler: repairs" 0 "$("$PROBITY" report --json trace |
        jq '[.repairs[]] | add')"
    "$PROBITY" report trace > report.txt
    grep -q ' main  \[entries only\]$' report.txt || fail "entries: report: $(cat report.txt)"
    grep -q '^2 calls of functions with entries only' report.txt ||
        fail "entries: report: $(cat report.txt)"
    "$PROBITY" list trace | grep -q ' main .*\[entries only\]$' || fail "entries: list"
    expect "entries of $compiler: log" "entered main; entered plain; in_library" \
        "$("$PROBITY" log --time none trace | sed -n 's/^[0-9]*: *\(entered.*\)/\1/p
            s/^.*int \(in_library\)(.*/\1/p' | xargs)"
    "$PROBITY" check trace > /dev/null 2> errors || fail "entries of $compiler: $(cat errors)"
    # In a range, as after an index.
    "$PROBITY" index trace && "$PROBITY" report --since 0% --json trace > ranged.json ||
        fail "entries: index"
    expect "entries of $compiler: range" 3 "$(jq '[.functions[].calls] | add' ranged.json)"
    rm -f trace.index
done
PROBITY_OUT='' ./entries 2> errors || fail "entries, nothing recorded: $(cat errors)"
expect "entries, nothing recorded: messages" "" "$(cat errors)"

# Files of one program, some without returns: their calls are counted exactly; callees are not
# nested in them once their caller has continued.
echo '__attribute__((noinline)) int once(int x) { return x + 1; }
    int twice(int x) { return once(once(x)); }' > without.c
echo 'int twice(int x); __attribute__((noinline)) int after(int x) { return x + 3; }
    __attribute__((noinline)) int around(int x) { return after(twice(x) + 1) + 1; }
    int main(void) { return around(1) + around(2) - 17; }' > with.c
# shellcheck disable=SC2086
gcc -O1 -g -c -pg -mfentry without.c && gcc -O1 -g -c $hooks with.c &&
    gcc -o partly with.o without.o ${SANITIZE:+"-fsanitize=$SANITIZE"} $linked ||
    fail "partly: does not compile"
run partly ./partly
counts trace > found
printf '%s\n' 'after 2' 'around 2' 'main 1' 'once 4' 'twice 2' | diff - found > difference ||
    fail "partly: $(cat difference)"
"$PROBITY" check trace > /dev/null 2> errors || fail "partly: $(cat errors)"
"$PROBITY" export --format folded trace 2> errors | sed 's/ [0-9]*$//' > folded
grep -qxF 'main;around;after' folded || fail "partly: $(cat folded)"

# Selection: excluded functions call recorded ones.
what=selection
compile calls "$sources/calls.c" "-O1 $counted" "$linked"
rm -f trace*
"$PROBITY" record --functions --function leaf --function try_jump --function after_jump -o trace \
    -- ./calls > out 2> errors || fail "selection: $(cat errors)"
grep -E '^(leaf|try_jump|after_jump) ' out > own
same_counts_of_these own trace
expect "selection: functions" 3 "$(counts trace | wc -l)"
finish
