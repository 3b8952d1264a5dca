#!/usr/bin/env bash
# `probity path` and `why` of a trace that was damaged after its index was made: by the index they
# find the calls that they find without it, and count the same repairs.
# variants: gcc asan
. "$(dirname "$0")/../common.bash"

"$BUILD/bench/gen_scopes" spoiled 2 1
"$PROBITY" index spoiled
start=$("$PROBITY" info --json spoiled | jq '.[0].times.started_ns')
last=$("$PROBITY" info --json spoiled | jq '.[0].times.last_ns')
size=$(stat -c %s spoiled)
for part in $(seq 6 24); do
    printf damage | dd of=spoiled bs=1 seek=$((size * part / 30)) conv=notrunc status=none
done
# In ns: a share would be one of what is left. From the beginning, because after damage
# only the index has the calls that were open.
range=(--until "$(((last - start) * 9 / 10))ns")
for command in path why; do
    for found in by_index whole; do
        [ $found = by_index ] || mv spoiled.index kept.index
        status=0
        "$PROBITY" $command --json --function 'outer*' "${range[@]}" spoiled > $found 2> errors ||
            status=$?
        expect "$command, $found: status ($(cat errors))" 3 "$status"
    done
    mv kept.index spoiled.index
    for key in .repairs .spans .cases; do
        expect "$command: $key" "$(jq -c $key < whole)" "$(jq -c $key < by_index)"
    done
    [ "$(jq '.spans + .cases | length' whole)" -gt 0 ] || fail "$command: no call was found"
done
finish
