#!/usr/bin/env bash
# Programs without a writer thread (PROBITY_WRITER=external): probity.exe drains them, alone or
# under `record`. Every hit that was counted is in the trace, whichever of the two is terminated.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
exe=$WINDOWS/bin/probity.exe
TESTS=$SOURCE/tests/windows
compile_programs ticks kill_target

# $1 expected status, the rest: arguments. Its output is in `answer`.
tool() {
    local expected=$1
    shift
    wine_run "$exe" "$@" > answer 2>&1
    expect "probity.exe $*: status; $(head -n 3 answer)" "$expected" "$status"
}

# Checks that the trace $1 is closed, and that no other files are left next to it
closed() {
    expect "$1: state; $("$PROBITY" check "$1" 2>&1)" closed \
        "$("$PROBITY" info "$1" | sed -n 's/^state  *//p')"
    expect "spools after $1" "" "$(ls "$SPOOLS")"
}

# Waits until the trace has more bytes. $1 trace, $2 bytes
grown() {
    until [ "$(stat -c %s "$1" 2> /dev/null || echo 0)" -gt "$2" ]; do
        kill -0 "$drainer" || fail "the drainer has ended: $(cat drained)"
        sleep 0.05
    done
}

# Under `record`, however the program ends.
tool 0 record --writer external -o ticks.probity ticks
closed ticks.probity
expect "calls" 1000 "$("$PROBITY" report --csv ticks.probity | awk -F, '/^tick/ { print $8 }')"
for end in exit:0 ExitProcess:0 TerminateProcess:1; do
    rm -f trace.probity counts
    tool "${end#*:}" record --writer external -o trace.probity kill_target counts "${end%:*}"
    closed trace.probity
    hits=$(python3 "$TESTS/verify.py" "$PROBITY" trace.probity counts)
    echo "${end%:*}: $hits hits"
done

# The first drainer is killed, the second one takes over, and then the program is terminated. The
# program waits for chunks; after two seconds without a drainer, it drops records and counts them.
rm -f trace.probity counts
PROBITY_WRITER=external PROBITY_MODE=block PROBITY_OUT=trace.probity begin \
    wine kill_target.exe counts
await_running $!
pid=$(wine "$exe" ps --json 2> answer | jq -r '.processes[0].pid')
wine "$exe" drain "$pid" > drained 2>&1 < /dev/null &
drainer=$!
grown trace.probity 100000
tool 1 drain trace.probity
grep -q 'another process drains it' answer || fail "two drainers: $(cat answer)"
kill -9 "$drainer"
wait "$drainer" || true
size=$(stat -c %s trace.probity)
wine "$exe" drain . > drained 2>&1 < /dev/null &
drainer=$!
grown trace.probity $((size + 100000))
wine taskkill /f /pid "$pid" > out 2>&1
wait "$drainer" || fail "drain: status $?: $(cat drained)"
closed trace.probity
"$PROBITY" info --json trace.probity | python3 -c '
import json, struct, sys
counts = json.load(sys.stdin)[0]["counts"]
found = counts["hits"] + sum(counts[name] for name in counts if name.startswith("dropped"))
made = sum(struct.unpack("64Q", open("counts", "rb").read(512))[::8])
print("a killed drainer and a terminated program:", found, "hits,", made, "counted")
sys.exit(not made <= found <= made + 8)' || fail "hits are missing, or too many"

# A program that writes its trace itself, and invalid names.
PROBITY_OUT=own.probity begin wine kill_target.exe counts
await_running $!
tool 1 drain own.probity
grep -q "^probity drain: 'own.probity' needs no drainer: its program writes it" answer ||
    fail "$(cat answer)"
wine taskkill /f /im kill_target.exe > out 2>&1
wait
tool 1 drain missing.probity
tool 2 drain
