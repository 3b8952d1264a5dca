#!/usr/bin/env bash
# `probity export --format perfetto`, read by Perfetto's trace processor: functions, hits, times,
# names and values found by SQL equal those of `probity report` and `probity csv`.
# variants: gcc
# timeout: 1800
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/exports/exported.bash"
. "$SOURCE/tests/tool/trace_processor.bash"

# Self time: a slice minus its direct children; pauses are slices, too.
FUNCTIONS="WITH inner AS (SELECT parent_id, sum(dur) AS dur, sum(thread_dur) AS cpu FROM slice
        WHERE parent_id IS NOT NULL GROUP BY parent_id)
    SELECT slice.name, count(*),
        sum(iif(category = 'untimed', 0, slice.dur - coalesce(inner.dur, 0))),
        sum(iif(category = 'untimed', 0,
            coalesce(slice.thread_dur, 0) - coalesce(inner.cpu, 0)))
    FROM slice LEFT JOIN inner ON inner.parent_id = slice.id
    WHERE category IN ('function', 'untimed') GROUP BY 1"
TOTALS="SELECT name, sum(dur) FROM slice WHERE category = 'function' AND NOT EXISTS (
        SELECT 1 FROM ancestor_slice(slice.id) AS a
        WHERE a.name = slice.name AND a.category = 'function')
    GROUP BY 1"
OFFSET="(SELECT max(iif(clock_name = 'REALTIME', clock_value, 0)) -
    max(iif(clock_name = 'BOOTTIME', clock_value, 0)) FROM clock_snapshot WHERE snapshot_id = 0)"
HITS="SELECT tid, slice.name, slice.ts + $OFFSET, slice.thread_ts
    FROM slice JOIN thread_track ON track_id = thread_track.id JOIN thread USING (utid)
    WHERE category = 'probe' AND NOT slice.name GLOB '*[^a-z0-9 ._-]*' "

# $1 description; the rest: traces
compare() {
    local what=$1 columns=1-4
    shift
    # Later, the clocks of a live trace are known more precisely.
    [ "$what" != live ] || columns=1-2
    export_to "$what" 0 perfetto "$@"
    ask "$what" out "$FUNCTIONS" "$HITS" "SELECT count(*) FROM slice WHERE category = 'probe'" \
        "SELECT count(*) FROM slice WHERE dur < 0"
    diff <(functions_of "$@" | cut -f $columns) <(sort answer.1 | cut -f $columns) > difference ||
        fail "$what: functions, report (<) and SQL (>): $(head -n 5 difference)"
    diff <(hits_of "$@" | cut -f $columns) <(sort answer.2 | cut -f $columns) > difference ||
        fail "$what: hits, csv (<) and SQL (>): $(head -n 5 difference)"
    expect "$what: all hits" "$("$PROBITY" csv --columns tick "$@" 2> /dev/null | wc -l)" \
        "$(cat answer.3)"
    expect "$what: slices without end" 0 "$(cat answer.4)"
}

compare_all
ask "processes" out "SELECT count(DISTINCT upid) FROM thread_track JOIN thread USING (utid)"
expect "processes" 2 "$(cat answer.1)"
# More names than are kept at a time: the sequence restarts its state.
PROBITY_OUT=$WORK/names "$PROGRAMS/exported" names
compare "many names" names
ask "many names" out "SELECT count(DISTINCT name) FROM slice WHERE category = 'probe'"
expect "many names" 70000 "$(cat answer.1)"
start_live
compare "live" live
end_live

# Totals of recursive and other functions.
for trace in exported many server; do
    export_to "$trace" 0 perfetto "$trace"
    ask "$trace: totals" out "$TOTALS"
    "$PROBITY" report --json "$trace" | jq -r '.functions[] | [.name, .total_ns] | @tsv' |
        sort > expected
    diff expected <(sort answer.1) > difference || fail "$trace: totals: $(head -n 5 difference)"
done

# Blocks, requests, locks and queues, where names consist of printable bytes only. CPU time
# is an argument, because tracks below that of a thread have none.
BLOCK_CPU="(SELECT int_value FROM args WHERE args.arg_set_id = slice.arg_set_id
    AND key = 'debug.cpu_ns')"
PROBITY_OUT=$WORK/requests "$PROGRAMS/typed" 300 > output
PROBITY_OUT=$WORK/blocks "$PROGRAMS/blocks"
for trace in server requests blocks; do
    export_to "$trace" 0 perfetto "$trace"
    compare_spans "$trace" debug.end "$BLOCK_CPU" "$trace"
done
expect "kinds of spans" "block
lock hold
request
stage" "$(spans_of_hits server requests | cut -f 1 | grep -v wait | sort -u)"
# In a part of the trace, some requests do not end: they end with that part, and are marked.
middle=@$("$PROBITY" csv --columns role,wall requests | sed -n 's/^queue-get,//p' | sed -n 100p)
export_to "until" 0 perfetto --to "$middle" requests
ask "until" out "SELECT count(*) FROM slice JOIN args USING (arg_set_id)
    WHERE category = 'request' AND key = 'debug.end'"
expect "requests that are open" "$("$PROBITY" csv --to "$middle" --columns role requests | awk '
    $1 == "request-begin" { open++ } $1 == "request-end" { open-- } END { print open }')" \
    "$(cat answer.1)"
[ "$(cat answer.1)" -gt 0 ] || fail "no open request in a part of the trace"

# Names, values and threads with any bytes. In query results, the escapes of `probity log` are
# escaped again.
export_to "names" 0 perfetto exported
ask "names" out "SELECT name, count(*) FROM slice WHERE category = 'probe' GROUP BY 1 ORDER BY 1"
cat > expected << 'END'
7	24
<b onclick="alert('x')">&amp;</b>	7
after	1
before	6
broken \\377\\303( UTF-8	7
quote " backslash \\ brace {%s} semicolon; comma,	7
snowman ☃	7
two\\nlines\tand a tab	7
END
diff expected answer.1 > difference || fail "names: $(cat difference)"
ask "threads" out "SELECT name FROM thread WHERE name LIKE '%<i>%' ORDER BY 1" \
    "SELECT name, length(name) FROM slice WHERE category = 'message' GROUP BY 1" \
    "SELECT key, display_value, count(*) FROM slice JOIN args USING (arg_set_id)
        WHERE name = 'measure' AND key NOT GLOB 'source*' GROUP BY 1, 2 ORDER BY 1, 2" \
    "SELECT count(*) FROM slice JOIN args USING (arg_set_id)
        WHERE name = 'descend' AND key = 'debug.return' AND int_value = 6"
expect "threads" '<i>worker\\n0 <i>worker\\n1' "$(xargs -d '\n' < answer.1)"
"$PROBITY" log exported | sed -n 's/^[0-9]*: *\(message <b>.*\)/\1/p' | head -n 1 > expected
expect "message" "$(sed 's/\\/\\\\/g' expected)	$(($(wc -m < expected) - 1))" "$(cat answer.2)"
mv answer.3 values
grep -qFx 'debug.number	-9223372036854775808	2' values || fail "no smallest number"
grep -qFx 'debug.text	"plain"	6' values || fail "no plain text"
grep -qFx 'debug.text	"</script>\\376\\n"	2' values || fail "no text with invalid UTF-8"
grep -qE '^debug.text	"x{900,}"\.\.\.	2$' values || fail "no long text"
grep -qFx 'debug.return	10000	2' values || fail "no return value"
expect "return values of recursion" 6 "$(cat answer.4)"

# Hits with ids become flows from each hit to the next with the same correlation id.
PROBITY_OUT=$WORK/typed "$PROGRAMS/typed" > output
compare "typed" typed
ask "ids" out "SELECT count(*) FROM slice JOIN args USING (arg_set_id)
        WHERE key = 'debug.correlation' AND category = 'probe'" "SELECT count(*) FROM flow"
"$PROBITY" csv --columns pid,correlation typed | awk -F , '$2 != "" { n++; if (seen[$2]++) flows++ }
    END { print n, flows }' > expected
expect "ids and flows" "$(cat expected)" "$(cat answer.1) $(cat answer.2)"

# The levels at the start of recording, and the levels set by the program.
export_to "levels" 0 perfetto exported
ask "levels" out "SELECT group_concat(key || ' ' || int_value, ', ') FROM slice
    JOIN args USING (arg_set_id) WHERE name = 'levels' AND key GLOB 'debug.*'
    GROUP BY slice.id ORDER BY ts"
expect "levels" "debug.functions 5, debug.parameters 5
debug.functions 3, debug.parameters 4" "$(cat answer.1)"

# Repairs, pauses, and what a range excludes.
export_to "jumps" 0 perfetto jumps
ask "jumps" out "SELECT string_value, count(*) FROM slice JOIN args USING (arg_set_id)
    WHERE key = 'debug.end' GROUP BY 1"
expect "unwound" "unwound $("$PROBITY" report --json jumps | jq .repairs.unwound)" \
    "$(xargs < answer.1)"
export_to "tree" 0 perfetto tree
ask "pauses" out "SELECT sum(dur) FROM slice WHERE category = 'pause'"
expect "pauses" "$("$PROBITY" report --json tree | jq '[.functions[].paused_ns] | add')" \
    "$(cat answer.1)"
"$PROBITY" csv --columns wall exported > walls
middle=@$(sed -n 20p walls)
export_to "range" 0 perfetto --from "$middle" exported
ask "range" out "SELECT count(*) FROM slice WHERE category = 'probe'"
expect "range" "$("$PROBITY" csv --from "$middle" --columns tick exported | wc -l)" \
    "$(cat answer.1)"
tid=$("$PROBITY" csv --columns tid many | head -n 1)
export_to "thread" 0 perfetto --tid "$tid" many
ask "thread" out "SELECT count(*) FROM slice WHERE category = 'probe'"
expect "thread" "$("$PROBITY" csv --tid "$tid" --columns tick many | wc -l)" "$(cat answer.1)"
export_to "profile mode" 0 perfetto counted
grep -q ' calls counted in profile mode are not in the output' errors ||
    fail "expected a note about profile mode"
check_manners perfetto exported
finish
