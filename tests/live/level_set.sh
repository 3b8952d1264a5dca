#!/usr/bin/env bash
# Settings that change while a program records: conditions are added and changed, windows and limits
# too; each change is in the trace with its time; a request that contains an impossible change is
# refused as a whole.
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

# A budget that a recording began with is changed: then the function that costs most is demoted.
start env PROBITY_BUDGET=100 "$stalls" 1 1000000 none
expect "budget of 100 %: only counted" 0 "$(counted)"
is_refused "budget: expected a percentage" budget=0
is_refused "budget: expected a percentage" budget=101%
set_to budget=0.01%
wait_until "$running" is_counted
end "budget"
"$PROBITY" log trace.probity > log 2> errors || fail "log: $(cat errors)"
grep -q 'settings budget=0.01%' log || fail "log: $(grep settings log)"

# A condition is added for a function that was declared long ago; then its limit is changed.
start env PROBITY_RING=10s,16M "$stalls" 1 1000000 none
expect "no condition: dumps" 0 "$(dumps)"
set_to 'when=rate step > 10/100ms' before=2ms
wait_until "$running" has_dumps 1
set_to 'when=rate step > 100000000/100ms' ring=20s
is_refused "mode: it determines" before=1s mode=block
is_refused "budget: it needs counts" budget=3
is_refused "functions: function entries" 'functions=*'
is_refused "args: they are described" 'args=*'
is_refused "ring: expected a time" ring=64M
is_refused "only the limit" 'when=function other > 3ms'
is_refused "when: invalid condition" 'when=function'
is_refused "colour=red: invalid" colour=red
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

# A request refused because memory has run out has no effect at all, and succeeds later. The trace
# has long settings in full, and a refusal gives its reason.
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
is_refused 'only the limit' "when=function $(printf '%0250d' 1) > 3ms"
status=0
too_long=$(printf 'when=rate "%02030d" > 9/9s' 1)
"$PROBITY" level --set "$too_long" trace.probity 2> errors || status=$?
expect "too long: status" 2 "$status"
end "long"
"$PROBITY" log trace.probity > log 2> errors || fail "log: $(cat errors)"
grep -qF "${settings[7]}" log || fail "long settings are cut: $(grep 'settings when=rate' log)"

# A program without a ring answers too.
start env PROBITY_MODE=block "$stalls" 1 1000000 none
is_refused "ring: the program does not record to a ring" ring=1s
end "block"
status=0
"$PROBITY" level --set ring trace.probity 2> errors || status=$?
expect "no value: status" 2 "$status"
finish
