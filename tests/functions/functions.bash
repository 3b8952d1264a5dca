# Sourced after common.bash by scripts that compare the recorded calls of functions with what a
# program prints itself, on x86-64 and in qemu. READER is the tool that reads the traces; `what`
# names the case in messages.
# shellcheck shell=bash disable=SC2154 # what
READER=${NATIVE:+$NATIVE/bin/probity}
READER=${READER:-$PROBITY}
# shellcheck disable=SC2034 # for the scripts
xray="-fxray-instrument -fxray-instruction-threshold=1"
# A jq filter of functions: those of the executable.
own='.object == "" or .object == null'

# Prints "NAME CALLS" of a trace, sorted. $2: a jq filter of functions
counts() {
    "$READER" report --json "$1" > report.json || fail "$what: no report"
    jq -r ".functions[] | select(${2:-true}) | select(.calls > 0) | \"\\(.name) \\(.calls)\"" \
        report.json | LC_ALL=C sort
}

# Compares the files "expected" and "found", of counts. $1 trace
same_as_expected() {
    diff expected found > difference || fail "$what: made (<) and counted (>): $(cat difference)"
    [ -s expected ] || fail "$what: the program has printed nothing"
    "$READER" check "$1" > /dev/null 2> errors.check || fail "$what: $(cat errors.check)"
}

# $1 the program's own counts, $2 trace, $3 a function that is not compared
same_counts() {
    grep -vE " 0\$|^${3:-none} " "$1" | LC_ALL=C sort > expected
    counts "$2" ".name != \"${3:-}\" and ($own)" > found
    same_as_expected "$2"
}

# Compares only the functions that the program counts.
same_counts_of_these() {
    grep -v ' 0$' "$1" | LC_ALL=C sort > expected
    counts "$2" "$own" | grep -f <(sed 's/^\([^ ]*\).*/^\1 /' "$1") > found || true
    same_as_expected "$2"
}

# Compares the counts of tests/functions/shapes.cc. $1 trace
same_shapes() {
    counts "$1" '.name | startswith("std::") or startswith("__gnu") | not' > found
    cat > expected << 'END'
call 5
main 1
shape::(anonymous namespace)::checked 5
shape::box::area 6
shape::box::box 7
shape::box::operator< 1
shape::box::~box 7
shape::twice<double> 1
shape::twice<int> 1
END
    same_as_expected "$1"
}

# Makes code.c, a program that prints which of its sleds are replaced. $1: the first bytes of an
# unreplaced sled, as a C string.
write_code() {
    cat > code.c << END
#include <stdio.h>
#include <string.h>
static int is_on(const void *function) { return memcmp(function, $1, sizeof $1 - 1) != 0; }
END
    cat >> code.c << 'END'
__attribute__((noinline)) static int get_one(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}
__attribute__((noinline)) static int get_two(int x) { return get_one(x) + get_one(x); }
__attribute__((noinline)) static int put_two(int x) { return get_two(x) + 2; }
__attribute__((xray_never_instrument)) int main(void)
{
    int sum = put_two(1) + put_two(2) - 14;
    printf("%d%d%d\n", is_on(get_one), is_on(get_two), is_on(put_two));
    return sum;
}
END
}

# Prints what programs with values write to the file "truth", as arguments.py shows it. $1: a
# regular expression for lines to leave out
true_values() {
    sed -E 's/^(do_[a-z_0-9]+)\((.*)\) = (.*)$/\1(\2)\n\1 returns \3/' truth |
        grep -vE "${1:-^$}"
}

# Patchable entries have arguments and no results: compares "NAME(A = VALUE, ...)" of each in the
# file "log" with "truth".
same_entries() {
    sed 's/^[0-9]*: *//' log | awk '
        /^entered do_/ { finish(); name = substr($2, 1, length($2) - 1) }
        / = / && name != "" { values = values (values != "" ? ", " : "") $0 }
        function finish() { if (name != "") print name "(" values ")"; values = "" }
        END { finish() }' > found
    grep -v ' returns ' truth | sed 's/) = .*/)/' > wanted
    diff wanted found > difference || fail "$what: $(cut -c1-300 difference)"
    [ "$(wc -l < wanted)" -ge 25 ] || fail "$what: the program has printed: $(cat wanted)"
}
