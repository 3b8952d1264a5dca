#!/usr/bin/env bash
# The web server under load, watched from outside, in each mode: what it uses stays as it is, every
# request is answered, every stage of it told; also when it is ended and killed in the midst.
# variants: gcc
# timeout: 300
. "$(dirname "$0")/common.bash"
. "$SOURCE/tests/run/soak.bash"

for mode in trace profile ring; do
    fresh
    soak_root
    soak_script
    soak_build $mode
    soak_round $mode first 6 8
    soak_end_early $mode second TERM 5000
    soak_end_early $mode third KILL 5000
done
finish
