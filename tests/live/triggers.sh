#!/usr/bin/env bash
# Dumps of a ring: as many as there were slow calls, each with all records of its window, and no
# partial file, even if the program is killed or the disk is full.
# variants: clang asan tsan
. "$(dirname "$0")/../common.bash"
stalls=$PROGRAMS/stalls

# Prints the total number of reasons in the dumps. $1... dumps
reasons() {
    for dump in "$@"; do
        "$PROBITY" info "$dump" | grep '^because' || true
    done | wc -l
}

# Shows which call has no dump, and whether a limit prevented it: the reasons of all dumps, and the
# slowest calls in the trace of the whole run.
explain_reasons() {
    for dump in slow-*.probity; do
        "$PROBITY" info "$dump" | grep -E '^(because|left out)' | sed "s/^/$dump: /" || true
    done
    "$PROBITY" why --function handle_request --slowest 10 --json stalls.*.probity 2>&1 |
        jq -r '.cases[] | "in the trace: at \(.at_ns) ns, \(.ns) ns"'
}

# Checks that dumps are complete, that nothing was dropped, and that each thread's probes follow
# each other without a gap. $1 description, $2... dumps
are_whole() {
    local what=$1
    shift
    for dump in "$@"; do
        [ -e "$dump" ] || { fail "$what: no dump"; return; }
        "$PROBITY" check "$dump" > check.out 2>&1 || fail "$what: $dump: $(cat check.out)"
        "$PROBITY" info "$dump" > info.out 2>&1 || fail "$what: $dump: $(cat info.out)"
        grep -q '^complete *yes: a dump' info.out || fail "$what: $(grep '^complete' info.out)"
        grep -q '^dropped *0 ' info.out || fail "$what: $(grep '^dropped' info.out)"
        "$PROBITY" csv --columns thread,probe "$dump" > hits || fail "$what: $dump: no hits"
        awk -F, '$2 >= 7864320 { next }
            $1 in last && $2 != last[$1] + 1 { print; bad = 1 } { last[$1] = $2 }
            END { exit bad }' hits > gaps || fail "$what: $dump: gaps: $(head -n 3 gaps)"
    done
}

# The hits counted before a snapshot are in it. $1 description, $2 number of the dump, $3 dump
has_counted() {
    local counts
    counts=$(grep '^at' out | sed -n "$2p" | cut -d' ' -f2-)
    "$PROBITY" csv --columns probe "$3" > hits
    awk -v counts="$counts" '$1 < 7864320 {
            id = int($1 / 524288); n = $1 % 524288; if (n >= most[id]) most[id] = n + 1 }
        END { count = split(counts, wanted, " ")
            for (i = 1; i <= count; i++) if (most[i - 1] < wanted[i]) {
                print "thread " i - 1 ": " most[i - 1] " of " wanted[i]; exit 1
            } }' hits > missing ||
        fail "$1: $(cat missing)"
}

# `why` explains the call, or block, of the reason that took longest. $1 condition, $2... dumps
are_explained() {
    local condition=$1 took ms
    shift
    for dump in "$@"; do
        took=$("$PROBITY" info "$dump" |
            awk '/^because/ && / took / { sub(/.* took /, ""); if ($1 > most) most = $1 }
                END { print most }')
        "$PROBITY" why --json "$dump" > why.out 2> why.errors || fail "why: $(cat why.errors)"
        expect "$dump: condition" "$condition" "$(jq -r .condition why.out)"
        ms=$(jq '.cases | if length == 1 then .[0].ns / 1e6 else 0 end' why.out)
        # A dump has three decimals.
        awk -v ms="$ms" -v took="$took" 'BEGIN { exit !(ms > took - 0.01 && ms < took + 0.01) }' ||
            fail "$dump: why explains $ms ms, not $took ms"
        "$PROBITY" why "$dump" | grep -q '^cause: ' || fail "$dump: no cause"
    done
}

no_temporaries() {
    expect "$1: temporary files" "" "$(find . -name '*.tmp')"
}

for kind in sleep lock spin; do
    fresh
    "$PROBITY" record --when 'function handle_request > 50ms' --before 100ms --after 20ms \
        --ring 300s --at-most 1000/1s -o 'slow-%i.probity' -- "$stalls" 2 4 $kind 100 \
        > out 2> errors ||
        fail "$kind: status $?: $(cat errors)"
    read -r _ least most < <(grep '^slow' out)
    found=$(reasons slow-*.probity)
    if [ "$found" -lt "$least" ] || [ "$found" -gt "$most" ] || [ "$found" -lt 4 ]; then
        fail "$kind: $found reasons for $least to $most slow calls: $(explain_reasons)"
    fi
    are_whole "$kind" slow-*.probity
    expect "$kind: stderr" "" "$(cat errors)"
    are_explained 'function handle_request > 50ms' slow-*.probity
    "$PROBITY" report --until 1ns slow-4.probity > report.out 2> errors || true
    grep -q 'outside the dump, which has records from .*s to .*s after' errors ||
        fail "$kind: a range before the dump: $(cat errors)"
    no_temporaries "$kind"
done

# Prints waits for locks of more than 50 ms, according to the trace of the whole run. $1 trace
long_waits() {
    local ns
    ns=$("$PROBITY" info --json "$1" | sed -n 's/.*"ns_per_tick": \([0-9.e-]*\).*/\1/p')
    "$PROBITY" csv --columns thread,role,tick,object "$1" | awk -F, -v ns="$ns" '
        $2 == "lock-wait" { since[$1 $4] = $3 }
        $2 == "lock-hold" && $1 $4 in since {
            count += ($3 - since[$1 $4]) * ns > 50000000; delete since[$1 $4] }
        END { print count + 0 }'
}

# The same for blocks between two probes, and for waits for a lock.
while read -r options kind condition; do
    # Sanitized programs record no calls to libc.
    case $options.${VARIANT:-gcc} in --calls*.[at]san) continue ;; esac
    fresh
    # shellcheck disable=SC2046 # none, or one
    "$PROBITY" record $([ "$options" = - ] || echo "$options") --when "$condition" \
        --ring 300s --before 100ms --at-most 1000/1s \
        -o 'slow-%i.probity' -- "$stalls.shared" 2 6 "$kind" 100 > out 2> errors ||
        fail "$condition: status $?: $(cat errors)"
    read -r _ least most < <(grep '^blocks' out)
    found=$(reasons slow-*.probity)
    [ "$kind" != lock ] || least=$(long_waits stalls*.probity) most=$least
    if [ "$found" -lt "$least" ] || [ "$found" -gt "$most" ] || [ "$found" = 0 ]; then
        fail "$condition: $found reasons for $least to $most slow blocks"
    fi
    are_whole "$condition" slow-*.probity
    case $condition in block*) are_explained "$condition" slow-*.probity ;; esac
done << 'end'
- sleep block 7864324->7864329 > 50ms
- spin block 7864324 -> 7864329 > 50ms
--calls=locks lock wait > 50ms
--calls=locks lock wait mute? > 50ms
end

# Functions without macros. $1 compiler, $2 flags, $3 those for the linker
is_caught_with() {
    fresh
    # shellcheck disable=SC2086 # several flags
    "$1" -g -O1 $2 -o stalled "$SOURCE/tests/functions/stalled.c" ${3:-} 2> errors || {
        echo "left out: $1 $2: $(head -n 1 errors)"
        return
    }
    "$PROBITY" record --functions --when 'function ser?e > 50ms' --before 20ms --at-most 1000/1s \
        -o '%i.probity' -- ./stalled > out 2> errors || fail "$2: status $?: $(cat errors)"
    [ "$(reasons [0-9]*.probity)" -ge 3 ] || fail "$2: $(reasons [0-9]*.probity) reasons"
    "$PROBITY" info 1.probity | grep -q 'serve took' || fail "$2: $("$PROBITY" info 1.probity)"
    are_whole "$2" [0-9]*.probity
}

# No call of a function without a macro is reported if it was shorter than its limit, however short
# both are. A call may lose the CPU between the record of its beginning and the clock reading that
# is compared.
if [ "${VARIANT:-gcc}" = gcc ]; then
    fresh
    gcc -O1 -finstrument-functions -o brief "$SOURCE/tests/functions/brief.c" ||
        fail "brief.c: status $?"
    "$PROBITY" record --functions --when 'function brief > 600ns' --ring 300s --before 1ms \
        --at-most 1000/1s -o 'slow-%i.probity' -- ./brief > out 2> errors ||
        fail "brief: status $?: $(cat errors)"
    "$PROBITY" export --format chrome -o calls.json brief.*.probity 2> errors ||
        fail "brief: status $?: $(cat errors)"
    longer=$(jq -r '.traceEvents[] | "\(.ph) \(.name) \(.ts)"' calls.json |
        awk '/^B brief/ { since = $3 } /^E/ { count += $3 - since > 0.6 } END { print count + 0 }')
    found=$(reasons slow-*.probity 2> errors)
    [ "$found" -le $((longer + 10)) ] || fail "brief: $found reasons for $longer calls"
fi

if [ "${VARIANT:-gcc}" = gcc ] && [ "$(uname -m)" = x86_64 ]; then
    is_caught_with gcc -finstrument-functions
    is_caught_with gcc "-pg -mfentry -minstrument-return=call" \
        "-L$BUILD/lib -Wl,-rpath,$BUILD/lib -lprobity-functions"
    is_caught_with clang "-fxray-instrument -fxray-instruction-threshold=1"
fi

# Functions of libc, called by functions with scopes: the trace is the same as without conditions,
# and so is that of a child.
if [ "${VARIANT:-gcc}" = gcc ]; then
    fresh
    gcc -g -O1 -I"$SOURCE/include" -o watched "$SOURCE/tests/calls/watched.c" -L"$BUILD/lib" \
        -Wl,-rpath,"$BUILD/lib" -lprobity || fail "watched.c: status $?"
    "$PROBITY" record --calls=io,sleep,threads --when 'function read > 100s' \
        --when 'function *sleep > 50ms' --when 'function fork > 100s' \
        -o 'slow-%i.probity' -- ./watched > out 2> errors || fail "calls: status $?: $(cat errors)"
    expect "calls: messages" "" "$(cat out errors)"
    expect "calls: reasons" 1 "$(reasons slow-*.probity)"
    "$PROBITY" info slow-1.probity | grep -q 'nanosleep took' ||
        fail "calls: $("$PROBITY" info slow-1.probity)"
    traces=(watched.*.probity)
    expect "calls: traces" 2 "${#traces[@]}"
    for trace in "${traces[@]}"; do
        "$PROBITY" check "$trace" > check.out 2>&1 || fail "calls: $trace: $(cat check.out)"
        "$PROBITY" report --json "$trace" > report.json || fail "calls: $trace: no report"
        jq -e '[.repairs | .. | numbers] | all(. == 0)' report.json > said ||
            fail "calls: $trace: $(jq -c .repairs report.json)"
    done
fi

# The dump contains the last records of all threads before a request.
mapfile -t forms < <(forms_of "$stalls")
for kind in snapshot signal; do
    for program in "${forms[@]}"; do
        fresh
        "$PROBITY" record --ring 2s --when 'signal USR2' -o 'now-%p-%i.probity' -- \
            "$program" 3 3 $kind > out 2> errors || fail "$kind: status $?: $(cat errors)"
        dumps=(now-*-[0-9]*.probity)
        expect "$kind: reasons" 3 "$(reasons "${dumps[@]}")"
        are_whole "$kind" "${dumps[@]}"
        has_counted "$kind" 1 "${dumps[0]}"
        no_temporaries "$kind"
        [ "$kind" != signal ] ||
            expect "signal: on the alternate stack" 3 "$(grep -c '^alternate stack used' out)"
    done
done

# A signal that cannot be handled is reported on one line; everything else is recorded.
if [ "${VARIANT:-gcc}" = gcc ]; then
    fresh
    cat > refuse.c << 'end'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>

int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    int (*next)(int, const struct sigaction *, struct sigaction *) = dlsym(RTLD_NEXT, "sigaction");

    if (number != SIGUSR1)
        return next(number, action, before);
    errno = EINVAL;
    return -1;
}
end
    "$CC" -shared -fPIC -o refuse.so refuse.c -ldl || fail "refused signal: not built"
    LD_PRELOAD=$PWD/refuse.so PROBITY_OUT=trace.probity PROBITY_RING=2s PROBITY_WHEN='signal USR1' \
        "$stalls" 1 1 snapshot > out 2> errors || fail "refused signal: status $?"
    expect "refused signal" "probity: signal $(kill -l USR1) cannot be handled: Invalid argument; \
it causes no dump" "$(cat errors)"
    are_whole "refused signal" trace-1.probity
fi

# Each recording of a process has its own conditions.
fresh
PROBITY_DUMPS=at-most=1000/1s "$PROGRAMS/conditions_again" > out 2> errors ||
    fail "again: status $?: $(cat errors)"
expect "again: no conditions yet" "" "$(find . -name 'zero-*.probity')"
expect "again: functions that were called before" 3 "$(reasons one-*.probity)"
expect "again: next recording" 1 "$(reasons two-*.probity)"
"$PROBITY" info two-1.probity | grep -q '^because.*second took' ||
    fail "again: $("$PROBITY" info two-1.probity | grep '^because')"
expect "again: last recording" "" "$(find . -name 'three-*.probity')"
expect "again: stderr" "" "$(cat errors)"

# Snapshots from outside, by process id and by trace; an existing file is kept.
fresh
PROBITY_OUT=trace.probity PROBITY_RING=1s,32M "$stalls" 2 0 dumping > out 2> errors &
running=$!
wait_until "$running" has_lines out 20
"$PROBITY" snapshot --reason 'from outside' "$running" > said 2> errors.1 ||
    fail "snapshot: $(cat errors.1)"
"$PROBITY" snapshot -o here.probity trace.probity > said || fail "snapshot of a trace: status $?"
status=0
"$PROBITY" snapshot -o here.probity trace.probity > said 2> errors.1 || status=$?
expect "snapshot, name taken: status" 1 "$status"
grep -q "'here.probity' already exists" errors.1 || fail "snapshot, name taken: $(cat errors.1)"
"$PROBITY" snapshot -f -o here.probity trace.probity > said || fail "snapshot -f: status $?"
status=0
"$PROBITY" snapshot -f -o trace.probity trace.probity > said 2> errors.1 || status=$?
expect "snapshot -f of itself: status" 1 "$status"
grep -q "'trace.probity' is still being recorded" errors.1 ||
    fail "snapshot -f of itself: $(cat errors.1)"
ln -sf precious link
status=0
"$PROBITY" snapshot -f -o link trace.probity > said 2> errors.1 || status=$?
expect "snapshot -f of a link: status" 1 "$status"
rm link
outside=$("$PROBITY" snapshot -o 'out-%i.probity' "$running" | sed 's/:.*//')
signal_job KILL "$running" || fail "snapshot: ended early"
wait "$running" 2> /dev/null || true
are_whole "snapshot" here.probity "$outside"
no_temporaries snapshot
status=0
"$PROBITY" snapshot trace.probity 2> errors.1 || status=$?
expect "snapshot of a killed program: status" 1 "$status"
grep -q 'probity recover' errors.1 || fail "snapshot of a killed program: $(cat errors.1)"
"$PROBITY" recover trace.probity > said || fail "snapshot: recover: status $?"

# Killed at any moment while dumps are written one after the other: a file with its final name is
# complete, and the ring is still usable.
rounds=100
[ "${VARIANT:-gcc}" = gcc ] || rounds=10
rounds=${TRIGGERS_KILLS:-$rounds}
whole=0
for ((round = 0; round < rounds; round++)); do
    fresh
    PROBITY_OUT=trace.probity PROBITY_RING=200ms,8M "$stalls" 2 0 dumping > out 2> errors &
    running=$!
    wait_until "$running" has_lines out 5
    signal_job KILL "$running" || fail "round $round: ended early: $(cat errors)"
    wait "$running" 2> /dev/null || true
    no_temporaries "round $round"
    "$PROBITY" recover trace.probity > said 2>&1 || fail "round $round: $(cat said)"
    for dump in trace*.probity; do
        "$PROBITY" check "$dump" > said 2>&1 || fail "round $round: $dump: $(cat said)"
        whole=$((whole + 1))
    done
done
echo "killed $rounds times, $((whole - rounds)) dumps were whole"

# Dumps that cannot be written: one line, no file, and the program continues.
fresh
PROBITY_OUT=trace.probity PROBITY_RING=2s,8M "$stalls" 2 0 dumping > >(cat > out) 2> errors &
running=$!
wait_until "$running" has_lines out 3
prlimit --pid "$running" --fsize=2000:2000
wait_until "$running" has_lines errors 1
before=$(find . -name 'trace-*' | wc -l)
lines=$(wc -l < out)
wait_until "$running" has_lines out $((lines + 50))
expect "file size limit: further dumps" "$before" "$(find . -name 'trace-*' | wc -l)"
no_temporaries "file size limit"
grep -q "dump 'trace-%i.probity' was not written: File too large" errors ||
    fail "file size limit: $(cat errors)"
prlimit --pid "$running" --fsize=unlimited:unlimited 2> said || true
signal_job KILL "$running" || fail "file size limit: ended early"
wait "$running" 2> /dev/null || true
expect "file size limit: lines on stderr" 1 "$(wc -l < errors)"
"$PROBITY" recover trace.probity > said 2>&1 || fail "file size limit: $(cat said)"
for dump in trace*.probity; do
    "$PROBITY" check "$dump" > said 2>&1 || fail "file size limit: $dump: $(cat said)"
done
fresh
mkdir gone
PROBITY_OUT=trace.probity PROBITY_RING=2s PROBITY_DUMP=gone/%i.probity \
    "$stalls" 1 2 snapshot > out 2> errors || fail "directory: status $?"
expect "directory: dumps" 2 "$(find gone -name '*.probity' | wc -l)"
"$PROBITY" check trace.probity > said 2>&1 || fail "directory: $(cat said)"

# Limits. Snapshots that the program requests neither replace dumps nor count towards the limit.
fresh
PROBITY_OUT=trace.probity PROBITY_RING=2s PROBITY_DUMPS=keep=first:2 "$stalls" 1 4 snapshot > out ||
    fail "requested: status $?"
expect "requested: dumps" "trace-1.probity trace-2.probity trace-3.probity trace-4.probity " \
    "$(find . -name 'trace-*.probity' -printf '%f\n' | sort | tr '\n' ' ')"
fresh
"$PROBITY" record --when 'function handle_request > 20ms' --before 10ms --at-most 1/1000s \
    -o '%i.probity' -- "$stalls" 1 4 sleep 60 > out || fail "at most: status $?"
expect "at most: dumps" 1 "$(find . -name '[0-9]*.probity' | wc -l)"
fresh
"$PROBITY" record --when 'function handle_request > 20ms' --before 10ms --at-most 1000/1s \
    --keep worst=2 -o '%i.probity' -- "$stalls" 1 5 growing 60 > out || fail "worst: status $?"
expect "worst: dumps" 2 "$(find . -name '[0-9]*.probity' | wc -l)"
for dump in [0-9]*.probity; do
    "$PROBITY" info "$dump" | sed -n 's/^because.* took \([0-9]*\).*/\1/p'
done | awk '$1 < 180 { bad = 1 } END { exit bad || NR < 2 }' || fail "worst: not the worst are kept"
fresh
"$PROBITY" record --when 'function handle_request > 20ms' --before 10ms --at-most 1000/1s \
    --keep first=2 -o '%i.probity' -- "$stalls" 1 4 sleep 60 > out || fail "first: status $?"
expect "first: dumps" 2 "$(find . -name '[0-9]*.probity' | wc -l)"
fresh
"$PROBITY" record --when 'function handle_request > 20ms' --before 10ms --at-most 1000/1s \
    --dump-limit 1K -o '%i.probity' -- "$stalls" 1 2 sleep 60 > out || fail "limit: status $?"
expect "limit: dumps" 0 "$(find . -name '[0-9]*.probity' | wc -l)"

# A percentile is known only after some calls; after that, one call in a hundred exceeds it.
fresh
"$PROBITY" record --when 'function handle_req* > p99' --before 10ms --at-most 1000/1s \
    -o '%i.probity' -- "$stalls" 1 40 none > out || fail "percentile: status $?"
[ -e 1.probity ] || fail "percentile: no dump"
"$PROBITY" info --json 1.probity | grep -q '"limit_ns": [1-9]' || fail "percentile: no limit"

# Two windows that overlap become one dump.
fresh
"$PROBITY" record --when 'function handle_request > 20ms' --before 100s --after 1000s \
    -o '%i.probity' -- "$stalls" 1 3 sleep 60 > out || fail "overlap: status $?"
expect "overlap: dumps" 1 "$(find . -name '[0-9]*.probity' | wc -l)"
[ "$(reasons 1.probity)" -ge 3 ] || fail "overlap: $(reasons 1.probity) reasons"

# $1 expected in the message, $2... options
is_refused() {
    local message=$1 status=0
    shift
    "$PROBITY" record "$@" -- touch ran 2> errors || status=$?
    expect "$*: status" 2 "$status"
    grep -qF -- "$message" errors || fail "$*: $(head -n 1 errors)"
    [ ! -e ran ] || fail "$*: the program ran"
}

fresh
is_refused "column 11: expected '>'" --when 'function x'
is_refused "column 18: expected a time with a unit" --when 'function abc > 20'
is_refused "column 1: expected function, block, wait, request, gap" --when 'funktion x > 3ms'
is_refused "column 20: expected a closing quote" --when 'function "a b > 3ms'
is_refused "column 15: expected a percentile" --when 'function a > p100'
is_refused "column 17: expected the end" --when 'function a > 3ms; function b > 3ms'
is_refused "column 1: expected worst=N or first=N" --when 'wait > 1ms' --keep best=3
is_refused "column 2: expected a number of dumps" --when 'wait > 1ms' --at-most 1
is_refused "column 3: expected a time above 0" --when 'wait > 1ms' --at-most 1/0s
is_refused "column 8: expected USR1, USR2, or the number of" --when 'signal 11'
is_refused "column 8: expected USR1, USR2, or the number of" --when 'signal 15'
is_refused "column 8: expected USR1, USR2, or the number of" --when 'signal 32'
is_refused "invalid --ring '3'" --ring 3
is_refused "requires --ring or --when" -o 'x-%i'
is_refused "column 4: expected n (program)" --ring 3s -o '%i%x'
is_refused "mutually exclusive" --mode block --ring 3s

# An unwritable directory of dumps is handled like that of the trace. $1 directory, $2 reason
is_no_directory() {
    local status=0
    "$PROBITY" record --ring 3s -o "$1/%i.probity" -- touch ran 2> errors || status=$?
    expect "no directory $1: status" 1 "$status"
    expect "no directory $1" "probity record: cannot write in '${3:-$1}': $2" "$(cat errors)"
    [ ! -e ran ] || fail "no directory $1: the program ran"
}

is_no_directory missing "No such file or directory"
touch file
is_no_directory file "Not a directory"
is_no_directory "$PWD/missing" "No such file or directory"
is_no_directory 'for-%n-%%' "No such file or directory" 'for-touch-%'
mkdir "in-${stalls##*/}-%"
"$PROBITY" record -o 'in-%n-%%/t%p.probity' -- "$stalls" 0 0 none > out 2> errors ||
    fail "a directory with %n: status $?"
expect "a directory with %n: messages" "" "$(cat errors)"
is_refused "a directory cannot be named after a process" --ring 3s -o 'of-%p/%i.probity'
status=0
PROBITY_OUT=t.probity PROBITY_WHEN='function x' "$stalls" 0 0 none 2> errors > out || status=$?
expect "invalid PROBITY_WHEN: status" 0 "$status"
grep -q 'PROBITY_WHEN=function x: invalid' errors || fail "invalid PROBITY_WHEN: $(cat errors)"
[ ! -e t.probity ] || fail "invalid PROBITY_WHEN: something was recorded"
finish
