#!/usr/bin/env bash
# SIGKILL at random moments, at least 200 times: all that was counted outside the victim is in its
# trace. Hits, nested scopes with values, and hits written by another process, which is killed, too.
# campaign: tsan
. "$(dirname "$0")/../common.bash"

seed=${SEED:-$RANDOM}
echo "seed $seed"
"$PROGRAMS/kill_rounds" "$PROBITY" "$PROGRAMS/victim" "${ROUNDS:-170}" "$seed" ||
    fail "static, seed $seed"
fresh
"$PROGRAMS/kill_rounds" "$PROBITY" "$PROGRAMS/victim.shared" 40 "$seed" || fail "shared, seed $seed"
fresh
"$PROGRAMS/kill_scopes" "$PROBITY" "${ROUNDS:-170}" "$seed" || fail "scopes, seed $seed"
fresh
"$PROGRAMS/kill_external" "$PROBITY" "$PROGRAMS/victim" "${ROUNDS:-60}" "$seed" ||
    fail "external, seed $seed: $(cat errors drain.log)"
finish
