#!/usr/bin/env bash
# The tool is refused memory, files and rights, at any call: it says what failed, leaves what stood
# there, and leaves nothing half done.
# variants: gcc
# timeout: 300
. "$(dirname "$0")/common.bash"
. "$SOURCE/tests/run/refused.bash"

make_inputs
while read -r command; do
    sweep_tool "$command" 17 < /dev/null
    sweep_tool "$command" 37 -a -x unlink,unlinkat,mmap,mremap,brk < /dev/null
    sweep_memory "$command" $(($(allocations_of "$command") / 3 + 1)) "" < /dev/null
done <<< "$(commands)"
for command in 'csv -f -o out TRACES/one' 'recover killed' \
    'export --format ctf -f -o out TRACES/one'; do
    ALL=yes sweep_tool "$command" 1 -e short -a < /dev/null
done
echo "$runs runs, $refusals refusals"
finish
