#!/usr/bin/env bash
# `probity ship --init --cluster` with two ClickHouse servers on loopback, each a shard, and
# ZooKeeper: runs are on both, either one can be queried, and answers are those of the traces; while
# one is down, the sender reports that and waits, and finally every row has arrived once. Calls of
# schema version 2 are copied.
# variants: gcc
# timeout: 600
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
. "$SOURCE/tests/fleet/cluster.bash"
. "$SOURCE/tests/fleet/dashboard.bash"
OUTAGE=${OUTAGE:-7} # seconds for which a shard is unavailable
starts_cluster shards
makes_tables "$url1"
makes_tables "$url2"

# ---- Rows on both shards, and the same answers from each server

# $1 trace. Prints the shard of its run; only a few are tried until both are found.
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

# ---- Calls of schema version 2

# $1 statement. This old server may crash during a change of tables on a cluster, or after it.
changes() {
    local try
    for try in 1 2 3; do
        ! sql_of 1 "$1" old > changed 2>&1 || return 0
        revive 1
        revive 2
        ! grep -q "doesn't exist\|already exists" changed || return 0
    done
    fail "$1, try $try: $(cat changed)"
}

calls_of() {
    sql_of 2 "SELECT run, thread, depth, function, start_ns, total_ns, children_ns, off_ns,
        children_off_ns FROM probity_calls ORDER BY run, thread, start_ns, depth, total_ns" "$1"
}

for i in 1 2; do
    sql_of $i 'CREATE DATABASE old' default
done
old=http://127.0.0.1:$http1/old
makes_tables "$old"
columns='(day Date, run UInt64, block UInt32, function UInt64, thread UInt32, depth UInt32,
    flags UInt8, start_ns UInt64, total_ns UInt64, children_ns Int64, off_ns Int64,
    children_off_ns Int64, paused_ns UInt64, paused_cpu_ns UInt64)'
names=$(tr -d '()\n' <<< "$columns" | sed 's/ *\([a-z_]*\) [A-Za-z0-9]*/\1/g')
changes "DROP TABLE probity_calls ON CLUSTER two"
changes "DROP TABLE probity_calls_3_local ON CLUSTER two"
changes "CREATE TABLE IF NOT EXISTS probity_calls_local ON CLUSTER two $columns ENGINE =
    ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/probity_calls_local', '{replica}')
    PARTITION BY day ORDER BY (run, function, thread, start_ns)"
changes "CREATE TABLE IF NOT EXISTS probity_calls ON CLUSTER two $columns ENGINE =
    Distributed(two, old, probity_calls_local, run)"
for i in 1 2; do
    sql_of $i 'TRUNCATE TABLE probity_versions_local' old
    sql_of $i "INSERT INTO probity_calls_local ($names) SELECT $names FROM
        probity.probity_calls_3_local" old
done
sql_of 1 'INSERT INTO probity_versions_local SELECT 2, now()' old
calls_of probity > calls.new
calls_of old > calls.old
[ -s calls.new ] || fail "no calls"
cmp -s calls.new calls.old || fail "calls of version 2: $(diff calls.new calls.old | head -n 3)"
makes_tables "$old"
expect "the version" 3 "$(sql_of 2 'SELECT max(version) FROM probity_versions' old)"
calls_of old > calls.old
cmp -s calls.new calls.old || fail "copied calls: $(diff calls.new calls.old | head -n 3)"

# ---- One shard is killed while traces are sent

# Enough runs that each shard has some.
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
