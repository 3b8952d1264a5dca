#!/usr/bin/env bash
# Programs without macros, compiled with -finstrument-functions, with the library preloaded or
# linked: the counts equal the program's own, and names are as in the source.
# variants: clang
. "$(dirname "$0")/../common.bash"
# shellcheck source=tests/functions/functions.bash
. "$SOURCE/tests/functions/functions.bash"
sources=$SOURCE/tests/functions

# $1 description, the rest: flags
compile() {
    what=$1
    shift
    "$CC" -g -pthread "$@" ${SANITIZE:+"-fsanitize=$SANITIZE"} -o calls "$sources/calls.c" \
        -ldl $libraries || fail "$what: does not compile"
}

record() {
    rm -rf trace*
    "$PROBITY" record --functions -o trace -- "$@" > out 2> errors || fail "$what: $(cat errors)"
    expect "$what: messages" "" "$(cat errors)"
}

ulimit -s unlimited 2> /dev/null || ulimit -s 65536 || true
libraries=
for plugin in one two; do
    "$CC" -g -O1 -fPIC -shared -finstrument-functions -DNAME=$plugin \
        ${SANITIZE:+"-fsanitize=$SANITIZE"} -o $plugin.so "$sources/plugin.c"
done

for flags in -O0 -O1 -O2 "-O3 -fomit-frame-pointer" "-O2 -flto" "-O2 -no-pie" \
    "-O2 -fno-omit-frame-pointer" "-O2 -fcf-protection"; do
    # shellcheck disable=SC2086
    compile "$flags" $flags -finstrument-functions
    record ./calls
    same_counts out trace
    expect "$flags: traces" 2 "$(find . -maxdepth 1 -name 'trace*' | wc -l)"
    counts trace.* > child
    grep -qx 'in_child 1' child || fail "$flags: the child's calls: $(cat child)"
done
[ "$VARIANT" != clang ] || {
    compile "after inlining" -O2 -finstrument-functions-after-inlining
    record ./calls
    counts trace > found
    grep -qx 'main 1' found || fail "after inlining: $(cat found)"
}

# In the tree, calls after longjmp are not children of the abandoned calls.
compile "tree" -O1 -finstrument-functions
record ./calls
"$PROBITY" export --format folded trace 2> errors | sed -n 's/ [0-9]*$//p' > folded
grep 'after_jump$' folded > found || fail "after_jump: $(head -n 3 folded)"
! grep -v ';try_jump;after_jump$' found > other || fail "after_jump is called by: $(cat other)"

# One program linked with both libraries, static and shared, without preloading.
for libraries in "$BUILD/lib/libprobity-functions.a $BUILD/lib/libprobity.a" \
    "-L$BUILD/lib -Wl,-rpath,$BUILD/lib -lprobity-functions -lprobity"; do
    compile "linked with $libraries" -O2 -finstrument-functions
    rm -rf trace*
    PROBITY_OUT=trace ./calls > out 2> errors || fail "$what: $(cat errors)"
    same_counts out trace
done
libraries=

# Two plugins at the same address, one after the other, keep their own names.
compile "plugins" -O1 -finstrument-functions
record ./calls ./one.so ./two.so ./one.so
counts trace '.object != "" and .object != null' > found
printf '%s\n' 'in_one 6' 'in_two 3' 'run_plugin 1' 'run_plugin 2' 'same_name 3' 'same_name 6' |
    diff - found > difference || fail "plugins: $(cat difference)"

# If a library file is replaced after it was loaded, names of the new file are not used.
cat > replaced.c << 'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    void *library = dlopen("./current.so", RTLD_NOW);
    if (rename("two.so", "current.so") != 0)
        return 1;
    ((void (*)(void))dlsym(library, "run_plugin"))();
    return 0;
}
END
cp one.so current.so
cp two.so two.saved
"$CC" -o replaced replaced.c -ldl
what=replaced
record ./replaced
mv two.saved two.so
counts trace > found
expect "replaced" "current.so 7" "$(sed 's/+0x[0-9a-f]*//' found |
    awk '{ n += $2 } END { print $1, n }')"

# The cost of a hook is measured, and subtracted for each call: `leaf` calls nothing. In a program
# without hooks it is not measured.
cat > leaf.c << 'END'
static volatile int sink;
__attribute__((noinline)) static void leaf(int i)
{
    sink = i;
}
int main(void)
{
    for (int i = 0; i < 20000; i++)
        leaf(i);
    return 0;
}
END
"$CC" -O2 -finstrument-functions ${SANITIZE_FLAG:+"$SANITIZE_FLAG"} leaf.c -o leaf
what="the cost of a hook"
record ./leaf
"$PROBITY" info --json trace | jq -r '.[0].overhead | .hooked_own, .hooked_caller |
    "\(.least_ns) \(.most_ns)"' > ranges
expect "$what: ranges" 2 "$(grep -cE '^[0-9.]+ [1-9][0-9.]*$' ranges)"
"$PROBITY" report --json trace | jq -r '.functions[] | select(.name == "leaf") |
    "\(.calls) \(.self_ns) \(.self_corrected_ns)"' |
    awk 'NR == FNR { if (FNR == 1) cost = ($1 + $2) / 2; next }
         { expected = $2 - $1 * cost; if (expected < 0) expected = 0
           if (expected - $3 > $1 / 100 + 1 || $3 - expected > $1 / 100 + 1)
               print $3 " instead of " expected }' ranges - > output
expect "$what" "" "$(cat output)"
"$PROBITY" report --corrected trace > output
grep -q "^overhead: a call that the compiler's hooks record adds " output ||
    fail "$what: expected a line about it"
PROBITY_OUT=plain "$PROGRAMS/tree"
expect "$what: without hooks" null "$("$PROBITY" info --json plain | jq '.[0].overhead.hooked_own')"

# Levels switch these functions off. A stripped program has all calls, but no names.
PROBITY_LEVEL=4 "$PROBITY" record --functions -o low ./calls > out 2> errors ||
    fail "level: $(cat errors)"
grep -q "no function was recorded" errors || fail "level: $(cat errors)"
strip calls
record ./calls
expect "stripped" "$(awk '{ n += $2 } END { print n }' out)" \
    "$(counts trace "$own" | awk '{ n += $2 } END { print n }')"

# C++: names as in the source; an exception ends the scopes it passes.
"$CXX" -std=c++17 -g -O1 -finstrument-functions ${SANITIZE:+"-fsanitize=$SANITIZE"} -o shapes \
    "$sources/shapes.cc"
what=shapes
record ./shapes
same_shapes trace
# Clang calls no hook in this case, so the scopes end at the next call.
"$PROBITY" log trace > log 2> errors
if [ "$VARIANT" = clang ]; then
    grep -q 'repaired: 4 unwound' errors || fail "exceptions: $(cat errors)"
else
    expect "left by an exception" 4 "$(grep -c 'left by an exception' log)"
fi

# Macros and hooks in one program: the record path in the headers is not recorded as functions.
cat > mixed.c << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
__attribute__((noinline)) static int plain(int x)
{
    return x + 1;
}
static int macro(int x)
{
    int result = 0;
    FN_FUNC_PARAMS(int, result, FN_1, 1, x);
    result = plain(x);
    FN_OUTPUT("in ", x);
    return result;
}
int main(void)
{
    PROBITY_PROBE(1);
    return macro(1) + macro(2) - 5;
}
END
what=mixed
"$CC" -O1 -g -finstrument-functions -I"$SOURCE/include" ${SANITIZE:+"-fsanitize=$SANITIZE"} \
    -o mixed mixed.c -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -lprobity
record ./mixed
counts trace > found
printf '%s\n' 'macro 2' 'macro 2' 'main 1' 'plain 2' | diff - found > difference ||
    fail "mixed: $(cat difference)"

# Profile mode counts the same.
what="profile mode"
compile "$what" -O2 -finstrument-functions
rm -rf trace*
PROBITY_MODE=block PROBITY_PROFILE=1 "$PROBITY" record --functions -o trace -- ./calls > out \
    2> errors || fail "$what: $(cat errors)"
same_counts out trace

# If there is nothing to record, a message reports that, and the program's status is passed on.
# Programs that a script runs leave no trace if they have no such functions.
status=0
"$PROBITY" record --functions -o none -- sh -c 'exit 7' 2> errors || status=$?
expect "no function: status" 7 "$status"
grep -q "no function was recorded: compile the program with -finstrument-functions" errors ||
    fail "no function: $(cat errors)"
what=script
rm -rf trace*
record sh -c 'ls > /dev/null; ./shapes; true'
expect "$what: traces" "./trace" "$(find . -maxdepth 1 -name 'trace*')"

# A library that contains hooks can be loaded late (it then calls those of libc).
"$CC" -g -fPIC -shared -finstrument-functions -DNAME=late ${SANITIZE:+"-fsanitize=$SANITIZE"} \
    -o late.so "$sources/plugin.c" -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -lprobity-functions
what="loaded late"
compile "$what" -O1
rm -rf trace*
PROBITY_OUT=trace ./calls ./late.so > out 2> errors || fail "$what: $(cat errors)"

# A library that belongs to another user, next to a copy of the tool, is not preloaded.
if [ "$(id -u)" = 0 ]; then
    mkdir -p copy/bin copy/lib
    cp "$PROBITY" copy/bin/probity
    cp -L "$BUILD"/lib/libprobity{,-functions}.so.0 copy/lib/
    for owner in 0 65534; do
        chown -R $owner copy/lib
        # shellcheck disable=SC2016 # expanded by the program
        copy/bin/probity record --functions -o none -- sh -c 'echo "$LD_PRELOAD"' > out 2> errors
        expect "the library of user $owner is preloaded" "$((owner == 0))" \
            "$(grep -c 'copy/lib/' out)"
    done
else
    echo "not root: the library of another user is not tried"
fi

# A short name in a trace that demangles to gigabytes is shown unchanged.
name=_Z1fSt4pairIiiE
for i in '' 0 1 2 3 4 5 6 7 8 9 A B C D E F G H I J K L M N O P Q R S T U V W X Y Z; do
    name+=S_IS${i}_S${i}_E
done
printf '__attribute__((noinline)) void f(void) __asm__("%s");\nvoid f(void) {}\n%s\n' "$name" \
    'int main(void) { f(); return 0; }' > expand.c
"$CC" -finstrument-functions ${SANITIZE:+"-fsanitize=$SANITIZE"} -o expand expand.c
what="long name"
record ./expand
timeout 300 "$PROBITY" report trace > out 2> errors || fail "$what: status $?: $(cat errors)"
grep -q '_Z1fSt4pair' out || fail "$what: $(cat out)"
finish
