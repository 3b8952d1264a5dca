#!/usr/bin/env bash
# Which functions are recorded in programs without macros: by options, files and environment; which
# ones `report` suggests to exclude. Whatever is excluded, the counts of the others are exact.
# variants: clang
. "$(dirname "$0")/../common.bash"
sources=$SOURCE/tests/functions

# "NAME CALLS" of the trace, sorted
counts() {
    "$PROBITY" report --json trace > report.json || fail "$what: no report"
    jq -r '.functions[] | "\(.name) \(.calls)"' report.json | LC_ALL=C sort
}

# $1 description, then options of record; the program is ./PROGRAM
record() {
    what=$1
    shift
    rm -rf trace*
    "$PROBITY" record --functions "$@" -o trace -- "./$program" > out 2> errors ||
        fail "$what: $(cat errors)"
    expect "$what: messages" "" "$(cat errors)"
    counts > found
}

# $1 description, $2 status, $3 a pattern of stderr, then options of record
refuses() {
    local what=$1 expected=$2 pattern=$3 status=0
    shift 3
    rm -rf trace*
    "$PROBITY" record --functions "$@" -o trace -- ./steps > out 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
    grep -qE "$pattern" errors || fail "$what: $(cat errors)"
}

cat > steps.c << 'END'
#define NOINLINE __attribute__((noinline))
NOINLINE static int get_one(int x) { __asm__ volatile("" : "+r"(x)); return x; }
NOINLINE static int get_two(int x) { return get_one(x) + get_one(x); }
NOINLINE static int put_two(int x) { return get_two(x) - 1; }
NOINLINE static int deep(int x) { return x > 0 ? deep(x - 1) + get_one(x) : 0; }
NOINLINE static int work(int x)
{
    for (volatile int i = 0; i < 200000; i++)
        x += i & 1;
    return x;
}
int main(void)
{
    int sum = work(1);
    for (int i = 0; i < 1000; i++)
        sum += put_two(i);
    return sum + deep(100) == 0;
}
END
"$CC" -g -O1 -fno-optimize-sibling-calls -finstrument-functions \
    -o steps steps.c
program=steps

record "all"
expect "all" "deep 101 get_one 2100 get_two 1000 main 1 put_two 1000 work 1" "$(xargs < found)"
record "--function" --function 'get_*' --function main
expect "$what" "get_one 2100 get_two 1000 main 1" "$(xargs < found)"
record "--exclude" --exclude get_one --exclude '[dw]*'
expect "$what" "get_two 1000 main 1 put_two 1000" "$(xargs < found)"
record "both" --function '*_*' --exclude 'put*'
expect "$what" "get_one 2100 get_two 1000" "$(xargs < found)"
# If a function between two recorded ones is excluded, the inner one appears as called by the outer
# one.
record "callers" --function main --function get_one
"$PROBITY" export --format folded trace 2> errors | sed 's/ [0-9]*$//' > folded
expect "$what" "main main;get_one" "$(xargs < folded)"
record "recursion" --exclude deep
expect "$what" "get_one 2100 get_two 1000 main 1 put_two 1000 work 1" "$(xargs < found)"
record "--object" --object 'st*s'
expect "$what" 6 "$(wc -l < found)"
bytes=$(nm -S steps | awk '$4 == "work" { print $2 }')
record "--min-bytes" --min-bytes $((0x$bytes)) --function work --function get_one
expect "$what" "work 1" "$(xargs < found)"

# Files, alone and together with options; the environment without the command.
printf '# what matters\nfunction get_*\n\nfunction work  # slow\r\n' > rules
printf 'exclude get_two; exclude main' > others
record "--selection" --selection rules
expect "$what" "get_one 2100 get_two 1000 work 1" "$(xargs < found)"
record "two files" --selection rules --selection others --exclude work
expect "$what" "get_one 2100" "$(xargs < found)"
rm -rf trace*
what=environment
PROBITY_SELECT="function put*;exclude get*" PROBITY_OUT=trace PROBITY_START=first \
    LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$BUILD/lib/libprobity-functions.so" ./steps 2> errors ||
    fail "$what: $(cat errors)"
expect "$what" "put_two 1000" "$(counts | xargs)"

# A request that cannot be met is always reported.
printf 'function a\nfunctoin b\n' > bad
refuses "a bad line" 1 "'bad', line 2: not a rule" --selection bad
[ ! -e trace ] || fail "an invalid line: the program ran"
refuses "no file" 1 "cannot read 'none'" --selection none
refuses "binary" 1 "'\./steps'.*(not a text file|not a rule)|more than" --selection ./steps
yes 'exclude some_function_with_a_long_name' | head -n 5000 > long
refuses "a long file" 1 "more than 100000 bytes" --selection long
refuses "an empty pattern" 2 "invalid pattern ''" --function ''
refuses "two rules in a pattern" 2 "invalid pattern" --exclude 'a;function b'
refuses "not a number" 2 "invalid --min-bytes 'x'" --min-bytes x
refuses "nothing selected" 0 "none that the program calls is selected" --function nothing
rm -rf trace*
PROBITY_SELECT='fnction put*' "$PROBITY" record --functions -o trace -- ./steps 2> errors ||
    fail "invalid environment: $(cat errors)"
grep -q 'PROBITY_SELECT: no rule in line 1; recording no function' errors ||
    fail "invalid environment: $(cat errors)"
[ ! -e trace ] || fail "invalid environment: recorded"

# Deep calls, beyond the depth that is kept, are paired even if calls between them are excluded.
cat > nested.c << 'END'
#define NOINLINE __attribute__((noinline))
NOINLINE static int left(int x);
NOINLINE static int right(int x) { return x > 0 ? left(x - 1) + 1 : 0; }
NOINLINE static int left(int x) { return x > 0 ? right(x - 1) + 1 : 0; }
NOINLINE static int after(int x) { return x; }
int main(void) { return left(150000) + after(0) + after(1) != 150001; }
END
"$CC" -g -O1 -fno-optimize-sibling-calls -finstrument-functions \
    -o nested nested.c
program=nested
ulimit -s unlimited 2> /dev/null || ulimit -s 65536 || true
record "nested" --exclude right
expect "$what" "after 2 left 75001 main 1" "$(xargs < found)"
"$PROBITY" export --format folded trace 2> errors | sed 's/ [0-9]*$//' > folded
grep -qx 'main;after' folded ||
    fail "$what: calls after the others: $(tail -n 1 folded | cut -c 1-99)"

# C++: by symbol, and by class, namespace and name.
"$CXX" -std=c++17 -g -O1 -finstrument-functions -o shapes \
    "$sources/shapes.cc"
program=shapes
record "C++" --function 'shape::*' --exclude 'shape::box::*'
expect "$what" "shape::(anonymous namespace)::checked 5 shape::twice<double> 1 \
shape::twice<int> 1" "$(grep -v operator found | xargs)"
record "a constructor" --function 'shape::box::*box'
expect "$what" "shape::box::box 7 shape::box::~box 7" "$(xargs < found)"
record "a symbol" --function '_ZN5shape3box4areaE*' --function '_ZNK5shape3box4areaE*'
expect "$what" "shape::box::area 6" "$(xargs < found)"

# Functions with an ABI tag, such as those that return a std::string; operators; lambdas.
cat > names.cc << 'END'
namespace shape {
struct box {
    __attribute__((noinline, abi_tag("tag"))) int name() const { return 3; }
    __attribute__((noinline)) box &operator+=(int) { return *this; }
    int local() { return [this] { return name(); }(); }
};
}
int main()
{
    shape::box box;
    box += 1;
    return box.local() - 3;
}
END
"$CXX" -std=c++17 -g -O1 -finstrument-functions -o names names.cc
program=names
record "names" --function 'shape::*'
expect "$what" 4 "$(grep -c '^shape::' found)"
record "without names" --exclude 'shape::*'
expect "$what" 0 "$(grep -c '^shape::' found)"

# An excluded function still ends the scopes that were jumped over into it.
cat > jumps.c << 'END'
#include <setjmp.h>
#include <string.h>
#define NOINLINE __attribute__((noinline))
static jmp_buf back;
NOINLINE static void jumper(void) { longjmp(back, 1); }
NOINLINE static void catcher(void) { if (!setjmp(back)) jumper(); }
NOINLINE static void work(void)
{
    char big[8192];
    memset(big, 1, sizeof big);
    __asm__ volatile("" : : "r"(big) : "memory");
}
int main(void)
{
    for (int i = 0; i < 3; i++) {
        catcher();
        work();
    }
    return 0;
}
END
"$CC" -g -O1 -finstrument-functions -o jumps jumps.c
program=jumps
record "jumps" --exclude catcher
"$PROBITY" export --format folded trace 2> errors | sed 's/ [0-9]*$//' | sort > folded
expect "$what" "main main;work" "$(xargs < folded)"

# The executable is matched by its file name, whatever argv[0] was; a function without a symbol by
# its file and address.
program=steps
ln -sf steps same_steps
program=same_steps
record "another name" --object steps
expect "$what" 6 "$(wc -l < found)"
record "another name, exclusively" --object steps --function work
expect "$what" "work 1" "$(xargs < found)"
strip -o stripped steps
program=stripped
record "stripped" --function 'stripped+0x*'
expect "$what" 6 "$(wc -l < found)"
"$PROBITY" report --suggest 0.0001 trace > suggested
grep -q '^exclude stripped+0x[0-9a-f]* ' suggested || fail "$what: $(cat suggested)"
sed -i '/ 1 call of/d' suggested
record "$what" --selection suggested
expect "$what" 2 "$(wc -l < found)"

# Two functions of the same name are rated together, because a rule excludes both.
for part in one two; do
    cat > $part.c << END
__attribute__((noinline)) static int helper(int x)
{
    for (volatile int i = 0; i < ($([ $part = one ] && echo 0 || echo 3000000)); i++)
        x += i & 1;
    return x;
}
int $part(int x) { return helper(x); }
END
done
cat > both.c << 'END'
int one(int x);
int two(int x);
int main(void)
{
    int sum = two(1);
    for (int i = 0; i < 5000; i++)
        sum += one(i);
    return sum == 0;
}
END
"$CC" -g -O1 -finstrument-functions -o both both.c one.c two.c
program=both
record "one name"
"$PROBITY" report --suggest 0.01 trace > suggested
expect "$what: rules" 1 "$(grep -c '^exclude helper ' suggested)"
grep -q '^exclude helper .*# 5001 calls of' suggested || fail "$what: $(cat suggested)"

# The suggestions of report: exclude many short calls, keep few long ones.
program=steps
record "before"
"$PROBITY" report --suggest 0.1 trace -f -o suggested || fail "suggest: status $?"
grep -q '^exclude get_one ' suggested || fail "suggest: $(cat suggested)"
! grep -E '^exclude (work|main) ' suggested || fail "suggest: $(cat suggested)"
record "with the suggestion" --selection suggested
! grep -q get_one found || fail "with the suggestion: $(cat found)"
"$PROBITY" report --suggest 100000 trace | grep -q 'nothing to leave out' || fail "suggest 100000"
# A name in a trace cannot inject another rule.
objcopy --redefine-sym 'get_one=x;exclude *' --redefine-sym "$(printf 'get_two=x\nexclude *')" \
    steps hostile
program=hostile
record "hostile names"
grep -qF 'x;exclude *' found || fail "$what: $(cat found)"
"$PROBITY" report --suggest 0.0001 trace > suggested
grep -q '^exclude put_two ' suggested || fail "$what: $(cat suggested)"
! grep -vE '^(#|exclude [a-z_]+ +# [0-9]+ calls? of [0-9]+ ns$)' suggested ||
    fail "$what: $(cat suggested)"
program=shapes
record "C++ suggestion"
"$PROBITY" report --suggest 0.0001 trace > suggested
grep -qE '^exclude _ZNK?5shape3box4areaEv +# shape::box::area: 6 calls of [0-9]+ ns$' suggested ||
    fail "$what: $(cat suggested)"
sed -i '/main/d' suggested
record "$what" --selection suggested
! grep -q 'area' found || fail "$what: $(cat found)"
for value in 0 -1 x ''; do
    status=0
    "$PROBITY" report --suggest "$value" trace > out 2> errors || status=$?
    expect "--suggest '$value'" "2 probity report: invalid --suggest '$value'" \
        "$status $(sed -n '1s/ (.*//p' errors)"
done
status=0
"$PROBITY" report --suggest 1 --json trace > out 2> errors || status=$?
expect "--suggest --json" 2 "$status"
status=0
"$PROBITY" report --suggest 1 --function main trace > out 2> errors || status=$?
expect "--suggest --function" 2 "$status"
status=0
"$PROBITY" record --function main -o none -- true 2> errors || status=$?
grep -q 'or --functions is missing' errors || fail "without --functions: $(cat errors)"
PROBITY_COST=0 "$PROBITY" record --functions -f -o trace ./steps 2> errors || fail "$(cat errors)"
status=0
"$PROBITY" report --suggest 1 trace > out 2> errors || status=$?
expect "no cost" "1 0" "$status $(wc -c < out)"
grep -q 'nothing to suggest' errors || fail "no cost: $(cat errors)"
finish
