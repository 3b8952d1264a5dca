#!/usr/bin/env bash
# `probity ship` against a server with faults (fleet_server.py): each row arrives once although
# blocks are acknowledged and lost, the disk is full, replies or connections are missing, a block
# takes longer to send than a claim lasts, memory is exhausted, or the ledger cannot be written;
# every attempt to send a block has the same token; an unsigned certificate is rejected.
# variants: asan
# timeout: 600
. "$(dirname "$0")/../common.bash"
unset PROBITY_FLEET PROBITY_FLEET_PASSWORD PROBITY_LABEL
export no_proxy='*'
if ! "$PROBITY" ship --to http://127.0.0.1:1/a --retry 0 --init 2>&1 | grep -q '127.0.0.1:1/a'; then
    echo "no libcurl here"
    exit 77
fi

# $1 fault; then the certificate and key. Sets "server" and "port".
start_server() {
    : > port.out
    python3 "$SOURCE/tests/fleet/fleet_server.py" "$@" > port.out 2> server.err &
    server=$!
    wait_until "$server" test -s port.out || fail "no server: $(cat server.err)"
    port=$(cat port.out)
}

stop_server() {
    kill -s KILL "$server" 2> /dev/null || true
    wait "$server" 2> /dev/null || true
}
trap '[[ $BASHPID != $$ ]] || { stop_server; rm -rf "$WORK" "$SPOOL"; }' EXIT

# Rows of a table, as [[BLOCK, [ROWS OF EACH INSERT]], ...].
rows_of() {
    curl -sS --noproxy '*' --retry 5 --retry-all-errors --retry-delay 0 \
        --data-binary "TEST FROM $1" "http://127.0.0.1:$port/"
}

"$BUILD/bench/gen_scopes" trace 2 1 > /dev/null
calls=$("$PROBITY" report --json trace 2> /dev/null | jq '[.functions[].calls] | add')

# $1 fault: the database has each block once, and all calls.
arrives() {
    start_server "$1"
    rm -f trace.shipped
    "$PROBITY" ship --to "http://127.0.0.1:$port/a" --block-rows 20000 --retry 60 trace > output \
        2> errors || fail "$1: $(cat errors)"
    rows_of probity_calls > rows
    expect "$1: calls" "$calls" "$(jq '[.[][1][]] | add' rows)"
    expect "$1: blocks sent twice" 0 "$(jq '[.[] | select(.[1] | length != 1)] | length' rows)"
}

# For each block, prints "INSERTS TOKENS": how often it was sent, and with how many different
# tokens.
tokens() { curl -sS --noproxy '*' --data-binary "TEST TOKENS" "http://127.0.0.1:$port/"; }

arrives lost
[ "$(tokens | awk '$2 > 1' | wc -l)" -gt 0 ] || fail "lost: no block got another token"
expect "lost: blocks with more than two tokens" 0 "$(tokens | awk '$2 > 2' | wc -l)"
grep -q 'no longer had .* sent again' errors || fail "lost: not reported: $(cat errors)"
stop_server
for fault in full slow refused late; do
    arrives "$fault"
    # Another sender's copy of a block, however late, has the same token.
    [ "$fault" != full ] || [ "$(tokens | awk '$1 > 1' | wc -l)" -gt 0 ] || fail "never sent again"
    expect "$fault: blocks with several tokens" 0 "$(tokens | awk '$2 > 1' | wc -l)"
    stop_server
done

# ---- TLS

openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out certificate.pem -days 2 \
    -subj /CN=127.0.0.1 -addext 'subjectAltName = IP:127.0.0.1' 2> /dev/null
start_server none certificate.pem key.pem
status=0
PROBITY_FLEET_PASSWORD=s3cret "$PROBITY" ship --to "https://me@127.0.0.1:$port/a" --retry 0 trace \
    > output 2> errors || status=$?
expect "a self-signed certificate: status" 1 "$status"
grep -qi 'certificate' errors || fail "a self-signed certificate: not named: $(cat errors)"
grep -q s3cret errors output && fail "the password is in a message"

# $1 description, $2 expected status, $3 host; then the environment and options
over_tls() {
    local what=$1 expected=$2 host=$3
    shift 3
    status=0
    rm -f trace.shipped
    env "${@:1:1}" "$PROBITY" ship --to "https://me@$host:$port/a" --retry 0 "${@:2}" trace \
        > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}
openssl req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.pem -days 2 \
    -subj /CN=127.0.0.1 -addext 'subjectAltName = IP:127.0.0.1' 2> /dev/null
over_tls "an own authority" 0 127.0.0.1 NONE= --ca certificate.pem
over_tls "from the environment" 0 127.0.0.1 PROBITY_FLEET_CA=certificate.pem
over_tls "the option comes first" 1 127.0.0.1 PROBITY_FLEET_CA=certificate.pem --ca other.pem
over_tls "another host" 1 localhost NONE= --ca certificate.pem
over_tls "no such file" 1 127.0.0.1 NONE= --ca nothing.pem
grep -q "cannot open 'nothing.pem'" errors || fail "no such file: $(cat errors)"
over_tls "not a certificate" 1 127.0.0.1 NONE= --ca key.pem
stop_server

# ---- Full disk, and exhausted memory, of the sender

start_server none
if [ -w /dev/full ]; then
    rm -f trace.shipped
    (
        ulimit -f 1
        trap '' XFSZ
        status=0
        "$PROBITY" ship --to "http://127.0.0.1:$port/a" --block-rows 5000 trace > output \
            2> errors || status=$?
        expect "a ledger that cannot grow: status" 1 "$status"
        grep -q "cannot write 'trace.shipped'" errors || fail "a ledger: $(cat errors)"
        exit "$failures"
    ) || failures=$((failures + 1))
    "$PROBITY" ship --to "http://127.0.0.1:$port/a" --block-rows 5000 trace > output 2> errors ||
        fail "after a full disk: $(cat errors)"
    expect "after a full disk: calls" "$calls" "$(rows_of probity_calls | jq '[.[][1][]] | add')"
fi
if [ "${VARIANT:-gcc}" = gcc ]; then
    refused=0
    for kib in $(seq 24000 3000 90000); do
        status=0
        (
            ulimit -v "$kib"
            "$PROBITY" ship --to "http://127.0.0.1:$port/b$kib" --retry 0 trace > output 2> errors
        ) || status=$?
        [ "$status" != 0 ] || break
        refused=$((refused + 1))
        [ -s errors ] || fail "$kib KiB: status $status, and no message"
    done
    [ "$refused" -gt 0 ] || fail "memory was never refused"
fi
finish
