#!/usr/bin/env bash
# Conditions that the writer checks: there are as many reasons as there were requests, gaps, periods
# and values that exceeded their limits, while other threads record at full speed; nothing is
# dropped. PLANTED: how often each limit is exceeded.
# variants: clang asan tsan
. "$(dirname "$0")/../common.bash"
met=$PROGRAMS/conditions_met
PLANTED=${PLANTED:-4}

# $1 kind, $2 minimum and maximum of reasons ("": those that the program counted), $3 condition, $4
# text that `info` prints for one
are_met() {
    local kind=$1 limits=$2 condition=$3 said=$4 dump found
    fresh
    "$PROBITY" record --ring 300s,16M --when "$condition" --before 1ms --at-most 1000/1s \
        -o 'met-%i.probity' -- "$met" "$kind" "$PLANTED" 2 > out 2> errors ||
        fail "$condition: status $?: $(cat errors)"
    expect "$condition: stderr" "" "$(cat errors)"
    [ -n "$limits" ] || limits=$(sed -n 's/^met //p' out)
    for dump in met-*.probity; do
        [ -e "$dump" ] || { fail "$condition: no dump"; return; }
        "$PROBITY" check "$dump" > check.out 2>&1 || fail "$condition: $dump: $(cat check.out)"
        "$PROBITY" info "$dump" > info.out || fail "$condition: $dump: info failed"
        grep -q '^dropped *0 ' info.out || fail "$condition: $(grep '^dropped' info.out)"
        grep '^because' info.out >> reasons
        # The block can be decoded from the document alone.
        "$BUILD/examples/second_decoder" "$dump" > /dev/null 2> decoded ||
            fail "$condition: decoder: $(head -n 3 decoded)"
        grep -qF ": $condition |" decoded || fail "$condition: decoder: $(cat decoded)"
    done
    found=$(wc -l < reasons)
    if [ "$found" -lt "${limits% *}" ] || [ "$found" -gt "${limits#* }" ]; then
        fail "$condition: $found reasons, not $limits: $(cat reasons)"
    fi
    cut -c15- reasons | awk -v condition="$condition" 'index($0, condition) == 1 {
        print substr($0, length(condition) + 1) }' | grep -qE "^$said" ||
        fail "$condition: $(cat reasons)"
}

# `why` does not explain the last dump, but names its cause and the command that shows it. $1 cause,
# $2 command
is_not_explained() {
    local dump status=0
    for dump in met-*.probity; do :; done
    "$PROBITY" why "$dump" > why.out 2> why.errors || status=$?
    expect "why, $1: status" 1 "$status"
    expect "why, $1" "probity why: '$dump' was made because of $1, not because of a slow call or \
block; run \`probity $2\` on it, or choose calls with --function" "$(cat why.errors)"
    "$PROBITY" "$2" "$dump" > /dev/null 2> why.errors ||
        fail "$2 $dump: status $?: $(cat why.errors)"
}

are_met request "" 'request > 15ms' ' took [0-9.]* ms in thread'
is_not_explained 'a request that passed several threads' path
are_met request "" 'request requ?st > 15ms' ' took [0-9.]* ms in thread'
# A loaded machine causes further gaps and periods with fewer hits, and interrupts bursts of hits,
# which the program counts.
are_met gap "" 'gap beat > 100ms' ': none for [0-9.]* ms after thread'
is_not_explained 'a gap between hits' timeline
are_met rate "" 'rate 77 > 150/200ms' ': [1-4][0-9]* in [0-9.]* ms'
is_not_explained 'the rate of a probe' timeline
are_met value "$PLANTED $PLANTED" 'value failed > 0' ': 7 in thread'
is_not_explained 'a value' log
are_met low "" 'rate beat < 10/500ms' ': [0-9] in 500.000 ms'

# Even if the recording ends at that moment.
for _ in 1 2 3 4 5; do
    PROBITY_COST=0 are_met last "" 'request > 15ms' ' took [0-9.]* ms in thread'
done

# A condition on a site that does not exist, or on a limit that is never exceeded, is never met.
for condition in 'request queue > 1ms' 'gap heart > 10ms' 'rate 78 > 0/100ms' 'rate 77 < 1/100ms' \
    'value failed > 7' 'value failed < -1' 'value request > -9'; do
    fresh
    "$PROBITY" record --when "$condition" -o 'met-%i.probity' -- "$met" value 1 1 > out ||
        fail "$condition: status $?"
    expect "$condition: dumps" "" "$(find . -name 'met-*')"
done

# Functions are named in the same way as sites.
fresh
"$PROBITY" record --when 'rate step > 10/1s' --at-most 1000/1s -o 'met-%i.probity' -- \
    "$PROGRAMS/stalls" 2 4 sleep > out || fail "rate of a function: status $?"
[ -e met-1.probity ] || fail "rate of a function: no dump"

# Calls with parameters are counted like others: 150 of them, then a pause, then one more.
fresh
cat > valued.c << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <unistd.h>
static void serve(int order)
{
    FN_FUNC_PARAMS(void, FN_VOID, FN_1, 1, order);
}
int main(void)
{
    for (int i = 0; i < 150; i++)
        serve(i);
    usleep(300000);
    serve(150);
    return 0;
}
END
"${CC:-gcc}" ${SANITIZE_FLAG:+"$SANITIZE_FLAG"} -O1 -I"$SOURCE/include" valued.c \
    -Wl,-u,probity_snapshot "$BUILD/lib/libprobity.a" -pthread -lm -ldl -o valued 2> messages ||
    fail "valued does not build: $(cat messages)"
for condition in 'rate serve > 100/1min' 'gap serve > 200ms'; do
    rm -f met-*
    "$PROBITY" record -f --when "$condition" -o 'met-%i.probity' -- ./valued > out ||
        fail "$condition, with parameters: status $?"
    expect "$condition, with parameters: dumps" 1 "$(find . -name 'met-*' | wc -l)"
done

# A budget does not demote functions named by a condition: calls that are not recorded would look
# like a gap. The program runs until another function has been demoted, which depends on the CPU
# time that the program gets. $1 name, $2 comparison for its number of calls that were only counted
is_counted() {
    "$PROBITY" report --json trace > report.json 2> errors.report &&
        jq -e "[.functions[] | select(.name == \"$1\")][0].calls_counted $2" report.json > is_so
}
for condition in 'gap step > 100s' 'rate step > 1000000/100ms' 'function step > 100s'; do
    fresh
    PROBITY_OUT=trace PROBITY_RING=1s,1M PROBITY_BUDGET=0.01% PROBITY_WHEN=$condition \
        "$PROGRAMS/stalls" 1 1000000 none > out 2> errors &
    running=$!
    wait_until "$running" is_counted handle_request "> 0" || true
    signal_job KILL "$running" || fail "$condition, budget: ended early: $(cat errors)"
    wait "$running" 2> /dev/null || true
    is_counted handle_request "> 0" && is_counted step "== 0" ||
        fail "$condition, budget: $(cat errors.report; jq -c '.functions[]' report.json)"
done

# Nor is a condition added for calls that the budget no longer records.
fresh
PROBITY_OUT=trace PROBITY_RING=1s,1M PROBITY_BUDGET=0.01% "$PROGRAMS/stalls" 1 1000000 none > out &
running=$!
log_says_counted() {
    "$PROBITY" log trace > log.txt 2>&1 && grep -q 'calls of step are only counted' log.txt
}
wait_until "$running" log_says_counted
status=0
"$PROBITY" level --set 'when=gap step > 1s' trace > said 2>&1 || status=$?
expect "gap of counted calls: status" 1 "$status"
grep -q 'gap step > 1s: calls that it names are only counted (budget, or switched off)' said ||
    fail "gap of counted calls: $(cat said)"
"$PROBITY" level --set 'when=gap beat > 1s' trace > said 2>&1 || fail "gap of others: $(cat said)"
signal_job KILL "$running" || fail "budget: ended early"
wait "$running" 2> /dev/null || true

# A forked child has its parent's conditions, even those of sites and functions that the parent hit.
if unfollowed "conditions of a forked child" "its parent has threads"; then
    finish
    exit
fi
fresh
cat > forked.c << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <probity.h>
#include <sys/wait.h>
#include <unistd.h>
static void fail_once(void)
{
    FN_FUNC(, FN_1);
    PROBITY_PROBE_NAMED("error");
}
int main(void)
{
    fail_once();
    if (fork() == 0) {
        for (int i = 0; i < 50; i++)
            fail_once();
        return 0;
    }
    return wait(NULL) < 0;
}
END
"${CC:-gcc}" ${SANITIZE_FLAG:+"$SANITIZE_FLAG"} -O1 -I"$SOURCE/include" forked.c \
    -Wl,-u,probity_snapshot "$BUILD/lib/libprobity.a" -pthread -lm -ldl -o forked 2> messages ||
    fail "forked does not build: $(cat messages)"
for named in error fail_once; do
    rm -f met-*
    "$PROBITY" record --when "rate $named > 20/10s" -o 'met-%p-%i.probity' -- ./forked > out ||
        fail "forked, $named: status $?"
    expect "forked, $named: dumps" 1 "$(find . -name 'met-*-1.probity' | wc -l)"
done
finish
