# What the scripts of this folder share. Sourced; they get PROBITY (the tool) and BUILD from
# tools/test.sh.
set -eu
# shellcheck disable=SC2034 # for the scripts
SOURCE=$(cd "$(dirname "$0")/../.." && pwd)
PROGRAMS=$BUILD/tests/programs
WORK=$(mktemp -d /tmp/probity-test.XXXXXX)
SPOOL=$(mktemp -d /dev/shm/probity-test.XXXXXX)
export PROBITY_SPOOL_DIR=$SPOOL
unset PROBITY_OUT
failures=0
# For a program that a test compiles itself: what it is linked with is sanitized.
# shellcheck disable=SC2034
SANITIZE_FLAG=${SANITIZE:+-fsanitize=$SANITIZE}
trap 'rm -rf "$WORK" "$SPOOL"' EXIT
cd "$WORK"

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
    # Who asks only whether a test fails need not wait for its end.
    [ -z "${STOP_AT_FIRST:-}" ] || exit 1
}

# $1 what, $2 expected, $3 found
expect() {
    [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"
}

# Whether the thread sanitizer cannot follow what comes next, which is then left out. $1 what, $2 why
unfollowed() {
    [ "${VARIANT:-gcc}" = tsan ] || return 1
    echo "left out under the thread sanitizer: $1: $2"
}

# Files "expected" (what the program says it recorded) and the traces named here must tell the
# same, hit by hit. $1 what; CHECK: options of check_hits
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

# No file of a spool may be left.
no_leftovers() {
    local left
    left=$(find "$SPOOL" -mindepth 1 | head -n 3)
    [ -z "$left" ] || fail "$1: left in the spool's folder: $left"
}

# $1 what: one line at most on stderr (file "errors")
quiet() {
    [ "$(wc -l < errors)" -le 1 ] || fail "$1: more than one line on stderr: $(cat errors)"
}

# Whether files need no name in the working directory.
has_unnamed_files() {
    python3 -c 'import os; os.close(os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600))' 2> /dev/null
}

fresh() {
    rm -rf "${WORK:?}"/* "${SPOOL:?}"/*
}

# The port of the example web server whose output is in the file "server.out".
server_port() {
    local port=''
    for _ in $(seq 1000); do
        port=$(sed -n 's/^listening on 127.0.0.1://p' server.out 2> /dev/null || true)
        [ -z "$port" ] || break
        sleep 0.05
    done
    echo "$port"
}

finish() {
    if [ "$failures" -gt 0 ]; then
        echo "$failures failures" >&2
        exit 1
    fi
    echo "all hits found"
}
