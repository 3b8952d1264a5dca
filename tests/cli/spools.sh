#!/usr/bin/env bash
# `probity spools` lists, recovers and removes the files that killed programs leave, and no others;
# the spools of dead programs do not fill up memory (PROBITY_SPOOL_TOTAL).
# variants: clang asan
. "$(dirname "$0")/../common.bash"

SESSION=5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e
crafted() { python3 "$SOURCE/tests/tool/crafted.py" "$@"; }

# $1 trace, $2 hits
leave_killed() {
    { PROBITY_OUT=$WORK/$1 "$PROGRAMS/killed_after" "$2" || true; } > /dev/null 2>&1
}

# $1 description, $2 expected status; the rest: arguments of `probity spools`
spools() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" spools "$@" > output 2> errors || status=$?
    expect "$what: status" "$expected" "$status"
}

# $1 a jq expression for the list
listed() {
    "$PROBITY" spools --json 2> errors | jq -c "$1"
}

# ---- The list ----

rmdir "$SPOOL"
spools "no directory" 0
grep -q '^0 spools' output || fail "no directory: $(cat output)"
mkdir -m 700 "$SPOOL"
leave_killed killed.probity 100
mkfifo go
PROBITY_OUT=$WORK/alive.probity "$PROGRAMS/waiting" < go > ready 2> waiting.err &
alive=$!
exec 3> go
await_file "$alive" ready waiting.err
expect "killed" "[\"killed_after\",\"$WORK/killed.probity\",\"found\",0]" \
    "$(listed '.spools[] | select(.state == "dead") |
        [.program, .trace, .trace_state, .functions]')"
records=$(listed '.spools[] | select(.state == "dead") | .records')
[ "$records" -gt 0 ] || fail "killed: $records records"
expect "alive" "[$alive,\"waiting\",null]" \
    "$(listed '.spools[] | select(.state == "alive") | [.pid, .program, .records]')"
expect "bytes" "$(stat -c '%b' "$SPOOL"/* | awk '{ sum += $1 * 512 } END { print sum }')" \
    "$(listed '[.spools[].bytes] | add')"
expect "uid" "[$(id -u),$(id -u)]" "$(listed '[.spools[].uid]')"
expect "age" true "$(listed 'all(.spools[].age_s; . >= 0 and . < 600)')"
spools "the table" 0
expect "the table: rows" 4 "$(wc -l < output)"
grep -q "dead .* killed_after .* $records records .*$WORK/killed.probity$" output ||
    fail "the table: $(cat output)"
echo other > "$SPOOL/other"
expect "another file" 1 "$(listed .other_files)"
spools "a wrong call" 2 --recover --remove
spools "an operand" 2 killed.probity
spools "records of what?" 2 --lose-records
spools "all, but one directory" 2 --all

# ---- Recovering and removing ----

# A file with the inode number of a lost trace would be mistaken for it: while the traces are open,
# no other file gets their numbers.
leave_killed gone.probity 7
exec 4< gone.probity
rm gone.probity
leave_killed replaced.probity 8
cp replaced.probity copy
cp replaced.probity before
exec 5< replaced.probity
mv copy replaced.probity
leave_killed linked.probity 9
mkdir elsewhere
mv linked.probity elsewhere
ln -s elsewhere/linked.probity linked.probity
leave_killed renamed.probity 10
mv renamed.probity 'new name'
expect "what there is" "gone.probity:gone killed.probity:found linked.probity:gone new name:found \
replaced.probity:gone" "$("$PROBITY" spools --json | jq -r '.spools[] | select(.state == "dead") |
    (.trace | split("/") | last) + ":" + .trace_state' | sort | paste -s -d ' ')"
lost=$(listed '[.spools[] | select(.trace_state == "gone") | .records] | add')
spools "to recover" 3 --recover
grep -qx "$WORK/killed.probity: $records records from the spool of process [0-9]*" output ||
    fail "to recover: $(cat output)"
grep -qx "$WORK/new name: [0-9]* records from the spool of process [0-9]*" output ||
    fail "to recover, renamed: $(cat output)"
expect "to recover: reported" 3 "$(grep -c 'is gone' errors)"
expect "recovered: hits" 100 "$("$PROBITY" csv killed.probity | wc -l)"
expect "recovered, renamed: hits" 10 "$("$PROBITY" csv 'new name' | wc -l)"
"$PROBITY" check killed.probity 'new name' > /dev/null || fail "recovered: check"
cmp -s before replaced.probity || fail "to recover: another file was changed"
leave_killed kept.probity 11
cp kept.probity before
spools "to remove" 3 --remove
expect "to remove: reported" "3 $lost" \
    "$(sed -n 's/.*removed, .*; \([0-9]*\) records are lost$/\1/p' output |
        awk '{ sum += $1 } END { print NR, sum }')"
grep -q "whose trace '$WORK/kept.probity' exists" errors || fail "to remove: $(cat errors)"
cmp before kept.probity || fail "to remove: a trace was changed"
expect "to remove: what is left" '["alive","dead"]' "$(listed '[.spools[].state] | sort')"
spools "to lose records" 0 --remove --lose-records
grep -q '; [0-9]* records are lost' output || fail "to lose records: $(cat output)"
[ -e elsewhere/linked.probity ] && [ -e kept.probity ] || fail "a trace was removed"
expect "only the live one is left" '["alive"]' "$(listed '[.spools[].state]')"
spools "nothing to recover" 0 --recover
echo >&3
exec 3>&-
wait "$alive" || fail "the live program failed"
expect "the live program recorded to its end" 2 "$("$PROBITY" csv alive.probity | wc -l)"
rm "$SPOOL/other"
no_leftovers "all"
# A CSV that was requested is written.
leave_killed hits.csv 12
spools "a CSV" 0 --recover
expect "a CSV: hits" 12 "$(wc -l < hits.csv)"
[ ! -e hits.csv.probity ] || fail "a CSV: its trace was not removed"
rm -rf ./*.probity elsewhere

# ---- The contents of a spool are not trusted ----

# Its trace has another session, is a different file by inode number, or has a relative path.
crafted trace other.probity --killed --session 00112233445566778899aabbccddeeff
cp -p other.probity before
crafted spool "$SPOOL/$SESSION.0" --session $SESSION --for other.probity \
    --trace-path "$WORK/other.probity" --program $'\e[31mred\n'
expect "another session" '["gone"]' "$(listed '[.spools[].trace_state]')"
spools "another session: the table" 0
! grep -q $'\e' output || fail "escape sequences are not escaped"
expect "the table: lines" 3 "$(wc -l < output)"
spools "another session" 3 --recover
cmp before other.probity || fail "another session: it was changed"
crafted trace mine.probity --killed --session $SESSION
crafted spool "$SPOOL/$SESSION.0" --session $SESSION --for other.probity \
    --trace-path "$WORK/mine.probity"
expect "another inode" '["gone"]' "$(listed '[.spools[].trace_state]')"
long=/$(printf '%03500d' 1)
for path in mine.probity "$long" "$WORK"; do
    crafted spool "$SPOOL/$SESSION.0" --session $SESSION --for mine.probity --trace-path "$path"
    case $path in "$WORK") state=gone ;; *) state=unknown ;; esac
    expect "path ${path:0:30}" "[\"$state\"]" "$(listed '[.spools[].trace_state]')"
    spools "path ${path:0:30}" 3 --recover
    [ -e "$SPOOL/$SESSION.0" ] || fail "path ${path:0:30}: the spool was removed"
done
# The file that it belongs to is found, and is its trace.
crafted spool "$SPOOL/$SESSION.0" --session $SESSION --for mine.probity \
    --trace-path "$WORK/missing" --committed "$(stat -c %s mine.probity)"
spools "its own trace" 0 --recover
grep -q "^$WORK/mine.probity: 0 records" output || fail "its own trace: $(cat output)"
no_leftovers "its own trace"
# Spools that cannot be read are listed and kept.
: > "$SPOOL/$SESSION.0"
expect "an empty file" '["unreadable"]' "$(listed '[.spools[].state]')"
spools "an empty file" 0 --remove --lose-records
[ -e "$SPOOL/$SESSION.0" ] || fail "an empty file: it was removed"
chmod 770 "$SPOOL"
spools "a directory open to others" 1
chmod 700 "$SPOOL"
fresh

# ---- The limit ----

# $1 limit, $2 hits; writes the trace "trace", and the line on stderr to "errors"
under_ceiling() {
    rm -f trace
    { PROBITY_SPOOL_TOTAL=$1 PROBITY_OUT=$WORK/trace "$PROGRAMS/killed_after" "$2" || true; } \
        2>&1 > /dev/null | grep '^probity' > errors || true
    quiet "ceiling of $1"
}

under_ceiling 0 100
expect "no ceiling: what is said" "" "$(cat errors)"
expect "no ceiling: hits" 100 "$("$PROBITY" csv trace | wc -l)"
"$PROBITY" recover trace > /dev/null
under_ceiling 1048576 1000
grep -q "use 0 of the 1024 KiB allowed by PROBITY_SPOOL_TOTAL: recording with only" errors ||
    fail "a low limit: $(cat errors)"
expect "a low limit: hits" 1000 "$("$PROBITY" csv trace | wc -l)"
used=$(listed '[.spools[].bytes] | add')
[ "$used" -le 1048576 ] || fail "a low limit: $used bytes"
rm trace
under_ceiling 30000 1000
grep -q 'allowed by PROBITY_SPOOL_TOTAL: not recording' errors ||
    fail "limit too low: $(cat errors)"
[ ! -e trace ] || fail "limit too low: there is a trace"
expect "limit too low: spools" 1 "$(listed '.spools | length')"
under_ceiling 1M 1
grep -q 'PROBITY_SPOOL_TOTAL=1M: invalid or out of range' errors ||
    fail "not a number: $(cat errors)"
fresh

# A container with the usual 64 MiB of shared memory, which a single program's full spool would
# fill.
in_container() {
    mount -t tmpfs -o size=64m tmpfs /dev/shm
    unset PROBITY_SPOOL_DIR
    export PROBITY_MODE=ring
    local recorded=0 smaller=0 refused=0 i
    for i in $(seq 30); do
        { PROBITY_OUT=$WORK/$i.probity "$PROGRAMS/killed_after" 600000 || true; } \
            2>&1 > /dev/null | grep '^probity' > errors || true
        quiet "container, program $i"
        if [ -e "$i.probity" ]; then
            recorded=$((recorded + 1))
            [ ! -s errors ] || smaller=$((smaller + 1))
            [ ! -s errors ] || grep -q 'recording with only' errors || fail "$i: $(cat errors)"
        else
            refused=$((refused + 1))
            grep -q 'allowed by PROBITY_SPOOL_TOTAL: not recording' errors ||
                fail "container, program $i: no trace, message: $(cat errors)"
        fi
    done
    echo "64 MiB: 30 killed programs: $recorded recorded, $smaller of them with less;" \
        "$refused did not; $(stat -f -c '%a of %b blocks free' /dev/shm)"
    [ "$recorded" -ge 8 ] || fail "container: only $recorded programs recorded"
    [ "$smaller" -ge 1 ] || fail "container: expected a message about a smaller spool"
    # shellcheck disable=SC2046 # two numbers
    set -- $(stat -f -c '%a %b' /dev/shm)
    [ $((2 * $1)) -ge "$2" ] || fail "container: $1 of $2 blocks are free"
    spools "container: to recover" 0 --recover
    expect "container: recovered" "$recorded" "$(grep -c 'records from the spool' output)"
    expect "container: files left" 0 "$(find /dev/shm -type f | wc -l)"
    { PROBITY_OUT=$WORK/after.probity "$PROGRAMS/killed_after" 10 || true; } 2>&1 > /dev/null |
        grep '^probity' > errors || true
    expect "container: no message about the next one" "" "$(cat errors)"
    spools "container: the next" 0 --recover

    # Spools of other users: only as root, and only with --trust.
    local theirs=/dev/shm/probity-65534
    mkdir -m 700 theirs $theirs
    crafted trace theirs/t.probity --killed --session $SESSION
    crafted spool $theirs/$SESSION.0 --session $SESSION --for theirs/t.probity \
        --trace-path "$WORK/theirs/t.probity" --committed "$(stat -c %s theirs/t.probity)"
    chown -R 65534:65534 theirs $theirs
    expect "theirs: not requested" 0 "$(listed '.spools | length')"
    "$PROBITY" spools --all --json > output || fail "theirs: cannot be listed"
    expect "theirs" '[65534,"found"]' "$(jq -c '.spools[] | [.uid, .trace_state]' output)"
    for action in --recover --remove; do
        spools "theirs, $action" 3 --all $action
        grep -q 'belongs to another user' errors || fail "theirs, $action: $(cat errors)"
        [ -e $theirs/$SESSION.0 ] || fail "theirs, $action: it was removed"
    done
    # Another user's spool, with a link to my trace in place of that user's.
    crafted trace mine.probity --killed --session $SESSION
    cp -p mine.probity before
    mv theirs/t.probity theirs/away
    ln -s "$WORK/mine.probity" theirs/t.probity
    mv theirs/away elsewhere
    spools "their spool, my trace" 3 --trust --recover
    cmp before mine.probity || fail "their spool, my trace: it was changed"
    rm theirs/t.probity
    mv elsewhere theirs/t.probity
    spools "theirs, trusted" 0 --trust --recover
    [ ! -e $theirs/$SESSION.0 ] || fail "theirs, trusted: the spool was not removed"
    umount /dev/shm
    return "$((failures > 0))"
}

if [ "$(id -u)" != 0 ] || ! unshare -m true 2> /dev/null; then
    echo "no mount namespaces: skipping small shared memory and other users' spools"
else
    export -f in_container spools listed crafted expect fail quiet
    export WORK SOURCE PROGRAMS SESSION failures
    unshare -m bash -c 'in_container' || fail "in the container"
fi
finish
