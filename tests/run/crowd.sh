#!/usr/bin/env bash
# Crowds of threads, processes and libraries; several copies of this one; other libcs. The campaign
# of the same name does more of it.
# variants: gcc
# timeout: 600
. "$(dirname "$0")/common.bash"
# shellcheck source=tests/run/crowd.bash
. "$SOURCE/tests/run/crowd.bash"

copies 3
namespaces
reloads 25000
own_malloc
thread_crowds threads 10000 20
thread_crowds threads.shared 2000 2000
too_many_threads 40 200
storm storm 1 20 4
storm storm.shared 2 20 4
handlers handlers 10
handlers handlers.shared 10
leavers 30
libcs some
finish
