#!/usr/bin/env bash
# Traces of one machine read on the other: of x86-64, natively, and of AArch64, in qemu. The output
# of every reading command must be the same, byte for byte. Recordings of the same program on both
# must be the same except for times and addresses.
. "$(dirname "$0")/../common.bash"
native=${NATIVE:?the build directory of this machine}

# $1 trace, then a command
same_answer() {
    local trace=$1 status=0 status_here=0
    shift
    "$PROBITY" "$@" "$trace" > there 2> there.errors < /dev/null || status=$?
    "$native/bin/probity" "$@" "$trace" > here 2> here.errors < /dev/null || status_here=$?
    expect "probity $* $trace: status" "$status_here" "$status"
    cmp -s here there || fail "probity $* $trace: $(diff here there | head -n 6)"
    cmp -s here.errors there.errors ||
        fail "probity $* $trace: errors: $(diff here.errors there.errors | head -n 6)"
    [ -s here ] || [ "$1" = csv ] || fail "probity $* $trace: no output"
    answers=$((answers + 1))
}

# $1 trace
same_answers() {
    local command
    for command in report tree blocks list threads info check csv log model timeline view; do
        case $command in
            view) same_answer "$1" view -o - ;;
            csv | check | log | model) same_answer "$1" "$command" ;;
            *)
                same_answer "$1" "$command"
                same_answer "$1" "$command" --json
                ;;
        esac
    done
}

# Values of every type; a long double has a different size.
cat > values.c <<'PROGRAM'
#define FN_INSTRUMENT
#include <FnTrace.h>

static int values(char c, unsigned char u, short s, long l, double d, float f, long double fine,
                  const char *text)
{
    int result = c + u + s;
    FN_FUNC_PARAMS(int, result, FN_1, 8, c, u, s, l, d, f, fine, text);
    return result;
}

int main(void)
{
    values('a', 255, -3, -4000000000L, 0.1, 0.1f, 0.1L, "text");
    values('b', 0, 32767, 1L << 62, 1e300, -0.0f, 1e300L / 3, "");
    return values('c', 1, 2, 3, 4, 5, 1.0L / 3, NULL) == 0;
}
PROGRAM
# $1 compiler, $2 build directory, $3 program
build_values() {
    "$1" -O2 -pthread -I "$SOURCE/include" -o "$3" values.c "$2/lib/libprobity.a" ||
        fail "$1: values.c does not compile"
}
build_values "${CC%% *}" "$BUILD" values.there
build_values gcc "$native" values.here

answers=0
PROBITY_OUT=values.a.trace "${EMULATOR:?}" -L "${EMULATOR_ROOT:?}" values.there ||
    fail "values.there"
PROBITY_OUT=values.x.trace ./values.here || fail "values.here"
for program in tree typed; do
    PROBITY_OUT=$program.a.trace "$PROGRAMS/$program" 20 < /dev/null > /dev/null || fail "$program"
    PROBITY_OUT=$program.x.trace "$native/tests/programs/$program" 20 < /dev/null > /dev/null ||
        fail "$program, native"
done
PROBITY_PROFILE=1 PROBITY_OUT=profile.a.trace "$PROGRAMS/tree" > /dev/null || fail "profile"
# Killed: the remaining records are in the spool; the other machine appends them to the trace.
PROBITY_OUT=killed.a.trace "$PROGRAMS/ends" kill 3 2000 > killed.expected || true
[ -e killed.a.trace ] || fail "ends kill: no trace"
"$native/bin/probity" recover killed.a.trace > /dev/null || fail "recover"
# Recorded under Wine, and under qemu by an earlier build.
cp "$SOURCE"/tests/golden/systems/*.probity .
for trace in *.trace *.probity; do
    same_answers "$trace"
done
echo "$answers answers are the same"

# $1 trace. A long double has more digits on AArch64.
values_of() {
    "$native/bin/probity" log --time none "$1" |
        sed -n '/fine = /d; /^[0-9]*: *[a-z]* = /s/^[0-9]*: *//p'
}
values_of values.a.trace > values.a
values_of values.x.trace > values.x
cmp -s values.a values.x ||
    fail "values: AArch64 (<), x86-64 (>): $(diff values.a values.x | head -n 10)"
expect "values" 21 "$(wc -l < values.a)"
finish
