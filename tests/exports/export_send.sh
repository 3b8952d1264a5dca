#!/usr/bin/env bash
# `probity export -o http://...`: a server on loopback receives the contents of a file, in requests
# small enough for collectors. Servers that are busy, reject the data, accept only a part of it, or
# do not exist. The same file sent by curl.
# variants: asan
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/exports/exported.bash"

# Starts the receiver; arguments: lines of its plan. Sets "url" and "receiver".
start_receiver() {
    rm -rf received
    mkdir received
    printf '%s\n' "$@" | grep . > plan || true
    : > port
    python3 "$SOURCE/tests/exports/otlp_receiver.py" received plan > port 2> receiver.err &
    receiver=$!
    wait_until "$receiver" test -s port || fail "no receiver: $(cat receiver.err)"
    url=http://127.0.0.1:$(cat port)/v1/traces
}

stop_receiver() {
    kill "$receiver"
    wait "$receiver" 2> /dev/null || true
}

hex() {
    od -An -v -tx1 | tr -d ' \n'
}

# $1 description, $2 expected status; then arguments of export
export_at() {
    local what=$1 expected=$2 status=0
    shift 2
    no_proxy='*' "$PROBITY" export "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

PROBITY_OUT=$WORK/trace "$PROGRAMS/exported" 4 800
PROBITY_OUT=$WORK/other "$PROGRAMS/tree"
most=$((1024 * 1024)) # collectors accept 20 MiB, the strictest 1 to 2 MiB
for format in otlp otlp-json; do
    start_receiver
    export_at "$format" 0 --format "$format" --header 'X-Token: a b' -o "$url" trace other
    stop_receiver
    reported=$(sed -n "s,.*'$url' accepted \([0-9]*\) requests.*,\1,p" errors)
    export_to "$format: file" 0 "$format" trace other
    cat received/body.* | cmp - out || fail "$format: the request body differs from the file"
    requests=$(find received -name 'body.*' | wc -l)
    [ "$requests" -gt 20 ] || fail "$format: $requests requests"
    expect "$format: requests reported" "$requests" "$reported"
    largest=$(stat -c %s received/body.* | sort -n | tail -n 1)
    [ "$largest" -le "$most" ] || fail "$format: a request of $largest bytes"
    expect "$format: path" 1 "$(head -qn 1 received/headers.* | sort -u | grep -cFx /v1/traces)"
    expect "$format: header" "$requests" "$(grep -lFx 'X-Token: a b' received/headers.* | wc -l)"
    type=$([ "$format" = otlp ] && echo x-protobuf || echo json)
    expect "$format: type" "$requests" \
        "$(grep -lFx "Content-Type: application/$type" received/headers.* | wc -l)"
done
# Each request is a complete message.
for body in received/body.*; do
    jq -e '.resourceSpans[0].scopeSpans[0].spans | length > 0' "$body" > found || fail "$body"
done

# The file is a single request, unless it is too large.
start_receiver
export_to "for curl" 0 otlp other
curl -sf --noproxy '*' --data-binary @out -H 'Content-Type: application/x-protobuf' "$url" ||
    fail "curl: $?"
cmp out received/body.000000 || fail "curl sends a different body"
stop_receiver

# A busy server receives each request again, and finally has each exactly once.
start_receiver "503 - -" "200 - -" "429 1 -" "502 0 -"
export_at "busy" 0 --format otlp -o "$url" trace
stop_receiver
"$PROBITY" export --format otlp trace 2> errors > out
cat received/body.* | cmp - out || fail "busy: spans are missing or duplicated"

# The server's error message is reported on one line.
start_receiver "200 - -" "200 - -" "413 - $(printf 'too large\033[0m' | hex)"
export_at "refused" 1 --format otlp -o "$url" trace
stop_receiver
grep -qF "'$url' returned status 413: too large?[0m; it accepted 2 requests before" errors ||
    fail "refused: $(cat errors)"
quiet "refused"
# { partial_success: { rejected_spans: 5, error_message: "no" } }
start_receiver "200 - 0a06080512026e6f"
export_at "rejected" 1 --format otlp -o "$url" other
stop_receiver
grep -qF "'$url' rejected 5 spans: no" errors || fail "rejected: $(cat errors)"
start_receiver "200 - $(printf '{"partialSuccess": {"rejectedSpans": "7"}}' | hex)"
export_at "rejected, JSON" 1 --format otlp-json -o "$url" other
stop_receiver
grep -qF "'$url' rejected 7 spans" errors || fail "rejected, JSON: $(cat errors)"
# Invalid responses of a server that accepted the request.
start_receiver "200 - ffffffff" "200 - 7b" "200 - 0a02"
for format in otlp otlp-json otlp; do
    export_at "no answer, $format" 0 --format "$format" -o "$url" other
done
stop_receiver
export_at "nobody there" 1 --format otlp -o "$url" other
grep -qF "cannot send to '$url': " errors || fail "no server: $(cat errors)"
quiet "nobody there"
# An empty trace causes no request.
"$BUILD/bench/gen" none 1 0
start_receiver
export_at "nothing" 0 --format otlp -o "$url" none
stop_receiver
expect "nothing" 0 "$(find received -type f | wc -l)"
export_at "another format" 2 --format chrome -o "$url" other
export_at "a wrong header" 2 --format otlp --header token -o "$url" other
export_at "a header of two lines" 2 --format otlp --header $'a: b\r\nc: d' -o "$url" other
export_at "a header of a file" 2 --format otlp --header 'a: b' -o out other
export_at "a missing trace" 1 --format otlp -o "$url" nowhere
# Without http://, the name of a server would be taken as a file name.
for server in 127.0.0.1:4318 localhost:4318 collector:80; do
    export_at "no URL: $server" 2 --format otlp -o "$server" trace
    grep -qF "http://$server/v1/traces" errors || fail "no URL: $(cat errors)"
    [ ! -e "$server" ] || fail "no URL: a file '$server'"
done
export_at "a path with a colon" 0 --format otlp -o ./collector:80 trace
[ -s collector:80 ] || fail "a path with a colon: no file"

# A tool built without libcurl's headers reports that, and supports everything else.
if [ "$VARIANT" = gcc ]; then
    for file in send send_without_curl http http_without_curl; do
        "$CC" -std=gnu11 -Wall -Wextra -Wpedantic -Werror -D_GNU_SOURCE -DPROBITY_WITHOUT_CURL \
            -I"$SOURCE/src" -I"$SOURCE/include" -c "$SOURCE/src/cli/$file.c" ||
            fail "without curl: $file.c"
    done
    mapfile -t objects < <(find "$BUILD/obj/src" "$BUILD/obj/generated" -name '*.o' \
        ! -path '*/runtime/*' ! -path '*/embed/*' ! -path '*/embed_print/*' ! -name writer.o \
        ! -path '*/cli/send*' ! -path '*/cli/http*' \
        ! -path '*/src/functions/*' ! -path '*/src/calls/*')
    "$CC" -pthread -o without {send,http}{,_without_curl}.o "${objects[@]}" -ljansson \
        -lprotobuf-c -lz -lm || fail "without curl: cannot link"
    PROBITY=$WORK/without
    export_at "without curl" 1 --format otlp -o "http://127.0.0.1:1/v1/traces" other
    grep -qF "built without HTTP support" errors || fail "without curl: $(cat errors)"
    export_at "without curl, to a file" 0 --format otlp -o without.otlp other
    [ -s without.otlp ] || fail "without curl: no file"
fi

finish
