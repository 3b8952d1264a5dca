#!/usr/bin/env bash
# Many threads, processes and libraries; several copies of this library; other libcs. The campaign
# of the same name runs longer. RELOADS, ONE_BY_ONE: numbers of loaded libraries and of threads.
# LIBCS=no: excludes programs linked statically or with musl, for which the library is built again.
# variants: gcc
# timeout: 600
. "$(dirname "$0")/../common.bash"
# shellcheck source=tests/runtime/stress_threads.bash
. "$SOURCE/tests/runtime/stress_threads.bash"

copies 3
namespaces
reloads "${RELOADS:-25000}"
own_malloc
many_threads threads "${ONE_BY_ONE:-10000}" 20
many_threads threads.shared 2000 2000
too_many_threads 40 200
storm storm 1 20 4
storm storm.shared 2 20 4
handlers handlers 10
handlers handlers.shared 10
thread_exit_in_scope 30
[ "${LIBCS:-}" = no ] || libcs some
finish
