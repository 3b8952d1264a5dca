#!/usr/bin/env bash
# A library with probes is loaded and unloaded while threads run that started before or after that.
# Its probes record in all of them, even while it is loaded and unloaded, and names remain valid
# after its memory is reused. A library that contains the recording code is never unloaded.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
TESTS=$SOURCE/tests/windows
ROUNDS_OF=30
CALLS=100
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -Wno-cast-function-type -o loader.exe "$TESTS/loader.c"
for kind in static shared; do
    declare -n library=${kind^^}
    x86_64-w64-mingw32-g++ -std=gnu++17 "${FLAGS[@]}" -DUNICODE -D_UNICODE -shared -o "$kind.dll" \
        "$TESTS/loaded.cc" -static-libgcc -static-libstdc++ "${library[@]}"
    rm -f trace.probity
    PROBITY_OUT=trace.probity wine_run loader.exe "$kind.dll" $ROUNDS_OF $CALLS > out 2>&1
    expect "$kind: status; $(head -n 3 out)" 0 "$status"
    state=loaded loads=1
    [ $kind = static ] || { state=unloaded loads=$ROUNDS_OF; }
    expect "$kind: at the end" $state "$(tr -d '\r' < out)"
    "$PROBITY" check trace.probity > checked || fail "$kind: $(cat checked)"
    "$PROBITY" info trace.probity | grep -q '^complete  *yes: closed' || fail "$kind: not closed"
    "$PROBITY" report --csv trace.probity | awk -F, 'NR > 1 { print $1, $8 }' > calls
    for row in "work $((3 * ROUNDS_OF))" "inner $((3 * ROUNDS_OF * CALLS))"; do
        grep -qxF "$row" calls || fail "$kind: no '$row' in: $(cat calls)"
    done
    "$PROBITY" list --csv trace.probity > listed
    python3 - $loads $kind << 'END' || fail "$kind: $(cat listed)"
import csv, sys
loads, kind = int(sys.argv[1]), sys.argv[2]
hits = {row["name"]: int(row["hits"]) for row in csv.DictReader(open("listed"))}
sys.exit(not (hits["attach"] == loads and (kind == "static" or hits["detach"] == loads)))
END
    expect "$kind: text" $((3 * ROUNDS_OF * CALLS)) \
        "$("$PROBITY" log trace.probity | grep -cF 'text = "wide é"')"
done
