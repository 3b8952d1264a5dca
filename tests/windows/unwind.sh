#!/usr/bin/env bash
# Functions that end without returning: C++ exceptions, longjmp(), structured exceptions with a
# vectored handler and with __try, all of which unwind with the system's tables. Every call has an
# end, the records of callers continue correctly, and every hit is recorded.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
TESTS=$SOURCE/tests/windows
ROUNDS_OF=500

# $1 trace, then rows "FUNCTION CALLS REPAIRED" or "PROBE HITS" that must be in it
verify() {
    local trace=$1 row
    shift
    "$PROBITY" check "$trace" > checked || fail "$trace: $(cat checked)"
    {
        "$PROBITY" report --csv "$trace" | awk -F, 'NR > 1 { print $1, $8, $10 }'
    } > found
    for row; do
        grep -qxF "$row" found || fail "$trace: no '$row' in: $(cat found)"
    done
    "$PROBITY" info "$trace" | grep -q '^complete  *yes: closed' || fail "$trace: not closed"
}

for kind in static shared; do
    declare -n library=${kind^^}
    x86_64-w64-mingw32-g++ -std=gnu++17 "${FLAGS[@]}" -o "$kind.exe" "$TESTS/unwind.cc" \
        -static-libgcc -static-libstdc++ "${library[@]}"
    rm -f unwind.probity
    PROBITY_OUT=unwind.probity wine_run "$kind.exe" $((ROUNDS_OF / 2)) > out 2>&1
    expect "$kind: status; $(head -n 3 out)" 0 "$status"
    expect "$kind: faults handled" "$ROUNDS_OF" "$(tr -d '\r' < out)"
    verify unwind.probity "innermost $((4 * ROUNDS_OF)) $ROUNDS_OF" \
        "outer $((4 * ROUNDS_OF)) $ROUNDS_OF" "caught $ROUNDS_OF 0" "jumped $ROUNDS_OF 0" \
        "faulting $ROUNDS_OF 0" "in_handler $ROUNDS_OF 0"
    for how in '(left by an exception)' '(unwound)'; do
        expect "$kind: calls $how" $((3 * ROUNDS_OF)) \
            "$("$PROBITY" log unwind.probity 2> log.errors | grep -cF "leave; $how")"
    done
    "$PROBITY" list --csv unwind.probity > listed
    for probe in 2 3 4 5; do
        expect "$kind: hits of probe $probe" "$ROUNDS_OF" \
            "$(python3 -c 'import csv, sys
print(sum(int(r["hits"]) for r in csv.DictReader(open("listed")) if r["number"] == sys.argv[1]))' \
                "$probe")"
    done
done

command -v clang > /dev/null || { echo "__try: skipped: no clang"; exit 0; }
clang --target=x86_64-w64-mingw32 -fms-extensions "${FLAGS[@]}" -c -o seh.o "$TESTS/seh.c"
x86_64-w64-mingw32-gcc -o seh.exe seh.o "${STATIC[@]}"
PROBITY_OUT=seh.probity wine_run seh.exe "$ROUNDS_OF" > out 2>&1
expect "seh: status; $(head -n 3 out)" 0 "$status"
verify seh.probity "deepest $ROUNDS_OF $ROUNDS_OF" "deeper $ROUNDS_OF $ROUNDS_OF" \
    "guarded $ROUNDS_OF 0" "filter $ROUNDS_OF 0"
