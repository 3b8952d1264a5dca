#!/usr/bin/env bash
# Starts the example web server on a free port of 127.0.0.1 with a separate document root, and sends
# it valid and invalid requests of all kinds. Usage: httpd.sh [SERVER]; the default is the one
# in BUILD. Prints up to three lines per failure, and at the end "N passed, N failed"; exit status 0
# if none failed. VARIANT (asan, tsan) increases timeouts.
# variants: clang asan tsan
# timeout: 600

set -u

server=${1:-${BUILD:?}/examples/httpd}
case ${VARIANT:-} in
    asan | tsan) factor=3 ;;
    *) factor=1 ;;
esac
work=$(mktemp -d)
root=$work/root
# shellcheck source=tests/counted.bash
. "$(dirname "$0")/../counted.bash"
server_pid=
port=

clean_up() {
    [ -n "$server_pid" ] && kill -KILL "$server_pid" 2>/dev/null
    rm -rf "$work"
}
# The trap also runs in a background subshell that is killed before it has reset the trap, as in
# stop_server().
trap '[[ $BASHPID != $$ ]] || clean_up' EXIT

make_root() {
    mkdir -p "$root/cgi-bin" "$root/sub/deep" "$root/bare"
    printf 'the index\n' >"$root/index.html"
    printf 'plain text\n' >"$root/plain.txt"
    printf 'blank\n' >"$root/a name.txt"
    printf 'sub index\n' >"$root/sub/index.html"
    head -c 3000000 /dev/urandom >"$root/large.bin"
    : >"$root/empty.css"
    printf 'secret\n' >"$work/secret"
    mkfifo "$root/fifo"
    program echo 'printf "Content-Type: text/plain\r\n\r\n%s %s %s %s\n" \
        "$REQUEST_METHOD" "$QUERY_STRING" "$PATH_INFO" "${CONTENT_LENGTH-none}"; cat'
    program teapot 'printf "Status: 418 I am a teapot\nX-Pot: yes\n\nshort\n"'
    program move 'printf "Location: /plain.txt\n\n"'
    program silent 'exit 3'
    program garbage 'echo no header here'
    program deaf 'exec <&-; printf "Content-Type: text/plain\n\ndeaf\n"'
    program stuck 'exec sleep 60'
    program leak "echo; ls -l /proc/self/fd | grep -c -e socket: -e anon_inode: -e '$root'"
    printf 'not executable\n' >"$root/cgi-bin/data"
}

program() { # NAME BODY
    printf '#!/bin/sh\n%s\n' "$2" >"$root/cgi-bin/$1"
    chmod +x "$root/cgi-bin/$1"
}

start_server() { # further options
    "$server" --root "$root" --port 0 --threads 3 --idle 2 "$@" >"$work/out" 2>"$work/err" &
    server_pid=$!
    port=
    for _ in $(seq 1000); do
        port=$(sed -n 's/^listening on 127.0.0.1://p' "$work/out" 2>/dev/null || true)
        [ -n "$port" ] && return
        sleep 0.05
    done
    echo "the server does not start:"
    cat "$work/err"
    echo "0 passed, 1 failed"
    exit 1
}

# Sends the signal and returns the server's exit status; kills a server that does not end.
stop_server() { # SIGNAL
    kill "-$1" "$server_pid"
    { timeout $((20 * factor)) tail --pid="$server_pid" -s 0.05 -f /dev/null ||
        kill -KILL "$server_pid"; } >/dev/null 2>&1 & # ends with the server
    local guard=$! status
    wait "$server_pid"
    status=$?
    server_pid=
    wait "$guard"
    return $status
}

get() { # curl's arguments, the last a path
    curl -s --max-time $((20 * factor)) --path-as-is "${@:1:$#-1}" "http://127.0.0.1:$port${*: -1}"
}

status_of() {
    get -o /dev/null -w '%{http_code}' "$@"
}

field_of() { # FIELD, then as get
    local field=$1
    shift
    get -D - -o /dev/null "$@" | tr -d '\r' | sed -n "s/^$field: //Ip"
}

# Sends its input unchanged, and prints the response until the server closes the connection.
raw() {
    exec 9<>"/dev/tcp/127.0.0.1/$port"
    cat >&9
    timeout $((20 * factor)) cat <&9
    exec 9>&-
}

raw_status() { # the first status line's number
    printf "$@" | raw | head -n 1 | cut -d ' ' -f 2
}

test_files() {
    check "a file" "plain text" "$(get /plain.txt)"
    check "the index" "the index" "$(get /)"
    check "index of a directory" "sub index" "$(get /sub/)"
    check "a directory without its slash" "301 /sub/" \
        "$(status_of /sub) $(field_of Location /sub)"
    check "a directory without index" 404 "$(status_of /bare/)"
    check "an escaped name" "blank" "$(get /a%20name.txt)"
    check "the file name excludes the query" "plain text" "$(get '/plain.txt?a=b')"
    check "a large file" "$(sha256sum <"$root/large.bin")" "$(get /large.bin | sha256sum)"
    check "an empty file" "200 0" "$(status_of /empty.css) $(field_of Content-Length /empty.css)"
    check "text type" "text/plain; charset=utf-8" "$(field_of Content-Type /plain.txt)"
    check "html type" "text/html; charset=utf-8" "$(field_of Content-Type /)"
    check "length" 11 "$(field_of Content-Length /plain.txt)"
    check "missing file" 404 "$(status_of /nothing)"
    check "below a file" 404 "$(status_of /plain.txt/x)"
    check "a fifo" 403 "$(status_of /fifo)"
    check "HEAD has the length" 11 "$(field_of Content-Length -I /plain.txt)"
    check "HEAD has no body" 0 "$(get -I -o /dev/null -w '%{size_download}' /plain.txt)"
    check "HEAD of nothing" 404 "$(status_of -I /nothing)"
    local modified
    modified=$(field_of Last-Modified /plain.txt)
    check "unchanged" 304 "$(status_of -H "If-Modified-Since: $modified" /plain.txt)"
}

test_traversal() {
    local path
    for path in /../secret /sub/../../secret /%2e%2e/secret /..%2fsecret \
        /sub/%2e./%2e%2e/secret /.. /sub/..; do
        check "traversal by $path" 403 "$(status_of "$path")"
    done
    check "two slashes are one" "plain text" "$(get //plain.txt)"
    check "an absolute path stays below" 404 "$(status_of "/$work/secret")"
    check "two slashes do not reveal a program's source" "GET   none" "$(get //cgi-bin/echo)"
    check "an escape does not reveal a program's source" "GET   none" "$(get /cgi%2dbin/echo)"
    check "no redirect to another host" "/sub/" "$(field_of Location //sub)"
}

test_connections() {
    check "two requests, one connection" "1 0" \
        "$(curl -s --max-time $((20 * factor)) -o /dev/null -o /dev/null -w '%{num_connects} ' \
            "http://127.0.0.1:$port/" "http://127.0.0.1:$port/plain.txt" | sed 's/ $//')"
    check "pipelined: all answered in order" "200 404 200 " "$({
        printf 'GET /plain.txt HTTP/1.1\r\nHost: x\r\n\r\n'
        printf 'GET /no HTTP/1.1\r\nHost: x\r\n\r\n'
        printf 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    } | raw | sed -n 's/^.*HTTP\/1.1 \([0-9]*\).*/\1/p' | tr '\n' ' ')"
    check "close is honored" close "$(field_of Connection -H 'Connection: close' /)"
    check "HTTP/1.0 closes" close "$(field_of Connection --http1.0 /)"
    check "HTTP/1.0 keeps where asked" keep-alive \
        "$(field_of Connection --http1.0 -H 'Connection: keep-alive' /)"
    check "in pieces" 200 "$({ printf 'GET / HT'; sleep 0.2; printf 'TP/1.1\r\nHost: x\r'; sleep 0.2
        printf '\nConnection: close\r\n\r\n'; } | raw | head -n 1 | cut -d ' ' -f 2)"
    local begun=$SECONDS
    timeout 20 bash -c "exec 9<>/dev/tcp/127.0.0.1/$port; cat <&9"
    check "idle connection is closed" 0 $?
    check "idle connection is closed in time" 1 $((SECONDS - begun <= 5 * factor))
    begun=$SECONDS
    timeout 20 bash -c "exec 9<>/dev/tcp/127.0.0.1/$port; for i in 1 2 3 4 5 6 7 8 9; do
        printf x >&9 || exit 0; sleep 1; done" 2>/dev/null
    check "endless request is ended in time" 1 $((SECONDS - begun <= 7 * factor))
}

test_more_connections_than_workers() {
    local i file files=()
    for i in $(seq 20); do
        exec {file}<>"/dev/tcp/127.0.0.1/$port"
        files[i]=$file
    done
    for i in $(seq 20); do
        printf 'GET /plain.txt HTTP/1.1\r\nHost: x\r\n\r\n' >&"${files[i]}"
    done
    local answers=0 line
    for i in $(seq 20 -1 1); do
        file=${files[i]}
        read -r -t $((20 * factor)) line <&"$file" && [ "${line%$'\r'}" = "HTTP/1.1 200 OK" ] &&
            answers=$((answers + 1))
        exec {file}>&-
    done
    check "20 kept connections, 3 workers" 20 $answers
}

test_bad_requests() {
    local long head lengths='Content-Length: 1\r\nContent-Length: 2\r\n'
    long=$(printf '%05000d' 0)
    head=$(printf 'X-%03500d: 1\\r\\n' 1 2 3)
    check "no request" 400 "$(raw_status 'nonsense\r\n\r\n')"
    check "bare line feeds" 400 "$(raw_status 'GET / HTTP/1.1\nHost: x\n\n')"
    check "no host" 400 "$(raw_status 'GET / HTTP/1.1\r\n\r\n')"
    check "two blanks" 400 "$(raw_status 'GET  / HTTP/1.1\r\nHost: x\r\n\r\n')"
    check "no path" 400 "$(raw_status 'GET x HTTP/1.1\r\nHost: x\r\n\r\n')"
    check "bad escape" 400 "$(raw_status 'GET /%%4 HTTP/1.1\r\nHost: x\r\n\r\n')"
    check "escaped zero" 400 "$(raw_status 'GET /plain.txt%%00.x HTTP/1.1\r\nHost: x\r\n\r\n')"
    check "a zero in the head" 400 "$(raw_status 'GET / HTTP/1.1\r\nHost: x\0\r\n\r\n')"
    check "blank before the colon" 400 "$(raw_status 'GET / HTTP/1.1\r\nHost : x\r\n\r\n')"
    check "folded header" 400 "$(raw_status 'GET / HTTP/1.1\r\nHost: x\r\n y: z\r\n\r\n')"
    check "two lengths" 400 \
        "$(raw_status "POST / HTTP/1.1\r\nHost: x\r\n$lengths\r\n")"
    check "invalid length" 400 \
        "$(raw_status 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n')"
    check "other version" 505 "$(raw_status 'GET / HTTP/2.0\r\nHost: x\r\n\r\n')"
    check "unknown method" 501 \
        "$(raw_status 'BREW / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')"
    check "chunked body" 501 \
        "$(raw_status 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')"
    check "method not allowed" "405 GET, HEAD" \
        "$(status_of -X DELETE /) $(field_of Allow -X PUT /)"
    check "POST to a file" 405 "$(status_of -d a=b /plain.txt)"
    check "long target" 414 "$(raw_status "GET /$long HTTP/1.1\r\nHost: x\r\n\r\n")"
    check "long target without end" 414 "$(raw_status "GET /$long")"
    check "large headers" 431 "$(raw_status "GET / HTTP/1.1\r\nHost: x\r\n$head\r\n")"
    check "large body" 413 \
        "$(raw_status 'POST /cgi-bin/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n')"
    check "absolute form" 200 \
        "$(raw_status 'GET http://x/plain.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')"
}

test_cgi() {
    check "GET with a query" "GET a=b&c=d  none" "$(get '/cgi-bin/echo?a=b&c=d')"
    check "path info" "GET  /more/of it none" "$(get '/cgi-bin/echo/more/of%20it')"
    check "POST" "POST   11"$'\n'"hello=world" "$(get -d hello=world /cgi-bin/echo)"
    head -c 1000000 /dev/urandom >"$work/body"
    check "a large POST" "$(sha256sum <"$work/body")" \
        "$(get --data-binary "@$work/body" -H 'Expect: 100-continue' /cgi-bin/echo |
            tail -c 1000000 | sha256sum)"
    check "a large POST to a program that does not read" deaf \
        "$(get --data-binary "@$work/body" /cgi-bin/deaf)"
    check "HEAD" 200 "$(status_of -I /cgi-bin/echo)"
    check "status set by the program" "418 yes" \
        "$(status_of /cgi-bin/teapot) $(field_of X-Pot /cgi-bin/teapot)"
    check "a location" "302 /plain.txt" \
        "$(status_of /cgi-bin/move) $(field_of Location /cgi-bin/move)"
    check "no output" 500 "$(status_of /cgi-bin/silent)"
    check "no header" 500 "$(status_of /cgi-bin/garbage)"
    check "not executable" 403 "$(status_of /cgi-bin/data)"
    check "missing program" 404 "$(status_of /cgi-bin/none)"
    check "no name" 404 "$(status_of /cgi-bin/)"
    # Descriptors that the caller left open are inherited by both; the server must not add any.
    # shellcheck disable=SC2010 # the names are numbers, and what they point to is looked for
    check "a program gets no descriptor of the server" \
        "$(ls -l /proc/self/fd | grep -c -e socket: -e anon_inode: -e "$root")" \
        "$(get /cgi-bin/leak)"
}

# The server must have counted the same number of requests as its clients.
test_graceful_stop() {
    local answer out
    start_server
    for _ in 1 2 3; do get /plain.txt >/dev/null; done
    program slow ": > '$work/begun'; sleep 1; printf '\nslow\n'"
    out=$work/slow
    get /cgi-bin/slow >"$out" &
    local client=$!
    until [ -e "$work/begun" ] || ! kill -0 "$client" 2> /dev/null; do sleep 0.02; done
    exec {idle}<>"/dev/tcp/127.0.0.1/$port" # must not delay the end
    stop_server TERM
    check "stop: exit status" 0 $?
    exec {idle}>&-
    wait "$client"
    answer=$(cat "$out")
    check "stop: the request in flight is finished" slow "$answer"
    check "stop: requests served" "requests served: 4" "$(tail -n 1 "$work/out")"
    check "nothing on stderr" "" "$(cat "$work/err")"
}

# The number of hits for each kind of request is the one documented in stages.h.
test_trace() {
    [ -x "${PROBITY:-}" ] || return 0
    PROBITY_OUT=$work/trace.probity start_server --scoreboard "$work/scoreboard"
    get / >/dev/null
    curl -s --max-time $((20 * factor)) -o /dev/null -o /dev/null \
        "http://127.0.0.1:$port/" "http://127.0.0.1:$port/large.bin"
    get -I /plain.txt >/dev/null
    get /nothing >/dev/null
    raw_status 'nonsense\r\n\r\n' >/dev/null
    get /cgi-bin/echo >/dev/null
    get -d hello=world /cgi-bin/echo >/dev/null
    stop_server TERM
    check "traced: exit status" 0 $?
    "$PROBITY" csv "$work/trace.probity" | tr -d ' ' >"$work/trace.csv"
    check "traced: hits per stage as specified" "4:8 5:8 6:8 7:8 8:8 9:8 10:2 11:2 " \
        "$(awk -F , '{ hits[$3]++ } END { for (i = 4; i <= 11; i++) printf "%d:%d ", i, hits[i] }' \
            "$work/trace.csv")"
    check "traced: connections and turns equal the scoreboard" \
        "$(od -An -v -w64 -tu8 "$work/scoreboard" | awk '{ a += $2; q += $3; t += $4; c += $7 }
            END { print a, q, t, c }')" \
        "$(awk -F , '{ hits[$3]++ } END { print hits[1], hits[2], hits[3], hits[12] }' \
            "$work/trace.csv")"
    check "traced: the lock is released as often as it is taken" 1 \
        "$(awk -F , '{ hits[$3]++ } END { print (hits["queue:hold"] == hits["queue:release"] &&
            hits["queue:hold"] >= hits[2] + hits[3] + 4) }' "$work/trace.csv")"
    check "traced: each turn is put, then got, and its requests begin and end" "" \
        "$("$PROBITY" csv --columns role,correlation "$work/trace.probity" | awk -F , '
            $1 == "queue-put" { wrong += $2 != ++put; state[$2] = 1 }
            $1 == "queue-get" { wrong += state[$2]++ != 1; got++ }
            $1 == "request-begin" { wrong += state[$2]++ != 2; begun++ }
            $1 == "request-end" { wrong += state[$2]-- != 3; ended++ }
            END { if (wrong || put == 0 || got != put || begun != 8 || ended != 8)
                print wrong, put, got, begun, ended }')"
    check "traced: nothing on stderr" "" "$(cat "$work/err")"
}

test_options() {
    check "help" 0 "$("$server" --help >/dev/null; echo $?)"
    check "a bad port" 2 "$("$server" --port 70000 2>/dev/null; echo $?)"
    check "an unknown option" 2 "$("$server" --nothing 2>/dev/null; echo $?)"
    check "missing root" 1 "$("$server" --root "$work/none" --port 0 2>/dev/null; echo $?)"
    check "a port in use" 1 "$("$server" --root "$root" --port "$port" 2>/dev/null; echo $?)"
}

make_root
start_server --scoreboard "$work/scoreboard"
status_of /cgi-bin/stuck >"$work/stuck" & # takes long, so it runs in the background
stuck_client=$!
test_options
test_files
test_traversal
test_connections
test_more_connections_than_workers
test_bad_requests
test_cgi
wait "$stuck_client"
check "a stuck program is ended" 504 "$(cat "$work/stuck")"
stop_server INT
check "interrupted: exit status" 0 $?
check "nothing on stderr" "" "$(cat "$work/err")"
check "the scoreboard has all requests" "$(sed -n 's/^requests served: //p' "$work/out")" \
    "$(od -An -v -w64 -tu8 "$work/scoreboard" | awk '{ sum += $5 } END { print sum }')"
test_graceful_stop
test_trace
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
