#!/usr/bin/env bash
# A history of version 1 (runs_1.sql): commands that read it do not change it. The first command
# that changes it converts it, completely or not at all: if the disk is full, if the command is
# killed, or if several processes do so at once. The requests of its runs are unknown, not none.
# variants: clang asan
. "$(dirname "$0")/../common.bash"
unset PROBITY_PROJECT PROBITY_LABEL
DB=$WORK/.probity/runs.db
GOLDEN=$SOURCE/tests/golden

# $1 description, $2 status; then a command of the tool. Writes "output" and "errors".
run() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

sql() { sqlite3 "$DB" "$@"; }

version() { sql 'PRAGMA user_version'; }

# Prints the rows that both versions have.
old_rows() {
    sql 'SELECT number, hex(session), label, path, added_ns, started_ns, records, complete,
        damaged, why FROM run; SELECT * FROM environment; SELECT * FROM item ORDER BY rowid'
}

# Makes a history of version 1.
older() {
    rm -rf .probity
    mkdir .probity
    sqlite3 "$DB" < "$SOURCE/tests/answers/runs_1.sql"
}

tables() { sql "SELECT sql FROM sqlite_master WHERE sql <> '' ORDER BY name" | tr -s ' '; }

older
cp "$DB" old.db
old_rows > old.rows
[ "$(wc -l < old.rows)" -gt 40 ] || fail "only $(wc -l < old.rows) rows"

# ---- Reading ----

run "list" 0 runs list --json
expect "list" '[[1,0,11,null],[2,7,8,null]]' \
    "$(jq -c '[.runs[] | [.run, .functions, .blocks, .requests]]' output)"
run "show" 0 runs show 1
grep -q '^requests  *unknown: the run was stored without them$' output ||
    fail "show: $(head -n 20 output)"
cp "$GOLDEN/good/with_ids.probity" trace
run "diff" 0 diff @old -- trace
grep -q '^requests are not compared: 1 of 2 runs was stored without them (@old, run 1)$' output ||
    fail "diff: $(tail -n 4 output)"
run "both sides" 0 diff @old -- @older
! grep 'requests' output || fail "both sides: $(tail -n 4 output)"
run "both sides, requests" 1 diff --request '*' @old -- @older
grep -q 'not compared: 2 of 2 runs were stored without them (the first: @old, run 1)$' errors ||
    fail "both sides, requests: $(cat errors)"
run "only blocks" 0 diff --block '*' @old -- trace
! grep 'requests' output || fail "only blocks: $(tail -n 4 output)"
run "diff as JSON" 0 diff --json @old -- trace
expect "diff as JSON" "1 1 0" "$(jq -r '"\(.method.runs_without_requests) \(
    .method.requests_left_out) \(.requests | length)"' output)"
run "diff as CSV" 0 diff --csv @old -- trace
grep -q 'requests are not compared: 1 of 2 runs was' errors || fail "diff as CSV: $(cat errors)"
cmp -s "$DB" old.db || fail "reading has changed the file"

# ---- The first change ----

# Checks that the history was converted and has its rows. $1 description
converted() {
    expect "$1: version" 2 "$(version)"
    expect "$1: integrity" ok "$(sql 'PRAGMA integrity_check')"
    expect "$1: tables" "$(cat made.tables)" "$(tables)"
    expect "$1: requests" "0 0" "$(sql 'SELECT (SELECT max(requests) FROM run), (SELECT count(*)
        FROM request)' | tr '|' ' ')"
    old_rows > rows
    cmp -s old.rows rows || fail "$1: $(diff old.rows rows | head -n 4)"
}

mkdir made
run "init elsewhere" 0 runs init --project made
sqlite3 made/.probity/runs.db "SELECT sql FROM sqlite_master WHERE sql <> '' ORDER BY name" |
    tr -s ' ' > made.tables
run "init" 0 runs init
grep -q 'converted to version 2, which earlier versions of Probity cannot read' errors ||
    fail "init: $(cat errors)"
expect "init: lines" 1 "$(wc -l < errors)"
converted "init"
run "init again" 0 runs init
expect "init again" "" "$(cat errors)"
run "diff, converted" 0 diff @old -- trace
grep -q '^requests are not compared: 1 of 2 runs was stored without them (@old, run 1)$' output ||
    fail "diff, converted: $(tail -n 4 output)"
run "rm" 0 runs rm 2
older
run "rm" 0 runs rm 2
expect "rm" "1 1" "$(version) $(sql 'SELECT count(*) FROM run')"
older
sum=$(cksum < "$DB")
run "rm of no run" 1 runs rm 99
run "add of no trace" 1 runs add nothing
expect "failed commands: the history" "$sum" "$(cksum < "$DB")"

# Adding the trace again stores its requests.
older
run "add" 0 runs add trace
grep -q 'converted to version 2' errors || fail "add: $(cat errors)"
expect "add" "run 1: trace updated" "$(cat output)"
expect "add: requests" "0|0|1" "$(sql 'SELECT name, site,
    cast(requests AS INT) FROM request WHERE run = 1')"
expect "known" "1 0" "$(sql 'SELECT requests FROM run ORDER BY number' | paste -sd ' ')"
run "list" 0 runs list --csv
expect "list" "requests 1 " "$(cut -d , -f 10 output | paste -sd ' ')"
run "diff" 0 diff --csv @old -- trace
expect "diff" 5 "$(grep -c '^0,.*,request$' output)"
run "older" 0 diff @older -- trace
grep -q '^requests are not compared: 1 of 2 runs was stored without them (@older, run 2)$' output ||
    fail "older: $(tail -n 4 output)"

# ---- Versions that are not supported ----

sql 'PRAGMA user_version = 3'
sum=$(cksum < "$DB")
for command in "runs list" "runs add trace" "runs init" "diff @old -- trace"; do
    # shellcheck disable=SC2086
    run "newer: $command" 1 $command
    grep -q 'it has version 3, but this Probity supports only versions up to 2' errors ||
        fail "newer: $command: $(cat errors)"
done
expect "newer: unchanged" "$sum" "$(cksum < "$DB")"

# ---- All or nothing ----

# Checks that the history is either unchanged or converted. $1 description
whole() {
    case $(version) in
        1)
            expect "$1: integrity" ok "$(sql 'PRAGMA integrity_check')"
            old_rows > rows
            cmp -s old.rows rows || fail "$1: $(diff old.rows rows | head -n 4)"
            expect "$1: half of it" 0 "$(sql "SELECT count(*) FROM sqlite_master WHERE
                name LIKE 'request%' OR sql LIKE '%requests%'")"
            ;;
        *) converted "$1" ;;
    esac
}

# The leak checker does not work in a process that is being traced.
options_before=${ASAN_OPTIONS-}
export ASAN_OPTIONS=detect_leaks=0
if strace -o trace.log -e trace=pwrite64,fdatasync,unlink true 2> /dev/null; then
    older
    calls=$(strace -f -e trace=pwrite64 "$PROBITY" runs init 2>&1 | grep -c '^pwrite64')
    [ "$calls" -ge 4 ] || fail "only $calls writes"
    for at in $(seq "$calls"); do
        older
        status=0
        strace -o /dev/null -e inject=pwrite64:error=ENOSPC:when="$at+" \
            "$PROBITY" runs init > /dev/null 2> errors || status=$?
        expect "full disk at $at: status" 1 "$status"
        grep -q "\(No space left on device\|full\); nothing was changed" errors ||
            fail "full disk at $at: $(cat errors)"
        expect "full disk at $at: version" 1 "$(version)"
        whole "full disk at $at"
        older
        (strace -o /dev/null -e inject=pwrite64:signal=SIGKILL:when="$at" \
            "$PROBITY" runs init || true) > /dev/null 2>&1
        whole "killed at write $at"
        run "after a kill at write $at" 0 runs init
        converted "after a kill at write $at"
    done
    # The conversion takes effect at the moment when the journal is removed.
    for call in unlink fdatasync; do
        for at in 1 2 3; do
            older
            (strace -o /dev/null -e inject=$call:signal=SIGKILL:when="$at" \
                "$PROBITY" runs init || true) > /dev/null 2>&1
            whole "killed at $call $at"
            older
            strace -o /dev/null -e inject=$call:error=EIO:when="$at" \
                "$PROBITY" runs init > /dev/null 2> errors || true
            expected=2
            ! grep -q 'nothing was changed' errors || expected=1
            expect "$call $at fails ($(cat errors))" "$expected" "$(version)"
            whole "$call $at fails"
        done
    done
fi
export ASAN_OPTIONS=$options_before

# ---- Several at once ----

for turn in 1 2 3; do
    older
    jobs=()
    for i in 1 2 3 4; do
        "$PROBITY" runs init > /dev/null 2> errors.$i & jobs+=($!)
        "$PROBITY" runs list --json > list.$i 2>> list.errors & jobs+=($!)
    done
    for job in "${jobs[@]}"; do
        wait "$job" || fail "several at once, turn $turn: $(cat errors.? list.errors)"
    done
    expect "several: number of conversions" 1 "$(cat errors.? | grep -c converted)"
    converted "several"
    for i in 1 2 3 4; do
        expect "several: list" '[null,null]' "$(jq -c '[.runs[].requests]' list.$i)"
    done
done

# ---- A file that cannot be written ----

older
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
    chmod a+rx "$WORK"
    chmod 555 .probity
    chmod 444 "$DB" trace
    as_other() { setpriv --reuid=65534 --regid=65534 --clear-groups "$PROBITY" "$@"; }
    if as_other --version > /dev/null 2>&1; then
        as_other runs list --project . --json > output || fail "read-only: list"
        expect "read-only" '[null,null]' "$(jq -c '[.runs[].requests]' output)"
        as_other diff --project . @old -- @older > output || fail "read-only: diff"
        for command in "init" "add trace" "rm 1"; do
            # shellcheck disable=SC2086
            as_other runs $command --project . > output 2> errors && fail "read-only: $command"
            grep -q "readonly\|Permission denied" errors || fail "read-only: $(cat errors)"
        done
        cmp -s "$DB" old.db || fail "read-only: changed"
    fi
    chmod 755 .probity
    chmod 644 "$DB"
fi

# ---- A table that is in the way ----

sql 'CREATE TABLE request (x)'
sum=$(cksum < "$DB")
run "in the way" 1 runs init
grep -q 'table request already exists' errors || fail "in the way: $(cat errors)"
expect "in the way: unchanged" "$sum" "$(cksum < "$DB")"
run "in the way: list" 0 runs list
finish
