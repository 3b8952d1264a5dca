#!/usr/bin/env bash
# Any system call or allocation of the library may fail: the program runs as it would without the
# library, prints at most one line, and all records are correct.
# variants: gcc
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/faults/fault_inject.bash"

sweep_program refused hits 300 2
sweep_program refused hits 300 5 -a -x unlink,unlinkat
for way in many scopes typed profile ring child csv log summary; do
    sweep_program refused.shared $way 300 11
    sweep_program refused.shared $way 300 29 -a -x unlink,unlinkat
done
sweep_program refused.shared control 300 41
asks_seldom many clone,clone3 1
# Pages for more segments or, in a larger spool, for more chunks of the first segment.
asks_seldom held madvise 16
PROBITY_SPOOL_RECORDS=$((512 * 64)) asks_seldom held madvise 23
# Systems that cannot add pages later: all pages are allocated at the start.
for way in hits many; do
    ALL=yes sweep_program refused $way 300 2 -a -k fstatfs,statfs
done
# The filter permits creating unnamed files, but never naming them.
for way in hits many; do
    ALL=yes sweep_program refused $way 300 1 -e EPERM -a -k linkat
done
ALL=yes sweep_program refused child 300 1 -e short -a
ALL=yes sweep_program refused hits 300 3 -e EINTR -k pread64,pwrite64,fallocate,ftruncate
echo "$runs runs, $refusals refusals"
finish
