#!/usr/bin/env bash
# The queries of packaging/grafana/probity-fleet.json, with the values that Grafana inserts, against
# a ClickHouse server: each has a result, and the percentiles are those of `probity report`.
# timeout: 120
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
. "$SOURCE/tests/fleet/dashboard.bash"
starts_database

PROBITY_LABEL="it's v1" PROBITY_OUT=$WORK/one "$PROGRAMS/varied" 0 200
PROBITY_LABEL=v2 PROBITY_OUT=$WORK/two "$PROGRAMS/varied" 1 200
"$PROBITY" ship --to "$url" --init one two > shipped.out 2>&1 || fail "$(cat shipped.out)"

asks_dashboard
[ "$(tr -dc , <<< "$functions" | wc -c)" -ge 3 ] || fail "functions: $functions"
grep -qF "'it''s v1'" <<< "$labels" || fail "labels: $labels"

sql "$(filled "$(query_of Runs)" 1) FORMAT JSON" > answer
expect "runs" 2 "$(jq -r '.data[0].runs' answer)"
sql "$(filled "$(query_of 'Incomplete runs')" 1) FORMAT JSON" > answer
expect "incomplete runs" 0 "$(jq -r '.data[0].incomplete' answer)"

# The middle of the bucket, which the tool clips to minimum and maximum.
"$PROBITY" report --json --from-fleet "$url" 2> errors |
    jq -S '[.functions[] | {name, line, calls, self: .self_ns, total: .total_ns}] |
        sort_by(.name, .line)' > from.report
sql "$(filled "$(query_of Functions)" "$functions") FORMAT JSON" > answer
jq -S '[.data[] | {name, line: .line | tonumber, calls: .calls | tonumber, self: .self | tonumber,
    total: .total | tonumber}] | sort_by(.name, .line)' answer > from.dashboard
cmp -s from.report from.dashboard || fail "functions: $(diff from.report from.dashboard)"
"$PROBITY" report --json --from-fleet "$url" 2> errors |
    jq --slurpfile panel answer '[.functions[] as $f | $panel[0].data[] |
        select(.name == $f.name and (.line | tonumber) == $f.line) |
        ((.p99 | tonumber) - $f.p99_ns) / $f.p99_ns, ((.p50 | tonumber) - $f.p50_ns) / $f.p50_ns |
        if . < 0 then -. else . end] | max' > largest
jq -e '. < 0.0079' largest > compared || fail "percentiles differ by $(cat largest)"

# Calls left by longjmp are not in any mean. No function of the program is recursive or has calls of
# both kinds, so if it has a mean, its durations are its total times.
PROBITY_LABEL=jumps PROBITY_OUT=$WORK/jumps "$PROGRAMS/jumps" loop 50 > output
"$PROBITY" ship --to "$url" jumps > shipped.out 2>&1 || fail "$(cat shipped.out)"
asks_dashboard
"$PROBITY" report --json jumps 2> errors | jq '[.functions[] | select(.mean_ns != null)] |
    (map(.total_ns) | add) / (map(.calls) | add)' > from.report
[ "$("$PROBITY" report --json jumps | jq '[.functions[].calls_repaired] | add')" -ge 100 ] ||
    fail "too few calls were left"
sql "$(filled "$(query_of Versions)" "$functions") FORMAT JSON" |
    jq '.data[] | select(.label == "jumps") | .mean | tonumber' > from.dashboard
jq -en --slurpfile report from.report --slurpfile panel from.dashboard \
    '($panel[0] / $report[0] - 1) | fabs < 1e-6' > compared ||
    fail "mean: $(cat from.dashboard), in the report $(cat from.report)"

finish
