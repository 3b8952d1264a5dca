#!/usr/bin/env bash
# SIGKILL at random moments, at least 200 times: whatever was counted outside the victim is in its
# trace. Hits, and nested scopes with values.
# campaign: tsan
. "$(dirname "$0")/common.bash"

seed=${SEED:-$RANDOM}
echo "seed $seed"
"$PROGRAMS/kill_rounds" "$PROBITY" "$PROGRAMS/victim" "${ROUNDS:-170}" "$seed" ||
    fail "static, seed $seed"
fresh
"$PROGRAMS/kill_rounds" "$PROBITY" "$PROGRAMS/victim.shared" 40 "$seed" || fail "shared, seed $seed"
fresh
"$PROGRAMS/kill_scopes" "$PROBITY" "${ROUNDS:-170}" "$seed" || fail "scopes, seed $seed"
finish
