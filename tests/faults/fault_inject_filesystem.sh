#!/usr/bin/env bash
# Paths of unexpected kinds, or that change: links, pipes, other users' directories; files that are
# removed, truncated or replaced during recording; full and read-only file systems; resource limits,
# clocks that jump, a stopped program.
# variants: gcc
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/faults/fault_inject.bash"
. "$SOURCE/tests/faults/filesystem_cases.bash"

links_in_the_way
pipes_in_the_way
trace_changed
trace_replaced
spool_taken
spool_cut
stopped
under_a_filter
clock_jumps
limits 12
outputs_limited
privileged
on_file_system tmpfs
not_to_be_written
finish
