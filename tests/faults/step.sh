#!/usr/bin/env bash
# Single-steps the record path: reads the spool after every instruction, and delivers a signal at
# every instruction. Some handlers fork. PARTS: only one in PARTS scenarios, chosen by SEED.
# variants: clang
# timeout: 1800
. "$(dirname "$0")/../common.bash"

# shellcheck source=tests/tool/stepper.bash
. "$SOURCE/tests/tool/stepper.bash"
PARTS=${PARTS:-1}
seed=${SEED:-$RANDOM}
echo "seed $seed"
scenarios=0
step() {
    scenarios=$((scenarios + 1))
    if (((scenarios + seed) % PARTS == 0)); then stepper "$@" || true; fi
}

# EVERY: a signal only at each EVERYth instruction.
every=${EVERY:-1}

for scenario in fast gap change gap_change wide wide_change wide_gap_change first; do
    step look $scenario
done
for scenario in fast gap wide change gap_change wide_change wide_gap_change; do
    step signal $scenario $every 3
done
step signal first $((13 * every)) 3
step signal fast $every 1000
step signal gap $every 1000
# A handler that fills several chunks.
step signal change $((3 * every)) 5000
step signal gap_change $((5 * every)) 5000
# The writer stops waiting for the interrupted probe, whose record then arrives late.
step signal fast $((11 * every)) 5000 1300
step signal wide_change $((7 * every)) 5000

# Function scopes, with and without values, also in profile mode.
scopes="plain plain_gap_change params params_gap params_change params_gap_change text
    text_gap_change message message_gap_change checkpoint checkpoint_change checkpoint_gap
    pause_gap_change typed typed_gap_change typed_first params_first profile profile_gap
    profile_first hooked hooked_gap_change fentry fentry_gap_change"
for scenario in $scopes; do
    step look "$scenario"
done
for scenario in plain params params_gap params_change message checkpoint checkpoint_change typed \
    profile profile_gap hooked fentry; do
    step signal $scenario $every 3
done
for scenario in plain_gap_change params_gap_change text text_gap_change message_gap_change \
    checkpoint_gap pause_gap_change typed_gap_change hooked_gap_change fentry_gap_change; do
    step signal $scenario $((3 * every)) 3
done
step signal params_first $((29 * every)) 3
step signal typed_first $((29 * every)) 3
step signal profile_first $((29 * every)) 3
step signal params_change $((11 * every)) 500

# Scopes in patched code.
build_stepper stepper_patchable -DPROBITY_PATCHABLE
STEPPER=stepper_patchable
for scenario in plain plain_gap_change message message_gap_change pause_gap_change profile \
    profile_gap profile_first; do
    step look "$scenario"
done
for scenario in plain message profile; do
    step signal $scenario $every 3
done
step signal plain_gap_change $((3 * every)) 3
step signal message_gap_change $((3 * every)) 3
step signal pause_gap_change $((3 * every)) 3
step signal profile_first $((29 * every)) 3
step fork profile_gap $((29 * every))
STEPPER=stepper

# The handler forks, and the child returns into the probe.
step fork fast $((3 * every))
step fork gap $((7 * every))
step fork wide_gap_change $((29 * every))
step fork params_gap_change $((29 * every))
step fork first $((101 * every))
step fork profile $((11 * every))
step fork profile_gap $((29 * every))
step fork profile_first $((101 * every))
finish
