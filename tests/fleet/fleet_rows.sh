#!/usr/bin/env bash
# What `probity ship` sends in addition to calls, with a ClickHouse server on loopback: blocks and
# requests are those of the traces, and the traces can be restored byte by byte; running programs
# are followed, no matter which process is killed.
# variants: asan
# timeout: 900
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
. "$SOURCE/tests/fleet/living.bash"
starts_database
"$PROBITY" ship --to "$url" --init 2> /dev/null

# The run of a trace, as a number for SQL.
run_of() {
    "$PROBITY" ship --to "$url" --json "$1" 2> /dev/null | jq -r '.[0].run' > run
    echo "reinterpretAsUInt64(reverse(unhex('$(cat run)')))"
}

# ---- Blocks and requests

# Replaces the numbers of probes with their names. $1 a run; standard input: FROM TO ...
with_names() {
    sql "SELECT probe, if(site, name, toString(number)) FROM probity_probes WHERE run = $1
         ORDER BY version FORMAT TSV" > probes
    awk -F'\t' 'NR == FNR { name[$1] = $2; next }
        { $1 = name[$1] " -> " name[$2]; $2 = ""; print }' probes - | sed 's/  */ /g' | sort
}

# $1 description, $2 the trace, $3 columns of a table as sums by pair, $4 the table; then options of
# `probity blocks`.
same_blocks() {
    local what=$1 trace=$2 columns=$3 table=$4 run
    shift 4
    run=$(run_of "$trace")
    "$PROBITY" blocks --json "$@" "$trace" 2> /dev/null | jq -r '.blocks[] |
        "\(.from) -> \(.to) \(.calls) \(.wall_ns) \(.cpu_ns // 0) \(.min_ns) \(.max_ns)"' |
        sort > from.file
    sql "SELECT $columns FROM $table WHERE run = $run AND from_probe != 0
         GROUP BY from_probe, to_probe FORMAT TSV" | with_names "$run" > from.fleet
    [ -s from.file ] || fail "$what: no block in the trace"
    cmp -s from.file from.fleet || fail "$what: $(diff from.file from.fleet | head -n 10)"
}

by_minute='from_probe, to_probe, sum(spans), sum(wall_ns), sum(cpu_ns), min(min_ns), max(max_ns)'
by_span='from_probe, to_probe, count(), sum(wall_ns), sum(if(flags % 2, wall_ns - off_ns, 0)),
         min(wall_ns), max(wall_ns)'
by_request='from_probe, probe AS to_probe, count(), sum(wall_ns),
            sum(if(flags % 2, wall_ns - off_ns, 0)), min(wall_ns), max(wall_ns)'
PROBITY_OUT=$WORK/typed "$PROGRAMS/typed" > /dev/null
PROBITY_OUT=$WORK/blocks "$PROGRAMS/blocks" > /dev/null
echo 3000 | PROBITY_OUT=$WORK/rounds "$PROGRAMS/steady" > /dev/null
for trace in typed blocks rounds; do
    probity "ship $trace" 0 ship --to "$url" --block-rows 500 "$trace"
    same_blocks "$trace: sums" "$trace" "$by_minute" probity_block_minutes
    same_blocks "$trace: spans" "$trace" "$by_span" probity_blocks
done
same_blocks "requests" rounds "$by_request" probity_requests --by correlation
expect "the story of a request" "begin half end" "$(sql "SELECT
    arrayStringConcat(groupArray(name), ' ') FROM (SELECT transform(role, [6, 7], ['begin', 'end'],
    'half') AS name FROM probity_requests WHERE id = 77 AND run = $(run_of rounds)
    ORDER BY at_ns)" | tr -d '\n')"

# ---- Bytes

probity "no records yet" 1 fetch --from-fleet "$url" "$(run_of rounds > /dev/null; cat run)" -o back
reported "no records yet" "without its records"
echo 3000 | PROBITY_OUT=$WORK/damaged "$PROGRAMS/steady" > /dev/null
printf 'damage' | dd of=damaged bs=1 seek=3000 conv=notrunc 2> /dev/null
for trace in typed blocks damaged; do
    probity "records of $trace" "$([ $trace = damaged ] && echo 3 || echo 0)" \
        ship --to "$url" --detail records --json "$trace"
    probity "fetch $trace" 0 fetch --from-fleet "$url" "$(jq -r '.[0].run' output)" -o back
    cmp -s "$trace" back || fail "fetch $trace: other bytes"
    "$PROBITY" csv "$trace" > from.file 2> /dev/null || true
    "$PROBITY" csv back > from.fleet 2> /dev/null || true
    cmp -s from.file from.fleet || fail "fetch $trace: other events"
    [ -s from.file ] || fail "fetch $trace: no events"
    rm back
done
cp typed back
run_of typed > number
probity "an existing file" 1 fetch --from-fleet "$url" "$(cat run)" -o back
probity "not a run" 2 fetch --from-fleet "$url" xyz -o other
probity "a run that is not there" 1 fetch --from-fleet "$url" 0123456789abcdef -o other
[ ! -e other ] || fail "a run that is not there: a file"
sql "INSERT INTO probity_records SELECT day, run, block + 1, place + 1, type, thread, records, bytes
     FROM probity_records WHERE run = $(run_of typed) AND place = 0"
probity "bytes that do not fit" 0 fetch --from-fleet "$url" "$(cat run)" -f -o back
sql 'CREATE DATABASE gap' default
probity "a gap" 0 ship --to "http://127.0.0.1:$http_port/gap" --init --detail records typed
sql 'CREATE TABLE copy AS probity_records ENGINE = Memory' gap
sql 'INSERT INTO copy SELECT * FROM probity_records WHERE place != 16' gap
sql 'DROP TABLE probity_records' gap
sql 'CREATE TABLE probity_records AS copy ENGINE = Memory' gap
sql 'INSERT INTO probity_records SELECT * FROM copy' gap
probity "a gap" 1 fetch --from-fleet "http://127.0.0.1:$http_port/gap" "$(cat run)" -o gap
reported "a gap" "has no bytes from 16"
[ ! -e gap ] || fail "a gap: a file was left"
PROBITY_OUT=$WORK/victim "$PROGRAMS/killed_after" 100 || true
probity "records of a killed program" 1 ship --to "$url" --detail records victim
reported "records of a killed program" "recover"
probity "recover" 0 recover victim
probity "records of a recovered one" 0 ship --to "$url" --detail records victim

# ---- Ledgers

probity "blocks of 100" 0 ship --to "http://127.0.0.1:$http_port/gap" --block-rows 100 blocks
sql 'DROP DATABASE gap' default
sql 'CREATE DATABASE gap' default
probity "blocks of another size" 0 ship --to "http://127.0.0.1:$http_port/gap" --init \
    --block-rows 70 blocks
reported "blocks of another size" "no longer had"
expect "rows after that" "$("$PROBITY" blocks --json blocks | jq '[.blocks[].calls] | add')" \
    "$(sql 'SELECT count() FROM probity_blocks' gap)"
run_of blocks > number
{
    echo "$url $(cat run) probity_blocks 4294967295 1 00000000"
    echo "$url $(cat run) probity_blocks -1 1 00000000"
    head -c 20000000 /dev/zero | tr '\0' 'x'
    echo
    echo "$url $(cat run) probity_blocks 0 99999999999999999999999 00000000"
    printf '%s' "$url $(cat run) probity_blo"
} > blocks.shipped
used=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
    "$PROBITY" ship --to "$url" blocks 2> errors) || fail "a hostile ledger: $(cat errors)"
[ "${VARIANT:-gcc}" = asan ] || [ "${used:-999999}" -le 65536 ] ||
    fail "a hostile ledger: $used KiB"

# ---- Running programs

starts_steady living
does_rounds 500 500
"$PROBITY" ship --to "$url" --flush 1 "$WORK/living" > shipped.out 2> shipped.err &
sender=$!
does_rounds 1000 1500
wait_until "$sender" has_calls 500 living || fail "living: $(cat shipped.err)"
is_running "$program" || fail "living: the program has ended"
reports_lag() {
    "$PROBITY" fleet --from-fleet "$url" --label living > output 2> errors || true
    grep -q 'INCOMPLETE: .*; sent up to 20.*, [0-9]* s ago$' output
}
wait_until "$sender" reports_lag || fail "living: not reported: $(cat output)"
"$PROBITY" fleet --json --from-fleet "$url" --label living > output 2> errors || true
expect "living: the lag in JSON" true \
    "$(jq '.runs[0] | .lag_ns > 0 and .sent_ns > .started_ns' output)"
kill -s KILL "$sender"
wait "$sender" 2> /dev/null || true
does_rounds 2500 4000
"$PROBITY" ship --to "$url" --flush 1 "$WORK/living" > shipped.out 2> shipped.err &
sender=$!
wait_until "$sender" has_calls 1500 living || fail "living again: $(cat shipped.err)"
does_rounds 1000 5000
echo end >&3
exec 3>&-
wait "$program" || fail "living: status $?"
wait "$sender" || fail "living: $(cat shipped.err)"
all_calls living 5000
probity "living, ended" 0 ship --to "$url" --json living
expect "living, ended: rows" 0 "$(jq '.[0].rows' output)"
probity "living, ended: the list" 0 fleet --json --from-fleet "$url" --label living
expect "living, ended: no lag" 0 "$(jq '.runs[0].lag_ns' output)"

# ---- A directory

mkdir watched
cp blocks watched
echo "not a trace" > watched/notes
"$PROBITY" ship --to "$url" --flush 1 --watch watched > watch.out 2> watch.err &
watcher=$!
starts_steady watched/living2
does_rounds 700 700
wait_until "$watcher" has_calls 300 watched/living2 || fail "watching: $(cat watch.err)"
kill -s KILL "$watcher"
wait "$watcher" 2> /dev/null || true
does_rounds 700 1400
stop_server KILL
"$PROBITY" ship --to "$url" --flush 1 --watch watched > watch.out 2> watch.err &
watcher=$!
does_rounds 600 2000
start_server
wait_until "$watcher" has_calls 1000 watched/living2 || fail "watching again: $(cat watch.err)"
echo kill >&3
wait "$program" 2> /dev/null || true
exec 3>&-
wait_until "$watcher" is_finished watched/living2 || fail "the killed one: $(cat watch.err)"
all_calls watched/living2 2000
kill -s KILL "$watcher"
wait "$watcher" 2> /dev/null || true
probity "once" 0 ship --to "$url" --watch watched --once
expect "sent again" 0 "$(grep -c 'rows in [1-9]' output)"
"$BUILD/bench/gen_scopes" watched/large 2 1 > /dev/null
"$PROBITY" ship --to "$url" --watch watched --disk-limit 1 > watch.out 2> watch.err &
watcher=$!
is_gone() { [ ! -e "$1" ]; }
wait_until "$watcher" is_gone watched/large || fail "disk limit: $(cat watch.err)"
kill -s KILL "$watcher"
wait "$watcher" 2> /dev/null || true
[ -e watched/notes ] || fail "disk limit: removed what is not a trace"
probity "no directory" 1 ship --to "$url" --watch nowhere
probity "a trace and a directory" 2 ship --to "$url" --watch watched typed
probity "no directory to limit" 2 ship --to "$url" --disk-limit 5 typed
finish
