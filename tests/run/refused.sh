#!/usr/bin/env bash
# A program whose library is refused memory, files, threads or rights, at any call: it does what it
# did without, says one line at most, and what is recorded is right.
# timeout: 120
. "$(dirname "$0")/common.bash"
. "$SOURCE/tests/run/refused.bash"

for how in "" "-a -x unlink"; do
    # shellcheck disable=SC2086
    sweep_program refused hits 500 1 $how
done
echo "$runs runs, $refusals refusals"
finish
