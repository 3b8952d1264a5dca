#!/usr/bin/env bash
# Probes do not change the thread's last error or errno, however they are recorded.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
compile_programs last_error
for mode in block drop ring; do
    PROBITY_MODE=$mode PROBITY_OVERWRITE=1 PROBITY_OUT=trace.probity wine_run last_error.exe \
        > out 2>&1
    expect "$mode: output" "done" "$(head -n 5 out | tr -d '\r')"
    expect "$mode: status" 0 "$status"
done
