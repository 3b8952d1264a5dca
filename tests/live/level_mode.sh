#!/usr/bin/env bash
# The mode changes while a program records: between block and drop, without a record lost or stored
# twice; each change is in the trace with its time, and shown by ps and info. A change takes effect
# even while a debugger holds a thread; if that thread must reply, it is named.
# variants: clang asan tsan
. "$(dirname "$0")/../common.bash"

# $1... environment
start() {
    fresh
    mkfifo in
    env PROBITY_OUT=trace.probity PROBITY_SPOOL_RECORDS=65536 "$@" "$PROGRAMS/on_command" \
        < in > out 2> errors &
    running=$!
    exec {gate}> in
    wait_until "$running" test -e trace.probity
}

# $1 a command, $2 how often
ask() {
    lines=$(($(wc -l < out) + 1))
    echo "$1 $2" >&"$gate"
}

do_it() {
    ask "$@"
    wait_until "$running" has_lines out "$lines" || fail "$1 $2: ended early: $(cat errors)"
}

end() {
    exec {gate}>&-
    wait "$running" || fail "$1: status $?: $(cat errors)"
    "$PROBITY" check trace.probity > said 2>&1 || fail "$1: $(cat said)"
}

# $1... settings
set_to() {
    local words=()
    for setting in "$@"; do words+=(--set "$setting"); done
    "$PROBITY" level "${words[@]}" trace.probity > said 2>&1 || fail "$*: $(cat said)"
}

# $1 expected status, $2 expected message, $3 a setting
is_refused() {
    local status=0
    "$PROBITY" level --set "$3" trace.probity > said 2>&1 || status=$?
    expect "$3: status" "$1" "$status"
    grep -qF -- "$2" said || fail "$3: $(cat said)"
}

hits() {
    "$PROBITY" info --json trace.probity | jq '.[0].counts.hits'
}

dropped() {
    "$PROBITY" ps --json | jq '.processes[0].dropped'
}

mode_of_ps() {
    "$PROBITY" ps --json | jq -r '.processes[0].mode'
}

# $1 a name
thread_of() {
    grep -lx "$1" "/proc/$running"/task/*/comm | cut -d/ -f5
}

# Holds a thread. $1 its name. Returns 1 if that is not permitted here.
hold() {
    local status=0
    rm -f hold.in held
    mkfifo hold.in
    "$PROGRAMS/hold_thread" "$(thread_of "$1")" < hold.in > held &
    holder=$!
    exec {held}> hold.in
    wait_until "$holder" test -s held && return 0
    exec {held}>&-
    wait "$holder" || status=$?
    expect "hold $1" 3 "$status"
    return 1
}

release() {
    exec {held}>&-
    wait "$holder" || fail "release: status $?"
}

has_written() {
    [ "$(stat -c %s trace.probity)" -gt 4096 ]
}

is_full() {
    [ "$("$PROBITY" ps --json | jq '.processes[0] | .chunks_used == .chunks')" = true ]
}

# All records are kept in each mode as long as there is room.
start
do_it hit 1000
expect "ps, at first" block "$(mode_of_ps)"
set_to mode=drop
expect "ps, drop" drop "$(mode_of_ps)"
do_it hit 5000
set_to mode=block
do_it hit 4000
is_refused 2 "invalid mode 'color' (block or drop)" mode=color
is_refused 1 "mode: a ring is for a whole recording; detach, then attach" mode=ring
is_refused 2 "use --off '*' to only count calls, or" mode=profile
end "no loss"
expect "no loss: hits" 10000 "$(hits)"
"$PROBITY" info trace.probity > info
grep -q '^mode  *block; changed 2 times, block from [0-9.]* s on$' info ||
    fail "info: $(grep mode info)"
expect "info --json" '["block",2,"block",true]' \
    "$("$PROBITY" info --json trace.probity |
        jq -c '.[0] | [.mode, .mode_changes.count, .mode_changes.mode,
                       .mode_changes.since_ns > 0]')"
"$PROBITY" log --probes trace.probity > log 2> errors || fail "log: $(cat errors)"
for mode in drop block; do
    expect "log: $mode" 1 "$(grep -c "set by probity level, settings mode=$mode" log)"
done

# Records of a ring are discarded, so ring mode neither begins nor ends within a recording.
start PROBITY_RING=10s
is_refused 1 "mode: a ring is for a whole recording; detach, then attach" mode=drop
set_to mode=ring
# A condition on functions does not apply to sites of that name, nor to the function declared next.
do_it name 1
do_it work 1
set_to 'when=function tick > 1us'
do_it work 1000
end "ring"
expect "a condition on a function that is a site: dumps" "" "$(find . -name 'trace-*')"
start PROBITY_PROFILE=1
is_refused 1 "mode: calls are counted; detach, then attach again" mode=drop
end "profile"

# A program that waits for a writer held by a debugger continues once it drops, and not before. That
# writer makes the change, so it takes effect when the writer is released.
start
if hold probity-writer; then
    ask hit 200000
    wait_until "$running" is_full
    expect "block, writer held: dropped" 0 "$(dropped)"
    is_refused 1 "$running did not reply within 5 s: it is stopped or delayed and will reply when \
it resumes; it waits for thread $(thread_of probity-writer) (probity-writer), which process \
$holder (hold_thread) has stopped" mode=drop
    is_refused 1 "has not answered an earlier request yet: nothing was changed; it waits for \
thread" mode=block
    release
    wait_until "$running" has_lines out "$lines"
    wait_until "$running" test "$(mode_of_ps)" = drop
    hold probity-writer || fail "the writer cannot be held again"
    do_it hit 200000
    [ "$(dropped)" -gt 0 ] || fail "drop: nothing was dropped"
    release
    end "held writer"
    expect "held writer: all counted" true "$("$PROBITY" info --json trace.probity |
        jq '.[0].counts | .hits + .dropped_no_free_chunk + .dropped_no_memory_or_limit == 400000')"
else
    end "writer not held"
    echo "left out: held threads (ptrace is not permitted)"
fi

# A site that is first hit while a pattern switches it off, and while there is no room for a record:
# a later hit declares the site, and records that it is off.
start PROBITY_MODE=drop
set_to off=tick
if hold probity-writer; then
    do_it hit 200000
    [ "$(dropped)" -gt 0 ] || fail "off without room: nothing was dropped"
    do_it name 1
    release
    do_it hit 1000
    wait_until "$running" "$PROBITY" level trace.probity > said
    do_it name 3
    end "off without room"
    expect "off without room: hits" 0 "$("$PROBITY" list --json trace.probity |
        jq '[.sites[] | select(.name == "tick").hits] | add')"
    expect "off without room: shown as off" true "$("$PROBITY" list --json trace.probity |
        jq '[.sites[] | select(.name == "tick").are_least] | any')"
else
    end "writer not held, drop"
fi

# Changes take effect in a held thread, wherever it is held: of the calls that it makes after its
# release, at most the one in progress is recorded.
start
do_it work 10
ask work 20000
if hold worker; then
    set_to off=busy
    before=$("$PROBITY" info --json trace.probity | jq '.[0].counts.scopes')
    release
    wait_until "$running" has_lines out "$lines"
    end "held worker"
    after=$("$PROBITY" info --json trace.probity | jq '.[0].counts.scopes')
    [ "$((after - before))" -le 1 ] || fail "held worker: $((after - before)) calls were recorded"
    expect "held worker: all calls counted" 20010 "$("$PROBITY" report --json trace.probity |
        jq '[.functions[] | select(.name == "busy")][0] | .calls')"
else
    end "held worker"
fi
finish
