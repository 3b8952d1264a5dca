#!/usr/bin/env bash
# Threads under helgrind and DRD: the library's use of libc's threads, and its accesses to the
# program's memory. tests/campaign/races.sh covers more programs.
# variants: gcc
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/runtime/helgrind.bash"

if ! command -v valgrind > /dev/null; then
    echo "needs valgrind"
    exit 77
fi
races_under helgrind parallel.shared
races_under drd threads.shared churn 10 200
finish
