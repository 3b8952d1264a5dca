#!/usr/bin/env bash
# `probity ship --init` with tables of schema version 1 that have rows: they are migrated, and once
# the traces have been sent again, answers are those of new tables. Tables that cannot be migrated
# stay as they are, and that is reported.
# timeout: 300
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
starts_database
old=http://127.0.0.1:$http_port/old

# $1 database. Makes the tables of schema version 1 there.
makes_old_tables() {
    local statement
    sql "CREATE DATABASE $1" default
    while IFS= read -r -d ';' statement; do
        sql "$statement" "$1"
    done < "$SOURCE/tests/fleet/fleet_schema_1.sql"
}

tables_of() { sql "SELECT name FROM system.tables WHERE database = '$1' ORDER BY name"; }

# $1 database, $2 file: which columns it has
columns_of() {
    sql "SELECT table, name, type FROM system.columns WHERE database = '$1'
         ORDER BY table, name" > "$2"
}

# ---- Rows in tables of version 1

record recursion "$PROGRAMS/tree"
echo 300 | PROBITY_LABEL=rounds PROBITY_OUT=$WORK/rounds "$PROGRAMS/steady" > /dev/null
probity "new tables" 0 ship --to "$url" --init recursion rounds
makes_old_tables old
for table in $(tables_of old); do
    columns=$(sql "SELECT arrayStringConcat(groupArray(name), ', ') FROM system.columns
        WHERE database = 'old' AND table = '$table'")
    sql "INSERT INTO $table ($columns) SELECT $columns FROM probity.$table" old
done
expect "calls in old tables" "$(sql 'SELECT count() FROM probity_calls')" \
    "$(sql 'SELECT count() FROM probity_calls' old)"
rm recursion.shipped
probity "sending to old tables" 1 ship --to "$old" recursion
reported "sending to old tables" "\`probity ship --init\` creates them, or migrates"
probity "asking old tables" 1 report --from-fleet "$old"
reported "asking old tables" "probity ship --init"

# ---- Migrated

probity "migrating" 0 ship --to "$old" --init
reported "migrating" "has the tables of schema version 2; migrated from version 1"
columns_of probity new.columns
columns_of old old.columns
cmp -s new.columns old.columns || fail "columns: $(diff new.columns old.columns | head -n 5)"
expect "the version" 2 "$(sql 'SELECT max(version) FROM probity_versions' old)"
probity "migrating again" 0 ship --to "$old" --init
grep -q migrated errors && fail "migrated again: $(cat errors)"
probity "before the traces are sent again" 3 report --from-fleet "$old"
grep -q 'INCOMPLETE: not all of it was sent' output || fail "not reported: $(cat output)"
calls='[.functions[] | {name, calls, self_ns, total_ns, p99_ns}] | sort_by(.name)'
"$PROBITY" report --json --from-fleet "$url" | jq -S "$calls" > new.report
"$PROBITY" report --json --from-fleet "$old" 2> errors | jq -S "$calls" > old.report || true
cmp -s new.report old.report || fail "old rows: $(cat errors) $(diff new.report old.report)"
probity "sending again" 0 ship --to "$old" --json recursion rounds
[ "$(jq '[.[].rows] | add' output)" -gt 0 ] || fail "nothing was sent: $(cat output)"
for table in probity_calls probity_requests probity_hours probity_path_minutes; do
    expect "rows of $table" "$(sql "SELECT count() FROM $table")" \
        "$(sql "SELECT count() FROM $table" old)"
done
for command in report tree list blocks "blocks --by correlation" "report --by-thread"; do
    # shellcheck disable=SC2086
    "$PROBITY" $command --json --from-fleet "$url" > from.new 2> errors.new
    # shellcheck disable=SC2086
    "$PROBITY" $command --json --from-fleet "$old" > from.old 2> errors || true
    cmp -s from.new from.old || fail "$command: $(cat errors) $(diff from.new from.old | head -n 5)"
done
probity "sending once more" 0 ship --to "$old" --json recursion rounds
expect "sending once more: rows" 0 "$(jq '[.[].rows] | add' output)"

# ---- What cannot be migrated

# $1 database, $2 statement that changes its tables, $3 what is reported
stays() {
    makes_old_tables "$1"
    sql "DROP TABLE probity_threads" "$1"
    sql "$2" "$1"
    columns_of "$1" before
    probity "$1" 1 ship --to "http://127.0.0.1:$http_port/$1" --init
    reported "$1" "$3"
    columns_of "$1" after
    cmp -s before after || fail "$1: changed all the same: $(diff before after | head -n 3)"
}

stays types "CREATE TABLE probity_threads (run UInt64, thread UInt64) ENGINE = MergeTree
    ORDER BY (run, thread)" "column thread of probity_threads is UInt64, and must be UInt32"
stays keys "CREATE TABLE probity_threads (run UInt64, thread UInt32) ENGINE = MergeTree
    ORDER BY (thread, run)" "sorted by 'thread, run', and must be by 'run, thread'"
stays newer "CREATE TABLE probity_versions ENGINE = MergeTree ORDER BY version AS
    SELECT toUInt32(99) AS version, now() AS made" "schema version 99"
probity "newer tables" 1 ship --to "http://127.0.0.1:$http_port/newer" recursion
reported "newer tables" "schema version 99"
probity "a cluster" 1 ship --to "$old" --init --cluster two
reported "a cluster" "are those of a single server"
finish
