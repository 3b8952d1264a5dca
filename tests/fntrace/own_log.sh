#!/usr/bin/env bash
# The log that a program prints while it runs (PROBITY_LOG): the same lines as the tool's, whole, in
# order, and on time; errors while printing; the levels at which scopes are recorded.
# variants: asan tsan clang
. "$(dirname "$0")/../common.bash"

count=20000
[ "${VARIANT:-gcc}" = gcc ] || count=1000

# $1: expected status, the rest: the program and its arguments
run() {
    local status=0 wanted=$1
    shift
    timeout 300 "$PROGRAMS/$program" "$@" > out 2> errors || status=$?
    expect "$program $*: status" "$wanted" "$status"
}

# $1 trace, $2 the program's own log
same_log() {
    "$PROBITY" log --color=never "$1" > by_tool || fail "$program: no log of $1"
    cmp by_tool "$2" || fail "$program: $2 is not what the tool prints of $1"
    [ -s "$2" ] || fail "$program: $2 is empty"
}

for program in $(forms_of own_log); do
    fresh
    PROBITY_OUT=$WORK/trace PROBITY_LOG=$WORK/%n.log run 0 run $count
    same_log trace "$program.log"
    expect "scopes left" "$((2 * count))" "$(grep -c 'return (' "$program.log")"
    "$PROBITY" check trace > /dev/null || fail "$program: damaged"
    no_leftovers "$program"

    # The output of an earlier run is not overwritten.
    PROBITY_OUT=$WORK/trace PROBITY_OVERWRITE=1 PROBITY_LOG=$program.log run 0 run $count
    expect "added to" "$((4 * count))" "$(grep -c 'return (' "$program.log")"

    fresh
    PROBITY_OUT=$WORK/trace PROBITY_LOG=$WORK/log run 0 slow 30
    expect "printed while it runs" seen "$(cat out)"
    same_log trace log

    # Without PROBITY_OUT, no trace is left.
    fresh
    PROBITY_LOG=stderr run 0 run 10
    expect "to stderr" 20 "$(grep -c 'return (' errors)"
    for stream in stdout -; do
        PROBITY_LOG=$stream PROBITY_SUMMARY=$stream run 0 run 10
        expect "to $stream" 20 "$(grep -c 'return (' out)"
        expect "summary to $stream" 1 "$(grep -c '^trace: .*complete' out)"
        expect "to $stream: stderr" "" "$(cat errors)"
    done
    expect "files" "errors out" \
        "$(find . -type f -printf '%f\n' | sort | tr '\n' ' ' | sed 's/ $//')"
    no_leftovers "$program without a trace"

    fresh
    run 0 start 10
    same_log trace "$program-%.log"

    # At fork, AddressSanitizer does not take its allocator's locks, unlike libc: a child that
    # allocates hangs if the writer thread was allocating.
    if [ "${VARIANT:-gcc}" = asan ]; then
        echo "$program: not forked: AddressSanitizer's allocator may hang in the child"
    elif ! unfollowed "$program fork" "a child that starts a thread may hang"; then
        fresh
        PROBITY_OUT=$WORK/trace PROBITY_LOG=$WORK/log run 0 fork
        expect "logs of parent and child" 2 "$(find . -name 'log*' | wc -l)"
        same_log "$(find . -name 'trace.*')" "$(find . -name 'log.*')"
        same_log trace log
    fi

    # A scope of level L under level F is recorded if L is at most F: 1 + 2 + ... + 6.
    fresh
    PROBITY_OUT=$WORK/trace PROBITY_LOG=$WORK/log run 0 levels 5
    expect "scopes under all levels" $((21 * 5)) "$(grep -c 'leave;' log)"
    fresh
    PROBITY_OUT=$WORK/trace PROBITY_LEVEL=2 run 0 run 10
    expect "PROBITY_LEVEL=2" "22 0" "$("$PROBITY" log trace | awk '/leave;|return/ { left++ }
        /innermost/ { inner++ } END { print left, inner + 0 }')"
done

program=own_log
# The reader of the pipe has exited, the disk is full, the path does not exist: one line, and a
# complete trace.
for log in nowhere/log /dev/full fifo; do
    fresh
    mkfifo fifo
    PROBITY_OUT=$WORK/trace PROBITY_LOG=$log run 0 run 100
    grep -qF "probity: log '$log': " errors || fail "$log: $(cat errors)"
    quiet "$log"
    expect "$log: scopes" 200 "$("$PROBITY" log trace | grep -c 'return (')"
    no_leftovers "$log"
done
fresh
{ PROBITY_OUT=$WORK/trace PROBITY_LOG=stderr "$PROGRAMS/own_log" run $count 2>&1 > /dev/null ||
    echo "status $?" > status; } | head -n 1 > first
[ ! -e status ] || fail "the reader goes away: $(cat status)"
expect "a reader that goes away: scopes" $((2 * count)) \
    "$("$PROBITY" log trace | grep -c 'return (')"
fresh
PROBITY_LOG=nowhere/log run 0 run 100
expect "the trace is kept if its log is not printed" 1 "$(find . -name '*.probity' | wc -l)"

# While the program reads its own trace, its spool is live as usual; when the program is killed,
# nothing is lost.
fresh
PROBITY_OUT=$WORK/trace PROBITY_LOG=$WORK/log "$PROGRAMS/own_log" slow 100000 > out 2> errors &
running=$!
wait_until "$running" has_lines log 21 . || fail "while it runs: $(cat errors)"
for i in 1 2 3; do
    "$PROBITY" recover trace > recovered 2>&1 && fail "recovered while it runs"
    grep -q "still being recorded" recovered || fail "while it runs: $(cat recovered)"
    expect "levels while it logs" "$running: levels $i, 5" "$("$PROBITY" level trace "$i" 5)"
done
kill -9 $running
wait $running 2> /dev/null || true
"$PROBITY" recover trace > /dev/null || fail "after the kill"
"$PROBITY" log trace > by_tool 2> repairs
# The log ends at the last SYNC; every line but the last is whole.
head -n 20 log | cmp - <(head -n 20 by_tool) || fail "killed: the log differs"
finish
