#!/usr/bin/env bash
# The web server under load in each mode, observed from outside: its resource usage stays constant,
# every request gets a response, and every stage is recorded, even if it is terminated or killed
# under load.
# variants: gcc
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/runtime/soak.bash"

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
