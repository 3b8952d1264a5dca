#!/usr/bin/env bash
# Places that are not what they seem, or do not stay what they were: links, pipes, folders of other
# users, files that are removed, cut or replaced under way, full and read-only file systems; limits,
# clocks that jump, a program that is stopped.
# variants: gcc
# timeout: 300
. "$(dirname "$0")/common.bash"
. "$SOURCE/tests/run/refused.bash"
. "$SOURCE/tests/run/places.bash"

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
