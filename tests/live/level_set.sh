#!/usr/bin/env bash
# Settings that change while a program records: conditions, windows and limits are added or changed;
# each change is in the trace with its time; a request with an impossible change is rejected as a
# whole.
# variants: clang asan tsan
. "$(dirname "$0")/../common.bash"
stalls=$PROGRAMS/stalls

# $1... a program
start() {
    fresh
    PROBITY_OUT=trace.probity PROBITY_DUMPS=before=1ms,at-most=1000/1s "$@" > out 2> errors &
    running=$!
    wait_until "$running" test -e trace.probity
    wait_until "$running" "$PROBITY" level trace.probity > said 2>&1
}

end() {
    signal_job KILL "$running" || fail "$1: ended early: $(cat out errors)"
    wait "$running" 2> /dev/null || true
    "$PROBITY" recover trace.probity > said 2>&1 || fail "$1: $(cat said)"
    "$PROBITY" check trace.probity > said 2>&1 || fail "$1: $(cat said)"
}

# $1... settings
set_to() {
    local words=()
    for setting in "$@"; do words+=(--set "$setting"); done
    "$PROBITY" level "${words[@]}" trace.probity > said 2>&1 || fail "$*: $(cat said)"
    grep -q 'levels 5, 5' said || fail "$*: $(cat said)"
}

# $1 expected message, the rest: settings
is_refused() {
    local message=$1 status=0 words=()
    shift
    for setting in "$@"; do words+=(--set "$setting"); done
    "$PROBITY" level "${words[@]}" trace.probity > said 2>&1 || status=$?
    expect "$*: status" 1 "$status"
    grep -qF -- "$message" said || fail "$*: $(cat said)"
}

# $1 expected message of the tool, $2 a setting: a usage error, without a request to the program
is_invalid() {
    local status=0
    "$PROBITY" level --set "$2" trace.probity > said 2>&1 || status=$?
    expect "$2: status" 2 "$status"
    grep -qF -- "$1" said || fail "$2: $(cat said)"
}

# The program checks settings sent by other tools, too. $1 expected reply, $2 settings
is_refused_by_program() {
    python3 - "$SPOOL"/*.0 "$2" > said << 'END' || fail "$2: no reply"
import mmap, os, struct, sys, time
with open(sys.argv[1], "r+b") as file:
    spool = mmap.mmap(file.fileno(), 8192)
asked = struct.unpack_from("<I", spool, 584)[0] + 1
text = os.fsencode(sys.argv[2])
spool[2056:2056 + len(text) + 1] = text + b"\0"
struct.pack_into("<I", spool, 584, asked)
end = time.monotonic() + 60
while struct.unpack_from("<I", spool, 588)[0] != asked and time.monotonic() < end:
    time.sleep(0.01)
print(struct.unpack_from("<i", spool, 2048)[0], spool[2056:4096].split(b"\0")[0].decode())
END
    grep -q '^-[0-9]* ' said && grep -qF -- "$1" said || fail "$2: $(cat said)"
}

dumps() {
    find . -name 'trace-*.probity' | wc -l
}

has_dumps() {
    [ "$(dumps)" -ge "$1" ]
}

counted() {
    "$PROBITY" report --json trace.probity 2> errors |
        jq '[.functions[] | select(.name == "step")][0].calls_counted'
}

is_counted() {
    [ "$(counted)" -gt 0 ]
}

# Setting a budget, or changing the initial one, demotes the function that costs most. In ring mode,
# records count when they are discarded.
for budget in none 100 ring; do
    words=()
    case $budget in
    100) words=(PROBITY_BUDGET=100) ;;
    ring) words=(PROBITY_MODE=ring PROBITY_SPOOL_RECORDS=65536) ;;
    esac
    start env "${words[@]}" "$stalls" 1 1000000 none
    expect "budget $budget: only counted" 0 "$(counted)"
    set_to budget=0.01%
    wait_until "$running" is_counted
    end "budget $budget"
    "$PROBITY" log trace.probity > log 2> errors || fail "log: $(cat errors)"
    grep -q 'settings budget=0.01%' log || fail "log: $(grep settings log)"
done
start env PROBITY_BUDGET=100 "$stalls" 1 1000000 none
is_invalid "invalid budget '0' (a percentage above 0" budget=0
is_invalid "invalid budget '101%'" budget=101%
is_refused_by_program "budget: expected a percentage" budget=101%
end "budget"
start env PROBITY_PROFILE=1 "$stalls" 1 1000000 none
is_refused "budget: in profile mode, all calls are counted" budget=3
end "profile"

# A condition is added for a function that was declared long ago; then its limit is changed.
start env PROBITY_RING=10s,16M "$stalls" 1 1000000 none
expect "no condition: dumps" 0 "$(dumps)"
set_to 'when=rate step > 10/100ms' before=2ms
wait_until "$running" has_dumps 1
set_to 'when=rate step > 100000000/100ms' ring=20s
is_refused "mode: a ring is for a whole recording" before=1s mode=block
is_refused "functions: they are patched" 'functions=*'
is_refused "args: they are described" 'args=*'
is_invalid "invalid ring '64M' (a window of 1ms to 24 hours; its size is fixed" ring=64M
is_refused_by_program "ring: expected a time" ring=64M
is_refused "only function, request" 'when=function other > p99'
is_refused "only function, request" 'when=wait other > 3ms'
is_invalid "invalid when 'function', column 9: expected" 'when=function'
is_invalid "column 15: expected the end" 'when=gap step > 10s; gap step > 20s'
is_refused_by_program "when: invalid condition" 'when=function'
is_invalid "invalid at-most '3', column 2: expected a number of dumps" at-most=3
is_invalid "invalid before '-1', column 1: expected a time" before=-1
is_invalid "invalid off '' (a pattern of 1 to 255 bytes)" off=
is_invalid "invalid setting 'color' (after, at-most, before, budget," color=red
is_invalid "give levels after the process" parameters=1
is_refused_by_program "color=red: invalid" color=red
end "rate"
"$PROBITY" log trace.probity > log 2> errors || fail "log: $(cat errors)"
expect "changes in the trace" 2 "$(grep -c 'set by probity level, settings' log)"
grep -q 'settings when=rate step > 10/100ms' log || fail "log: $(grep settings log)"
for dump in trace-*.probity; do
    "$PROBITY" check "$dump" > said 2>&1 || fail "$dump: $(cat said)"
    "$PROBITY" info "$dump" | grep -q '^because *rate step > 10/100ms: ' ||
        fail "$dump: $("$PROBITY" info "$dump" | grep '^because')"
done

# The limit of a condition that threads compare, in both directions.
start env PROBITY_WHEN='function handle_request > 100s' "$stalls" 1 1000000 sleep 30
expect "function: dumps" 0 "$(dumps)"
set_to 'when=function handle_request > 20ms'
wait_until "$running" has_dumps 2
set_to 'when=function handle_request > 100s'
end "function"
"$PROBITY" info trace-1.probity |
    grep -q '^because *function handle_request > 20ms: handle_request took' ||
    fail "function: $("$PROBITY" info trace-1.probity | grep '^because')"

# Such a condition is added for a function that was called before: its next calls are compared in
# all threads.
start env PROBITY_RING=10s,16M "$stalls" 1 1000000 sleep 30
set_to 'when=function step > 100s'
expect "function added: dumps" 0 "$(dumps)"
set_to 'when=function handle_request > 20ms'
wait_until "$running" has_dumps 2
end "function added"
"$PROBITY" info trace-1.probity |
    grep -q '^because *function handle_request > 20ms: handle_request took' ||
    fail "function added: $("$PROBITY" info trace-1.probity | grep '^because')"

# A request rejected for lack of memory has no effect at all, and succeeds later. The trace contains
# long settings in full, and a rejection gives its reason.
start env PROBITY_RING=10s,16M "$stalls" 1 1000000 none
if ! unfollowed "no memory" "it ends the program"; then
    prlimit --as=1: --pid "$running"
    is_refused "when: out of memory" 'when=rate step > 100000000/100ms' 'when=request > 10s' \
        before=3s
    prlimit --as=unlimited: --pid "$running"
    set_to 'when=request > 10s'
fi
mapfile -t settings < <(printf 'when=rate "%0220d" > 9/9s\n' {1..8})
set_to "${settings[@]}"
is_refused 'only function, request' "when=wait $(printf '%0250d' 1) > 3ms"
status=0
too_long=$(printf 'when=rate "%02030d" > 9/9s' 1)
"$PROBITY" level --set "$too_long" trace.probity 2> errors || status=$?
expect "too long: status" 2 "$status"
end "long"
"$PROBITY" log trace.probity > log 2> errors || fail "log: $(cat errors)"
grep -qF "${settings[7]}" log || fail "long settings are cut: $(grep 'settings when=rate' log)"

# A program without a window replies, too, in every mode.
for mode in block ring; do
    start env PROBITY_MODE=$mode "$stalls" 1 1000000 none
    is_refused "ring: it requires a recording with PROBITY_RING" ring=1s
    end "$mode"
done
status=0
"$PROBITY" level --set ring trace.probity 2> errors || status=$?
expect "no value: status" 2 "$status"
finish
