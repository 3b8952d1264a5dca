#!/usr/bin/env bash
# Signals after instructions of every recording path, and more signals inside their handlers; signal
# storms on small stacks; handlers that jump out. tests/campaign/signals.sh does more.
# variants: clang
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/death/death.bash"
skip_without_ptrace

seed=${SEED:-$RANDOM}
every=${EVERY:-1}
echo "seed $seed"
# shellcheck disable=SC2086
{
    death_paths signal $((3 * every)) "$seed" $short_paths
    death_paths signal $((211 * every)) "$seed" $middle_paths
    death_paths signal $((997 * every)) "$seed" scope_gap profile change_gap change_all
    death_paths signal $((3989 * every)) "$seed" first first_profile segment
    death_paths signal $((29989 * every)) "$seed" fork
    # The inner handler runs longer than the writer waits.
    death_paths signal $((67 * every)) "$seed" slow
    death_paths signal $((131 * every)) "$seed" slow_wide
}
death storm $((150 / every)) "$seed" || fail "storm: seed $seed"
death jump $((150 / every)) "$seed" || fail "jumps: seed $seed"
finish
