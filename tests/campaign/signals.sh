#!/usr/bin/env bash
# Signals after each instruction, with further ones inside their handlers; storms; jumps; forks.
# shellcheck source=tests/campaign/campaign.bash
. "$(dirname "$0")/campaign.bash"
# shellcheck source=tests/death/death.bash
. "$SOURCE/tests/death/death.bash"
skip_without_ptrace
# shellcheck source=tests/tool/stepper.bash
. "$SOURCE/tests/tool/stepper.bash"
STEPPER_SECONDS=600
# These come first, because `fresh` removes the stepper.
for scenario in fast gap change gap_change wide wide_change wide_gap_change first plain \
    plain_gap_change params params_gap_change text text_gap_change message message_gap_change \
    checkpoint checkpoint_gap pause_gap_change typed typed_gap_change typed_first params_first \
    profile profile_gap profile_first; do
    step "fork_$scenario" stepper fork "$scenario" 1 || true
done

# The script that steps through all scenarios, with a signal at each instruction; `make test` has
# every third.
step stepper env EVERY=1 bash "$SOURCE/tests/faults/step.sh" || true

# $1 stride, then paths
signal_at_every() {
    local stride=$1 path
    shift
    for path; do
        step "signal_$path" death steps signal "$path" "$stride" "$stride" || true
    done
}
# shellcheck disable=SC2086
{
    signal_at_every 1 $short_paths
    signal_at_every 13 $middle_paths
    signal_at_every 101 scope_gap profile change_gap change_all
    signal_at_every 1499 first first_gap first_profile segment
    signal_at_every 9973 fork
    signal_at_every 3 slow
    signal_at_every 5 slow_wide
}
for seed in 1 2 3 4 5; do
    step "storm_$seed" death storm 2000 "$seed" || true
    step "jump_$seed" death jump 2000 "$seed" || true
done
cd "$STATE"
row "Instructions at which a signal arrived; the same, inside its handler" "all of short paths" \
    "$(total handlers signal_*.out); $(total inside signal_*.out)"
row "Signals in storms" "≥ 100,000" "$(total signals storm_*.out)"
row "Records in storms: written / found" "equal" \
    "$(total written storm_*.out) / $(total found storm_*.out)"
row "Lost, torn, invented, duplicated" "0, 0, 0, 0" "$(total lost ./*.out), $(total torn \
    ./*.out), $(total invented ./*.out), $(total duplicated ./*.out)"
row "Faults of check, errno changed, programs that ended differently" 0 "$(total unclean ./*.out)"
row "Jumps out of a probe; records missing after them" "only those abandoned by a jump" \
    "$(total 'jumps' jump_*.out); $(($(total written jump_*.out) - $(total found jump_*.out)))"
row "Instructions at which a handler forked; children that died" "all; 0" "$(
    sed -n 's/.* interrupted at \([0-9]*\),.*/\1/p' fork_*.out |
        awk '{ sum += $1 } END { print sum + 0 }'); $(
        sed -n 's/.*handler that died: [0-9]*, //p' fork_*.running 2> /dev/null |
            awk '{ sum += $1 } END { print sum + 0 }')"
finish
