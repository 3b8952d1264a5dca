#!/usr/bin/env bash
# Senders that are stopped (SIGSTOP), as on a laptop that is suspended, before their calls to
# connect(), send() and recv(); when their claims have expired, a sender of a copy of the trace
# takes over; then they continue. Each row arrives once.
# variants: gcc
# timeout: 600
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
EVERY=${EVERY:-3} # stop before every third call; 1: before each
starts_database
senders=() names=()
trap '[[ $BASHPID != $$ ]] || { kill -s KILL "${senders[@]}" 2> /dev/null || true
    stop_server KILL; rm -rf "$WORK" "$SPOOL"; }' EXIT
probity "tables" 0 ship --to "$url" --init
mkdir a b

# Makes a trace, and a copy of it. $1 name
records() {
    printf '%s\n' 40 end |
        PROBITY_LABEL=stopped PROBITY_OUT=$WORK/a/$1 "$PROGRAMS/steady" > /dev/null
    cp "a/$1" "b/$1"
}

# $1 name, then variables for plugin_stop_at.c. Sends the first copy, in place of this shell.
sends() {
    local name=$1
    shift
    exec env "$@" LD_PRELOAD="$PROGRAMS/plugin_stop_at.so" "$PROBITY" ship --to "$url" \
        --block-rows 50 "a/$name" > "a/$name.out" 2> "a/$name.err"
}

is_stopped() { [ "$(sed 's/.*) //' "/proc/$1/stat" 2> /dev/null | cut -c1)" = T ]; }

records 0
(sends 0 STOP_COUNT="$WORK/count") || fail "not stopped: $(cat a/0.err)"
count=$(cat count)
expect "calls of connect(), send() and recv() were found" 1 "$((count > 50))"

# ---- All are stopped, each at a different step

for ((i = 1 + RANDOM % EVERY; i <= count; i += EVERY)); do
    records "$i"
    sends "$i" STOP_AT="$i" &
    senders+=($!) names+=("$i")
    # Not too many are running at a time.
    ! ((${#senders[@]} % 8 == 0)) || wait_until "$!" is_stopped "$!" || true
done
for sender in "${senders[@]}"; do
    wait_until "$sender" is_stopped "$sender" || true # the number of calls varies slightly
done

# ---- Others take over, as soon as they may

heirs=("${names[@]}")
while ((${#heirs[@]} > 0)); do
    rest=()
    for name in "${heirs[@]}"; do
        "$PROBITY" ship --to "$url" --block-rows 50 "b/$name" > output 2> errors || {
            grep -q 'is also sending run' errors || fail "an heir of $name: $(cat errors)"
            rest+=("$name")
        }
    done
    heirs=("${rest[@]}")
    # shellcheck disable=SC2154 # failures: set by common.bash
    ((failures < 5)) || break
    # Claims expire after some time: until then, other senders would only use CPU time.
    ((${#heirs[@]} == 0)) || sleep 0.5
done

# ---- The first ones continue

refused=0
for i in "${!senders[@]}"; do
    kill -s CONT "${senders[i]}" 2> /dev/null || true
    wait "${senders[i]}" || {
        grep -q 'is also sending run' "a/${names[i]}.err" ||
            fail "continued at ${names[i]}: $(cat "a/${names[i]}.err")"
        refused=$((refused + 1))
    }
done
echo "stopped: ${#senders[@]} senders; then refused: $refused"
for name in "${names[@]}"; do
    probity "afterwards, $name" 0 ship --to "$url" --json "b/$name"
    expect "afterwards, $name: rows" 0 "$(jq '.[0].rows' output)"
done
runs=$((${#senders[@]} + 1))
mine="run IN (SELECT run FROM probity_runs WHERE label = 'stopped')"
expect "calls" "$((runs * 120))" "$(sql "SELECT count() FROM probity_calls WHERE $mine")"
for table in probity_minutes probity_hours probity_path_minutes; do
    expect "calls in $table" "$((runs * 120))" "$(sql "SELECT sum(calls) FROM $table WHERE $mine")"
done
expect "hits with ids" "$((runs * 120))" "$(sql "SELECT count() FROM probity_requests WHERE $mine")"
expect "runs that are finished" "$runs" "$(sql "SELECT count() FROM (SELECT
    argMax(finished, version) AS last FROM probity_runs WHERE $mine GROUP BY run) WHERE last")"
finish
