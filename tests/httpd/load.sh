#!/usr/bin/env bash
# The load generator of the demo and the benchmarks (examples/httpd_load.c) against the example web
# server: their counts agree, and the generator ends correctly in every way.
# variants: asan
set -u
load=${BUILD:?}/examples/httpd_load
work=$(mktemp -d)
server_pid=
# shellcheck source=tests/counted.bash
. "$(dirname "$0")/../counted.bash"

clean_up() {
    [ -z "$server_pid" ] || kill -KILL "$server_pid" 2> /dev/null
    rm -rf "$work"
}
trap '[[ $BASHPID != $$ ]] || clean_up' EXIT

# Sets port.
start_server() {
    : > "$work/out"
    "$BUILD/examples/httpd" --root "$work/root" --port 0 --threads 2 > "$work/out" &
    server_pid=$!
    port=
    for _ in $(seq 1000); do
        port=$(sed -n 's/^listening on 127.0.0.1://p' "$work/out")
        [ -z "$port" ] || return 0
        sleep 0.05
    done
    echo "the server does not start"
    echo "0 passed, 1 failed"
    exit 1
}

# $1 signal
stop_server() {
    kill "-$1" "$server_pid"
    wait "$server_pid" 2> /dev/null
    server_pid=
}

# Runs the generator with these arguments. Sets status.
run() {
    status=0
    "$load" "$@" > "$work/load" 2> "$work/err" || status=$?
}

field() { sed -n "s/^$1: //p" "$work/load"; }

await_requests() {
    for _ in $(seq 1000); do
        [ ! -s "$work/served" ] || return 0
        sleep 0.05
    done
}

mkdir -p "$work/root/cgi-bin"
printf 'page\n' > "$work/root/page"
head -c 300000 /dev/urandom > "$work/root/large"
: > "$work/root/empty"
cat > "$work/root/cgi-bin/mark" <<END
#!/bin/sh
echo > "$work/served"
printf 'Content-Type: text/plain\n\n'
END
chmod +x "$work/root/cgi-bin/mark"

start_server
run --seconds 60 --requests 300 --connections 1 "$port" /page /large /empty
check "300 requests: status" 0 $status
check "300 requests: answers, errors, end" "300 0 requests answered" \
    "$(field answers) $(field errors) $(field end)"
run --seconds 60 --requests 10 --connections 1 "$port" /page /none
check "one path of two is missing: answers, errors" "10 5" "$(field answers) $(field errors)"
run --seconds 1 --connections 16 "$port" /page
check "a second: end, errors" "time is up 0" "$(field end) $(field errors)"
counted=$((300 + 10 + $(field answers)))
stop_server TERM
served=$(sed -n 's/^requests served: //p' "$work/out")
# When a generator ends, each connection has at most one more request in flight.
check "the server counts the same" yes \
    "$([ "$served" -ge "$counted" ] && [ "$served" -le $((counted + 18)) ] && echo yes)"
run --seconds 60 "$port" /page
check "no server: status, end" "1 nobody listens" "$status $(field end)"

# $1 process that receives the signal, $2 signal, $3 how the generator ends
test_end() {
    local load_pid status=0
    rm -f "$work/served"
    start_server
    "$load" --seconds 60 --connections 4 "$port" /cgi-bin/mark > "$work/load" &
    load_pid=$!
    await_requests
    if [ "$1" = server ]; then stop_server "$2"; else kill "-$2" "$load_pid"; fi
    wait "$load_pid" || status=$?
    [ -z "$server_pid" ] || stop_server TERM
    check "$2 to the $1: end" "$3" "$(field end)"
}
test_end server KILL "nobody listens"
test_end generator TERM interrupted
test_end generator INT interrupted

for words in "" "$port" "$port page" "0 /" "65536 /" "--seconds 0 $port /" \
    "--seconds 3601 $port /" "--connections 1025 $port /" "--requests x $port /" \
    "--nonsense $port /"; do
    # shellcheck disable=SC2086
    run $words
    check "usage: $words" 2 $status
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
