#!/usr/bin/env bash
# Death behind each instruction, at each system call, and 100,000 times at any moment.
# shellcheck source=tests/campaign/campaign.bash
. "$(dirname "$0")/campaign.bash"
# shellcheck source=tests/death/death.bash
. "$SOURCE/tests/death/death.bash"

KILLS=${KILLS:-100000} BATCH=${BATCH:-2500}
batches=$((KILLS / BATCH))
for batch in $(seq "$batches"); do
    step "random_$batch" death random "$BATCH" "$batch" "$PROBITY" || true
done
finish
