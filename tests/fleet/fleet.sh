#!/usr/bin/env bash
# `probity ship`, `fleet` and `report --from-fleet` with a ClickHouse server on loopback: reports
# are the same as from the traces; each row arrives once, whichever side is killed; hostile names,
# damaged ledgers and wrong passwords. KILLS: number of kills of the sender and of the server.
# variants: asan
# timeout: 900
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
need_clickhouse
kills=${KILLS:-12}

starts_database

# The parts that must be equal: everything except elapsed time, the cost of recording, and
# signatures, which come from debugging information here.
same_part='def known: del(.elapsed_ns, .parallelism, .total_corrected_ns, .total_error_ns,
    .self_corrected_ns, .self_error_ns, .signature);
  {repairs, traces: [.traces[] | del(.trace, .states)] | sort_by(.pid),
   functions: [.functions[] | known |
     if .threads then .threads |= (map(known) | sort_by(.pid, .thread)) else . end] |
     sort_by(.name, .file, .line)}'

# $1 description, $2 label, "" for all; $3 traces, then options of report
same_report() {
    local what=$1 label=$2 traces=$3
    shift 3
    # shellcheck disable=SC2086
    "$PROBITY" report --json "$@" $traces 2> /dev/null | jq -S "$same_part" > from.file
    "$PROBITY" report --json --from-fleet "$url" ${label:+--label "$label"} "$@" 2> errors |
        jq -S "$same_part" > from.fleet || true
    [ "$(jq '.functions | length' from.file)" -gt 0 ] || fail "$what: no function in the trace"
    cmp -s from.file from.fleet ||
        fail "$what: $(cat errors) $(diff from.file from.fleet | head -n 10)"
}

# ---- Tables, and errors before there are any

probity "not a database" 2 ship --to "ftp://a/b" trace
probity "a password in the URL" 2 ship --to "http://user:s3cret!@127.0.0.1:$http_port/probity" trace
grep -q 's3cret' errors && fail "a password is printed: $(cat errors)"
probity "an invalid name" 2 ship --to "http://127.0.0.1:$http_port/a;b" trace
probity "no database" 2 ship trace
reported "no database" "PROBITY_FLEET is not set"
probity "options without a database" 2 report --host a trace
probity "nobody listens" 1 ship --to "http://127.0.0.1:1/probity" --init
reported "nobody listens" "127.0.0.1:1/probity"

PROBITY_OUT=$WORK/tree "$PROGRAMS/tree"
probity "no tables" 1 ship --to "$url" --retry 0 tree
reported "no tables" "probity_"
for command in report fleet tree list blocks threads "runs list" "hist x" "fleet --request 5"; do
    # shellcheck disable=SC2086
    probity "$command without tables" 1 $command --from-fleet "$url"
    reported "$command without tables" '`probity ship --init` creates them'
done
probity "no such database" 1 report --from-fleet "http://127.0.0.1:$http_port/nowhere"
reported "no such database" "create it first"
probity "no such host" 1 report --from-fleet "http://no-such-host.invalid/probity"
reported "no such host" "no-such-host.invalid"
[ ! -e tree.shipped ] || [ ! -s tree.shipped ] || fail "a ledger without a block"
probity schema 0 ship --print-schema
columns=$(grep -c COMMENT output)
sed -n '/^```sql$/,/^```$/p' "$SOURCE/doc/fleet.md" | grep -v '^```' | cmp -s - output ||
    fail "the statements in doc/fleet.md differ from those of --print-schema"
grep -q 'CODEC(Delta' output || fail "no codec"
probity "making tables" 0 ship --to "$url" --init
probity "making them again" 0 ship --to "$url" --init
expect "columns of the server" "$columns" \
    "$(sql "SELECT count() FROM system.columns WHERE database = 'probity' AND comment != ''")"

probity "no password" 1 ship --to "http://closed@127.0.0.1:$http_port/probity" tree
reported "no password" "PROBITY_FLEET_PASSWORD or --password-file"
PROBITY_FLEET_PASSWORD=wr0ng probity "wrong password" 1 report \
    --from-fleet "http://closed@127.0.0.1:$http_port/probity"
reported "wrong password" "PROBITY_FLEET_PASSWORD or --password-file"
grep -q wr0ng errors && fail "a password is printed: $(cat errors)"
echo 's3cret!' > password
probity "password from a file" 0 ship --to "http://closed@127.0.0.1:$http_port/probity" \
    --password-file password --detail summary tree
PROBITY_FLEET_PASSWORD='s3cret!' probity "password from the environment" 0 fleet \
    --from-fleet "http://closed@127.0.0.1:$http_port/probity"

# ---- The same report

record recursion "$PROGRAMS/tree"
record killed "$PROGRAMS/tree" kill
record several "$PROGRAMS/parallel"
record names "$PROGRAMS/odd_names"
record varied "$PROGRAMS/varied" 0 400
PROBITY_PROFILE=1 record profiled "$PROGRAMS/varied" 0 20
for label in recursion killed several names varied profiled; do
    probity "ship $label" 0 ship --to "$url" --json "$label"
    [ "$(jq '.[0].rows' output)" -gt 0 ] || fail "$label: no row"
    same_report "$label" "$label" "$label"
    same_report "$label, by thread" "$label" "$label" --by-thread
    probity "$label again" 0 ship --to "$url" --json "$label"
    expect "$label again: rows" 0 "$(jq '.[0].rows' output)"
    rm -f "$label.shipped"
    probity "$label without its ledger" 0 ship --to "$url" --json "$label"
    expect "$label without its ledger: rows" 0 "$(jq '.[0].rows' output)"
done
same_report "a range" varied varied --since 20% --until 80%
same_report "a range of threads" varied varied --since 50% --by-thread
same_report "a range of recursion" recursion recursion --since 20%
probity "a recovered trace" 0 recover killed
probity "shipped again" 0 ship --to "$url" killed
same_report "a recovered trace" killed killed

# Several runs, in a separate database.
sql 'CREATE DATABASE several' default
all_url=$url
url=http://127.0.0.1:$http_port/several
probity "several" 0 ship --to "$url" --init recursion several varied
# Each trace is read with its own clock: traces read together would share one, and times would
# differ by some ns.
for label in recursion several varied; do
    "$PROBITY" report --json "$label"
done 2> /dev/null | jq -S -s '[.[].functions[]] | group_by(.name, .file, .line) |
    map({name: .[0].name, calls: map(.calls) | add, self_ns: map(.self_ns) | add,
         total_ns: map(.total_ns) | add, min_ns: map(.min_ns) | min, max_ns: map(.max_ns) | max})' \
    > from.file
probity "several runs" 0 report --json --from-fleet "$url"
jq -S '[.functions | sort_by(.name, .file, .line)[] |
    {name, calls, self_ns, total_ns, min_ns, max_ns}]' output > from.fleet
cmp -s from.file from.fleet || fail "several runs: $(diff from.file from.fleet | head -n 10)"
probity "the list" 0 fleet --from-fleet "$url" --json
expect "runs" 3 "$(jq '.runs | length' output)"
expect "rows" "$(sql 'SELECT count() FROM probity_calls' several)" \
    "$(jq '.tables.probity_calls.rows' output)"
expect "rows of the runs" "$(jq '.tables.probity_calls.rows' output)" \
    "$(jq '[.runs[].calls_rows] | add' output)"
url=$all_url

# ---- Hostile texts

odd="it's \\ \"odd\"; DROP TABLE probity_calls"$'\n'"--"
PROBITY_LABEL=$odd PROBITY_OUT=$WORK/odd "$PROGRAMS/tree"
probity "an odd label" 0 ship --to "$url" odd
same_report "an odd label" "$odd" odd
probity "a label that nobody has" 1 report --from-fleet "$url" --label "' OR 1 = 1 --"
reported "a label that nobody has" "no such runs"
probity "its statements" 0 report --from-fleet "$url" --label "$odd" --sql
grep -q "DROP TABLE probity_calls'" output && fail "a label is pasted: $(cat output)"
grep -qF "label = 'it\\x27s \\x5c \\x22odd\\x22\\x3b DROP" output || fail "$(cat output)"

# ---- Summaries, and what they lack

record brief "$PROGRAMS/varied" 0 20
probity "a summary" 0 ship --to "$url" --detail summary brief
same_report "a summary" brief brief
probity "a part of a summary" 1 report --from-fleet "$url" --label brief --since 50%
reported "a part of a summary" "whole minutes"
probity "more detail" 0 ship --to "$url" brief
same_report "a part" brief brief --since 50%
for option in --states --corrected "--tid 1" "--suggest 5"; do
    # shellcheck disable=SC2086
    probity "$option" 2 report --from-fleet "$url" $option
done

# ---- The ledger

record changed "$PROGRAMS/varied" 0 20
probity "before the change" 0 ship --to "$url" --detail summary changed
sed -i 's/ [0-9a-f]*$/ 00000000/' changed.shipped
probity "a changed trace" 1 ship --to "$url" changed
reported "a changed trace" "has changed since"
ln -sf /etc/passwd linked.shipped
cp several linked
probity "a ledger that is a link" 0 ship --to "$url" linked
reported "a ledger that is a link" "cannot write 'linked.shipped'"
(
    flock -n 9
    probity "a second sender" 1 ship --to "$url" several
    reported "a second sender" "another process"
    exit "$failures"
) 9>> several.shipped || failures=$((failures + 1))

# ---- Kills of the sender

# The server has each call of the latest trace once.
all_there() {
    "$PROBITY" ship --to "$url" --block-rows 2000 --json "$1" > output 2> errors ||
        fail "$1: after $killed kills: $(cat errors)"
    expect "$1: rows" "$("$PROBITY" report --json "$1" | jq '[.functions[].calls] | add')" \
        "$(sql "SELECT count() FROM probity_calls WHERE run =
                reinterpretAsUInt64(reverse(unhex('$(jq -r '.[0].run' output)')))")"
    same_report "$1 after $killed kills" "$1" "$1"
    rm -f "$1" "$1.shipped"
}

# On a busy machine, nothing may be sent within 320 ms: then the longest time is doubled.
longest=300 lines=0 idle=0 killed=0 traces=0 status=0
while ((killed < kills)); do
    if [ "$status" = 0 ]; then
        [ "$traces" = 0 ] || all_there "kills$traces"
        traces=$((traces + 1))
        PROBITY_LABEL=kills$traces "$BUILD/bench/gen_scopes" "kills$traces" 2 1 > /dev/null
    fi
    status=0
    delay=$((RANDOM % longest + 20))
    { timeout -s KILL "$((delay / 1000)).$(printf %03d $((delay % 1000)))" \
        "$PROBITY" ship --to "$url" --block-rows 2000 "kills$traces" > output 2> errors; } \
        2> /dev/null || status=$?
    case $status in
        0) longest=300 ;;
        137)
            killed=$((killed + 1)) before=$lines
            lines=$(wc -l 2> /dev/null < "kills$traces.shipped" || echo 0)
            idle=$((lines == before ? idle + 1 : 0))
            ((idle < 3)) || longest=$((longest * 2)) idle=0
            ;;
        1) grep -q 'another process' errors || { fail "killed: $(cat errors)"; break; } ;; # dying
        *) fail "killed $killed times: status $status: $(cat errors)"; break ;;
    esac
    if [ "$killed" = 3 ] && [ "$status" = 137 ] && [ -s "kills$traces.shipped" ]; then
        probity "a part" 3 report --from-fleet "$url" --label "kills$traces"
        grep -q 'INCOMPLETE: not all of it was sent' output || fail "a part: $(cat output)"
    fi
done
all_there "kills$traces"
sent=$traces

# ---- Kills of the server

crashes=0 traces=0
while ((traces == 0 || crashes < kills / 4)) && ((failures == 0)); do
    traces=$((traces + 1)) before=$crashes
    name=crashes$traces
    PROBITY_LABEL=$name "$BUILD/bench/gen_scopes" "$name" 2 1 > /dev/null
    "$PROBITY" ship --to "$url" --block-rows 2000 "$name" > shipped.out 2> shipped.err &
    sender=$!
    while ((crashes < kills / 4)) && is_running "$sender"; do
        wait_until "$sender" has_lines "$name.shipped" $((20 * (crashes - before) + 15)) || break
        stop_server KILL
        crashes=$((crashes + 1))
        start_server
    done
    wait "$sender" || fail "the sender did not survive: $(cat shipped.err)"
    [ "$crashes" -gt "$before" ] || fail "$name: the server was never killed"
    same_report "after $crashes kills of the server" "$name" "$name"
    calls=$("$PROBITY" report --json "$name" | jq '[.functions[].calls] | add')
    mine="run IN (SELECT run FROM probity_runs WHERE label = '$name')"
    expect "$name: rows after $crashes kills of the server" "$calls" \
        "$(sql "SELECT count() FROM probity_calls WHERE $mine")"
    expect "$name: rows of the run" "$calls" "$(sql "SELECT calls_rows FROM probity_runs
        WHERE label = '$name' AND finished = 1 ORDER BY version DESC LIMIT 1")"
    rm -f "$name" "$name.shipped"
done
echo "killed: the sender $killed times during $sent traces, the server $crashes times"

# ---- Memory

if [ "${VARIANT:-gcc}" = gcc ]; then
    "$BUILD/bench/gen_scopes" large 2 4 > /dev/null
    sql 'CREATE DATABASE memory' default
    used=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
        "$PROBITY" ship --to "http://127.0.0.1:$http_port/memory" --init large 2> errors)
    [ "${used:-999999}" -le 65536 ] || fail "memory: $used KiB $(cat errors)"
fi

finish
