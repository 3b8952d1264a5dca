#!/usr/bin/env bash
# Kills a recording program after each instruction, at each system call, and 100,000 times at a
# random moment.
#
#   KILLS   number of random kills, in batches of 2,500 that use their numbers as seeds
# shellcheck source=tests/campaign/campaign.bash
. "$(dirname "$0")/campaign.bash"
# shellcheck source=tests/death/death.bash
. "$SOURCE/tests/death/death.bash"
skip_without_ptrace

BATCH=2500
batches=$((${KILLS:-100000} / BATCH))
for batch in $(seq "$batches"); do
    step "random_$batch" death random "$BATCH" "$batch" "$PROBITY" || true
done
# A simulated crash, and a real kill, after each instruction; on long paths only after some of them.
for path in $short_paths $middle_paths $long_paths $longest_paths; do
    step "look_$path" death steps look "$path" 1 1 || true
done
# $1 stride, then paths
kill_at_every() {
    local stride=$1 path
    shift
    for path; do
        step "kill_$path" death steps kill "$path" "$stride" "$stride" || true
    done
}
# shellcheck disable=SC2086
{
    kill_at_every 1 $short_paths
    kill_at_every 13 $middle_paths
    kill_at_every 101 $long_paths
    kill_at_every 1499 $longest_paths
}
for what in program csv recover record record_killed; do
    step "calls_$what" death calls $what 1 1 "$PROBITY" || true
done

cd "$STATE"
# $1 description, $2 intended number of deaths, then files
figures() {
    local what=$1 target=$2
    shift 2
    row "$what: deaths" "$target" "$(total deaths "$@")"
    row "$what: records written / found" "found ≥ written" \
        "$(total written "$@") / $(total found "$@")"
    row "$what: lost, torn, invented, duplicated" "0, 0, 0, 0" \
        "$(total lost "$@"), $(total torn "$@"), $(total invented "$@"), $(total duplicated "$@")"
    row "$what: faults of check and recover, files left" 0 "$(total unclean "$@")"
}
figures "SIGKILL at any moment" "≥ 100,000" random_*.out
figures "SIGKILL after an instruction" "all of short paths" kill_*.out
figures "Simulated crash after each instruction" \
    "all but those of the kernel's clock page" look_*.out
figures "SIGKILL at a system call" "all of a run" calls_*.out
finish
