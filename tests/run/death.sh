#!/usr/bin/env bash
# SIGKILL behind instructions and system calls of every path of a recording, and at any moment: what
# was counted outside is read, once, and recovered. tests/campaign/death.sh does all instructions.
# variants:
# timeout: 300
. "$(dirname "$0")/common.bash"
. "$SOURCE/tests/death/death.bash"

seed=${SEED:-$RANDOM}
echo "seed $seed"
if ! death steps kill probe 1000 "$seed" > output 2>&1 && grep -q ptrace output; then
    echo "no ptrace here"
    exit 77
fi

# $1 stride, then paths
kill_in() {
    local stride=$1 path
    shift
    for path; do
        death steps kill "$path" "$stride" "$seed" || fail "$path: seed $seed"
    done
}

# shellcheck disable=SC2086
{
    kill_in 11 $probe_paths
    kill_in 97 $chunk_paths
    kill_in 1499 $life_paths
    kill_in 401 $end_paths
    kill_in 3001 $writer_paths
}
death random 600 "$seed" "$PROBITY" || fail "random kills: seed $seed"
finish
