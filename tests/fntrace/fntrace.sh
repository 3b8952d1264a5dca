#!/usr/bin/env bash
# FnTrace.h from macro to log: the demo, the article's examples, values of every kind, every way to
# leave a scope, levels, pauses, threads and signals. Logs must equal tests/golden/log/ except for
# times, addresses and thread ids.
# variants: clang asan tsan
. "$(dirname "$0")/../common.bash"
GOLDEN=$SOURCE/tests/golden/log
case $VARIANT in
    gcc | asan) family=gcc ;;
    *) family=clang ;;
esac

# Writes the log without the parts that differ from run to run to "log", the tool's warnings to
# "errors", and the report to "report". $1 program, the rest: its arguments
record() {
    local status=0
    rm -f trace*
    PROBITY_OUT=$WORK/trace timeout 300 "$@" > out 2> errors || status=$?
    [ "$status" = "${STATUS:-0}" ] || fail "$*: status $status: $(head -n 3 errors)"
    "$PROBITY" log trace > log.full 2> errors || fail "log of $*: $(cat errors)"
    sed -E -e '/^[0-9]+: \[(thread .*|levels: .*, from the start)\]$/d' -e 's/^[0-9]+: //' \
        -e 's/(elapsed:\t).*/\1TIME/' -e 's/0x[1-7][0-9a-f]{10,11}\b/ADDRESS/g' log.full > log
    "$PROBITY" report --json trace > report 2>> errors || fail "report of $*: $(cat errors)"
}

# Checks that the log equals the golden file $1, or $1.gcc and $1.clang, since compilers spell types
# differently.
is_golden() {
    local file=$GOLDEN/$1.log
    [ -e "$file" ] || file=$GOLDEN/$1.$family.log
    # Set GOLDEN_WRITE to update the golden file.
    [ -z "${GOLDEN_WRITE:-}" ] || cp log "$file"
    cmp -s "$file" log || fail "$1: expected (<), found (>): $(diff "$file" log | head -n 10)"
}

# $1 description, $2 unwound, $3 open, $4 orphans, $5 pauses, $6 resumes
repaired() {
    expect "$1: repairs" "$2 $3 $4 $5 $6" "$(jq -r '.repairs | "\(.unwound) \(.open) " +
        "\(.orphans) \(.pauses_unmatched) \(.resumes_unmatched)"' report)"
}

# $1 description; then pairs of function and calls. No other function was called.
called() {
    local what=$1 expected
    shift
    expected=$(printf '%s %s\n' "$@" | sort)
    expect "$what: calls" "$expected" \
        "$(jq -r '.functions[] | select(.calls > 0) | "\(.name) \(.calls)"' report | sort)"
}

# $1 description, $2 a member of the report, $3 expected sum over all functions
sums() {
    expect "$1: $2" "$3" "$(jq "[.functions[].$2] | add" report)"
}

check_goldens() {
    local name
    record "$BUILD/examples/windows"
    is_golden windows
    expect "windows: output" "" "$(cat out)"
    record "$BUILD/examples/windows_cxx"
    is_golden windows_cxx
    for name in article article_cxx streams_cxx values values_cxx types_cxx types17_cxx; do
        record "$PROGRAMS/fntrace_$name"
        is_golden "$name"
        cp log log.static
        # The static and the shared library give the same log.
        record "$PROGRAMS/fntrace_$name.shared"
        cmp -s log.static log || fail "$name.shared: $(diff log.static log | head -n 5)"
    done
}

# As the program reports, values are evaluated exactly once, or not at all if switched off.
check_evaluations() {
    record "$PROGRAMS/fntrace_values"
    expect "C: evaluations" "variable lengths: 7 evaluations, 1 rows
level 5: value 4, 3 evaluations
level 1: value 0, 0 evaluations
level 3: value 1, 0 evaluations" "$(cat out)"
    record "$PROGRAMS/fntrace_values_cxx"
    expect "C++: evaluations" "level 5: 5 evaluations
level 1: 0 evaluations" "$(cat out)"
    record "$PROGRAMS/fntrace_streams_cxx"
    expect "stream expressions: evaluations" "level 5: 5 evaluations, 1 insertions
level 0: 0 evaluations, 0 insertions" "$(cat out)"
    record "$PROGRAMS/fntrace_types_cxx"
    expect "types of the library: evaluations" "level 5: 3 evaluations
level 0: 0 evaluations" "$(cat out)"
}

# $1 standard, $2 program: it compiles without warnings, and its log is the golden one
check_standard() {
    { compile_cached "$CXX" -std="$1" -O1 -g -Wall -Wextra -Wpedantic -Wshadow -Werror -pthread \
        -I "$SOURCE/include" ${SANITIZE:+"-fsanitize=$SANITIZE"} -MD -c -o "$2.o" \
        "$SOURCE/tests/programs/fntrace_${2}_cxx.cc" &&
        "$CXX" -pthread ${SANITIZE:+"-fsanitize=$SANITIZE"} -o "$WORK/$2" "$2.o" \
            "$BUILD/lib/libprobity.a"; } || fail "$2: $CXX -std=$1 rejects it"
    record "$WORK/$2"
    is_golden "${2}_cxx"
}

# The article's spelling, stream messages and types of the library have the same log in each
# standard; C++17 is in check_goldens. STANDARDS: only these, separated by colons.
check_standards() {
    local standard name standards=${STANDARDS-c++11:c++14:c++17:c++20}
    for standard in ${standards//:/ }; do
        for name in article streams types; do check_standard "$standard" $name; done
        [ "$standard" != c++20 ] || check_standard c++20 types17
    done
}

check_jumps() {
    record "$scopes" jump 7
    is_golden jump
    repaired jump 21 0 0 0 0
    called jump over_three 7 jump_outer 7 jump_middle 7 jump_inner 7 after_jump 7
    sums jump calls_repaired 21
    record "$scopes" recursion
    repaired recursion 10 0 0 0 0
    called recursion jump_recursion 1 recurse_and_jump 10
    record "$scopes" itself
    is_golden itself
    repaired itself 3 0 0 0 0
    called itself jump_into_itself 4
    record "$scopes" leave
    is_golden leave
    repaired leave 0 0 0 0 0
}

# $1 program, $2 number of scopes that each of three threads leaves open
check_thread_ends() {
    record "$1" exit 3
    repaired "$1 exit" 0 $((3 * $2)) 0 0 0
    called "$1 exit" end_deep 15
    record "$1" cancel 3
    repaired "$1 cancel" 0 $((3 * $2)) 0 0 0
    called "$1 cancel" end_deep 15
}

# $1 program, $2 source, then further flags
build() {
    local program=$1 source=$2
    shift 2
    compile_cached "$CC" -std=gnu11 -O1 -g -pthread -D_GNU_SOURCE -I "$SOURCE/include" \
        ${SANITIZE:+"-fsanitize=$SANITIZE"} "$@" -MD -c -o "$program.o" "$source"
    "$CC" -pthread ${SANITIZE:+"-fsanitize=$SANITIZE"} -o "$program" "$program.o" \
        "$BUILD/lib/libprobity.a" -lm
}

# The program has its own default levels, which the environment overrides.
check_defaults() {
    build quiet "$SOURCE/tests/programs/fntrace_scopes.c" -DFN_FUNC_LEVEL_DEF=FN_0 \
        -DFN_PARAM_LEVEL_DEF=FN_3
    record "$WORK/quiet" profile
    called defaults level_0 2
    expect "defaults: parameter" 1 "$(grep -c '^x = 1$' log)"
    PROBITY_LEVEL=1,1 record "$WORK/quiet" profile
    called "defaults overruled" level_0 2 profiling 1
    expect "defaults overruled: parameter" 0 "$(grep -c 'x = 1$' log)"
}

check_announced() {
    PROBITY_THREADS=announced record "$scopes" exit 2
    called announced end_deep 10
    rm -f trace
    PROBITY_THREADS=announced PROBITY_OUT=$WORK/trace "$scopes" cancel 2
    [ ! -e trace ] || [ -z "$("$PROBITY" log trace 2> errors | grep end_deep)" ] ||
        fail "an unannounced thread was recorded"
}

# Without FN_INSTRUMENT, nothing is evaluated and the library is not called.
check_not_compiled_in() {
    sed '/^#define FN_INSTRUMENT$/d' "$SOURCE/tests/programs/fntrace_values.c" > off.c
    "$CC" -std=gnu11 -D_GNU_SOURCE -I "$SOURCE/include" -c -o off.o off.c
    expect "compiled out: what is called" "" "$(nm off.o | grep -i probity)"
    build off off.c
    "$WORK/off" > out
    expect "compiled out: evaluations" "variable lengths: 0 evaluations, 0 rows
level 5: value 0, 0 evaluations
level 1: value 0, 0 evaluations
level 3: value 0, 0 evaluations" "$(cat out)"
}

# A checkpoint has 33 values at most: a label and 32. Expressions are evaluated once, even if their
# type depends on a variable.
check_most_values() {
    local compiler
    cat > most.c << END
#define FN_INSTRUMENT
#include <FnTrace.h>
int main(int argc, char **argv)
{
    FN_ENTRY(FN_1);
    (void)argv;
    FN_CHECKPOINT("label", FN_1, 32, $(seq -s , 32));
#ifdef __cplusplus
    return argc != 1;
#else
    int rows[2][argc], (*row)[argc] = rows;
    FN_PARAM(row++);
    return row != rows + 1;
#endif
}
END
    for compiler in "$CC -std=gnu11 -x c" "$CXX -std=c++17 -x c++"; do
        # shellcheck disable=SC2086 # a command with flags
        $compiler -pthread -I "$SOURCE/include" ${SANITIZE:+"-fsanitize=$SANITIZE"} -o most most.c \
            -x none "$BUILD/lib/libprobity.a" -lm
        record "$WORK/most"
        expect "$compiler: values of a checkpoint" "$(seq 32 | xargs)" \
            "$(grep -oE '[0-9]+ = [0-9]+$' log | sed 's/.* = //' | xargs)"
        expect "$compiler: label" 1 "$(grep -c label log)"
    done
}

check_kill() {
    STATUS=137 record bash -c '"$0" kill; exit $?' "$scopes"
    is_golden kill
    repaired kill 0 10 0 0 0
    called kill killed 10
}

check_exceptions() {
    record "$PROGRAMS/fntrace_scopes_cxx" throw
    is_golden throw
    repaired throw 0 0 0 0 0
    for way in exit cancel; do
        record "$PROGRAMS/fntrace_scopes_cxx" $way
        repaired "C++ $way" 0 0 0 0 0
        called "C++ $way" end_deep 5 Member 5 '~Member' 5
    done
}

check_pauses_and_levels() {
    record "$scopes" pauses
    is_golden pauses
    repaired pauses 0 0 0 1 2
    record "$scopes" levels
    is_golden levels
    repaired levels 0 0 0 0 0
    called levels level_falls 1 level_0 2 level_3 2
    PROBITY_LEVEL=2,3 record "$scopes" profile
    is_golden profile_levels
    record "$scopes" profile
    is_golden profile
    called profile profiling 1 level_0 2 level_3 1
    sums profile calls_untimed 2
    record "$scopes" entries
    is_golden entries
    repaired entries 0 0 0 0 0
}

# A function is declared after a sleep, which must not count as its CPU time.
check_sleep() {
    record "$scopes" asleep
    expect "asleep: under 50 ms of CPU, over 100 ms of wall time" "true true" \
        "$(jq -r '.functions[] | select(.name == "asleep") |
        "\(.cpu_total_ns < 50000000) \(.total_ns >= 100000000)"' report)"
}

check_fork() {
    record "$scopes" fork
    repaired "fork, parent" 0 0 0 0 0
    called "fork, parent" forked 1 level_0 1
    "$PROBITY" report --json trace.* > report
    repaired "fork, child" 0 0 1 0 0
    called "fork, child" level_0 1
}

# The log of one thread must nest: each leave is indented like its enter, and has its own value.
nests() {
    awk -F ': ' -v tid="$1" '
        function indent(text) { match(text, /^ */); return RLENGTH / 2 }
        $1 != tid { next }
        { text = substr($0, length($1) + 3) }
        text ~ /disorder_(inner|thread)/ {
            if (indent(text) != depth) exit 1
            depth++
            next
        }
        text ~ /^ *depth = / { value[depth] = substr(text, index(text, "=") + 2) }
        text ~ /^ *(return |leave;)/ {
            depth--
            if (indent(text) != depth) exit 1
            if (depth > 0 && index(text, "return (" value[depth + 1] ")") == 0) exit 1
        }
        END { if (depth != 0) exit 1 }' log.full || fail "disorder: thread $1 does not nest"
}

check_disorder() {
    local tid count=700
    record "$scopes" disorder $count
    repaired disorder 0 0 0 0 0
    # Depths 0 to 6 in turn make 28 calls in 7 rounds.
    called disorder disorder_thread 8 disorder_inner $((8 * count / 7 * 28))
    for tid in $(cut -d: -f1 log.full | sort -u); do nests "$tid"; done
    expect "disorder: threads" 8 "$(cut -d: -f1 log.full | sort -u | wc -l)"
    "$PROBITY" log --by-thread trace > log.full
    for tid in $(cut -d: -f1 log.full | sort -u); do nests "$tid"; done
}

check_signals() {
    local handled calls
    record "$scopes" signals 200
    read -r handled calls < out
    repaired signals 0 0 0 0 0
    [ "$handled" -gt 0 ] || fail "signals: none was handled"
    called signals interrupted "$calls" after_jump "$calls" handler "$handled" \
        handler_inner "$handled"
    expect "signals: messages" "$handled" "$(grep -c ': .*handled [0-9]*$' log.full)"
}

# FN_OUTPUT_CLOG: the same log on stderr without any setting, and no trace is left.
check_redirected() {
    local library
    cp "$GOLDEN/article_cxx.$family.log" expected.log
    for library in \
        "$BUILD/lib/libprobity.a -Wl,-u,probity_print_hooks $BUILD/lib/libprobity-print.a" \
        "-L$BUILD/lib -Wl,-rpath,$BUILD/lib -lprobity"; do
        # shellcheck disable=SC2086
        "$CXX" -std=c++17 -O1 -g -pthread -I "$SOURCE/include" -DFN_OUTPUT_CLOG \
            ${SANITIZE:+"-fsanitize=$SANITIZE"} -o "$WORK/redirected" \
            "$SOURCE/tests/programs/fntrace_article_cxx.cc" $library ||
            fail "redirected: $CXX rejects it"
        "$WORK/redirected" > out 2> log.full || fail "redirected: status $?"
        sed -E -e '/^[0-9]+: \[(thread .*|levels: .*, from the start)\]$/d' \
            -e 's/^[0-9]+: //' -e 's/(elapsed:\t).*/\1TIME/' log.full > log
        cmp -s expected.log log || fail "redirected: $(diff expected.log log | head -n 6)"
        expect "redirected: traces left" "" "$(find . -name '*.probity*')"
        PROBITY_LOG='' "$WORK/redirected" > out 2> log.full || fail "redirected: status $?"
        expect "redirected, PROBITY_LOG empty" "" "$(cat log.full)"
    done
}

check_goldens
check_evaluations
check_most_values
check_redirected
check_standards
check_not_compiled_in
check_defaults
build unwinding "$SOURCE/tests/programs/fntrace_scopes.c" -fexceptions
mapfile -t forms < <(forms_of "$PROGRAMS/fntrace_scopes")
for scopes in "${forms[@]}"; do
    check_jumps
    check_kill
    check_pauses_and_levels
    check_sleep
    check_fork
    check_signals
    check_announced
done
check_thread_ends "$PROGRAMS/fntrace_scopes" 5
check_thread_ends "$WORK/unwinding" 0
check_exceptions
check_disorder
finish
