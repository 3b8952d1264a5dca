#!/usr/bin/env bash
# Signals after instructions of every recording path, and further ones inside their handlers; signal
# storms on small stacks; handlers that jump out. tests/campaign/signals.sh does more.
# variants:
. "$(dirname "$0")/common.bash"
. "$SOURCE/tests/death/death.bash"
skip_without_ptrace

seed=${SEED:-$RANDOM}
echo "seed $seed"
# shellcheck disable=SC2086
{
    death_paths signal 3 "$seed" $short_paths
    death_paths signal 211 "$seed" $middle_paths
    death_paths signal 997 "$seed" scope_gap profile change_gap change_all
    death_paths signal 3989 "$seed" first first_profile segment
    death_paths signal 29989 "$seed" fork
    # The inner handler runs longer than the writer waits.
    death_paths signal 67 "$seed" slow
    death_paths signal 131 "$seed" slow_wide
}
death storm 150 "$seed" || fail "storm: seed $seed"
death jump 150 "$seed" || fail "jumps: seed $seed"
finish
