#!/usr/bin/env bash
# `probity export --format chrome` is strict JSON. Perfetto's trace processor reads it: functions,
# hits, threads and values found by SQL equal those of `probity report`, `log` and `csv`.
# variants: gcc
# timeout: 600
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/tool/calls.bash"
. "$SOURCE/tests/exports/exported.bash"
. "$SOURCE/tests/tool/trace_processor.bash"

# Self time: a slice minus its direct children.
SELF="WITH inner AS (SELECT parent_id, sum(dur) AS dur, sum(thread_dur) AS cpu FROM slice
        WHERE parent_id IS NOT NULL AND category = 'function' GROUP BY parent_id)
    SELECT slice.name, count(*), sum(slice.dur - coalesce(inner.dur, 0)),
        sum(coalesce(slice.thread_dur, 0) - coalesce(inner.cpu, 0))
    FROM slice LEFT JOIN inner ON inner.parent_id = slice.id
    WHERE category = 'function' GROUP BY 1"
ELAPSED="SELECT tid, slice.name, count(*), sum(dur) FROM slice
    JOIN thread_track ON track_id = thread_track.id JOIN thread USING (utid)
    WHERE category = 'function' GROUP BY 1, 2"
HITS="SELECT tid, slice.name, slice.ts, slice.thread_ts
    FROM slice JOIN thread_track ON track_id = thread_track.id JOIN thread USING (utid)
    WHERE category = 'probe' AND NOT slice.name GLOB '*[^a-z0-9 ._-]*'"

# Prints the lines of hits_of with the wall time since the beginning, which fits in a double.
hits_since() {
    local start
    start=$(jq -r .otherData.start_realtime_ns out)
    hits_of "$@" | while IFS=$'\t' read -r tid name wall cpu; do
        printf '%s\t%s\t%s\t%s\n' "$tid" "$name" $((wall - start)) "$cpu"
    done | sort
}

# $1 description, $2 columns of functions to compare; the rest: traces
compare() {
    local what=$1 columns=$2
    shift 2
    export_to "$what" 0 chrome "$@"
    jq -e '.traceEvents | length > 0' out > /dev/null 2> errors || fail "$what: $(cat errors)"
    ask "$what" out "$SELF" "$HITS" "SELECT count(*) FROM slice WHERE dur < 0"
    diff <(functions_of "$@" | cut -f "$columns") <(sort answer.1 | cut -f "$columns") \
        > difference || fail "$what: functions, report (<) and SQL (>): $(head -n 5 difference)"
    diff <(hits_since "$@") <(sort answer.2) > difference ||
        fail "$what: hits, csv (<) and SQL (>): $(head -n 5 difference)"
    expect "$what: slices without end" 0 "$(cat answer.3)"
}

record_all
for trace in server parallel exported many killed one none; do
    compare "$trace" 1-4 "$trace"
done
# With pauses, jumps and calls without times, only the number of calls can match.
compare tree 1-2 tree
compare jumps 1-2 jumps
[ "$(hits_of server | wc -l)" -gt 300 ] || fail "too few hits from the server"
compare "two processes" 1-4 server exported
python3 "$SOURCE/tests/tool/another_session.py" parallel again
compare "two processes of one id" 1-4 parallel again
expect "ids of processes" 2 "$(jq '[.traceEvents[].pid] | unique | length' out)"
ask "processes" out "SELECT count(DISTINCT upid) FROM thread_track JOIN thread USING (utid)"
expect "processes" 2 "$(cat answer.1)"

# Blocks, requests, locks and queues.
PROBITY_OUT=$WORK/requests "$PROGRAMS/typed" 300 > output
PROBITY_OUT=$WORK/blocks "$PROGRAMS/blocks"
for trace in server requests blocks; do
    export_to "$trace" 0 chrome "$trace"
    compare_spans "$trace" args.end thread_dur "$trace"
done
export_to "rows of blocks" 0 chrome many
ask "rows of blocks" out "SELECT count(*) FROM thread WHERE name LIKE 'blocks of <i>worker%'"
expect "rows of blocks" 64 "$(cat answer.1)"

# From enter to leave, by thread, as computed by awk from the log; the end of a jumped-out scope is
# not recorded.
for trace in tree parallel; do
    export_to "$trace" 0 chrome "$trace"
    ask "$trace: elapsed" out "$ELAPSED"
    calls_of "$trace" | awk -v OFS='\t' '{ key = $1 "\t" $5; n[key]++; ns[key] += $3 - $2 }
        END { for (key in n) print key, n[key], ns[key] }' | grep -vE 'landing|jumping' |
        sort > expected
    grep -vE 'landing|jumping' answer.1 | sort > found
    [ -s expected ] || fail "$trace: nothing in the log"
    diff expected found > difference || fail "$trace: log (<) and SQL (>): $(cat difference)"
done

# Scopes without a leave end at their thread's last record, and are marked.
{ PROBITY_OUT=$WORK/inside "$PROGRAMS/tree" kill || true; } 2> errors
export_to "killed in a function" 0 chrome inside
ask "repaired" out "SELECT count(*) FROM slice JOIN args USING (arg_set_id)
    WHERE key = 'args.repaired' AND string_value = 'open at the end'"
expect "repaired" "$("$PROBITY" report --json inside | jq .repairs.open)" "$(cat answer.1)"
[ "$(cat answer.1)" -gt 0 ] || fail "no open scope in a killed program"

# Names, values and threads made of arbitrary bytes. Query results escape backslashes once more.
export_to "names" 0 chrome exported
ask "names" out "SELECT name, count(*) FROM slice WHERE category = 'probe' GROUP BY 1 ORDER BY 1" \
    "SELECT DISTINCT key, length(string_value) FROM slice JOIN args USING (arg_set_id)
        WHERE name = 'measure' AND string_value LIKE '\"xxx%' ORDER BY 1" \
    "SELECT DISTINCT string_value FROM args WHERE string_value LIKE '%/script%'" \
    "SELECT name FROM thread WHERE name IS NOT NULL ORDER BY 1" \
    "SELECT count(*) FROM args WHERE key = 'args.number' AND int_value = 2" \
    "SELECT count(*) FROM args WHERE key = 'args.number' AND
        string_value = '-9223372036854775808'" \
    "SELECT count(*) FROM slice WHERE category = 'message' AND name LIKE 'message <b>\"xxx%'"
cat > expected << 'END'
7	24
<b onclick="alert('x')">&amp;</b>	7
after	1
before	6
broken \\377\\303( UTF-8	7
quote " backslash \\ brace {%s} semicolon; comma,	7
snowman ☃	7
END
grep -v '^two' answer.1 | diff expected - > difference ||
    fail "names: $(cat difference)"
grep -q '^two\\\\nlines' answer.1 || fail "no two-line name: $(cat answer.1)"
length=$("$PROBITY" log exported | sed -n 's/^.* text = \("xxx.*\)$/\1/p' | head -n 1 | tr -d '\n' |
    wc -c)
expect "a long text" "args.text	$length" "$(cat answer.2)"
expect "markup" '"</script>\\376\\n"' "$(cat answer.3)"
expect "threads" 2 "$(grep -c '^<i>worker' answer.4)"
[ "$(cat answer.5)" -gt 0 ] && [ "$(cat answer.6)" -gt 0 ] || fail "numbers: $(cat answer.[56])"
expect "messages" 2 "$(cat answer.7)"
expect "levels" "5 5, 3 4" "$(jq -r '[.traceEvents[] | select(.name == "levels") |
    "\(.args.functions) \(.args.parameters)"] | join(", ")' out)"

# Lost records, and when they were lost.
record_lossy
export_to "lossy" 0 chrome lossy
jq -r '.traceEvents[] | select(.name == "lost" and .cat == "probity") | .args.records' out > found
cmp -s lost.expected found || fail "lost: $(diff lost.expected found | head -n 4)"
expect "no block across a loss" "$("$PROBITY" blocks --json lossy 2> /dev/null |
    jq '[.blocks[].calls] | add')" "$(grep -c '"cat":"block"' out)"

# Nothing is reported as lost if a clock was set back or records precede the first anchor.
for trace in "$SOURCE"/tests/golden/good/{realtime_set,before_first_anchor}.probity; do
    export_to "$trace" 0 chrome "$trace"
    ask "$trace" out "SELECT count(*) FROM slice WHERE category = 'probe'"
    expect "$trace" "$("$PROBITY" csv --columns tid "$trace" | wc -l)" "$(cat answer.1)"
    expect "$trace: earlier than the beginning" 0 "$(jq '[.traceEvents[] | .ts? // 0 |
        select(. < 0)] | length' out)"
done

check_manners chrome parallel
export_to "profile mode" 0 chrome counted
grep -q 'calls counted in profile mode are not in the output' errors ||
    fail "expected a note about omitted items: $(cat errors)"

# A range contains the calls that begin in it, to their ends.
begin=$(jq -r '[.traceEvents[] | select(.name == "work") | .ts] | sort | .[20]' <(
    "$PROBITY" export --format chrome parallel 2> errors))
export_to "range" 0 chrome --from "${begin}us" parallel
expect "first call of the range" "$begin" \
    "$(jq '[.traceEvents[] | select(.ph == "B") | .ts] | min' out)"
expect "calls of the range" \
    "$("$PROBITY" tree --json --from "${begin}us" parallel | jq '[.. | .calls? // 0] | add')" \
    "$(jq '[.traceEvents[] | select(.ph == "B")] | length' out)"

# A trace that is read while its program runs.
start_live
export_to "live" 0 chrome live
grep -q "'live' is " errors || fail "expected a note about the live trace: $(cat errors)"
[ "$(jq '[.traceEvents[] | select(.name == "descend")] | length' out)" = 800 ] ||
    fail "live: calls of descend()"
end_live
finish
