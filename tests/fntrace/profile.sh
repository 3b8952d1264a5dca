#!/usr/bin/env bash
# Profile mode: the report matches the program's own counts, however its scopes, threads and
# processes end; trace and spool do not grow.
# variants: asan clang tsan
. "$(dirname "$0")/../common.bash"
export PROBITY_PROFILE=1
# Running children disturb the leak checker.
export ASAN_OPTIONS=detect_leaks=0
P=$PROGRAMS/profile

# Prints lines "NAME CALLS" from the report on the given traces, for calls that have ended.
calls() {
    "$PROBITY" report --json "$@" 2> report.err |
        jq -r '.functions[] | select(.calls > .calls_open) | "\(.name) \(.calls - .calls_open)"' |
        sort
}

# $1 description; compares the file "expected" with the traces given after it
same_calls() {
    local what=$1
    shift
    calls "$@" > found
    # The threads and processes of a program are summed on one line.
    awk 'NF > 0 && $1 != "path" { calls[$1] += $2 }
         END { for (name in calls) print name, calls[name] }' expected | sort > expected.sorted
    cmp -s expected.sorted found ||
        fail "$what: expected (<) and found (>): $(diff expected.sorted found | head -n 10)"
}

# $1 program, $2 description, then its arguments
case_of() {
    local program=$1
    shift
    fresh
    PROBITY_OUT=$WORK/trace "$program" "$@" > expected || fail "$*: status $?"
    same_calls "$*" trace
    "$PROBITY" check trace > check.out 2>&1 || fail "$*: $(cat check.out)"
    no_leftovers "$*"
}

mapfile -t forms < <(forms_of "$P")
for program in "${forms[@]}"; do
    case_of "$program" threads 1
    case_of "$program" threads 8
    case_of "$program" jumps
    case_of "$program" ends
    case_of "$program" signals
    case_of "$program" deep
    PROBITY_CHUNK_RECORDS=512 case_of "$program" threads 8
    PROBITY_CPU_TIME=0 case_of "$program" threads 2
    PROBITY_CLOCK=monotonic case_of "$program" threads 2
done

# Memory is bounded by the number of concurrent threads: 1,000 in sequence need no more than 64 and
# a few.
PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=65536 PROBITY_SPOOL_BYTES_MAX=2097152 \
    case_of "$P" churn 1000
size=$(stat -c %s trace)
PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=65536 PROBITY_SPOOL_BYTES_MAX=2097152 \
    case_of "$P" churn 300
grown=$((size - $(stat -c %s trace)))
# Data kept for each thread would take at least 20 bytes; a longer run has a few more SYNC blocks.
[ "${grown#-}" -lt 7000 ] || fail "the trace grew by $grown bytes with 700 more threads"

# Compares self times with the time spun, within 1 %; sleep is off-CPU. Under the thread sanitizer a
# scope takes far longer, and counts as CPU time of the enclosing function. $1 way
cpu_most=1.01
[ "${VARIANT:-gcc}" != tsan ] || cpu_most=1.1
are_self_times_right() {
    local n='\([0-9]*\)'
    case_of "$P" "$1"
    "$PROBITY" report --json trace > report
    sed -n 's/^{"name": "\([^"]*\)".*"self_ns": '"$n"', .*"cpu_self_ns": '"$n"',.*/\1 \2 \3/p' \
        report > selves
    awk -v cpu_most=$cpu_most '
         NR == FNR { self[$1] = $2; cpu[$1] = $3; next }
         NF == 3 { off = self[$1] / $3 - 1 }
         NF == 3 && (off > 0.01 || off < -0.01) { print $0, self[$1], cpu[$1]; bad = 1 }
         NF == 3 && (off < -0.01 || cpu[$1] > cpu_most * $3) { wrong = 1 }
         END { exit wrong || cpu["sleeps"] > self["sleeps"] / 10 ? 2 : bad }' selves expected > off
}

# Retried, because a thread may be preempted between a scope and the time spun in it. On a machine
# that is never idle, wall time is at least the time spun, and CPU time at most.
self_times() {
    local status bounds=
    for _ in 1 2 3 4 5; do
        status=0
        are_self_times_right "$1" || status=$?
        if [ $status = 0 ]; then return 0; fi
        if [ $status = 1 ]; then bounds=$(tr '\n' ';' < off); fi
    done
    if [ -n "$bounds" ]; then
        echo "$1: the machine is busy: bounds only: $bounds"
        return 0
    fi
    fail "$1: self times: $(cat off selves)"
}

self_times untimed
expect "untimed calls" "$(printf '20\n10\n10\n10\n10')" "$("$PROBITY" report --json trace |
    sed -n 's/.*"calls_untimed": \([0-9]*\),.*/\1/p' | sort -rn)"
self_times times
# Totals are exact sums of self times, except for rounding to nanoseconds: a function that calls
# only itself, or others only in a pause, has a total equal to its self time.
"$PROBITY" report --json trace | jq -e '[.functions[] | {(.name): .}] | add |
    .busy.total_ns == .busy.self_ns and
    (.waits.total_ns - .waits.self_ns | . * . <= 9)' > totals ||
    fail "times: totals: $("$PROBITY" report --csv trace)"

# Children, and several recordings in one process.
fresh
PROBITY_OUT=$WORK/trace "$P" forks > expected || fail "forks: status $?"
sort -u expected > once
mv once expected
same_calls "forks" trace*
expect "forks: traces" 2 "$(find . -name 'trace*' | wc -l)"
fresh
PROBITY_OUT=$WORK/trace "$P" restarts > expected 2> errors || fail "restarts: status $?"
expect "first recording" "leaf 1
restarting 1" "$(calls trace)"
expect "second recording" "leaf 2" "$(calls trace.*)"

# The same for a live, a killed and a recovered program.
fresh
PROBITY_OUT=$WORK/trace "$P" live > expected &
program=$!
wait_until "$program" has_lines expected 1 path || fail "live: has ended early"
same_calls "live" trace
"$PROBITY" info trace > info.out
{ kill -9 $program && wait $program; } 2> wait.err || true
same_calls "killed" trace
"$PROBITY" recover trace > recover.out 2>&1 || fail "recover: $(cat recover.out)"
same_calls "recovered" trace
"$PROBITY" check trace > check.out 2>&1 || fail "recovered: $(cat check.out)"
no_leftovers "recovered"

seed=${SEED:-$RANDOM}
for program in "${forms[@]}"; do
    fresh
    "$PROGRAMS/profile_kill" "$PROBITY" "$program" "${ROUNDS:-60}" "$seed" ||
        fail "killed at random, seed $seed"
done
finish
