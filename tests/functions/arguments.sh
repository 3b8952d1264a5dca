#!/usr/bin/env bash
# Arguments and results of functions without macros: `probity record --args --returns` shows the
# same as each function prints itself. FLAGS: number of sets of flags in addition to -O0 and -O2,
# chosen by SEED, by default all.
# variants: clang
# timeout: 300
. "$(dirname "$0")/../common.bash"
# shellcheck source=tests/functions/functions.bash
. "$SOURCE/tests/functions/functions.bash"
sources=$SOURCE/tests/functions
[ "$(uname -m)" = x86_64 ] || { echo "skipped: arguments are recorded on x86-64 only"; exit 77; }
gcc --version > gcc.out 2>&1 || { echo "skipped: no gcc here"; exit 77; }
fentry="-pg -mfentry -minstrument-return=call"
linked="-L$BUILD/lib -Wl,-rpath,$BUILD/lib -lprobity-functions -lprobity"
[ -z "${SANITIZE:-}" ] || { echo "skipped: no preloading with a sanitizer"; exit 77; }

# $1 program, $2 source, $3 flags, $4 compiler, $5 further objects
build_fentry() {
    # shellcheck disable=SC2086
    { compile_cached ${4:-gcc} -g -pthread $3 $fentry -MD -c -o "$1.o" "$2" &&
        ${4:-gcc} -pthread $3 -o "$1" "$1.o" ${5:-} -lm -ldl $linked; } 2> errors ||
        fail "$1, $3: does not compile: $(cat errors)"
}
build_xray() {
    # shellcheck disable=SC2086
    { compile_cached ${4:-clang} -g -pthread $3 $xray -MD -c -o "$1.o" "$2" &&
        ${4:-clang} -pthread $3 $xray -o "$1" "$1.o" ${5:-} -lm -ldl; } 2> errors ||
        fail "$1, $3: does not compile: $(cat errors)"
}

# Records and compares; makes the files "log" and "found". $1 what; the rest: options of record, --,
# program and arguments
record() {
    local what=$1
    shift
    rm -f trace
    "$PROBITY" record --functions -o trace "$@" > out 2> errors || fail "$what: $(cat errors)"
    grep -v ' by XRay sleds in ' errors > messages || true
    "$PROBITY" check trace > /dev/null 2> errors || fail "$what: $(cat errors)"
    "$PROBITY" log --time none trace > log 2> errors || fail "$what: $(cat errors)"
    python3 "$SOURCE/tests/functions/arguments.py" do_ < log > found
}

# $1 what, $2: the lines to leave out on both sides
same() {
    true_values "${2:-}" > wanted
    grep -vE "${2:-^$}" found | diff wanted - > difference || fail "$1: $(cut -c1-300 difference)"
    expect "$1: messages" "" "$(cat messages)"
}
all=(--function '*do_*' --args '*do_*' --returns '*do_*')

seed=${SEED:-$RANDOM}
echo "seed $seed"
# Sets "chosen" to -O0, -O2 and FLAGS of the given sets.
choose() {
    mapfile -t chosen < <(printf '%s\n' "$@" | awk -v seed="$seed" 'BEGIN { srand(seed) }
        { print rand() "\t" $0 }' | sort | cut -f 2 | head -n "${FLAGS:-99}")
    chosen=(-O0 -O2 "${chosen[@]}")
}

# ---- Values --------------------------------------------------------------------------------------

choose -O1 "-O2 -no-pie -fno-pie" "-O1 -fcf-protection" "-O1 -fno-omit-frame-pointer" \
    "-O0 -gdwarf-4"
for flags in "${chosen[@]}"; do
    build_fentry values "$sources/arguments.c" "$flags"
    record "gcc $flags" "${all[@]}" -- ./values truth
    same "gcc $flags"
    [ "$(wc -l < wanted)" -ge 53 ] || fail "gcc $flags: the program has printed $(wc -l < wanted)"
done

# In clang's optimized code, DWARF lacks some structs; missing ones are not guessed.
structs='^do_(mixed|point|wide|triple|outer|many|split|classes|int128)\('
if clang --version > clang.out 2>&1; then
    choose -O1 "-O2 -fPIE -pie" "-O0 -gdwarf-4"
    for flags in "${chosen[@]}"; do
        without=$structs
        [[ $flags != -O0* ]] || without='^$'
        build_xray values "$sources/arguments.c" "$flags"
        record "clang $flags" "${all[@]}" -- ./values truth
        same "clang $flags" "$without"
        grep -E "$structs" found | tr ',' '\n' | grep -oE ' = .*' | sed 's/)$//' | sort -u > shown
        true_values | grep -E "$structs" | tr ',' '\n' | grep -oE ' = .*' | sed 's/)$//' | sort -u |
            comm -13 - shown > other
        ! grep -v ' = ?' other > wrong || fail "clang $flags: wrong values: $(cat wrong)"
        build_xray values_cxx "$sources/arguments_cxx.cc" "$flags -std=c++17" clang++
        record "clang++ $flags" "${all[@]}" -- ./values_cxx truth
        same "clang++ $flags" "$without"
    done
else
    echo "left out: no clang here, which has XRay"
fi

# At a patchable entry, arguments are known, but not results.
gcc -g -O1 -pthread -fpatchable-function-entry=5 -o values "$sources/arguments.c" -lm -ldl ||
    fail "patchable: does not compile"
record "patchable" "${all[@]}" -- ./values truth
what=patchable
same_entries

# The result of a copy that gcc has changed, .isra.0, is unknown.
build_fentry values_cxx "$sources/arguments_cxx.cc" "-O0 -std=c++17" g++
record "g++ -O0" "${all[@]}" -- ./values_cxx truth
same "g++ -O0"
build_fentry values_cxx "$sources/arguments_cxx.cc" "-O2 -std=c++17" g++
record "g++ -O2" "${all[@]}" -- ./values_cxx truth
same "g++ -O2" ' returns '
! grep ' returns ' found | sed 's/id = \|weight = //g' |
    grep -vxFf <(true_values | sed 's/id = \|weight = //g') > wrong ||
    fail "g++ -O2: wrong results: $(cat wrong)"

# A call that ends with a jump to another function has no result.
cat > tail.c << 'END'
static int sum;
__attribute__((noinline)) int do_last(int b)
{
    sum += b;
    return b + 7;
}
__attribute__((noinline)) int do_tail(int a)
{
    sum -= a;
    return do_last(a + 1);
}
int main(void)
{
    return do_tail(5) + sum - 14;
}
END
for compiler in fentry xray; do
    [ $compiler = fentry ] || [ -s clang.out ] || continue
    build_$compiler tail tail.c -O2
    record "tail, $compiler" "${all[@]}" -- ./tail
    expect "tail, $compiler" "do_tail(a = 5) do_last(b = 6) do_last returns 13 " \
        "$(tr '\n' ' ' < found)"
done

# Values of all threads.
build_fentry values "$sources/arguments.c" -O1
record threads --function in_thread --args in_thread --returns in_thread -- ./values truth 4
python3 "$SOURCE/tests/functions/arguments.py" in_thread < log | sort > found
for thread in 0 1 2 3; do
    for ((i = 0; i < 2000; i++)); do
        echo "in_thread(thread = $thread, i = $i)"
        echo "in_thread returns $((thread * 100000 + i))"
    done
done | sort | diff - found > difference || fail "threads: $(head -n 5 difference)"

# ---- Selection and exports -----------------------------------------------------------------------

record "arguments only" --args do_sizes -- ./values truth
expect "arguments only" "$(true_values | grep '^do_sizes(')" "$(grep do_sizes found)"
expect "arguments only: of others" "" "$(grep 'do_bool.*=' found || true)"
record "results only" --returns 'do_[bs]*' -- ./values truth
expect "results only" "do_sizes() do_sizes returns -128 do_bool() do_bool returns true " \
    "$(grep -E 'do_(sizes|bool)' found | tr '\n' ' ')"
"$PROBITY" report --json trace > report.json
expect "calls" 1 "$(jq '.functions[] | select(.name == "do_sizes").calls' report.json)"

# If a struct is returned, exports have its members' names, too.
record exports "${all[@]}" -- ./values truth
"$PROBITY" export --format chrome -o chrome.json trace 2> errors || fail "chrome: $(cat errors)"
expect chrome '{"count":-4,"weight":5}' \
    "$(jq -c '[.. | objects | select(.args.weight? == 5) | .args][0]' chrome.json)"
"$PROBITY" export --format otlp-json -o otlp.json trace 2> errors || fail "otlp: $(cat errors)"
grep -q '"key":"weight"' otlp.json || fail "otlp: no member of the result"
"$PROBITY" export --format perfetto -o perfetto trace 2> errors || fail "perfetto: $(cat errors)"
grep -aq '[^.]weight' perfetto || fail "perfetto: no member of the result"

# Profile mode counts and records no values.
rm -f trace
PROBITY_PROFILE=1 "$PROBITY" record --functions "${all[@]}" -o trace -- ./values truth 2> errors ||
    fail "profile mode: $(cat errors)"
expect "profile mode: calls" 4 \
    "$("$PROBITY" report --json trace | jq '.functions[] | select(.name == "do_recursion").calls')"

# ---- Libraries, plugins, other programs ----------------------------------------------------------

# shellcheck disable=SC2086
gcc -g -O1 -fPIC -shared $fentry -o libarguments.so "$sources/arguments_library.c" $linked
build_fentry values "$sources/arguments.c" "-O1 -DIN_LIBRARY" gcc \
    "./libarguments.so -Wl,-rpath,$PWD"
record library "${all[@]}" -- ./values truth
same library
grep -qx 'do_library(a = -8, b = "in it")' found || fail "library: not in what was found"

cat > plugin.c << 'END'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        void *plugin = dlopen(argv[i], RTLD_NOW);
        int (*run)(int, const char *) = (int (*)(int, const char *))dlsym(plugin, "do_library");
        if (run == 0 || run(i, "in plugin") != i)
            return 1;
        dlclose(plugin);
    }
    return 0;
}
END
# shellcheck disable=SC2086
gcc -g -O1 -fPIC -shared $fentry -Wl,--build-id=none -o without_id.so "$sources/arguments_library.c"
build_fentry plugin plugin.c -O1
record plugin "${all[@]}" --args-in ./libarguments.so --args-in without_id.so -- \
    ./plugin ./libarguments.so "$PWD/without_id.so" ./libarguments.so
printf '%s\n' 'do_library(a = 1, b = "in plugin")' 'do_library returns 1' \
    'do_library(a = 2, b = "in plugin")' 'do_library returns 2' \
    'do_library(a = 3, b = "in plugin")' 'do_library returns 3' | diff - found > difference ||
    fail "plugin: $(cat difference)"
expect "plugin: messages" "" "$(cat messages)"

# A script's programs inherit the description, unless the script closes it.
build_fentry values "$sources/arguments.c" -O1
record "a script" "${all[@]}" --args-in ./values -- sh -c './values truth; true'
same "a script"
record "closed" "${all[@]}" --args-in ./values -- \
    bash -c 'eval "exec $PROBITY_ARGUMENTS<&-"; ./values truth; true'
expect "closed: messages" "" "$(cat messages)"
grep -qx 'do_sizes()' found || fail "closed: $(head -n 3 found)"
record "another file" "${all[@]}" --args-in ./values -- \
    bash -c 'eval "exec $PROBITY_ARGUMENTS<./values.o"; ./values truth; true'
expect "another file: messages" "" "$(cat messages)"
grep -qx 'do_sizes()' found || fail "another file: $(head -n 3 found)"

# A damaged description is rejected, with one message.
{ printf PRBYARGS && head -c 500 /dev/zero; } > damaged
record damaged "${all[@]}" --args-in ./values -- \
    bash -c 'eval "exec $PROBITY_ARGUMENTS<./damaged"; ./values truth; true'
expect damaged "probity: PROBITY_ARGUMENTS: invalid description; recording no arguments" \
    "$(sort -u messages)"
grep -qx 'do_sizes()' found || fail "damaged: $(head -n 3 found)"

# ---- What cannot be shown ------------------------------------------------------------------------

strip -o stripped values
record stripped --args 'do_*' -- ./stripped truth
grep -q "no function matches --args" messages || fail "stripped: $(cat messages)"
strip -g -o without_dwarf values
record "without DWARF" "${all[@]}" -- ./without_dwarf truth
expect "without DWARF" "no arguments for functions in './without_dwarf'" \
    "$(sed 's/^probity record: \(.*\): it has no debugging .* compile it with -g$/\1/' messages)"
mkdir -m 777 open
chmod 777 open # whatever the umask is
objcopy --only-keep-debug values open/values.debug
objcopy --add-gnu-debuglink=open/values.debug without_dwarf open/refused
record "not used" "${all[@]}" -- open/refused truth
expect "not used" "debugging information of 'open/refused' is not used: \
others may write to '$WORK/open'
no arguments for functions in 'open/refused': its debugging information is not used" \
    "$(sed 's/^probity record: //' messages)"
record "no such function" --args 'no_such_*' -- ./values truth
grep -q "no arguments: no function matches" messages || fail "no such function: $(cat messages)"
status=0
"$PROBITY" record --functions --args do_sizes --args-in ./values.o -o other -- ./values truth \
    2> errors || status=$?
expect "an object file: status" 1 "$status"
grep -q "'./values.o' is not an executable or shared library" errors || fail "$(cat errors)"
status=0
"$PROBITY" record --functions --args 'a;b' -o other -- ./values 2> errors || status=$?
expect "a bad pattern: status" 2 "$status"
clang -g -O1 -fxray-instrument -fxray-instruction-threshold=1 -o alone -x c - << 'END'
int do_sizes(int size) { return size; }
int main(int count, char **words) { return do_sizes(count) != (words != 0); }
END
"$PROBITY" record --args do_sizes -o alone.probity -- ./alone 2> errors
grep -q "needs --functions in addition" errors || fail "not linked: $(cat errors)"

# -finstrument-functions does not show arguments, which a message reports.
gcc -g -O1 -pthread -finstrument-functions -o values "$sources/arguments.c"
record "-finstrument-functions" "${all[@]}" -- ./values truth
expect "-finstrument-functions: messages" 1 "$(wc -l < messages)"
grep -q -- "-finstrument-functions does not show arguments" messages || fail "$(cat messages)"
grep -qx 'do_sizes()' found || fail "-finstrument-functions: $(head -n 3 found)"

# ---- The program is not affected ----------------------------------------------------------------

# The same results as without hooks, with arguments in vector registers.
for flags in "-O0 -DWIDE=4" "-O2 -DWIDE=4" "-mavx -DWIDE=8" "-mavx512f -DWIDE=16"; do
    instructions=${flags%% *}
    [[ $flags != -m* ]] || grep -qw "${instructions#-m}" /proc/cpuinfo || continue
    # shellcheck disable=SC2086
    gcc $flags -o plain "$sources/values.c" -lm
    ./plain > plain.out
    build_fentry hooked "$sources/values.c" "$flags"
    record "registers, $flags" --args '*' --returns '*' -- ./hooked
    cmp out plain.out || fail "registers, $flags: $(diff out plain.out | head -n 4)"
done

# Signals at arbitrary instructions, including the recording code: handlers and the program each
# have their own values.
cat > signals.c << 'END'
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile long handled;
__attribute__((noinline)) long do_handle(long a, const char *b, double c)
{
    return handled += a + (long)c + (b[0] == 0);
}
static void handler(int number)
{
    if (number == SIGALRM)
        do_handle(1, "handler", 0.5);
}
__attribute__((noinline)) long do_work(long a, double b)
{
    return a * 2 + (long)b;
}
int main(void)
{
    const struct itimerval often = {{0, 20}, {0, 20}};
    long sum = 0, made = 0;
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &often, 0);
    for (; handled < 3000; made++)
        sum += do_work(made, 0.25) == 2 * made ? 0 : 1;
    setitimer(ITIMER_REAL, &(const struct itimerval){{0, 0}, {0, 0}}, 0);
    printf("%ld %ld %ld\n", sum, made, handled);
    return 0;
}
END
for compiler in fentry xray; do
    [ $compiler = fentry ] || [ -s clang.out ] || continue
    build_$compiler signals signals.c -O1
    record "signals, $compiler" "${all[@]}" -- ./signals
    read -r wrong made handled < out
    expect "signals, $compiler: results in the program" 0 "$wrong"
    awk -v made="$made" -v handled="$handled" 'BEGIN {
        for (i = 0; i < made; i++)
            printf "do_work(a = %d, b = 0.25)\ndo_work returns %d\n", i, 2 * i
        for (i = 1; i <= handled; i++)
            printf "do_handle(a = 1, b = \"handler\", c = 0.5)\ndo_handle returns %d\n", i
    }' | LC_ALL=C sort > wanted
    LC_ALL=C sort found | diff wanted - > difference ||
        fail "signals, $compiler: $(head -n 6 difference)"
done

# Jumps, exceptions, coroutines, thread ends: calls are counted as without values.
build_fentry left "$sources/left.cc" "-O1 -std=c++17" g++
record jumps --args '*' --returns '*' -- ./left
grep -v ' 0$' out | LC_ALL=C sort > wanted
"$PROBITY" report --json trace | jq -r '.functions[] | select(.calls > 0) | "\(.name) \(.calls)"' |
    LC_ALL=C sort | grep -f <(sed 's/^\([^ ]*\).*/^\1 /' out) > counted
diff wanted counted > difference || fail "jumps: $(cat difference)"

finish
