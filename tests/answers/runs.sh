#!/usr/bin/env bash
# `probity runs`: checks the history against reports on the traces and against SQLite, and
# comparisons by label against those by trace; concurrent processes; full disks, kills, damaged
# files.
# variants: clang asan
# campaign: tsan
DOCUMENT=$(cd "$(dirname "$0")/../../doc" && pwd)/runs.md
. "$(dirname "$0")/../common.bash"
unset PROBITY_PROJECT PROBITY_LABEL
DB=$WORK/.probity/runs.db
VARIED=$PROGRAMS/varied

# $1 description, $2 status; then arguments of runs. Writes "output" and "errors".
runs() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" runs "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# Same as above for diff.
compare() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" diff "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

sql() { sqlite3 "$DB" "$@"; }

contents() { sql .dump; }

# Checks that a change was made completely or not at all. $1 description
sound() {
    expect "$1: integrity" ok "$(sql 'PRAGMA integrity_check')"
    expect "$1: half a run" 0 "$(sql 'SELECT count(*) FROM run WHERE
        (SELECT count(*) FROM environment WHERE run = number) <> 12 OR
        (SELECT count(*) FROM item WHERE run = number) = 0')"
    expect "$1: rows of no run" 0 "$(sql 'SELECT count(*) FROM item WHERE run NOT IN
        (SELECT number FROM run)')"
}

# ---- Where the history is stored ----

runs "without one" 1 list
grep -q "no history of runs in '$WORK' or its parents; create one with .probity runs init." \
    errors ||
    fail "without one: $(cat errors)"
runs "init" 0 init
[ -f "$DB" ] || fail "no file"
runs "init again" 0 init
mkdir -p deep/er other/.hidden
(cd deep/er && "$PROBITY" runs list) > output || fail "not found from a subdirectory"
grep -q '^no runs$' output || fail "not empty: $(cat output)"
runs "no project" 1 list --project other
grep -q "'other' has no history" errors || fail "no project: $(cat errors)"
runs "init elsewhere" 0 init --project other
for i in 1 2 3; do
    PROBITY_LABEL=old PROBITY_OUT=$WORK/old.$i "$VARIED" 0 30
    PROBITY_LABEL=new PROBITY_OUT=$WORK/new.$i "$VARIED" 40 30
    PROBITY_OUT=$WORK/walk.$i "$PROGRAMS/blocks" > /dev/null
    PROBITY_OUT=$WORK/asked.$i "$PROGRAMS/typed" 300 > /dev/null
done
runs "add elsewhere" 0 add --project other old.1
PROBITY_PROJECT=$WORK/other runs "by environment" 0 list --csv
expect "by environment" 2 "$(wc -l < output)"
runs "list" 0 list --csv
expect "the nearest" 1 "$(wc -l < output)"
(cd other && "$PROBITY" runs list --csv) > output
expect "the nearest from there" 2 "$(wc -l < output)"

# The database has the schema of the document.
awk '/^```sql/ { on = 1; next } /^```/ { on = 0 } on' "$DOCUMENT" > schema.sql
sqlite3 documented.db < schema.sql
plain() {
    sqlite3 "$1" "SELECT sql FROM sqlite_master WHERE sql <> '' ORDER BY name" |
        tr -s ' \n' '  ' | sed 's/( /(/g'
}
expect "schema" "$(plain documented.db)" "$(plain "$DB")"
expect "version" "2|1349673588" "$(sql 'PRAGMA user_version; PRAGMA application_id' | paste -sd'|')"

# ---- Contents ----

runs "add" 0 add old.1 new.1 old.2 new.2 old.3 new.3
expect "add: lines" "run 6: new.3 added" "$(tail -n 1 output)"
runs "add with a label" 0 add --label walks walk.?
runs "add requests" 0 add --label asked asked.1
sound "add"
expect "labels" "asked|1 new|3 old|3 walks|3" \
    "$(sql 'SELECT label, count(*) FROM run GROUP BY label ORDER BY label' | paste -sd' ')"
# Prints a line for each function and span, from the reports on the trace. $1 trace
reported() {
    "$PROBITY" report --json "$1" | jq -r '.functions[] | select(.declared) | ["function", .name,
        .calls, .self_ns, .total_ns, .cpu_self_ns, .p50_ns, .p99_ns] | @tsv'
    "$PROBITY" blocks --json "$1" | jq -r '.blocks[] | ["block", .from + " -> " + .to, .calls, "",
        .wall_ns, .cpu_ns, .p50_ns, .p99_ns] | @tsv'
    "$PROBITY" model --json "$1" | jq -r '.requests[] | ["request", .name, .ends, "",
        .response.total_ns, "", .response.p50_ns, .response.p99_ns] | @tsv'
}
for number in 1 2 7 10; do
    trace=$(sql "SELECT path FROM run WHERE number = $number")
    reported "$trace" | sort > expected
    sql -separator $'\t' "SELECT kind, name, cast(calls AS INT), cast(self_ns AS INT),
        cast(total_ns AS INT), cast(cpu_ns AS INT), cast(median_ns AS INT), cast(p99_ns AS INT)
        FROM item WHERE run = $number UNION ALL SELECT 'request', name, cast(requests AS INT),
        NULL, cast(total_ns AS INT), NULL, cast(median_ns AS INT), cast(p99_ns AS INT) FROM request
        WHERE run = $number" | sort > found
    cmp -s expected found || fail "run $number: $(diff expected found | head -n 4)"
    [ "$(wc -l < expected)" -ge 4 ] || fail "run $number: only $(wc -l < expected) rows"
    expect "run $number: requests" "$((number == 10))" "$(grep -c '^request' expected)"
    runs "show" 0 show --json $number
    jq -r '.runs[0].items[] | [.kind, .name, (.calls | round), (.self_ns // "" | if . == "" then .
        else round end), (.total_ns | round), (.cpu_ns // "" | if . == "" then . else round end),
        (.median_ns | round),
        (.p99_ns | round)] | @tsv' output | sort > found
    cmp -s expected found || fail "show $number: $(diff expected found | head -n 4)"
    "$PROBITY" info --json "$trace" > facts
    expect "facts" "$(jq -r '.[0] | [.program.host, .program.kernel, .program.cpu,
        .program.processors, .program.name, .program.build_id, .counts.records, .times.started_ns,
        .complete, .why, .label] | map(tostring) | join("|")' facts)" \
        "$(jq -r '.runs[0] | [.environment.host, .environment.kernel, .environment["CPU model"],
        .environment.processors, .environment.program, .environment["build id"], .records,
        .started_ns, .complete, .why,
        if .label == "walks" or .label == "asked" then null else .label end] |
        map(tostring) | join("|")' output)"
done
runs "list" 0 list
grep -qE '^     1  old    20[0-9-]+ [0-9:]+ +[0-9]+  yes +varied +' output ||
    fail "list: $(cat output)"
runs "list as CSV" 0 list --csv --label old
expect "list as CSV" "1 3 5" "$(sed 1d output | cut -d , -f 1 | paste -sd' ')"
runs "list as JSON" 0 list --json
expect "list as JSON" "$(sql 'SELECT group_concat(number) FROM (SELECT number FROM run
    ORDER BY started_ns)')" "$(jq -r '[.runs[].run] | join(",")' output)"
runs "show of a label as CSV" 0 show --csv @old
expect "show: lines" "$(sql "SELECT count(*) + 1 FROM item JOIN run ON run = number
    WHERE label = 'old'")" "$(wc -l < output)"
runs "show" 0 show 7 @new
expect "show: runs" 4 "$(grep -c '^run ' output)"
! grep -q '^requests' output || fail "requests are unknown: $(grep '^requests' output)"
grep -q '2 (two) -> 1' output || fail "no probe name"
runs "list" 0 list --json --label asked
expect "list: requests" 1 "$(jq '.runs[0].requests' output)"
runs "rm of requests" 0 rm @asked
expect "rm of requests" 0 "$(sql 'SELECT count(*) FROM request')"

# ---- Adding the same run again ----

before=$(sql 'SELECT number, label FROM run ORDER BY number')
runs "again" 0 add old.1
expect "again" "run 1: old.1 updated" "$(cat output)"
cp old.1 copy
runs "a copy with another label" 0 add --label older copy
expect "label and path" "older|$WORK/copy" "$(sql 'SELECT label, path FROM run WHERE number = 1')"
runs "without a label" 0 add walk.1
expect "label is kept" walks "$(sql 'SELECT label FROM run WHERE number = 7')"
runs "back" 0 add --label old old.1
expect "no run more" "$before" "$(sql 'SELECT number, label FROM run ORDER BY number')"
head -c $(($(stat -c %s old.1) * 2 / 3)) old.1 > part
contents > before
runs "a part of it" 3 add part
grep -q "is an incomplete copy of run" errors || fail "part: $(cat errors)"
contents > after
cmp -s before after ||
    fail "an incomplete run replaced a complete one: $(diff before after | head -n 4)"
head -c $(($(stat -c %s old.1) * 2 / 3)) new.1 > part
runs "a part elsewhere" 3 add --project other --label part part
(cd other && "$PROBITY" runs list --json --label part) |
    jq -e '.runs[0].complete == false' > /dev/null ||
        fail "an incomplete run is reported as complete"
runs "whole at last" 0 add --project other new.1
(cd other && "$PROBITY" runs list --json --label part) |
    jq -e '.runs[0].complete' > /dev/null ||
        fail "the complete run did not replace the incomplete one"

# ---- Comparisons ----

for form in --csv --json; do
    compare "traces $form" 0 $form --sort name old.? -- new.?
    mv output traces
    compare "labels $form" 0 $form --sort name @old -- @new
    mv output labels
    compare "mixed $form" 0 $form --sort name old.1 old.2 old.3 -- @new
    cp labels labels$form
    if [ $form = --json ]; then
        for file in traces labels output; do
            jq '{functions, blocks, method, complete: [.base[].complete]}' $file > $file.rows
            mv $file.rows $file
        done
        expect "functions" 5 "$(jq '.functions | length' traces)"
    fi
    cmp -s traces labels || fail "labels $form: $(diff traces labels | head -n 4)"
    cmp -s traces output || fail "mixed $form: $(diff traces output | head -n 4)"
done
compare "in part" 0 --csv @old -- new.1 @walks
compare "blocks" 0 --csv walk.1 walk.2 walk.3 -- old.1
mv output traces
compare "blocks by label" 0 --csv @walks -- old.1
cmp -s traces output || fail "blocks by label"
compare "text" 0 @old -- @new
grep -q "^runs differ in command line: '.* 0 30' in @old, run 1, '.* 40 30' in @new, run 2\$" \
    output || fail "expected a note about the different command line: $(tail -n 4 output)"
compare "twice" 2 @old old.2 -- @new
grep -q "are the same run" errors || fail "same run twice: $(cat errors)"
compare "no such label" 1 @old -- @none
grep -q "no run labeled 'none'" errors || fail "no such label: $(cat errors)"
compare "a time" 2 --from 1ms @old -- @new
cp new.1 @new
compare "a file of this name" 0 --json @old -- ./@new
expect "a file of this name" ./@new "$(jq -r '.new[0].trace' output)"
compare "of another project" 1 --project other @old -- @walks
compare "a part, by label" 0 --project other @old -- @part
runs "part again" 3 add --project other --label broken part
head -c $(($(stat -c %s new.2) / 2)) new.2 > part
runs "a broken one" 3 add --project other --label broken part
compare "a broken one" 3 --project other @old -- @broken
grep -q '^trace: @broken, run 3: INCOMPLETE: ' output || fail "broken: $(tail -n 3 output)"
# Only the END block is missing, so nothing is damaged; records may be missing.
head -c "$(grep -abo PBLK new.3 | tail -n 1 | cut -d: -f1)" new.3 > part
runs "one without its end" 3 add --project other --label endless part
compare "one without its end" 3 --project other @old -- @endless
grep -q '^trace: @endless, run 4: INCOMPLETE: no END block' output ||
    fail "endless: $(tail -n 3 output)"
rm old.? new.? @new
compare "without traces" 0 --csv --sort name @old -- @new
cmp -s labels--csv output || fail "without traces: $(diff labels--csv output | head -n 4)"

# ---- Removing ----

runs "rm" 0 rm 6
expect "rm" "1 run removed" "$(cat output)"
runs "rm of a label" 0 rm @new
expect "rm of a label" "2 runs removed" "$(cat output)"
expect "remaining runs" "1 3 5 7 8 9" \
    "$(sql 'SELECT number FROM run ORDER BY number' | paste -sd' ')"
expect "rows" 0 "$(sql 'SELECT count(*) FROM item WHERE run IN (2, 4, 6)')"
runs "rm of none" 1 rm 6
runs "rm of the last" 0 rm 9
runs "add behind it" 0 add walk.3
expect "numbers are not reused" "run 11: walk.3 added" "$(cat output)"
sound "rm"

# ---- Concurrent processes ----

for i in $(seq 8); do
    PROBITY_OUT=$WORK/many.$i "$VARIED" 0 3
done
adders=()
for i in $(seq 8); do
    "$PROBITY" runs add --label many many.$i > /dev/null 2>> many.errors & adders+=($!)
    "$PROBITY" runs add --label many many.1 > /dev/null 2>> many.errors & adders+=($!)
done
for adder in "${adders[@]}"; do
    wait "$adder" || fail "concurrent add: $(cat many.errors)"
done
expect "several" 8 "$(sql "SELECT count(*) FROM run WHERE label = 'many'")"
sound "several"
runs "rm" 0 rm @many
mkdir fresh
adders=()
for i in $(seq 6); do
    "$PROBITY" runs init --project fresh > /dev/null & adders+=($!)
done
for adder in "${adders[@]}"; do
    wait "$adder" || fail "concurrent init"
done
runs "init by several" 0 list --project fresh

# ---- Full disks, kills: all or nothing ----

# The leak checker does not work in a process that is being traced.
options_before=${ASAN_OPTIONS-}
export ASAN_OPTIONS=detect_leaks=0
if strace -o trace.log -e trace=pwrite64,fdatasync,unlink true 2> /dev/null; then
    # The number of writes depends on how full the pages are, so they are counted for this file.
    cp "$DB" as_it_was
    calls=$(strace -f -e trace=pwrite64 "$PROBITY" runs add --label tried many.1 2>&1 |
        grep -c '^pwrite64')
    [ "$calls" -ge 4 ] || fail "only $calls writes"
    cp as_it_was "$DB"
    contents > before
    for at in $(seq "$calls"); do
        status=0
        strace -o /dev/null -e inject=pwrite64:error=ENOSPC:when="$at+" \
            "$PROBITY" runs add --label tried many.1 > /dev/null 2> errors || status=$?
        [ $status = 1 ] || fail "full disk at $at: status $status"
        expect "full disk at $at: lines" 1 "$(wc -l < errors)"
        grep -q "\(No space left on device\|full\); nothing was changed" errors ||
            fail "full disk at $at: $(cat errors)"
        contents > after
        cmp -s before after || fail "full disk at $at: $(diff before after | head -n 3)"
    done
    for at in $(seq "$calls"); do
        (strace -o /dev/null -e inject=pwrite64:signal=SIGKILL:when="$at" \
            "$PROBITY" runs add --label tried many.1 || true) > /dev/null 2>&1
        sound "killed at $at"
        [ "$(sql "SELECT count(*) FROM run WHERE label <> 'tried'")" = 6 ] || fail "killed at $at"
    done
    runs "added at last" 0 add --label tried many.1
    runs "rm" 0 rm @tried
fi
export ASAN_OPTIONS=$options_before
(
    ulimit -f 16
    "$PROBITY" runs add --label tried walk.* > /dev/null 2> errors
) && fail "file size limit not reached" || true
grep -qE 'history .*(nothing was changed)' errors || fail "file size limit: $(cat errors)"
sound "limit of file size"

# ---- Invalid files ----

cp "$DB" good
# Checks that all commands reject the file with one line and leave it unchanged. $1 description, $2
# part of the message
refused() {
    local sum
    sum=$(cksum < "$DB")
    for command in "list" "show @old" "add many.1" "rm @old"; do
        # shellcheck disable=SC2086
        runs "$1: $command" 1 $command
        expect "$1: $command: lines" 1 "$(wc -l < errors)"
        grep -q "$2" errors || fail "$1: $command: $(cat errors)"
    done
    compare "$1: diff" 1 @old -- many.1
    expect "$1: unchanged" "$sum" "$(cksum < "$DB")"
    cp good "$DB"
}
sql 'PRAGMA user_version = 3'
refused "newer" 'it has version 3, but this Probity supports only versions up to 2'
sql 'PRAGMA user_version = 0'
refused "older" 'it has version 0'
rm "$DB"
sqlite3 "$DB" 'CREATE TABLE run (x)'
refused "another database" 'not a history of runs written by Probity'
head -c 5000 /dev/urandom > "$DB"
refused "no database" 'not a database; restore it'
: > "$DB"
refused "an empty file" 'not a history of runs written by Probity'
head -c 9000 good > "$DB"
refused "cut" 'malformed\|damaged'
rm "$DB"
for command in "list" "add many.1"; do
    # shellcheck disable=SC2086
    runs "no file: $command" 1 $command
    [ ! -e "$DB" ] || fail "made by $command"
done
cp good "$DB"
# Many changed bytes cause at worst an error, never a crash.
pages=$(($(stat -c %s good) / 512))
for i in $(seq 40); do
    cp good "$DB"
    at=$((RANDOM % pages * 512 + 100 + RANDOM % 400))
    printf '\377\001\200' | dd of="$DB" bs=1 seek=$at \
        conv=notrunc status=none
    for command in "list --csv" "show @old" "add many.1"; do
        status=0
        # shellcheck disable=SC2086
        "$PROBITY" runs $command > /dev/null 2> errors || status=$?
        [ $status -le 1 ] || fail "changed bytes: $command: status $status: $(head -n 3 errors)"
    done
done
cp good "$DB"
# In a malicious file, triggers and views could act outside its own rows, so a history may not have
# any.
sql 'CREATE TRIGGER evil AFTER INSERT ON run BEGIN DELETE FROM item; END'
items=$(sql 'SELECT count(*) FROM item')
runs "trigger" 0 add many.1
[ "$(sql 'SELECT count(*) FROM item')" -gt "$items" ] || fail "a trigger was run"
cp good "$DB"

# Computed columns take no space in the file but may take gigabytes in memory.
sql "PRAGMA writable_schema = ON; UPDATE sqlite_master
    SET sql = replace(sql, 'why TEXT NOT NULL', 'why TEXT AS (hex(zeroblob(400000000)))')
    WHERE name = 'run'"
runs "computed values" 1 list
grep -q "its tables are not those of a history" errors || fail "computed values: $(cat errors)"
cp good "$DB"
# A value larger than any run could have is not read.
sql "UPDATE run SET why = zeroblob(5000000) WHERE number = 1"
runs "large value" 1 list
grep -q "too big" errors || fail "large value: $(cat errors)"
cp good "$DB"
# One long label does not make every line long.
sql "UPDATE run SET label = hex(zeroblob(100000)) WHERE number = 1"
runs "long label" 0 list
expect "long label" 1 "$(awk 'length > 400' output | wc -l)"
cp good "$DB"
# A journal that names another file as its super-journal, which SQLite would delete.
echo precious > thesis
name=$WORK/thesis
big_endian() {
    local number
    for number; do printf '%b' "$(printf %08x "$number" | sed 's/../\\x&/g')"; done
}
{
    big_endian 0xd9d505f9 0x20a163d7 0 1 "$(($(stat -c %s "$DB") / 4096))" 512 4096
    head -c 484 /dev/zero
    big_endian $((0x40000000 / 4096 + 1))
    printf %s "$name"
    sum=$(printf %s "$name" | od -An -v -tu1 -w1 | awk '{ sum += $1 } END { print sum }')
    big_endian ${#name} "$sum"
    big_endian 0xd9d505f9 0x20a163d7
} > "$DB-journal"
runs "journal that names a file" 1 list
grep -q "database disk image is malformed" errors || fail "journal: $(cat errors)"
expect "the file that a journal names" precious "$(cat thesis)"
runs "without that journal" 0 list

if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
    chmod a+rx "$WORK"
    chmod 555 .probity
    chmod 444 "$DB" many.1
    as_other() { setpriv --reuid=65534 --regid=65534 --clear-groups "$PROBITY" "$@"; }
    if as_other --version > /dev/null 2>&1; then
        as_other runs list --project . > output || fail "read-only: list"
        as_other runs add --project . many.1 > output 2> errors && fail "read-only: add"
        grep -q "history .*readonly\|Permission denied" errors || fail "read-only: $(cat errors)"
        cmp -s good "$DB" || fail "read-only: changed"
    fi
    chmod 755 .probity
    chmod 644 "$DB"
fi

# ---- Every kind of trace ----

PROBITY_OUT=$WORK/hello "$BUILD/examples/hello" > /dev/null
PROBITY_PROFILE=1 PROBITY_OUT=$WORK/profiled "$VARIED" 0 30
runs "kinds" 0 add --label kinds hello profiled
compare "profiled" 0 --csv @kinds -- profiled
mv output labels
compare "profiled" 0 --csv hello profiled -- profiled
cmp -s labels output || fail "profiled: $(diff labels output | head -n 3)"
compare "profiled" 0 @kinds -- profiled
grep -q 'median and p99 of [0-9]* of [0-9]* are accurate to ' output ||
    fail "expected a note about the error of percentiles"
truncate -s 4096 truth
PROBITY_OUT=$WORK/killed "$PROGRAMS/victim" truth 1 0 100000 > /dev/null 2>&1 & victim=$!
until [ -s killed ] && "$PROBITY" info killed 2> /dev/null | grep -q '^hits  *[1-9]'; do
    is_running "$victim" || { fail "no victim"; break; }
done
runs "live" 0 add --label alive killed
why="SELECT why FROM run WHERE label = 'alive'"
expect "live" "still recording; complete up to now" "$(sql "$why")"
records=$(sql "SELECT records FROM run WHERE label = 'alive'")
signal_job KILL "$victim" || fail "the victim has ended early"
wait "$victim" 2> /dev/null || true
runs "killed" 0 add killed
expect "killed" "the program died; the last records were read from its spool" \
    "$(sql "$why")"
[ "$(sql "SELECT records FROM run WHERE label = 'alive'")" -ge "$records" ] ||
    fail "killed: records"
runs "no trace" 1 add killed none
printf 'label,"\033[31m' > wild
runs "wild label" 0 add --label "$(cat wild)" many.2
runs "wild label" 0 list
! grep -q $'\033' output || fail "a label is not escaped"
runs "wild label" 0 list --json --label "$(cat wild)"
expect "wild label" "$(cat wild)" "$(jq -r '.runs[0].label' output)"
compare "wild label" 0 "@$(cat wild)" -- many.1
! grep -q $'\033' output || fail "diff: a label is not escaped"

# ---- Output formats and usage errors ----

runs "file" 0 list -o table
[ -s table ] || fail "no list in its file"
runs "file that exists" 1 list -o table
runs "file, replaced" 0 list -f -o table
status=0
"$PROBITY" runs list > /dev/full 2> errors || status=$?
expect "full disk: status" 1 "$status"
for wrong in "" "none" "list 1" "show" "show x" "show 0" "show -1" "rm" "rm none" "add" "init x" \
    "list --nothing" "add --label"; do
    # shellcheck disable=SC2086
    runs "wrong: $wrong" 2 $wrong
done
runs "empty label" 2 add --label '' many.1
finish
