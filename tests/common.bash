# Shared by all scripts in this directory. Sourced; tools/test.sh sets PROBITY (the tool) and BUILD.
set -eu
# shellcheck disable=SC2034 # for the scripts
SOURCE=$(cd "$(dirname "$0")/../.." && pwd)
PROGRAMS=$BUILD/tests/programs
WORK=$(mktemp -d /tmp/probity-test.XXXXXX)
SPOOL=$(mktemp -d /dev/shm/probity-test.XXXXXX)
export PROBITY_SPOOL_DIR=$SPOOL
unset PROBITY_OUT
failures=0
# For programs that a test compiles and links with sanitized libraries.
# shellcheck disable=SC2034
SANITIZE_FLAG=${SANITIZE:+-fsanitize=$SANITIZE}

# Compiles to an object file through the compiler cache, if there is one (tools/test_one.sh): for
# sources that are the same in each run. The command has -MD, and names no file in the test's
# directory by its full path.
compile_cached() {
    env -u CCACHE_DISABLE CCACHE_DEPEND=1 CCACHE_NOHASHDIR=1 "$@"
}

# Ends the jobs of a script that ends early, even if these are stopped.
end_jobs() {
    local job
    for job in $(jobs -r -p) $(jobs -s -p); do
        kill -s TERM "$job" && kill -s CONT "$job" || true
    done 2> /dev/null
}

# The trap also runs in a background subshell that is killed before it has reset the trap.
trap '[[ $BASHPID != $$ ]] || { end_jobs; rm -rf "$WORK" "$SPOOL"; }' EXIT
cd "$WORK"

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
    # A caller that only needs to know whether a test fails does not wait for the rest of it.
    [ -z "${STOP_AT_FIRST:-}" ] || exit 1
}

# Whether this job is still running. `kill -0` is no substitute: once the job has ended, its process
# id may belong to another process.
is_running() {
    [[ $'\n'$(jobs -r -p)$'\n' == *$'\n'"$1"$'\n'* ]]
}

# Fails if the job has ended. $1 signal, $2 job
signal_job() {
    is_running "$2" && kill -s "$1" "$2"
}

# Whether all threads of a process are stopped, or have ended.
has_stopped() {
    ! grep -hs '^State:' "/proc/$1"/task/*/status | grep -qv '[TZ]'
}

# Stops a job. A thread that is running on another CPU, such as one that handles requests, continues
# for a moment after the signal was sent.
stop_process() {
    signal_job STOP "$1" || return 0
    wait_until "$1" has_stopped "$1"
}

# Waits until a command succeeds. $1 a job whose end also ends the wait, then the command. The only
# time limit is the test's, because a machine may be arbitrarily slow.
wait_until() {
    local job=$1 pause=$WORK/.pause.$BASHPID turn=0
    local seconds=(0.02 0.02 0.03 0.03 0.04 0.05 0.06 0.08 0.1)
    shift
    ! "$@" || return 0
    mkfifo "$pause"
    until "$@"; do
        is_running "$job" || { rm -f "$pause"; "$@"; return; }
        # Waits without starting a process, unlike sleep: nothing is ever written to it.
        read -r -t "${seconds[turn]}" <> "$pause" || true
        ((turn == 8)) || turn=$((turn + 1))
    done
    rm -f "$pause"
}

# Waits until a file has contents. Ends the test if the job ends without writing any, because later
# steps would wait for that job, too. $1 job, $2 file, $3 file with the job's messages (optional)
await_file() {
    wait_until "$1" test -s "$2" && return
    fail "nothing in $2 when its program ended: $(tail -n 5 "${3:-/dev/null}")"
    finish
}

# $1 file, $2 minimum number of lines, $3 regular expression that they match
has_lines() {
    [ -e "$1" ] && [ "$(grep -c -- "${3:-}" "$1")" -ge "$2" ]
}

# $1 description, $2 expected, $3 found
expect() {
    [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"
}

# Whether to skip the next part because the thread sanitizer does not support it. $1 description, $2
# reason
unfollowed() {
    [ "${VARIANT:-gcc}" = tsan ] || return 1
    echo "left out under the thread sanitizer: $1: $2"
}

# The variants of a program that a script runs: with the static library and with the shared one, or,
# if LINKED is set, only with that one. $1 program
forms_of() {
    case ${LINKED:-both} in
        static) echo "$1" ;;
        shared) echo "$1.shared" ;;
        *) printf '%s\n' "$1" "$1.shared" ;;
    esac
}

# The file "expected" (the hits that the program printed) and the given traces must agree, hit by
# hit. $1 description; CHECK: options of check_hits
same_hits() {
    local what=$1
    shift
    # shellcheck disable=SC2086
    "$PROBITY" csv "$@" > csv.out 2> csv.err || true
    # shellcheck disable=SC2086
    "$PROGRAMS/check_hits" ${CHECK:-} < csv.out > found 2> faults || fail "$what: $(cat faults)"
    sort -n -k1,1 -k2,2 expected > expected.sorted
    if ! cmp -s expected.sorted found; then
        fail "$what: expected hits (<) and found hits (>): $(diff expected.sorted found | head -n 10)"
        head -n 5 csv.err >&2
    fi
    [ -s found ] || fail "$what: nothing was recorded"
}

# No spool file may remain.
no_leftovers() {
    local left
    left=$(find "$SPOOL" -mindepth 1 | head -n 3)
    [ -z "$left" ] || fail "$1: spool files left over: $left"
}

# Checks that there is at most one line on stderr (file "errors"). $1 description
quiet() {
    [ "$(wc -l < errors)" -le 1 ] || fail "$1: more than one line on stderr: $(cat errors)"
}

# Whether the working directory's file system supports unnamed files (O_TMPFILE).
has_unnamed_files() {
    python3 -c 'import os; os.close(os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600))' 2> /dev/null
}

fresh() {
    rm -rf "${WORK:?}"/* "${SPOOL:?}"/*
}

# Waits for the example web server, job $1, to print its address to "server.out"; sets "port".
await_port() {
    wait_until "$1" has_lines server.out 1 '^listening on 127.0.0.1:' || true
    # shellcheck disable=SC2034 # for the scripts
    port=$(sed -n 's/^listening on 127.0.0.1://p' server.out)
}

finish() {
    if [ "$failures" -gt 0 ]; then
        echo "$failures failures" >&2
        exit 1
    fi
    echo "all hits found"
}
