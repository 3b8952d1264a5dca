#!/usr/bin/env bash
# SIGKILL after instructions and system calls of every recording path, and at random moments: all
# hits counted outside the victim are read exactly once, and recovered. tests/campaign/death.sh
# covers every instruction. EVERY: only at each EVERYth place.
# variants: clang
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/death/death.bash"
skip_without_ptrace

seed=${SEED:-$RANDOM}
every=${EVERY:-1}
echo "seed $seed"
# shellcheck disable=SC2086
{
    death_paths kill $((5 * every)) "$seed" $short_paths
    death_paths kill $((211 * every)) "$seed" $middle_paths
    death_paths kill $((1499 * every)) "$seed" $long_paths
    death_paths kill $((4999 * every)) "$seed" first first_profile segment
    death_paths kill $((19997 * every)) "$seed" fork drain stop_writer
    death_paths look $((3 * every)) "$seed" $short_paths
    death_paths look $((31 * every)) "$seed" scope all thread_exit stop
}
for what in program csv recover record record_killed; do
    death calls $what $((11 * every)) "$seed" "$PROBITY" || fail "calls of $what: seed $seed"
done
death random $((500 / every)) "$seed" "$PROBITY" || fail "random kills: seed $seed"
finish
