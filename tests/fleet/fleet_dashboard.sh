#!/usr/bin/env bash
# The queries of packaging/grafana/probity-fleet.json, with the values that Grafana puts in, against
# a ClickHouse server: each has an answer, and the percentiles are those of `probity report`.
# timeout: 120
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
need_clickhouse
dashboard=$SOURCE/packaging/grafana/probity-fleet.json

starts_database

PROBITY_LABEL="it's v1" PROBITY_OUT=$WORK/one "$PROGRAMS/varied" 0 200
PROBITY_LABEL=v2 PROBITY_OUT=$WORK/two "$PROGRAMS/varied" 1 200
"$PROBITY" ship --to "$url" --init one two > shipped.out 2>&1 || fail "$(cat shipped.out)"

# A quoted list, as Grafana's format sqlstring writes it, from a query of a variable.
quoted() {
    sql "$1 FORMAT JSONCompact" |
        jq -r --arg q "'" '[.data[][0] | $q + gsub($q; $q + $q) + $q] | join(",")'
}

variable() {
    jq -r --arg name "$1" '.templating.list[] | select(.name == $name) | .query' "$dashboard"
}

hosts=$(quoted "$(variable host)")
labels=$(quoted "$(variable label)")
# Of a variable with a value besides its text.
functions=$(sql "$(variable function) FORMAT JSON" | jq -r '[.data[].__value] | join(",")')
[ "$(tr -dc , <<< "$functions" | wc -c)" -ge 3 ] || fail "functions: $functions"
grep -qF "'it''s v1'" <<< "$labels" || fail "labels: $labels"
from=$(($(date +%s) / 60 * 60 - 600))

# $1 query, $2 functions. The statement that the data source sends.
# shellcheck disable=SC2016
filled() {
    local text=$1
    text=${text//'${host:sqlstring}'/$hosts}
    text=${text//'${label:sqlstring}'/$labels}
    text=${text//'${function:csv}'/$2}
    text=${text//'$__fromTime'/toDateTime($from)}
    text=${text//'$__toTime'/toDateTime($((from + 7200)))}
    echo "${text//'$__interval_s'/60}"
}

query_of() {
    jq -r --arg title "$1" '.panels[] | select(.title == $title) | .targets[0].rawSql' "$dashboard"
}

while IFS= read -r title; do
    statement=$(filled "$(query_of "$title")" "$functions")
    ! grep -q '[$]' <<< "$statement" || fail "$title: an unknown variable in $statement"
    sql "$statement FORMAT JSON" > answer || fail "$title: $(cat answer)"
    [ "$(jq '.rows' answer)" -gt 0 ] || fail "$title: no row: $statement"
done < <(jq -r '.panels[].title' "$dashboard")

sql "$(filled "$(query_of Runs)" 1) FORMAT JSON" > answer
expect "runs" 2 "$(jq -r '.data[0].runs' answer)"
sql "$(filled "$(query_of 'Incomplete runs')" 1) FORMAT JSON" > answer
expect "incomplete runs" 0 "$(jq -r '.data[0].incomplete' answer)"

# The middle of the bucket, where the tool keeps to minimum and maximum.
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

finish
