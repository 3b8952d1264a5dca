#!/usr/bin/env bash
# Copies of a trace in several directories, sent at the same time: one sender has the run, others
# are rejected, and each row arrives once; if it is killed, it can be restarted at once, and another
# sender takes over when its claim has expired.
# variants: asan
# timeout: 600
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
starts_database
probity "tables" 0 ship --to "$url" --init

# $1 label. Records a trace and copies it to the directories a, b ...
copies() {
    PROBITY_LABEL=$1 "$BUILD/bench/gen_scopes" "$1" 2 1 > /dev/null
    calls=$("$PROBITY" report --json "$1" 2> /dev/null | jq '[.functions[].calls] | add')
    for directory in a b c d; do
        mkdir -p "$directory"
        cp "$1" "$directory"
    done
}

runs_of() { echo "(SELECT run FROM probity_runs WHERE label = '$1')"; }

has_rows() { [ "$(sql "SELECT count() FROM probity_calls WHERE run IN $(runs_of "$1")")" -gt 0 ]; }

# $1 label: the database has each call once
is_there_once() {
    expect "$1: calls" "$calls" \
        "$(sql "SELECT count() FROM probity_calls WHERE run IN $(runs_of "$1")")"
    expect "$1: calls in sums" "$calls" \
        "$(sql "SELECT sum(calls) FROM probity_minutes WHERE run IN $(runs_of "$1")")"
    expect "$1: finished" 1 "$(sql "SELECT count() > 0 FROM probity_runs WHERE label = '$1' AND
        finished")"
}

# $1 label: makes all claims 100 s old
ages_claims() {
    sql "INSERT INTO probity_senders SELECT run, owner, max(version) + 1, max(heard) - 100,
         argMax(released, version), argMax(pid, version), argMax(host, version)
         FROM probity_senders WHERE run IN $(runs_of "$1") GROUP BY run, owner"
}

# ---- A second sender

copies second
"$PROBITY" ship --to "$url" --block-rows 2500 a/second > a.out 2> a.err &
sender=$!
wait_until "$sender" has_rows second || fail "the first: $(cat a.err)"
stop_process "$sender"
probity "the second" 1 ship --to "$url" b/second
reported "the second" "is also sending run"
reported "the second" "process $sender on host"
kill -s CONT "$sender"
wait "$sender" || fail "the first: $(cat a.err)"
is_there_once second
probity "the second, afterwards" 0 ship --to "$url" --json b/second
expect "the second, afterwards: rows" 0 "$(jq '.[0].rows' output)"

# ---- The first one is killed

copies killed
"$PROBITY" ship --to "$url" --block-rows 2500 a/killed > a.out 2> a.err &
sender=$!
wait_until "$sender" has_rows killed || fail "the killed one: $(cat a.err)"
kill -s KILL "$sender"
wait "$sender" 2> /dev/null || true
probity "too early" 1 ship --to "$url" b/killed
reported "too early" "if it has ended, try again in"
ages_claims killed
probity "the heir" 0 ship --to "$url" --block-rows 2500 b/killed
is_there_once killed

# ---- The first one is killed, and started again

copies again
"$PROBITY" ship --to "$url" --block-rows 2500 a/again > a.out 2> a.err &
sender=$!
wait_until "$sender" has_rows again || fail "the killed one: $(cat a.err)"
kill -s KILL "$sender"
wait "$sender" 2> /dev/null || true
probity "started again" 0 ship --to "$url" --block-rows 2500 a/again
is_there_once again

# ---- Several at the same time, until each has found that everything was sent

copies several
senders=()
for directory in a b c d; do
    until "$PROBITY" ship --to "$url" --block-rows 5000 "$directory/several" >> several.out \
        2> "$directory.err"; do
        grep -q 'is also sending run' "$directory.err" || { cat "$directory.err" >> wrong; break; }
    done &
    senders+=($!)
done
wait "${senders[@]}"
[ ! -e wrong ] || fail "several: $(cat wrong)"
is_there_once several
expect "several: senders that had something to send" 1 "$(grep -c 'rows in [1-9]' several.out)"

# ---- Directories that are watched

copies watched
for directory in a b; do
    rm -f "$directory"/{second,killed,again,several}*
    "$PROBITY" ship --to "$url" --block-rows 2500 --watch "$directory" --once \
        >> watched.out 2>> watched.err &
    senders+=($!)
done
wait "${senders[-1]}" "${senders[-2]}" || fail "watched: $(cat watched.err)"
is_there_once watched
finish
