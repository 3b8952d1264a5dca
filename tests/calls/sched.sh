#!/usr/bin/env bash
# `probity record --sched`: the times that threads ran, waited for a CPU and were blocked agree with
# /proc; they survive the program's SIGKILL; records that the kernel drops are counted; the program,
# its status and its trace are unchanged.
# variants: gcc clang asan
. "$(dirname "$0")/../common.bash"

# Some machines do not permit it; then only that is tested.
"$PROBITY" record --sched -o probe -- "$BUILD/examples/hello" 2> errors
if grep -q 'thread states are not recorded' errors; then
    echo "left out: $(cat errors)"
    [ ! -e probe.sched ] || fail "a file of states, although none were recorded"
    finish
    exit
fi

# Wakeups require a tracefs, which the tool does not mount. Prints how to run a command with one.
with_tracefs=()
if [ -r /sys/kernel/tracing/events/sched/sched_waking/id ]; then
    with_tracefs=(env)
elif [ "$(id -u)" = 0 ] &&
    unshare -m sh -c 'mount -t tracefs none /sys/kernel/tracing' 2> /dev/null; then
    with_tracefs=(unshare -m sh -c 'mount -t tracefs none /sys/kernel/tracing && exec "$@"' sh)
fi

# Compares the output of `threads` with what the program printed. Time stolen from this machine, and
# interrupts, count as running here but not in /proc. $1 description, $2 trace
compare_states() {
    "$PROBITY" threads --json "$2" > threads.json 2> errors || fail "$1: $(cat errors)"
    python3 - "$1" threads.json printed "$taken_before" "$(taken)" << 'EOF' || fail "$1"
import json, sys
what, name, printed, before, after = sys.argv[1:]
answer = json.load(open(name))
exact = answer["traces"][0]["states"]["wakings"]
taken = (int(after) - int(before)) * 10_000_000
threads = {t["tid"]: t for p in answer["processes"] for t in p["threads"]}
rows = [list(map(int, line.split())) for line in open(printed)]
faults = []
for tid, life, ran, waited, slack in rows:
    t = threads[tid]
    parts = t["running_ns"], t["waiting_ns"], t["blocked_ns"], t["unknown_ns"]
    if abs(sum(parts) - t["lifetime_ns"]) > 4:
        faults.append(f"{tid}: {parts} do not sum to {t['lifetime_ns']}")
    if parts[3] != 0:
        faults.append(f"{tid}: {parts[3]} ns unknown")
    room = life * 0.02 + slack
    if not ran - room <= parts[0] <= ran + room + taken:
        faults.append(f"{tid}: running {parts[0]}, by /proc {ran}, +- {room}, taken {taken}")
    if parts[1] > waited + room + taken or (exact and parts[1] < waited - room):
        faults.append(f"{tid}: waiting {parts[1]}, by /proc {waited}, +- {room}")
for fault in faults:
    print(f"FAILED: {what}: {fault}", file=sys.stderr)
sys.exit(bool(faults))
EOF
}

# Prints the time taken from all CPUs, in hundredths of a second: interrupts, and other machines on
# the host.
taken() {
    awk '/^cpu /{ print $7 + $8 + $9 }' /proc/stat
}

for how in plain exact; do
    [ "$how" = plain ] || [ ${#with_tracefs[@]} -gt 0 ] || continue
    run=()
    [ "$how" = plain ] || run=("${with_tracefs[@]}")
    taken_before=$(taken)
    "${run[@]}" "$PROBITY" record --sched -o "$how" -- "$PROGRAMS/thread_states" 4 150 \
        > printed 2> errors || fail "$how: status $?"
    if [ "$how" = exact ]; then
        expect "exact: errors" '' "$(cat errors)"
        "$PROBITY" threads exact > out
        grep -q '^states: from the scheduler, +-[0-9]* ns; waiting: for a CPU$' out ||
            fail "exact: $(grep ^states out)"
    fi
    [ ! -s printed ] || compare_states "$how" "$how"
    "$PROBITY" check "$how" > /dev/null || fail "$how: the trace is damaged"
    no_leftovers "$how"
done
if ! grep -q 'kernel dropped' errors; then
    [ -s printed ] || fail "the program printed nothing"
fi

# Killed: everything up to the end is recorded.
status=0
taken_before=$(taken)
"$PROBITY" record --sched -o killed -- "$PROGRAMS/thread_states" 2 20 kill > printed 2> errors ||
    status=$?
expect "killed: status" 137 "$status"
[ -e killed.sched ] || fail "killed: no states"
compare_states "killed" killed

# The file contains only states, and only commands that show states read it.
"$PROBITY" csv killed > with.csv
"$PROBITY" report killed > with.report
mv killed.sched away
"$PROBITY" csv killed > without.csv
"$PROBITY" report killed > without.report
cmp -s with.csv without.csv || fail "the CSV depends on TRACE.sched"
cmp -s with.report without.report || fail "the report depends on TRACE.sched"
"$PROBITY" threads --csv killed > without.threads
grep -q running_ns without.threads && fail "states without a file"

# Damaged, truncated, of another recording, or a link to a device: as if the file did not exist.
ignored() {
    "$PROBITY" threads --csv killed > ignored.threads 2> errors || fail "$1: status $?"
    cmp -s ignored.threads without.threads || fail "$1: not ignored"
}
for at in 3 12 20 60 90 -1; do
    python3 - away killed.sched "$at" << 'EOF'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[int(sys.argv[3])] ^= 0x10
open(sys.argv[2], "wb").write(data)
EOF
    ignored "byte $at changed"
done
head -c -1 away > killed.sched
ignored "cut"
cp probe.sched killed.sched
ignored "another recording's"
rm killed.sched
ln -s /dev/zero killed.sched
ignored "a device"
rm killed.sched
mkfifo killed.sched
ignored "a pipe"
rm killed.sched
mv away killed.sched

# A window gives the same result with and without an index.
"$PROBITY" threads --csv --since 30% --until 60% killed > scanned
"$PROBITY" index --every 1 killed
"$PROBITY" threads --csv --since 30% --until 60% killed > indexed
cmp -s scanned indexed || fail "the states differ with an index: $(diff scanned indexed)"
grep -q running_ns scanned || fail "no states in a window"

# Functions: the parts of each one sum to its times.
"$PROBITY" record --sched -o functions -- "$PROGRAMS/tree" > /dev/null 2> errors || true
"$PROBITY" report --states --csv functions > report.csv || fail "report --states: status $?"
python3 - << 'EOF' || fail "report --states: the parts do not sum to the whole"
import csv, sys
rows = list(csv.DictReader(open("report.csv")))
assert any(row["function"] == "fibonacci" and row["calls"] == "177" for row in rows)
for row in rows:
    for of in "total", "self":
        if row[of + "_ns"]:
            assert int(row[of + "_ns"]) == sum(
                int(row[f"{of}_{part}_ns"])
                for part in ("running", "waiting", "blocked", "unknown"))
EOF
"$PROBITY" report --states --json functions | jq -e '.traces[0].states.error_ns' > /dev/null ||
    fail "report --states --json"
"$PROBITY" report --states functions | grep -q '^states: from the scheduler' ||
    fail "report --states does not state how exact it is"
"$PROBITY" tree --states functions > tree.out || fail "tree --states: status $?"
"$PROBITY" tree functions > plain.out
# The same paths, with the same calls and wall times, in the same order.
sed -n '/function$/,/^$/p' tree.out | awk 'NR > 1 && NF { print $1, $2, $6, $NF }' > tree.rows
sed -n '/function$/,/^$/p' plain.out | awk 'NR > 1 && NF { print $1, $2, $3, $NF }' > plain.rows
[ -s tree.rows ] || fail "tree --states: no rows"
cmp -s tree.rows plain.rows || fail "tree --states: $(diff tree.rows plain.rows | head -n 4)"
rm functions.sched
"$PROBITY" report --states functions | grep -q '^states: not recorded' ||
    fail "report --states does not report that there are no states"

# 100 short children, one after the other.
mkdir children
"$PROBITY" record --sched -o "$WORK/children/%p" -- \
    bash -c 'for i in {1..100}; do "$0"; done' "$BUILD/examples/hello" 2> errors ||
    fail "children: status $?"
count=0
for trace in children/*[0-9]; do
    [ -e "$trace.sched" ] || { fail "children: no states of $trace"; break; }
    "$PROBITY" threads --csv "$trace" > one
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
             NR == 2 { exit !($at["running_ns"] > 0 && $at["blocked_ns"] > 0) }' one ||
        { fail "children: $trace: $(cat one)"; break; }
    count=$((count + 1))
done
expect "children" 100 "$count"
expect "children: files" 200 "$(find children -type f | wc -l)"

# The program stops `record`, so that the smallest ring overflows.
mkdir lost
"$PROBITY" record --sched --sched-ring 4 -o "$WORK/lost/trace" -- sh -c '
    kill -STOP $PPID
    "$0" 4 100 > printed
    kill -CONT $PPID' "$PROGRAMS/thread_states" 2> errors || fail "lost: status $?"
grep -q 'the kernel dropped [1-9][0-9]* scheduler records' errors ||
    fail "lost: $(cat errors)"
"$PROBITY" threads --json lost/trace > lost.json 2> /dev/null || fail "lost: threads"
jq -e '[.traces[].states.lost] | max > 0' lost.json > /dev/null || fail "lost: not counted"
# On a busy machine, even the records of a thread's creation may be lost: then the thread has no
# states.
jq -e '[.processes[].threads[] | select(.unknown_ns != null) | (.running_ns + .waiting_ns +
       .blocked_ns + .unknown_ns - .lifetime_ns) | fabs] | all(. < 5)' lost.json > /dev/null ||
    fail "lost: parts do not sum"
jq -e '[.processes[].threads[].unknown_ns] | length > 0 and (max > 0 or all(. == null))' \
    lost.json > /dev/null || fail "lost: nothing is unknown"

# A budget that the scheduler's records exceed: they are off most of the time, in which states are
# unknown, and `record` reports that. Everything else is as usual. Not with a sanitizer, with which
# libprobity-calls cannot be loaded into another program.
hold_budget() {
    "$CC" -D_GNU_SOURCE -O1 -g -pthread -o ping "$SOURCE/tests/calls/ping.c"
    mkdir budget
    "$PROBITY" record --calls threads --sched --budget 10% -o "$WORK/budget/trace" -- \
        ./ping 100000 2> errors || fail "budget: status $?"
    percent=$(sed -n 's/.*thread states were recorded \([0-9.]*\) % of the time.*/\1/p' errors)
    awk -v percent="${percent:-100}" 'BEGIN { exit !(percent > 0 && percent < 60) }' ||
        fail "budget: recorded ${percent:-100} % of the time: $(cat errors)"
    "$PROBITY" threads --json budget/trace > budget.json 2> /dev/null || fail "budget: threads"
    jq -e '[.processes[].threads[] | (.running_ns + .waiting_ns + .blocked_ns + .unknown_ns -
           .lifetime_ns) | fabs] | max < 5' budget.json > /dev/null ||
        fail "budget: parts do not sum"
    jq -e --argjson percent "${percent:-100}" '.processes[0].threads |
        map(select(.lifetime_ns > 1e8)) |
        length > 0 and all(.unknown_ns > 0 and
            100 * (.lifetime_ns - .unknown_ns) / .lifetime_ns < $percent * 1.2 + 5 and
            .running_ns > 0 and .blocked_ns > 0)' budget.json > /dev/null ||
        fail "budget: $percent % were recorded: $(jq -c '.processes[].threads[]' budget.json)"
}
[ "$VARIANT" = asan ] || hold_budget

# In another process-id namespace, the tracepoint's ids are those of other threads, if of any:
# wakings are left out.
in_namespace() {
    "${with_tracefs[@]}" unshare -pf --mount-proc "$PROBITY" record --sched -o namespace -- \
        "$PROGRAMS/wakings" 3 > printed 2> errors || fail "namespace: status $?: $(cat errors)"
    grep -q 'wakings are not recorded.*process-id namespace' errors ||
        fail "namespace: $(cat errors)"
    "$PROBITY" info --json namespace | jq -e '.[0].states.wakings == false' > /dev/null ||
        fail "namespace: wakings were recorded"
    "$PROBITY" waits namespace | grep -q 'wakings were not recorded' || fail "namespace: waits"
    "$PROBITY" threads --json namespace | jq -e '[.processes[].threads[].running_ns > 0] | all' \
        > /dev/null || fail "namespace: no states"
}
if [ ${#with_tracefs[@]} -gt 0 ] && unshare -pf --mount-proc true 2> /dev/null; then
    in_namespace
else
    echo "left out: another process-id namespace: no tracefs, or not permitted"
fi

# A kernel without such namespaces: there is only the first one. Not if /proc shows none at all.
without_namespaces() {
    local expected=$1
    shift
    "${with_tracefs[@]}" env LD_PRELOAD="$WORK/no_pid_namespaces.so" "$@" \
        "$PROBITY" record --sched -o "without_$expected" -- \
        "$PROGRAMS/wakings" 3 > printed 2> errors ||
        fail "without namespaces: status $?: $(cat errors)"
    expect "without namespaces $*" "$expected" \
        "$("$PROBITY" info --json "without_$expected" | jq '.[0].states.wakings')"
}
if [ ${#with_tracefs[@]} -gt 0 ] && [ "$VARIANT" != asan ]; then
    "$CC" -O2 -shared -fPIC -o no_pid_namespaces.so \
        "$SOURCE/tests/calls/no_pid_namespaces.c" -ldl
    without_namespaces true
    without_namespaces false NO_NAMESPACES=1
fi

# Wakings are switched off first, and every command reports when.
leave_out_wakings() {
    mkdir wakings
    "${with_tracefs[@]}" "$PROBITY" record --calls threads --sched --budget 10% \
        -o "$WORK/wakings/trace" -- ./ping 100000 2> errors || fail "wakings: status $?"
    grep -q 'wakings were recorded for the first [0-9.]* s only' errors ||
        fail "wakings: $(cat errors)"
    "$PROBITY" info --json wakings/trace > wakings.json || fail "wakings: info"
    jq -e '.[0].states | .wakings == false and .wakings_ns > 0 and .pauses >= 0' wakings.json \
        > /dev/null || fail "wakings: info: $(jq -c '.[0].states' wakings.json)"
    "$PROBITY" threads --json wakings/trace > wakings.json 2> /dev/null || fail "wakings: threads"
    jq -e '.traces[0].states.wakings_ns as $until | .processes[0].threads |
        $until > 0 and all($until < .lifetime_ns or .lifetime_ns < 1e8)' wakings.json > /dev/null ||
        fail "wakings: threads: $(jq -c . wakings.json)"
    for command in info threads waits; do
        "$PROBITY" "$command" wakings/trace 2> /dev/null > output
        grep -q '^states.*wakings were recorded for the first [0-9.]* s only' output ||
            fail "wakings: $command: $(grep ^states output)"
    done
}
[ "$VARIANT" = asan ] || [ ${#with_tracefs[@]} -eq 0 ] || leave_out_wakings

# `record` is killed: the program continues, and its trace is complete. No file is left. The output
# ends when the last process that may write to it has ended.
mkdir orphan
status=0
ended=$("$PROBITY" record --sched -o "$WORK/orphan/trace" -- sh -c '
    kill -KILL $PPID
    "$0" > /dev/null
    echo "$?"' "$BUILD/examples/hello" 2> errors) || status=$?
expect "record killed: status" 137 "$status"
expect "record killed: program" 0 "$ended"
expect "record killed: files" orphan/trace "$(find orphan -type f)"
"$PROBITY" check orphan/trace > /dev/null || fail "record killed: the trace is damaged"

# Not permitted: `record` reports that, and everything else is as without --sched.
status=0
"$PROGRAMS/deny_perf" "$PROBITY" record --sched -o denied -- "$PROGRAMS/ends" return 1 10 \
    > /dev/null 2> errors || status=$?
if [ "$status" != 77 ]; then
    expect "denied: status" 7 "$status"
    grep -q 'thread states are not recorded: the kernel does not permit perf events' errors ||
        fail "denied: $(cat errors)"
    [ ! -e denied.sched ] || fail "denied: a file of states"
    "$PROBITY" check denied > /dev/null || fail "denied: the trace is damaged"
fi
status=0
"$PROBITY" record --sched --sched-ring 5 -- true 2> errors || status=$?
expect "a ring of 5 KiB" 2 "$status"

finish
