#!/usr/bin/env bash
# Races between two parties, forced at the one instruction that matters.
# variants: clang
# campaign: tsan
# timeout: 600
. "$(dirname "$0")/../common.bash"

# Runs a program; its output "COUNT ID" must equal the contents of the trace with its name. $1
# program, the rest: arguments
counted() {
    local program=$1 trace=${1%_internal} status=0
    shift
    fresh
    timeout 300 "$PROGRAMS/$program" "$@" > expected 2> errors || status=$?
    [ "$status" != 77 ] || return 0
    expect "$program $*: status" 0 "$status"
    "$PROBITY" csv --columns probe "$trace" | sort | uniq -c | awk '{ print $1, $2 }' > found
    while read -r line; do
        grep -qx "$line" found ||
            fail "$program $*: expected '$line', found '$(tr '\n' ' ' < found)' $(cat errors)"
    done < expected
    "$PROBITY" check "$trace" > checked || fail "$program $*: $(cat checked)"
}

# A probe finds no chunk, and a handler gets one in the meantime.
counted dropping_internal 1
counted dropping_internal 3
# A handler fills the chunk of an inline event.
fresh
status=0
timeout 300 "$PROGRAMS/refusing_internal" 2> errors || status=$?
[ "$status" = 77 ] || expect "refusing_internal: status ($(cat errors))" 0 "$status"
# A handler reads the CPU clock inside a probe that is reading it.
status=0
"$PROGRAMS/measured_internal" > torn 2> errors || status=$?
[ "$status" = 77 ] || expect "measured_internal ($(cat errors)): readings torn" "0 0" \
    "$status $(cat torn)"
# The relocation of a hit that a jump abandoned, and one that is still in progress.
status=0
"$PROGRAMS/moving_internal" > moving 2> errors || status=$?
[ "$status" = 77 ] || expect "moving_internal ($(cat errors)): still reported" "0 0 1" \
    "$status $(cat moving)"
# A handler forks inside a probe, and the child returns into it.
fresh
status=0
PROBITY_CPU_TIME=0 PROBITY_OUT=$WORK/trace timeout 300 "$PROGRAMS/forking" > died 2> errors ||
    status=$?
if [ "$status" != 77 ]; then
    expect "forking ($(cat errors)): status, children that died" "0 0" \
        "$status $(cut -d' ' -f2 died)"
    [ "$(cut -d' ' -f1 died)" -gt 100 ] || fail "forking: only $(cat died)"
fi
# Two probes in one chunk, in progress for longer than the writer waits.
counted held_internal
counted held_internal 1

# Concurrent recoveries: one recovers the spool, and none reports an error.
for ((round = 0; round < 10; round++)); do
    fresh
    { PROBITY_OUT=$WORK/dead "$PROGRAMS/ends" kill 2 2000 > expected; } 2> errors || true
    tools=
    for i in 1 2 3; do
        "$PROBITY" recover dead > "tool$i" 2>&1 &
        tools="$tools $!"
    done
    # shellcheck disable=SC2086
    wait $tools || true
    if grep -hE 'cannot|damaged' tool?; then fail "several recover: failed, see above"; fi
    same_hits "several recover" dead
    no_leftovers "several recover"
done
finish
