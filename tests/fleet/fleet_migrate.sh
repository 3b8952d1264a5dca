#!/usr/bin/env bash
# `probity ship --init` with tables of schema version 1 that have rows: they are migrated, and once
# the traces have been sent again, answers are those of new tables. With tables of version 2, calls
# are copied, even after an interruption. Tables that cannot be migrated are not changed, which is
# reported.
# timeout: 300
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
starts_database
old=http://127.0.0.1:$http_port/old

# Creates the tables of schema version 1. $1 database
makes_old_tables() {
    local statement
    sql "CREATE DATABASE $1" default
    while IFS= read -r -d ';' statement; do
        sql "$statement" "$1"
    done < "$SOURCE/tests/fleet/fleet_schema_1.sql"
}

tables_of() { sql "SELECT name FROM system.tables WHERE database = '$1' ORDER BY name"; }

# Writes the database's columns to the file. $1 database, $2 file
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
reported "migrating" "has the tables of schema version 3; migrated from version 1"
reported "migrating" "the calls were copied from probity_calls_2"
columns_of probity new.columns
sql 'DROP TABLE probity_calls_2' old
columns_of old old.columns
cmp -s new.columns old.columns || fail "columns: $(diff new.columns old.columns | head -n 5)"
expect "the version" 3 "$(sql 'SELECT max(version) FROM probity_versions' old)"
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

# ---- From version 2, whose calls have other columns

# $1 database. Makes tables of version 2 with the rows of the database "probity".
makes_version_2() {
    local table columns
    sql "CREATE DATABASE $1" default
    probity "tables of $1" 0 ship --to "http://127.0.0.1:$http_port/$1" --init
    sql 'DROP TABLE probity_calls' "$1"
    sql 'CREATE TABLE probity_calls (day Date, run UInt64, block UInt32, function UInt64,
        thread UInt32, depth UInt32, flags UInt8, start_ns UInt64, total_ns UInt64,
        children_ns Int64, off_ns Int64, children_off_ns Int64, paused_ns UInt64,
        paused_cpu_ns UInt64) ENGINE = MergeTree() PARTITION BY day
        ORDER BY (run, function, thread, start_ns)' "$1"
    sql 'DROP TABLE probity_versions' "$1"
    sql 'CREATE TABLE probity_versions ENGINE = ReplacingMergeTree() ORDER BY version AS
        SELECT toUInt32(2) AS version, now() AS made' "$1"
    for table in $(tables_of "$1" | grep -v probity_versions); do
        columns=$(sql "SELECT arrayStringConcat(groupArray(name), ', ') FROM system.columns
            WHERE database = '$1' AND table = '$table' AND default_kind != 'ALIAS'")
        sql "INSERT INTO $table ($columns) SELECT ${columns/schema/toUInt32(2)} FROM
            probity.$table" "$1"
    done
}

calls_of() {
    sql "SELECT run, block, function, thread, depth, flags, start_ns, total_ns, children_ns,
         off_ns, children_off_ns, paused_ns, paused_cpu_ns FROM probity_calls ORDER BY run, thread,
         start_ns, depth, function, total_ns" "$1"
}

# Including times that no trace has: the largest, and differences that are large or negative.
sql "INSERT INTO probity_calls (day, run, block, function, thread, depth, flags, at_ns, since_0,
    since_1, self_0, self_1, self_2, inner_0, inner_1, inner_2, off_0, off_1, inner_off_0,
    inner_off_1, paused_ns, paused_cpu_ns) SELECT toDate('2026-01-01'), 7, 0, 1, number, 0, 1,
    1000000, 255, 255, 255, number, bitShiftRight(toUInt64(-1), 16 + number), 128, 1, number,
    number - 128, 1000 - number * 300, 127 - number, -number * 1000000007, number, number
    FROM (SELECT toInt64(number) AS number FROM system.numbers LIMIT 40)"
calls_of probity > calls.new
makes_version_2 two
two=http://127.0.0.1:$http_port/two
calls_of two > calls.old
cmp -s calls.new calls.old || fail "calls of version 2: $(diff calls.new calls.old | head -n 3)"
rm recursion.shipped
probity "sending to version 2" 1 ship --to "$two" recursion
reported "sending to version 2" "does not have the tables of schema version 3"
probity "migrating from version 2" 0 ship --to "$two" --init
reported "migrating from version 2" "migrated from version 2"
grep -q 'sent before again' errors && fail "from version 2: nothing has to be sent again"
calls_of two > calls.old
cmp -s calls.new calls.old || fail "copied calls: $(diff calls.new calls.old | head -n 3)"
probity "a migrated run" 0 report --from-fleet "$two" --label recursion
probity "sending after version 2" 0 ship --to "$two" --json recursion
expect "sending after version 2: rows" 0 "$(jq '.[0].rows' output)"

# As after an interruption: the table is renamed, some rows are copied, and the version is missing.
sql "ALTER TABLE probity_calls DROP PARTITION '2026-01-01'" two
columns=$(sql "SELECT arrayStringConcat(groupArray(name), ', ') FROM system.columns
    WHERE database = 'two' AND table = 'probity_calls' AND default_kind != 'ALIAS'")
sql "INSERT INTO probity_calls ($columns) SELECT $columns FROM probity.probity_calls
    WHERE run = 7 LIMIT 10" two
sql 'DROP TABLE probity_versions' two
sql 'CREATE TABLE probity_versions ENGINE = ReplacingMergeTree() ORDER BY version AS
    SELECT toUInt32(2) AS version, now() AS made' two
probity "continuing" 0 ship --to "$two" --init
calls_of two > calls.old
cmp -s calls.new calls.old || fail "continued: $(diff calls.new calls.old | head -n 3)"

# ---- What cannot be migrated

# $1 database, $2 statement that changes its tables, $3 the expected message
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
    ORDER BY (run, thread)" "column thread of probity_threads is UInt64, but must be UInt32"
stays keys "CREATE TABLE probity_threads (run UInt64, thread UInt32) ENGINE = MergeTree
    ORDER BY (thread, run)" "sorted by 'thread, run', but must be by 'run, thread'"
stays newer "CREATE TABLE probity_versions ENGINE = MergeTree ORDER BY version AS
    SELECT toUInt32(99) AS version, now() AS made" "schema version 99"
probity "newer tables" 1 ship --to "http://127.0.0.1:$http_port/newer" recursion
reported "newer tables" "schema version 99"
probity "a cluster" 1 ship --to "$old" --init --cluster two
reported "a cluster" "are those of a single server"
finish
