#!/usr/bin/env bash
# A program without a writer thread: another process drains its spool, and every hit is in the
# trace, no matter which of the two is killed and when. Without a drainer, the program does not
# hang, and reports the problem. MANY: hits of each thread in tests with many times more hits than
# fit in the spool.
# variants: asan clang
. "$(dirname "$0")/../common.bash"
MANY=${MANY:-1500000}
EXTERNAL="env PROBITY_WRITER=external PROBITY_OUT=$WORK/trace"

# Checks that the trace is complete and closed, and that no other file is left next to it. $1
# description
whole() {
    "$PROBITY" check trace > /dev/null 2> faults || fail "$1: $(cat faults)"
    "$PROBITY" info trace > info
    grep -q '^state *closed' info || fail "$1: $(grep ^state info)"
    no_leftovers "$1"
}

# Prints the numbers of records and of dropped records, according to `info`.
totals() {
    "$PROBITY" info --json trace |
        python3 -c 'import json, sys
counts = json.load(sys.stdin)[0]["counts"]
print(counts["records"], sum(counts[name] for name in counts if name.startswith("dropped")))'
}

# Retries while another process is still draining.
recover_soon() {
    for _ in $(seq 200); do
        "$PROBITY" recover "$1" > /dev/null 2> recover.err && return 0
        grep -q 'being recovered' recover.err || return 0
        sleep 0.05
    done
}

# Under `record`, for every way a program can end.
for program in $(forms_of ends); do
    for way in return:7 exit:7 _exit:7 kill:137 quick_exit:7 exec:0; do
        fresh
        status=0
        "$PROBITY" record --writer external -o "$WORK/trace" -- "$PROGRAMS/$program" "${way%:*}" \
            3 20000 > expected 2> errors || status=$?
        expect "$program $way: exit status" "${way#*:}" "$status"
        same_hits "$program $way" trace*
        no_leftovers "$program $way"
    done
done

# Many times more hits than fit in the spool.
fresh
"$PROBITY" record --writer external -o "$WORK/trace" -- "$PROGRAMS/ends" return 3 "$MANY" \
    > expected 2> errors || true
same_hits "many times the spool" trace
whole "many times the spool"

# The variable has the effect of the option.
fresh
PROBITY_WRITER=external "$PROBITY" record -o "$WORK/trace" -- "$PROGRAMS/ends" return 3 "$MANY" \
    > expected 2> errors || true
same_hits "by the variable" trace
whole "by the variable"
expect "by the variable: what it says" "" "$(cat errors)"

# Children made by fork get their own traces. When `record` ends, all traces are complete, and
# traces that a process closed at its end are not reported as errors.
forked() {
    local status=0 trace
    fresh
    PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=8192 "$PROBITY" record --writer external \
        -o "$WORK/trace" -- "$PROGRAMS/$1" "$2" > expected 2> errors || status=$?
    for trace in trace*; do
        "$PROBITY" info "$trace" | grep -q '^state *closed' || fail "$1 $2: $trace is not closed"
        "$PROBITY" check "$trace" > /dev/null 2> faults || fail "$1 $2: $(cat faults)"
    done
    expect "$1 $2: exit status" 0 "$status"
    expect "$1 $2: traces" "$3" "$(find . -name 'trace*' | wc -l)"
    expect "$1 $2: stderr" "$4" "$(cat errors)"
    same_hits "$1 $2" trace*
    no_leftovers "$1 $2"
}

for program in $(forms_of forks); do
    forked $program plain 5 ''
    forked $program chain 5 ''
    forked $program threads 61 ''
    forked $program raw 2 ''
    forked $program silent 1 ''
    forked $program short 2 ''
    forked $program daemon 3 ''
    forked $program vfork_full 3 ''
done

# Chunks that are drained to the last word before they are handed over are freed, too.
fresh
status=0
PROBITY_SPOOL_RECORDS=8192 PROBITY_CHUNK_RECORDS=512 timeout -s KILL 60 "$PROBITY" record \
    --writer external -o "$WORK/trace" -- timeout -s KILL 30 "$PROGRAMS/external" brim 200 \
    > expected 2> errors || status=$?
expect "full to the brim: exit status" 0 "$status"
same_hits "full to the brim" trace
whole "full to the brim"

# The program has a single thread, so it may use features that the kernel allows only to
# single-threaded programs.
fresh
unshare --user true 2> /dev/null && may_unshare=1 || may_unshare=0
$EXTERNAL "$PROGRAMS/external" 100000 > expected 2> errors || fail "external: status $?"
grep -qx 'threads 1' errors || fail "more than one thread: $(cat errors)"
[ "$may_unshare" = 0 ] || grep -qx 'user namespace made' errors || fail "unshare: $(cat errors)"
same_hits "alone" trace
whole "alone"

# Prints the number of passes of all drainers of the only spool (field "beat" of the header), 0 if
# there is no spool.
passes() {
    local beat
    beat=$(od -An -t u4 -j 552 -N 4 "$SPOOL"/*.0 2> /dev/null | tr -d ' ')
    echo "${beat:-0}"
}

# Waits until the drainer, $1, has made a pass after number $2, or has ended.
await_pass() {
    until [ "$(passes)" -gt "$2" ]; do
        kill -0 "$1" 2> /dev/null || break
    done
}

# A series of drainers, each killed at a random moment; the last one completes the trace. Adds to
# "killed". Each drainer rereads the trace before it continues, so if all were killed there would be
# no progress.
killed_drainers() {
    local program drainer pid before records dropped
    fresh
    $EXTERNAL PROBITY_SPOOL_RECORDS=32768 "$PROGRAMS/ends" return 3 $((2 * MANY)) > expected \
        2> errors &
    program=$!
    await_file "$program" trace errors
    for _ in 1 2 3 4 5 6 7 8; do
        before=$(passes)
        "$PROBITY" drain "$WORK" > /dev/null 2>&1 &
        drainer=$!
        await_pass "$drainer" "$before"
        sleep "0.0$((RANDOM % 6))5"
        # All processes that it started end with it or are killed here.
        for pid in $(cat "/proc/$drainer/task/$drainer/children" 2> /dev/null || true); do
            kill -KILL "$pid" 2> /dev/null && killed=$((killed + 1)) || true
        done
        kill -KILL "$drainer" 2> /dev/null || true
        wait "$drainer" 2> /dev/null || true
    done
    "$PROBITY" drain "$WORK" > /dev/null 2>&1 || true
    wait "$program" || true
    recover_soon trace
    # On a busy machine, two seconds may pass before a drainer lives long enough for a pass. The
    # program then drops records, as documented, and counts each of them.
    read -r records dropped < <(totals)
    if [ "$dropped" = 0 ]; then
        same_hits "killed drainers" trace
    else
        echo "killed drainers: $dropped of $records records dropped, for none was present"
        expect "killed drainers: hits and dropped" \
            "$(awk '{ sum += $3 } END { print sum }' expected)" \
            "$(($("$PROBITY" csv trace 2> /dev/null | wc -l) + dropped))"
    fi
    whole "killed drainers"
}

# A drainer that is delayed may drain the whole trace, so one program may not be enough.
killed=0
for _ in 1 2 3 4 5 6 7 8; do
    killed_drainers
    [ "$killed" -le 2 ] || break
done
echo "killed $killed"; [ "$killed" -gt 2 ] || fail "only $killed drainers were killed"

# The program is killed while it is drained; the drainer completes the trace.
fresh
$EXTERNAL PROBITY_SPOOL_RECORDS=32768 "$PROGRAMS/ends" kill 3 300000 > expected 2> errors &
program=$!
await_file "$program" trace errors
"$PROBITY" drain "$WORK" > /dev/null 2>&1 || true
wait "$program" 2> /dev/null || true
recover_soon trace
same_hits "killed program" trace
whole "killed program"

# Without a drainer, the program waits at most two seconds; records that do not fit are counted.
fresh
status=0
$EXTERNAL timeout -s KILL 60 "$PROGRAMS/external" 3000000 > expected 2> errors || status=$?
expect "no drainer: exit status" 0 "$status"
read -r records dropped < <(totals)
[ "$dropped" -gt 0 ] || fail "no drainer: nothing was dropped of 3,000,000 hits in 4 MiB"
hits=$("$PROBITY" csv trace 2> /dev/null | wc -l)
expect "no drainer: hits and dropped" 3000000 "$((hits + dropped))"
[ "$records" -ge "$hits" ] || fail "no drainer: $records records for $hits hits"
no_leftovers "nobody drains"

# Without libprobity-print, which recovers the spool at exit, all records stay in it. The tool and
# the second decoder read them; CPU times may differ ("CPU time" in doc/spool.md).
fresh
cat > left.c << 'END'
#include <probity.h>
int main(void)
{
    for (int i = 1; i <= 9; i++)
        PROBITY_PROBE(i);
    return 0;
}
END
# shellcheck disable=SC2086
${CC:-cc} $SANITIZE_FLAG -I"$SOURCE/include" -o left left.c "$BUILD/lib/libprobity.a" -pthread
$EXTERNAL ./left 2> errors || fail "left in the spool: status $?"
"$PROBITY" csv --columns tid,probe,wall trace > hits.csv
expect "left in the spool: hits" 9 "$(wc -l < hits.csv)"
"$BUILD/examples/second_decoder" trace | awk -F , '{ print $2 "," $3 "," $6 "." $7 }' > decoded
awk -F '[,.]' '{ print $1 "," $2 "," $3 "." $4 + 0 }' hits.csv | cmp - decoded ||
    fail "left in the spool: the second decoder prints $(wc -l < decoded) hits"
"$PROBITY" recover trace > /dev/null 2> errors || fail "left in the spool: $(cat errors)"
whole "left in the spool"

# Without a drainer in a ring: the newest records are kept, with the names they refer to.
fresh
$EXTERNAL PROBITY_MODE=ring timeout -s KILL 60 "$PROGRAMS/external" 3000000 \
    > expected 2> errors || fail "ring: status $?"
"$PROBITY" csv trace 2> /dev/null > hits.csv
last=$((1 << 18 | 2999999 & ((1 << 18) - 1)))
expect "ring: the last hit" "$last" "$(tail -n 1 hits.csv | cut -d, -f3)"
[ "$(wc -l < hits.csv)" -gt 400000 ] || fail "ring: only $(wc -l < hits.csv) of 524,288 hits"
grep -qa 'first of all' trace || fail "ring: a name is lost"
no_leftovers "ring"

# Several programs in one directory, drained by one process.
fresh
programs=()
for i in 1 2 3; do
    PROBITY_WRITER=external PROBITY_OUT=$WORK/$i.probity "$PROGRAMS/ends" return 2 500000 \
        > "expected.$i" 2> "errors.$i" || true &
    programs+=($!)
done
# Without --watch, drain ends if there is nothing to drain, so wait until there is.
for i in 1 2 3; do
    await_file "${programs[i - 1]}" $i.probity "errors.$i"
done
"$PROBITY" drain "$WORK" > /dev/null 2>&1 || true
wait
cat expected.? > expected
for i in 1 2 3; do
    recover_soon $i.probity
done
same_hits "several programs" ?.probity
no_leftovers "several programs"

# ---- By process id ----

# Starts the program, which waits for a byte on descriptor 3; its process id is written to
# "waiting". The arguments are the command that runs it, and variables.
start_waiting() {
    fresh
    mkfifo go
    "$@" PROBITY_OUT=$WORK/trace "$PROGRAMS/waiting" < go > ready 2> waiting.err &
    waiting=$!
    exec 3> go
    await_file "$waiting" ready waiting.err
}

end_waiting() {
    echo >&3
    exec 3>&-
    wait "$waiting" || fail "waiting: status $?"
}

# $1 description, $2 pattern of the message; the rest: operands of drain
refuses() {
    local what=$1 pattern=$2 status=0
    shift 2
    "$PROBITY" drain "$@" > output 2> errors || status=$?
    expect "$what: status" 1 "$status"
    grep -q -- "$pattern" errors || fail "$what: $(cat errors)"
}

# The program is killed, so only the drainer can close the trace, which is at its original path or
# has been renamed within its directory.
for name in trace renamed; do
    start_waiting env PROBITY_WRITER=external
    [ $name = trace ] || mv trace renamed
    "$PROBITY" drain "$waiting" 2> errors &
    drainer=$!
    await_pass "$drainer" 0
    kill -KILL "$waiting"
    exec 3>&-
    wait "$waiting" 2> /dev/null || true
    wait "$drainer" || fail "drain PID, $name: status $?: $(cat errors)"
    expect "drain PID, $name: hits" 1 "$("$PROBITY" csv "$name" | wc -l)"
    grep -q '^state *closed' <("$PROBITY" info "$name") || fail "drain PID, $name: not closed"
    no_leftovers "drain PID, $name"
done

# The path in the spool grants no permissions: another file at that path is not changed, nor is the
# target of a link.
start_waiting env PROBITY_WRITER=external
mkdir away
mv trace away/
cp away/trace trace
before=$(cksum < trace)
refuses "a copy" "'$WORK/trace', is gone" "$waiting"
expect "a copy is not touched" "$before" "$(cksum < trace)"
ln -sf away/trace trace
refuses "a link" "'$WORK/trace', is gone" "$waiting"
rm trace
end_waiting
"$PROBITY" recover away/trace > /dev/null

# Processes with nothing to drain. A trace whose name is a number is given as ./NAME.
start_waiting env PROBITY_WRITER=thread
refuses "a writing thread" 'needs no drainer: its program writes it' "$waiting"
refuses "not recording" "process $$ is not recording" $$
refuses "no process" 'no process 99999999999' 99999999999
refuses "process 0" 'no process 0' 0
end_waiting
cp trace 4711
refuses "a trace of that name" "'./4711' needs no drainer" ./4711

# If a spool is truncated, draining ends with a message, not with a signal.
start_waiting env PROBITY_WRITER=external
"$PROBITY" drain "$waiting" 2> errors &
drainer=$!
await_pass "$drainer" 0
truncate -s 0 "$SPOOL"/*.0
status=0
wait "$drainer" || status=$?
expect "a cut spool: status" 1 "$status"
grep -q "the spool '.*' was truncated" errors || fail "a truncated spool: $(cat errors)"
expect "a cut spool: signals" 0 "$(grep -c 'by signal' errors)"
kill -KILL "$waiting"
exec 3>&-
wait "$waiting" 2> /dev/null || true

# If the drainer is killed, `record` reports that the trace is incomplete.
start_waiting env PROBITY_WRITER=external
"$PROBITY" drain "$waiting" 2> errors &
drainer=$!
await_pass "$drainer" 0
child=$(cat "/proc/$drainer/task/$drainer/children")
kill -KILL "${child% }"
status=0
wait "$drainer" || status=$?
expect "a killed drainer: status" 1 "$status"
grep -q 'was killed by signal 9' errors || fail "a killed drainer: $(cat errors)"
end_waiting
whole "a killed drainer"

# In another PID namespace the program has another process id.
if unshare --pid --fork true 2> /dev/null; then
    start_waiting unshare --pid --fork env PROBITY_WRITER=external
    child=$(cat "/proc/$waiting/task/$waiting/children")
    "$PROBITY" drain "${child% }" 2> errors &
    drainer=$!
    await_pass "$drainer" 0
    end_waiting
    wait "$drainer" || fail "PID namespace: status $?: $(cat errors)"
    expect "PID namespace: hits" 2 "$("$PROBITY" csv trace | wc -l)"
    whole "PID namespace"
else
    echo "left out: a PID namespace, which this user may not make"
fi

# Links and other users' traces are not changed.
fresh
$EXTERNAL "$PROGRAMS/external" 1000 > expected 2> errors
ln -s trace link
before=$(cksum < trace)
! "$PROBITY" drain link 2> errors || fail "drained through a link"
grep -q 'is a link' errors || fail "a link: $(cat errors)"
if [ "$(id -u)" = 0 ]; then
    chown 65534 trace
    ! "$PROBITY" drain trace 2> errors || fail "drained another user's trace"
    grep -q "another user's" errors || fail "another user's trace: $(cat errors)"
fi
expect "an untouched trace" "$before" "$(cksum < trace)"
finish
