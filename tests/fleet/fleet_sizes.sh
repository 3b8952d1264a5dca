#!/usr/bin/env bash
# The size of rows on the disk of Debian's ClickHouse server, which has no codecs, with
# packaging/clickhouse/probity-compression.xml: at most 4 bytes for a call, block or request.
# timeout: 300
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
mkdir -p server/config.d
cp "$SOURCE/packaging/clickhouse/probity-compression.xml" server/config.d
starts_database
probity "tables" 0 ship --to "$url" --init
{ echo 100000; echo end; } | PROBITY_MODE=block PROBITY_OUT=$WORK/rounds "$PROGRAMS/steady" \
    > /dev/null
"$BUILD/bench/gen_scopes" scopes 2 1 > /dev/null
probity "ship" 0 ship --to "$url" rounds scopes
for table in probity_calls probity_blocks probity_requests; do
    sql "OPTIMIZE TABLE $table FINAL"
    read -r rows bytes < <(sql "SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active
        AND database = 'probity' AND table = '$table'")
    echo "$table: $rows rows, $bytes bytes"
    [ "$rows" -ge 100000 ] || fail "$table: only $rows rows"
    [ "$bytes" -le $((4 * rows)) ] || fail "$table: $bytes bytes for $rows rows"
done
finish
