#!/usr/bin/env bash
# A child that is forked after settings were changed begins with those in force: mode, budget,
# conditions, and the limits of dumps.
# variants: clang asan
. "$(dirname "$0")/../common.bash"
shopt -s extglob
# Running children disturb the leak checker.
export ASAN_OPTIONS=detect_leaks=0

# $1... environment
start() {
    fresh
    mkfifo in
    env PROBITY_OUT=trace.probity "$@" "$PROGRAMS/on_command" < in > out 2> errors &
    running=$!
    exec {gate}> in
    wait_until "$running" grep -qs . trace.probity errors || true
    expect "start: stderr" "" "$(cat errors)"
}

# $1... settings
set_to() {
    local words=()
    for setting in "$@"; do words+=(--set "$setting"); done
    "$PROBITY" level "${words[@]}" trace.probity > said 2>&1 || fail "$*: $(cat said)"
}

# Returns when the child has ended; its trace is then child.probity, and its first dump
# child-1.probity. Older children are forgotten.
fork_child() {
    local lines
    lines=$(($(wc -l < out) + 1))
    rm -f child*.probity
    echo "fork 1" >&"$gate"
    wait_until "$running" has_lines out "$lines" || fail "fork: $(cat errors)"
    for file in trace.[0-9]*.probity; do
        mv "$file" "child${file##trace.+([0-9])}"
    done
}

end() {
    exec {gate}>&-
    wait "$running" || fail "status $?: $(cat errors)"
    expect "stderr" "" "$(cat errors)"
    no_leftovers "at the end"
}

# $1 trace, $2 what of it
fact() {
    "$PROBITY" info --json "$1" | jq -r ".[0]$2"
}

start
fork_child
expect "unchanged: mode" block "$(fact child.probity .mode)"
expect "unchanged: budget" null "$(fact child.probity .budget.percent)"
set_to mode=drop budget=7%
fork_child
expect "changed: mode" drop "$(fact child.probity .mode)"
expect "changed: budget" 7 "$(fact child.probity .budget.percent)"
set_to mode=block
fork_child
expect "changed again: mode" block "$(fact child.probity .mode)"
expect "changed again: budget" 7 "$(fact child.probity .budget.percent)"
end

start PROBITY_RING=10s,4M PROBITY_WHEN='function busy > 5min;gap tick > 1min'
fork_child
[ ! -e child-1.probity ] || fail "a dump without a condition"
set_to 'when=function slow > 10ms' 'when=value "a;b" > 3' before=300ms
fork_child
expect "added: conditions" 'function slow > 10ms' \
    "$(fact child-1.probity '.dump.reasons[].condition')"
# 300 ms before the call: no earlier than the child's beginning.
[ "$(fact child-1.probity '.dump | .reasons[0].start_ticks - .wanted_ticks > 0')" = true ] ||
    fail "before: $(fact child-1.probity .dump)"
set_to 'when=function slow > 1min'
fork_child
[ ! -e child-1.probity ] || fail "a dump though the limit was raised"
# A child of a child, too, and a limit that was changed twice.
set_to 'when=function slow > 20ms' at-most=5/1s
fork_child
expect "changed: limit" 'function slow > 20ms' \
    "$(fact child-1.probity '.dump.reasons[].condition')"
end
finish
