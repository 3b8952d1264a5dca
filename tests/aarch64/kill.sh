#!/usr/bin/env bash
# SIGKILL at random moments in qemu: hits, and nested scopes with values. All that was counted
# outside the victim is in its trace.
. "$(dirname "$0")/../common.bash"
seed=${SEED:-$RANDOM}
echo "seed $seed"
"$PROGRAMS/kill_rounds" "$PROBITY" "$PROGRAMS/victim" "${ROUNDS:-40}" "$seed" || fail "seed $seed"
fresh
"$PROGRAMS/kill_scopes" "$PROBITY" "${ROUNDS:-40}" "$seed" || fail "scopes, seed $seed"
finish
