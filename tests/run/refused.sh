#!/usr/bin/env bash
# A program whose library is refused memory, files, threads or rights, at any call: it does what it
# did without, says one line at most, and what is recorded is right.
# variants: gcc
# timeout: 300
. "$(dirname "$0")/common.bash"
. "$SOURCE/tests/run/refused.bash"

sweep_program refused hits 300 2
sweep_program refused hits 300 5 -a -x unlink
for way in many scopes typed profile ring child csv log summary; do
    sweep_program refused.shared $way 300 11
    sweep_program refused.shared $way 300 29 -a -x unlink
done
sweep_program refused.shared control 300 41
asks_seldom many clone,clone3 1
asks_seldom held fallocate 10
# A filter that lets files be made without a name and never gives them one.
for way in hits many; do
    ALL=yes sweep_program refused $way 300 1 -e EPERM -a -k linkat
done
ALL=yes sweep_program refused child 300 1 -e short -a
ALL=yes sweep_program refused hits 300 3 -e EINTR -k pread64,pwrite64,fallocate,ftruncate
echo "$runs runs, $refusals refusals"
finish
