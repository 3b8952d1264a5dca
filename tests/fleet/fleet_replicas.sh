#!/usr/bin/env bash
# Two ClickHouse servers on loopback as replicas of one shard, and ZooKeeper: senders of copies of a
# trace, each to a different server, even while one replica lags; a sender whose server is killed
# continues with the other one; without ZooKeeper, nothing is sent. Each row arrives once.
# variants: gcc
# timeout: 600
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
. "$SOURCE/tests/fleet/cluster.bash"
starts_cluster replicas
makes_tables "$url1"

# $1 label. Records a trace and copies it to the directories a and b.
copies() {
    mkdir -p a b
    PROBITY_LABEL=$1 "$BUILD/bench/gen_scopes" "a/$1" 2 1 > /dev/null
    cp "a/$1" b
    calls=$("$PROBITY" report --json "a/$1" 2> /dev/null | jq '[.functions[].calls] | add')
}

# Prints the number of calls, and of calls in sums. $1 label, $2 server
both_of() {
    local mine="run GLOBAL IN (SELECT run FROM probity_runs WHERE label = '$1')"
    echo "$(sql_of "$2" "SELECT count() FROM probity_calls WHERE $mine")" \
        "$(sql_of "$2" "SELECT sum(calls) FROM probity_minutes WHERE $mine")"
}

# Returns whether the server has each call once. A replica receives the rows of its tables one table
# after the other, and this old server may crash meanwhile.
is_there_once() {
    local try
    for ((try = 0; try < 300; try++)); do
        [ "$(both_of "$1" "$2")" != "$calls $calls" ] || return 0
        revive "$2"
        sleep 0.1
    done
    expect "$1: calls and those in sums on $2" "$calls $calls" "$(both_of "$1" "$2")"
}

# $1 server, $2 rows: its replica has as many calls
has_calls_at() { [ "$(sql_of "$1" "SELECT count() FROM probity_calls_3_local")" -ge "$2" ]; }

# Sends a trace, and retries while another sender has it. $1 URL, $2 trace
sends_in_the_end() {
    until "$PROBITY" ship --to "$1" --block-rows 20000 "$2" > "$2.out" 2> "$2.err"; do
        grep -q 'is also sending run' "$2.err" || { cat "$2.err" >> wrong; return; }
    done
}

# ---- At the same time, each to a different replica

copies same
sends_in_the_end "$url1" a/same &
first=$!
sends_in_the_end "$url2" b/same &
wait "$first" "$!"
[ ! -e wrong ] || fail "same: $(cat wrong)"
expect "same: senders that had something to send" 1 "$(cat a/same.out b/same.out |
    grep -c 'rows in [1-9]')"
wait_until "${servers[2]}" has_calls_at 2 "$calls"
is_there_once same 1
is_there_once same 2

# ---- The second replica lags: it fetches nothing

copies lagging
before=$(sql_of 1 "SELECT count() FROM probity_calls_3_local")
sql_of 2 "SYSTEM STOP FETCHES" default
"$PROBITY" ship --to "$url1" --block-rows 5000 a/lagging > a.out 2> a.err &
sender=$!
wait_until "$sender" has_calls_at 1 $((before + 20000)) || fail "lagging: $(cat a.err)"
stop_process "$sender"
expect "lagging: calls on 2" "$before" "$(sql_of 2 "SELECT count() FROM probity_calls_3_local")"
probity "the other replica" 1 ship --to "$url2" b/lagging
reported "the other replica" "process $sender on host"
kill -s CONT "$sender"
wait "$sender" || fail "lagging: $(cat a.err)"
probity "the other replica, afterwards" 0 ship --to "$url2" --json b/lagging
expect "the other replica, afterwards: rows" 0 "$(jq '.[0].rows' output)"
sql_of 2 "SYSTEM START FETCHES" default
arrive 2 $((before + calls))
is_there_once lagging 1
is_there_once lagging 2

# ---- The server of a sender is killed: the other one receives the rest

copies killed
before=$((before + calls))
"$PROBITY" ship --to "$url1" --retry 0 --block-rows 5000 a/killed > a.out 2> a.err &
sender=$!
wait_until "$sender" has_calls_at 1 $((before + 20000)) || fail "killed: $(cat a.err)"
kills "${servers[1]}"
servers[1]=0
! wait "$sender" || fail "killed: the sender did not notice"
# Rows that only the killed server has are missing until it is back.
starts_member 1
probity "with the other server" 0 ship --to "$url2" --block-rows 5000 a/killed
arrive 1 $((before + calls))
arrive 2 $((before + calls))
is_there_once killed 1
is_there_once killed 2

# ---- Without ZooKeeper, no server can determine whether it lags

copies alone
before=$((before + calls))
kills "$keeper"
keeper=0
# A session ends some time after its connection.
lost_session() {
    [ "$(sql_of 2 "SELECT max(is_session_expired OR total_replicas = 0) FROM system.replicas
        WHERE table = 'probity_senders_local'")" = 1 ]
}
wait_until "${servers[2]}" lost_session || fail "the session did not end"
probity "without ZooKeeper" 1 ship --to "$url2" --retry 1 a/alone
grep -q ZooKeeper errors ||
    fail "without ZooKeeper: $(cat errors)"
expect "without ZooKeeper: calls" "$before" \
    "$(sql_of 2 "SELECT count() FROM probity_calls_3_local")"
finish
