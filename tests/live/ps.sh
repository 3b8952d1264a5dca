#!/usr/bin/env bash
# `probity ps` lists recording programs, and only these, with data from their spools and traces;
# damaged and malicious spools are harmless.
# variants: clang asan
. "$(dirname "$0")/../common.bash"

# $1 description, $2 expected status; the rest: arguments of `probity ps`
ps_is() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" ps "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# $1 a jq expression for the list
listed() {
    "$PROBITY" ps --json 2> errors | jq -c "$1"
}

# Starts a program that waits for a byte. $1 name; the rest: its environment
start_waiting() {
    local name=$1
    shift
    mkfifo "$name.go"
    env PROBITY_OUT="$WORK/$name.probity" "$@" "$PROGRAMS/waiting" < "$name.go" > "$name.ready" &
    waiting=$!
    exec {gate}> "$name.go"
    wait_until "$waiting" test -s "$name.ready" || fail "$name has ended early"
}

# ---- None ----

rmdir "$SPOOL"
ps_is "no directory" 0
expect "no directory" "0 programs recording" "$(cat output)"
mkdir -m 700 "$SPOOL"
{ PROBITY_OUT=$WORK/killed.probity "$PROGRAMS/killed_after" 100 || true; } > /dev/null 2>&1
ps_is "a dead program" 0
expect "a dead program" "0 programs recording" "$(cat output)"
expect "no rows" '{"processes":[]}' "$(listed .)"

# ---- Modes, and what is known ----

start_waiting first PROBITY_LABEL=night PROBITY_MODE=ring
first=$waiting first_gate=$gate
start_waiting second
second=$waiting second_gate=$gate
expect "the older one" "[$first,\"waiting\",\"ring\",\"night\",\"$WORK/first.probity\"]" \
    "$(listed '.processes[0] | [.pid, .program, .mode, .label, .trace]')"
expect "the newer one" "[$second,\"waiting\",\"block\",null,\"$WORK/second.probity\"]" \
    "$(listed '.processes[1] | [.pid, .program, .mode, .label, .trace]')"
expect "they do nothing" '[[1,0,0,0,0],[1,0,0,0,0]]' \
    "$(listed '[.processes[] | [.threads, .records_per_s, .dropped, .stalls, .failed]]')"
now=$(date +%s)
expect "since" true \
    "$(listed "all(.processes[].begin_ns; . / 1e9 > $now - 3600 and . / 1e9 < $now + 3600)")"
expect "chunks" true "$(listed 'all(.processes[]; .chunks_used == 1 and .chunks >= 8)')"
expect "uid" "[$(id -u)]" "$(listed '[.processes[].uid] | unique')"
ps_is "the table" 0
expect "the table: rows" 4 "$(wc -l < output)"
grep -q "^ *$first .* ring .* waiting .* $WORK/first.probity$" output ||
    fail "the table: $(cat output)"
ps_is "CSV" 0 --csv
expect "CSV: header" "pid,program,mode,label,trace" "$(head -n 1 output | cut -d, -f1-5)"
expect "CSV: rows" 3 "$(wc -l < output)"
ps_is "two forms" 2 --csv --json
ps_is "an operand" 2 "$first"
ps_is "all, but one directory" 2 --all

# The trace was renamed, and there is another file in its place.
mv second.probity renamed.probity
expect "renamed" "\"$WORK/renamed.probity\"" "$(listed '.processes[1].trace')"
mv renamed.probity "$WORK/elsewhere" && mkdir gone && mv elsewhere gone/
echo other > second.probity
expect "not its trace" '[null,null]' "$(listed '.processes[1] | [.trace, .begin_ns]')"

# ---- A rate ----

# Records until its input ends. Its own count is the reference; its running time bounds the rate.
cat > busy.c << 'PROGRAM'
#include <probity.h>
#include <stdio.h>
#include <sys/poll.h>
int main(void)
{
    struct pollfd end = {.fd = 0, .events = POLLIN};
    unsigned long rounds = 0;
    puts("ready");
    fflush(stdout);
    while (poll(&end, 1, 0) == 0) {
        for (int i = 0; i < 1000; i++)
            PROBITY_PROBE(7);
        rounds++;
    }
    printf("%lu\n", rounds * 1000);
    return 0;
}
PROGRAM
"$CC" -O2 -I"$SOURCE/include" ${SANITIZE_FLAG:+"$SANITIZE_FLAG"} busy.c "$BUILD/lib/libprobity.a" \
    -pthread -o busy
mkfifo busy.go
PROBITY_OUT=$WORK/busy.probity ./busy < busy.go > busy.ready &
busy=$!
exec {busy_gate}> busy.go
wait_until "$busy" test -s busy.ready || fail "busy has ended early"
moves() {
    [ "$(listed '.processes[] | select(.program == "busy") | .records_per_s > 0')" = true ]
}
wait_until "$busy" moves || fail "no rate"
expect "busy: a possible rate" true \
    "$(listed '.processes[] | select(.program == "busy") | .records_per_s < 1e9')"
echo >&"$busy_gate"
wait "$busy" || fail "busy: status $?"

# ---- Hostile spools ----

head -c 4096 /dev/urandom > "$SPOOL/00000000000000000000000000000000.0"
ln -s /etc/passwd "$SPOOL/11111111111111111111111111111111.0"
expect "planted files" 2 "$(listed '.processes | length')"
ps_is "planted files" 0
chmod 777 "$SPOOL"
ps_is "writable by others" 1
chmod 700 "$SPOOL"

echo >&"$first_gate"
echo >&"$second_gate"
wait "$first" || fail "first: status $?"
wait "$second" || fail "second: status $?"
expect "none is left" '[]' "$(listed .processes)"
finish
