#!/usr/bin/env bash
# `probity ship --init --cluster` with two ClickHouse servers on loopback, each a shard, and
# ZooKeeper: runs are on both, either one is asked, answers are those of the traces; while one is
# killed, the sender reports that and waits, and afterwards every row is there once.
# variants: gcc
# timeout: 600
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
. "$SOURCE/tests/fleet/cluster.bash"
. "$SOURCE/tests/fleet/dashboard.bash"
OUTAGE=${OUTAGE:-7} # seconds for which a shard is away
starts_cluster shards
makes_tables "$url1"
makes_tables "$url2"

# ---- Rows on both shards, and the same answers from each server

# $1 trace. Prints on which shard its run is; only a few are tried until both are found.
shard_of() {
    local run
    run=$("$PROBITY" ship --to "$url1" --json "$1" 2> /dev/null | jq -r '.[0].run')
    for i in 1 2; do
        [ "$(sql_of $i "SELECT count() FROM probity_calls_local WHERE run =
            reinterpretAsUInt64(reverse(unhex('$run')))")" = 0 ] || echo $i
    done
}

found=' ' traces=0
until [[ $found == *' 1 '* && $found == *' 2 '* ]] || ((traces == 40)); do
    traces=$((traces + 1))
    PROBITY_LABEL=trace$traces PROBITY_OUT=$WORK/trace$traces "$PROGRAMS/tree"
    "$PROBITY" ship --to "$url1" "trace$traces" > output 2> errors || fail "$(cat errors)"
    found+="$(shard_of "trace$traces" | tr '\n' ' ')"
done
[[ $found == *' 1 '* && $found == *' 2 '* ]] || fail "all runs on one shard: $found"

times='[.functions[] | {name, calls, self_ns, total_ns, min_ns, max_ns}] | sort_by(.name)'
for i in 1 "$traces"; do
    "$PROBITY" report --json "trace$i" 2> /dev/null | jq -S "$times" > from.file
    for url in "$url1" "$url2"; do
        "$PROBITY" report --json --from-fleet "$url" --label "trace$i" 2> errors |
            jq -S "$times" > from.fleet || true
        cmp -s from.file from.fleet || fail "trace$i: $(cat errors) $(diff from.file from.fleet)"
    done
done
for command in list tree blocks threads "hist *" "report --by-thread --since 1%" "runs list" fleet
do
    set -f
    # shellcheck disable=SC2086
    "$PROBITY" $command --from-fleet "$url2" > output 2> errors || fail "$command: $(cat errors)"
    set +f
done
"$PROBITY" diff --from-fleet "$url2" @trace1 -- "@trace$traces" > output 2> errors ||
    fail "diff: $(cat errors)"

http_port=$http2
asks_dashboard
sql "$(filled "$(query_of Runs)" 1) FORMAT JSON" > answer
expect "runs of the dashboard" "$traces" "$(jq -r '.data[0].runs' answer)"

# ---- One shard is killed while traces are sent

# More than one run, so that some are on either shard.
mkdir sent
for i in 1 2 3 4; do
    PROBITY_LABEL=many "$BUILD/bench/gen_scopes" "sent/$i" 2 1 > /dev/null
done
"$PROBITY" ship --to "$url1" --block-rows 5000 --retry 300 sent/? > shipped.out 2> shipped.err &
sender=$!
has_some() { [ "$(sql_of 1 "SELECT count() FROM probity_calls" 2> /dev/null)" -gt 20000 ]; }
wait_until "$sender" has_some || fail "nothing was sent: $(cat shipped.err)"
kills "${servers[2]}"
servers[2]=0
wait_until "$sender" grep -q 'retrying for up to' shipped.err ||
    fail "not reported: $(cat shipped.err)"
is_running "$sender" || fail "the sender gave up: $(cat shipped.err)"
sleep "$OUTAGE" # the length of an outage, not a wait for something
starts_member 2
wait "$sender" || fail "the sender failed: $(cat shipped.err)"
expect "calls" "$("$PROBITY" report --json sent/? 2> /dev/null |
    jq '[.functions[].calls] | add')" \
    "$(sql_of 2 "SELECT count() FROM probity_calls WHERE run GLOBAL IN
        (SELECT run FROM probity_runs WHERE label = 'many')")"
"$PROBITY" report --json sent/? 2> /dev/null | jq -S '[.functions[] | {name, calls}] |
    sort_by(.name)' > from.file
"$PROBITY" report --json --from-fleet "$url2" --label many 2> errors |
    jq -S '[.functions[] | {name, calls}] | sort_by(.name)' > from.fleet || true
cmp -s from.file from.fleet || fail "afterwards: $(cat errors) $(diff from.file from.fleet)"
finish
