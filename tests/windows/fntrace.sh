#!/usr/bin/env bash
# Programs with FnTrace.h and Logger.h: the tool on Linux reads the traces of Windows programs, and
# logs equal those of the same programs on Linux. In C, signatures come from debug information,
# which the tool reads only in ELF files.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
GOLDEN=$SOURCE/tests/golden/log

# $1 source, $2 program, the rest: flags. C++ programs are linked with the static C++ library.
build() {
    local source=$1 program=$2
    shift 2
    case $source in
        *.cc) x86_64-w64-mingw32-g++ -std=gnu++17 "${FLAGS[@]}" -o "$program" "$source" "$@" ;;
        *) x86_64-w64-mingw32-gcc -std=gnu11 "${FLAGS[@]}" -o "$program" "$source" "$@" ;;
    esac
}

# Removes the parts that differ from run to run.
plain() {
    sed -E -e '/^[0-9]+: \[(thread .*|levels: .*, from the start)\]$/d' -e 's/^[0-9]+: //' \
        -e 's/(elapsed:\t).*/\1TIME/' -e 's/0x(1|[0-9a-f]?)[0-9a-f]{5,11}\b/ADDRESS/g' "$@"
}

# $1 program, $2 golden log, $3 expression of sed for both
check_log() {
    rm -f trace.probity
    PROBITY_OUT=trace.probity wine_run "$1" > out 2>&1
    expect "$1: status; $(head -n 3 out)" 0 "$status"
    "$PROBITY" check trace.probity > checked || fail "$1: $(cat checked)"
    "$PROBITY" log trace.probity | plain | sed -E "$3" > log
    plain "$2" | sed -E "$3" > expected
    cmp -s expected log || fail "$1: expected (<), found (>): $(diff expected log | head -n 10)"
}

for name in article_cxx streams_cxx types_cxx types17_cxx; do
    golden=$GOLDEN/$name.log
    [ -e "$golden" ] || golden=$GOLDEN/$name.gcc.log
    build "$SOURCE/tests/programs/fntrace_$name.cc" "$name.exe" -static "${STATIC[@]}"
    check_log "$name.exe" "$golden" 's/long long (int|unsigned)/long \1/'
done
build "$SOURCE/tests/programs/fntrace_article.c" article.exe "${SHARED[@]}"
check_log article.exe "$GOLDEN/article.gcc.log" \
    's/^( *)([A-Za-z_].* [*]?)?([A-Za-z_]+)(\([^()]*\))?$/\1\3/'
build "$SOURCE/examples/windows_cxx.cc" windows_cxx.exe -static "${STATIC[@]}"
check_log windows_cxx.exe "$GOLDEN/windows_cxx.gcc.log" ''

# Logger.h: a CSV file written at exit by the program.
build "$SOURCE/tests/windows/logger.cc" logger.exe -static "${STATIC[@]}"
wine_run logger.exe > out 2>&1
expect "logger: status; $(head -n 3 out)" 0 "$status"
expect "logger: hits in its CSV" 8000 "$(grep -c '^[0-9]' logger.csv)"

# The log is printed while the program runs.
rm -f ./*.probity
PROBITY_LOG=stderr wine_run article_cxx.exe > out 2> log.full
plain log.full | tr -d '\r' > log
plain "$GOLDEN/article_cxx.gcc.log" > expected
cmp -s expected log || fail "PROBITY_LOG: $(diff expected log | head -n 10)"
expect "PROBITY_LOG: traces left" "" "$(find . -maxdepth 1 -name '*.probity')"

# Also printed to the debugger: Wine prints that output with a prefix and in quotes.
WINEDEBUG=+debugstr PROBITY_LOG=debugger wine_run article_cxx.exe > out 2> log.full
lines=$(grep -c 'OutputDebugStringA' log.full || true)
[ "$lines" -ge "$(wc -l < expected)" ] || fail "PROBITY_LOG=debugger: $lines lines"
expect "PROBITY_LOG=debugger: traces left" "" "$(find . -maxdepth 1 -name '*.probity')"
# In the system's code page, as debuggers expect.
WINEDEBUG=+debugstr PROBITY_LOG=debugger wine_run types_cxx.exe > out 2> log.full
grep -qF 'wides = [\"w\xe4\\n\"]' log.full || fail "PROBITY_LOG=debugger: $(grep wides log.full)"
