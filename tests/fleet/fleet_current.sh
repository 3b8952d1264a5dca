#!/usr/bin/env bash
# Runs the tests of answers from a database and of the dashboard with a recent ClickHouse engine;
# and features that Debian's lacks: codecs, tokens of inserts, quantilesDD.
# timeout: 600
. "$(dirname "$0")/../common.bash"
export ENGINE=current
. "$SOURCE/tests/fleet/clickhouse.bash"
need_clickhouse
unset PROBITY_FLEET PROBITY_FLEET_PASSWORD PROBITY_LABEL
export no_proxy='*'

for script in fleet_questions fleet_dashboard; do
    bash "$SOURCE/tests/fleet/$script.sh" > "$script.out" 2>&1 ||
        fail "$script: $(tail -n 20 "$script.out")"
done

starts_database
echo "engine: $(sql 'SELECT version()')"

"$BUILD/bench/gen_scopes" many 2 1 > /dev/null
"$PROBITY" ship --to "$url" --init many > shipped.out 2>&1 || fail "$(cat shipped.out)"

# ---- Codecs: every column has the one that --print-schema prints

"$PROBITY" ship --print-schema | sed -n 's/.*CODEC(\(.*\))[, ]*$/\1/p' | sed 's/ //g' > wanted
sql "SELECT replaceAll(extract(compression_codec, '^CODEC[(](.*)[)]\$'), ' ', '')
    FROM system.columns WHERE database = 'probity' AND comment != '' AND
    default_kind != 'ALIAS'" |
    sed 's/Delta([0-9]*)/Delta/' | sort > found
sort wanted | cmp -s - found || fail "codecs: $(sort wanted | diff - found | head -n 5)"
calls=$(sql 'SELECT count() FROM probity_calls')
sql 'OPTIMIZE TABLE probity_calls FINAL'
bytes=$(sql "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND table = 'probity_calls'")
echo "on disk: $calls calls, $bytes bytes"
[ $((bytes / calls)) -lt 4 ] || fail "a call takes $((bytes / calls)) bytes"

# ---- Percentiles: the engine's sketch agrees with the histograms

"$PROBITY" report --json --from-fleet "$url" 2> errors | jq '.functions | length' > count
[ "$(cat count)" -gt 0 ] || fail "no function: $(cat errors)"
while read -r name p50 p99; do
    read -r median last < <(sql "SELECT arrayStringConcat(arrayMap(x -> toString(x),
        quantilesDD(0.001, 0.5, 0.99)(total_ns)), ' ') FROM probity_calls WHERE function IN
        (SELECT function FROM probity_functions WHERE name = '$name')")
    awk -v a="$p50" -v b="$median" -v c="$p99" -v d="$last" 'BEGIN {
        exit !(a > 0.99 * b - 1 && a < 1.01 * b + 1 && c > 0.99 * d - 1 && c < 1.01 * d + 1) }' ||
        fail "$name: p50 $p50 and $median, p99 $p99 and $last"
done < <("$PROBITY" report --json --from-fleet "$url" | jq -r '.functions[] |
    "\(.name) \(.p50_ns) \(.p99_ns)"')

# ---- Tokens: a block that is sent again is not added with the same token, but is with another

where="run = (SELECT any(run) FROM probity_calls) AND block = 0"
sql "SELECT * FROM probity_calls WHERE $where FORMAT Native" > block.native
into="database=probity&query=INSERT%20INTO%20probity_calls%20FORMAT%20Native"
again() {
    curl -sS --fail-with-body --data-binary @block.native "http://127.0.0.1:$http_port/?$into$1"
}
again '&insert_deduplication_token=once' || fail "an insert"
once=$(sql 'SELECT count() FROM probity_calls')
[ "$once" -gt "$calls" ] || fail "a new token was taken for an old one"
again '&insert_deduplication_token=once' || fail "an insert"
expect "rows after the same token" "$once" "$(sql 'SELECT count() FROM probity_calls')"

finish
