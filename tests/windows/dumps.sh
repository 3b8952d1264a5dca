#!/usr/bin/env bash
# Dumps of a ring: a program writes one when a function was slow, with either library, and
# probity.exe writes them while a program runs, by its name or number, and replaces an existing file
# only on request.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
exe=$WINDOWS/bin/probity.exe
for kind in static shared; do
    declare -n library=${kind^^}
    x86_64-w64-mingw32-gcc "${FLAGS[@]}" -o "$kind.exe" "$SOURCE/tests/windows/ticks.c" \
        "${library[@]}"
done

# $1 expected status, the rest: arguments. Output is in answer and errors.
tool() {
    local expected=$1
    shift
    wine_run "$exe" "$@" > answer 2> errors
    expect "probity.exe $*: status; $(head -n 3 answer errors)" "$expected" "$status"
}

# Checks that the dump $1 is complete and has calls
dump() {
    "$PROBITY" check "$1" > checked || fail "$1: $(cat checked)"
    calls=$("$PROBITY" report --csv "$1" | awk -F, '/^tick/ { print $8 }')
    [ "${calls:-0}" -gt 0 ] || fail "$1: no calls: $("$PROBITY" report "$1")"
}

# $1 library, the rest: arguments of the program
ring() {
    PROBITY_WHEN='function tick > 1ns' PROBITY_DUMPS=keep=first:2 PROBITY_RING=1s \
        PROBITY_DUMP="$1-%i.probity" PROBITY_OUT="$1.ring" wine "$1.exe" "${@:2}"
}

ring static > out 2>&1
dump static-1.probity
# When a program with the DLL ends, its other threads no longer exist, and it writes no dump. While
# it runs, it need not fill a chunk before the writer thread starts.
ring shared stop 10 > out 2>&1 &
until [ -e shared-1.probity ]; do
    kill -0 $! || fail "shared: no dump: $(cat out)"
    sleep 0.1
done
: > stop
wait
dump shared-1.probity
expect "temporary files" "" "$(find . -name '.*.tmp')"
rm stop

# A dump whose window ends after the process. $1 library, the rest: arguments of the program
last() {
    rm -f last-*.probity
    PROBITY_DUMPS=after=10s PROBITY_RING=20s PROBITY_DUMP=last-%i.probity PROBITY_OVERWRITE=1 \
        PROBITY_OUT=last.ring wine_run "$1.exe" snapshot "${@:2}" > out 2>&1
    expect "$*: status; $(cat out)" 0 "$status"
    expect "$*: state" closed "$("$PROBITY" info last.ring | sed -n 's/^state  *//p')"
}
for how in "static" "static stop" "shared stop"; do
    # shellcheck disable=SC2086 # two words
    last $how
    expect "$how: messages" "" "$(cat out)"
    dump last-1.probity
    expect "$how: calls" 1000 "$calls"
done
# With the DLL, the exit has ended the writer thread: a message reports that, and the trace has the
# records.
last shared
grep -qE "^probity: dump 'last-%i.probity' was not written: .*probity_stop" out ||
    fail "shared: messages: $(cat out)"
expect "shared: lines" 1 "$(wc -l < out)"
expect "shared: dumps" "" "$(find . -name 'last-*' -o -name '.*.tmp')"
dump last.ring
expect "shared: calls" 1000 "$calls"

PROBITY_RING=1s PROBITY_OUT=live.probity begin wine static.exe stop
await_running $!
# The spool is found by its name, which the program assigns after it has begun the trace.
for _ in {1..20}; do
    tool 0 ps --json
    pid=$(jq -r '.processes[0].pid' < answer)
    [ "$pid" = null ] || break
done
tool 0 snapshot live.probity
tool 0 snapshot "$pid"
tool 0 snapshot -o one.probity --reason test "$pid"
cp one.probity first.probity
tool 1 snapshot -o one.probity "$pid"
grep -q "^probity snapshot: 'one.probity' already exists" errors || fail "$(cat errors)"
cmp -s first.probity one.probity || fail "a dump was overwritten"
tool 0 snapshot -f -o one.probity "$pid"
cmp -s first.probity one.probity && fail "a dump was not replaced"
: > stop
wait
for name in live-1 live-2 one first; do
    dump $name.probity
done
expect "temporary files" "" "$(find . -name '.*.tmp')"
