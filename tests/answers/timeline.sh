#!/usr/bin/env bash
# `probity timeline`: compares sums over its columns with `probity threads`; the letters of
# functions at known times, filters, colors, shades, a killed program, and empty results.
# variants: clang asan
. "$(dirname "$0")/../common.bash"
TREE=$PROGRAMS/tree

# $1 description, $2 status; then arguments of timeline. Writes "output" and "errors".
timeline() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" timeline "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# The letter of $1 in the legend.
letter() {
    sed -n "s/^\([A-Z]\)  $1\$/\1/p" output
}

PROBITY_OUT=$WORK/trace "$TREE"
timeline "JSON" 0 --json --width 7 trace
"$PROBITY" threads --json trace > threads.json
# For each thread, checks how long it existed, the time in outermost scopes, and its marks, to 1 in
# 100,000.
sums='[.threads[] | {tid, there: ([.columns[].there_ns] | add),
                     inside: ([.columns[].inside_ns] | add)}] | sort_by(.tid)'
wanted='[.processes[].threads[] | {tid, there: .lifetime_ns, inside: .inside_ns}] | sort_by(.tid)'
expect "sums" "true" "$(jq -n --slurpfile found <(jq "$sums" output) \
    --slurpfile wanted <(jq "$wanted" threads.json) '[$found[0], $wanted[0]] | transpose
        | all(.[0].tid == .[1].tid and ((.[0].there - .[1].there) | fabs) <= 1e-5 * .[1].there + 9
              and ((.[0].inside - .[1].inside) | fabs) <= 1e-5 * .[1].inside + 9)')"
expect "columns" 7 "$(jq '.threads[0].columns | length' output)"
# Off-CPU time is shown if it exceeds 4 us between two records; there are 218 scopes of two records
# each.
expect "off-CPU" "true" "$(jq -n --slurpfile found output --slurpfile wanted threads.json '
    ([$found[0].threads[].columns[].off_cpu_ns] | add) as $off
    | ([$wanted[0].processes[].off_cpu_ns] | add) as $all
    | $off <= $all * 1.0001 and $off >= $all - 2 * 218 * 4000')"
expect "first" "pausing" "$(jq -r '.threads[0].columns[0].function' output)"

# On a busy machine, a function other than `pausing` may fill the first of many columns.
timeline "JSON" 0 --json --width 66 trace
shown=$(jq -r '.threads[0].columns[0].function' output)
timeline "text" 0 --width 66 trace
first=$(awk 'NR == 2 { print substr($0, 27, 1) }' output)
expect "first column" "$(letter "$shown")" "${first^^}"
expect "threads" 2 "$(awk 'NR > 1 && /^$/ { exit } NR > 1' output | wc -l)"
expect "width" 66 "$(awk 'NR == 2 { print length($0) }' output)"
grep -q '^trace: trace: complete' output || fail "expected the line about completeness"
# Either of its two threads may have the larger id, because ids wrap around.
tid=$(jq '.processes[] | .pid as $pid | .threads[].tid | select(. != $pid)' threads.json)
timeline "one thread" 0 --tid "$tid" trace
expect "its functions" "leaf" "$(sed -n 's/^[A-Z]  //p' output | grep -v thread_main)"
timeline "no thread" 1 --tid 1 trace
LC_ALL=C timeline "shades" 0 --cpu trace
LC_ALL=C grep -q '[^ -~]' output && fail "non-ASCII characters in the C locale"
LC_ALL=C.UTF-8 timeline "blocks" 0 --cpu trace
grep -q '░\|·\|█\|▒\|▓' output || fail "no block characters with UTF-8"
if command -v script > /dev/null; then
    PROBITY_OUT=$WORK/walk "$PROGRAMS/blocks" > /dev/null
    script -qc "stty cols 200; TERM=xterm '$PROBITY' timeline walk" /dev/null > output < /dev/null
    # Green letters are on the CPU, yellow ones off it; no other cell has a color.
    sed -n '2,/^\r*$/p' output | grep -oE $'\033\\[3[23]m.' | sort -u > found
    expect "letters in green" "" "$(grep -v $'\\[32m[A-Z*-]$' found | grep -v $'\\[33m[a-z*.]$')"
    [ -s found ] || fail "no cell has a color"
    NO_COLOR=1 script -qc "TERM=xterm '$PROBITY' timeline trace" /dev/null > output < /dev/null
    ! grep -q $'\033' output || fail "color despite NO_COLOR"
fi
for wrong in "--width 0" "--width x" "--cpu --json" "--nothing" ""; do
    # shellcheck disable=SC2086
    timeline "wrong: $wrong" 2 $wrong ${wrong:+trace}
done

# A window without records shows the functions that are running in it, and has its own axis.
cat > window.c << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <time.h>
static void rest(void)
{
    FN_FUNC(FN_VOID, FN_1);
    nanosleep(&(struct timespec){0, 300000000}, 0);
}
int main(void)
{
    FN_FUNC(int, FN_0);
    rest();
    return 0;
}
END
"${CC:-gcc}" -O1 ${SANITIZE_FLAG:+"$SANITIZE_FLAG"} -I"$SOURCE/include" window.c -o window \
    "$BUILD/lib/libprobity.a" -lpthread -lm
PROBITY_OUT=$WORK/resting ./window
timeline "a window" 0 --from 0.1 --to 0.2 --width 100 resting
expect "a window: axis" "100.0ms 200.0ms" "$(awk 'NR == 1 { print $2, $3 }' output)"
expect "a window: function" "$(printf 'a%.0s' {1..74})" \
    "$(awk 'NR == 2 { print substr($0, 27) }' output)"
expect "a window: legend" "A  rest" "$(grep '^A  ' output)"
timeline "a short window" 0 --from 0.1 --to 0.10000001 --width 100 resting
grep -q '^one column: 1ns$' output || fail "a short window: $(grep column output)"
timeline "a window, JSON" 0 --from 0.1 --to 0.2 --width 10 --json resting
# jq is not used: its numbers have 53 bits, too few for ns since 1970.
expect "a window, JSON" "100000000 10 1000000000" "$(python3 -c '
import json
answer = json.load(open("output"))
columns = answer["threads"][0]["columns"]
print(answer["last_ns"] - answer["first_ns"], sum(c["function"] == "rest" for c in columns),
      10 * sum(c["inside_ns"] for c in columns))')"
timeline "a window after the end" 0 --from 100 resting
expect "a window after the end" "no records" "$(head -n 1 output)"

# With only hits: a probe's letter, and as many marks as hits.
PROBITY_OUT=$WORK/hits "$PROGRAMS/blocks" > /dev/null
timeline "hits" 0 --json hits
hits=$("$PROBITY" csv hits | wc -l)
expect "marks" "$hits" "$(jq '[.threads[].columns[].marks] | add | round' output)"
timeline "hits as text" 0 hits
[ "$(grep -c '^[A-Z]  ' output)" -ge 1 ] || fail "no probe in the legend"
# If a thread has a single column, it shows the probe with most lines in csv, even if that is less
# than half of them.
timeline "one column" 0 --json --width 1 hits
"$PROBITY" csv --columns tid,probe hits | sort | uniq -c | sort -k 2,2n -k 1,1nr > most
jq -r '.threads[] | select(.columns[0].function == null) | "\(.tid),\(.columns[0].mark)"' output |
    while IFS=, read -r tid mark; do
        awk -v tid="$tid" -v mark="$mark" '{ split($2, at, ","); if (at[1] != tid) next
            if (!most) most = $1
            if ($1 == most && at[2] == mark) found = 1 } END { exit !found }' most ||
            echo "$tid: $mark"
    done > wrong
expect "probes hit less" "" "$(cat wrong)"
# Sites with equal names share a letter, as do a probe's sites in two runs.
PROBITY_OUT=$WORK/again "$PROGRAMS/blocks" > /dev/null
timeline "hits of two runs" 0 --width 10000 hits again
expect "letters of two sites" 1 "$(grep -c '^[A-Z]  queue$' output)"
expect "letters of a numbered probe" 1 "$(grep -c '^[A-Z]  1$' output)"
timeline "no room for two times" 0 --width 36 hits
head -n 1 output | grep -qE '^thread +[0-9.]+[a-z]+$' || fail "times: $(head -n 1 output)"

# A program killed ten calls deep, and one that recorded nothing.
status=0
{ PROBITY_OUT=$WORK/killed "$TREE" kill || status=$?; } 2> /dev/null
timeline "killed" 0 killed
grep -q '^repaired: 11 still open at' output || fail "expected a note about open scopes"
"$BUILD/bench/gen" none 1 0
timeline "empty" 0 none
timeline "empty, JSON" 0 --json none
expect "threads without records" 0 "$(jq '.threads | length' output)"
timeline "empty, text" 0 none
expect "text without records" "no records" "$(head -n 1 output)"

# Every dropped record, and every gap in the ids of hits, is in some interval.
PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=16384 PROBITY_OUT=$WORK/dropped PROBITY_MODE=drop \
    "$PROGRAMS/control" fast 1000000 > expected
timeline "dropped, JSON" 0 --json dropped
cp output dropped.json
expect "all dropped records" \
    "$("$PROBITY" info dropped | sed -n 's/^dropped *\([0-9]*\).*/\1/p')" \
    "$(jq '[.drops[].records] | add // 0' dropped.json)"
"$PROBITY" csv --columns probe,wall dropped 2> errors | tr -d . | awk -F , '
    NR > 1 && $1 != (last + 1) % 262144 { print at, $2 } { last = $1; at = $2 }' > gaps
while read -r from to; do
    jq -e --arg from "$from" --arg to "$to" '.drops | any((.from_ns | tostring) <= $to and
        (.to_ns | tostring) >= $from)' dropped.json > found ||
            fail "the gap at $from is in no interval"
done < gaps
timeline "dropped" 0 dropped
if [ -s gaps ]; then
    grep -q '^dropped .*!' output || fail "no drops shown"
    grep -q '^! records were dropped' output || fail "expected an explanation of '!'"
fi
timeline "nothing dropped" 0 trace
! grep -q '^dropped\|^!' output || fail "unexpected drops"

# Profile mode has counts without time stamps, and the output reports that.
PROBITY_OUT=$WORK/counted PROBITY_PROFILE=1 "$TREE"
calls=$("$PROBITY" report --json counted | jq '[.functions[].calls] | add')
timeline "profile mode" 0 counted
grep -q "^$calls calls were counted in profile mode" output ||
    fail "expected a note about the counted calls"
timeline "profile mode, JSON" 0 --json counted
expect "counted" "$calls" "$(jq .calls_profiled output)"
timeline "profile mode, no such thread" 1 --tid 1 counted
finish
