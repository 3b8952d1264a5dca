#!/usr/bin/env bash
# The tool is refused memory, files and rights, at any call: it says what failed, leaves what stood
# there, and leaves nothing half done.
# timeout: 200
. "$(dirname "$0")/common.bash"
. "$SOURCE/tests/run/refused.bash"

make_inputs
while read -r command; do
    sweep_tool "$command" "${STRIDE:-1}" </dev/null
done < <(commands)
echo "$runs runs, $refusals refusals"
finish
