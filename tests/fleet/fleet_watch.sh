#!/usr/bin/env bash
# `probity ship --watch` with a ClickHouse server on loopback: any number of running programs are
# followed in turn; files that are still being copied are sent later; copies of a trace are sent
# once; traces that are replaced, or whose program is killed, while being followed arrive in their
# final state.
# variants: asan
# timeout: 900
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
. "$SOURCE/tests/fleet/living.bash"
starts_database
"$PROBITY" ship --to "$url" --init 2> /dev/null

# $1 directory, then options. Sets "watcher".
starts_watching() {
    local directory=$1
    shift
    "$PROBITY" ship --to "$url" --watch "$directory" "$@" > watch.out 2> watch.err &
    watcher=$!
}

stops_watching() {
    kill -s KILL "$watcher"
    wait "$watcher" 2> /dev/null || true
}

# $1 trace, $2 rounds: a closed one
records() {
    printf '%s\n' "$2" end |
        PROBITY_LABEL=$1 PROBITY_OUT=$WORK/$1 "$PROGRAMS/steady" > /dev/null
}

# $1 directory. Once a trace that is added there has been sent, a pass has found all earlier files.
sees_all() {
    looks=$((${looks:-0} + 1))
    records "look$looks" 1
    mv "look$looks" "$1"
    wait_until "$watcher" is_finished "look$looks" || fail "$1: $(cat watch.err)"
}

# Checks that the watcher has reported nothing except how far the database lags, which depends on
# the machine. $1 description
has_no_errors() {
    ! grep -v 'the database is [0-9]* s behind$\|has caught up$' watch.err > wrong ||
        fail "$1: $(cat wrong)"
}

# ---- Turns

mkdir turns
starts_three turns
starts_watching turns --senders 1 --flush 1
all_do_until 200 turns 100
all_do_until $((rounds + 200)) turns 100
grep -q 'waiting for their turn (--senders 1)' watch.err ||
    fail "turns: not reported: $(cat watch.err)"
ends_three turns
stops_watching
has_no_errors turns

# ---- Copies in progress

records whole 3000
bytes=$(stat -c %s whole)
mkdir copied
# Returns whether the system reports a file as open for writing.
if python3 -c 'import fcntl, os
fcntl.fcntl(os.open("whole", os.O_RDONLY), 1024, fcntl.F_RDLCK)' 2> /dev/null; then
    exec 4> copied/whole
    head -c $((bytes / 2)) whole >&4
    starts_watching copied --flush 1
    sees_all copied
    sees_all copied
    is_finished whole && fail "a file that is being written was sent"
    tail -c +$((bytes / 2 + 1)) whole >&4
    exec 4>&-
    wait_until "$watcher" is_finished whole || fail "copied: $(cat watch.err)"
    all_calls whole 3000
    stops_watching
    has_no_errors copied
fi
records slow 3000
bytes=$(stat -c %s slow)
head -c $((bytes / 2)) slow > copied/slow
starts_watching copied --flush 600
sees_all copied
sees_all copied
tail -c +$((bytes / 2 + 1)) slow >> copied/slow
wait_until "$watcher" is_finished slow || fail "copied slowly: $(cat watch.err)"
all_calls slow 3000
stops_watching
has_no_errors "copied slowly"

# Files that do not grow are sent even without an END block.
records torn 3000
head -c $((bytes / 2)) torn > copied/torn
starts_watching copied --flush 1
wait_until "$watcher" is_finished torn || fail "torn: $(cat watch.err)"
stops_watching

# ---- Copies of a trace

mkdir copies
records several 3000
for i in 1 2 3 4 5 6 7 8; do
    cp several "copies/$i"
done
"$PROBITY" ship --to "$url" --watch copies --once --block-rows 100 > watch.out 2> watch.err ||
    fail "copies: $(cat watch.err)"
expect "copies: runs that were sent" 1 "$(grep -c 'rows in [1-9]' watch.out)"
all_calls several 3000

mkdir part
starts_steady part/living
does_rounds 500 500
starts_watching part --flush 1
does_rounds 500 1000
wait_until "$watcher" has_calls 300 part/living || fail "part: $(cat watch.err)"
cp part/living part/copy
status=0
"$PROBITY" ship --to "$url" part/copy > output 2> errors || status=$?
expect "a copy of a trace that is sent: status" 1 "$status"
grep -q 'a copy' errors || fail "a copy of a trace that is sent: $(cat errors)"
echo end >&3
exec 3>&-
wait "$program" || fail "part: status $?"
wait_until "$watcher" is_finished part/living || fail "part: $(cat watch.err)"
stops_watching
status=0
"$PROBITY" ship --to "$url" --watch part --once --flush 1 > watch.out 2> watch.err || status=$?
expect "the copy is incomplete: status ($(cat watch.err))" 3 "$status"
all_calls part/living 1000

# ---- Replaced and killed while they are followed

mkdir replaced
records other 700
starts_steady replaced/name
does_rounds 500 500
starts_watching replaced --flush 1
does_rounds 500 1000
wait_until "$watcher" has_calls 300 replaced/name || fail "replaced: $(cat watch.err)"
ln replaced/name first
cp other replaced/.new
mv replaced/.new replaced/name
sees_all replaced
is_finished other && fail "replaced: sent while the first was followed"
echo end >&3
exec 3>&-
wait "$program" || fail "replaced: status $?"
wait_until "$watcher" is_finished other || fail "replaced: $(cat watch.err)"
stops_watching
all_calls other 700
mv first name
is_finished replaced/name || fail "replaced: the first is not complete"
expect "replaced: calls of the first" 1000 "$(sql "SELECT countIf(depth = 0) FROM probity_calls
    WHERE run IN (SELECT run FROM probity_runs WHERE label = 'replaced/name')")"

mkdir killed
starts_steady killed/victim
does_rounds 500 500
starts_watching killed --flush 1 --detail records
does_rounds 500 1000
wait_until "$watcher" has_calls 300 killed/victim || fail "killed: $(cat watch.err)"
echo kill >&3
wait "$program" 2> /dev/null || true
exec 3>&-
wait_until "$watcher" grep -q 'run .probity recover. first' watch.err || fail "$(cat watch.err)"
is_finished killed/victim && fail "killed: sent without its last records"
"$PROBITY" recover killed/victim > /dev/null 2>&1 || fail "recover: status $?"
wait_until "$watcher" is_finished killed/victim || fail "killed: $(cat watch.err)"
stops_watching
all_calls killed/victim 1000
run=$("$PROBITY" fleet --from-fleet "$url" --label killed/victim --json | jq -r '.runs[0].run')
"$PROBITY" fetch --from-fleet "$url" "$run" -o back > /dev/null 2> errors || fail "$(cat errors)"
cmp -s killed/victim back || fail "killed: other bytes came back"
finish
