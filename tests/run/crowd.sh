#!/usr/bin/env bash
# Crowds of threads, processes, libraries, and of copies of this one.
. "$(dirname "$0")/common.bash"
# shellcheck source=tests/run/crowd.bash
. "$SOURCE/tests/run/crowd.bash"

copies 3
reloads 30000
own_malloc
thread_crowds threads 10000 50
thread_crowds threads.shared 3000 2000
storm storm 1 30 4
storm storm.shared 2 30 4
echo "storms: $processes processes, $hits hits"
finish
