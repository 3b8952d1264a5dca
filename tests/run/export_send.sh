#!/usr/bin/env bash
# `probity export -o http://...`: what a server on loopback receives is what a file would hold, in
# requests that collectors take; servers that are busy, refuse, keep a part, or are not there. And
# the same file sent by curl.
# variants: asan
# timeout: 300
. "$(dirname "$0")/common.bash"
. "$SOURCE/tests/run/exported.bash"

# Starts the receiver; lines of its plan. Sets "url" and "receiver".
start_receiver() {
    rm -rf received
    mkdir received
    printf '%s\n' "$@" | grep . > plan || true
    : > port
    python3 "$SOURCE/tests/run/otlp_receiver.py" received plan > port 2> receiver.err &
    receiver=$!
    for _ in $(seq 1000); do
        [ ! -s port ] || break
        sleep 0.05
    done
    url=http://127.0.0.1:$(cat port)/v1/traces
}

stop_receiver() {
    kill "$receiver"
    wait "$receiver" 2> /dev/null || true
}

hex() {
    od -An -v -tx1 | tr -d ' \n'
}

# $1 what, $2 expected status; then arguments of export
export_at() {
    local what=$1 expected=$2 status=0
    shift 2
    no_proxy='*' "$PROBITY" export "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

PROBITY_OUT=$WORK/trace "$PROGRAMS/exported" 4 800
PROBITY_OUT=$WORK/other "$PROGRAMS/tree"
most=$((1024 * 1024)) # collectors take 20 MiB, those that take least 1 to 2
for format in otlp otlp-json; do
    start_receiver
    export_at "$format" 0 --format "$format" --header 'X-Token: a b' -o "$url" trace other
    stop_receiver
    told=$(sed -n "s,.*'$url' took \([0-9]*\) requests.*,\1,p" errors)
    export_to "$format: file" 0 "$format" trace other
    cat received/body.* | cmp - out || fail "$format: another body than the file"
    requests=$(find received -name 'body.*' | wc -l)
    [ "$requests" -gt 20 ] || fail "$format: $requests requests"
    expect "$format: requests told" "$requests" "$told"
    largest=$(stat -c %s received/body.* | sort -n | tail -n 1)
    [ "$largest" -le "$most" ] || fail "$format: a request of $largest bytes"
    expect "$format: path" 1 "$(head -qn 1 received/headers.* | sort -u | grep -cFx /v1/traces)"
    expect "$format: header" "$requests" "$(grep -lFx 'X-Token: a b' received/headers.* | wc -l)"
    type=$([ "$format" = otlp ] && echo x-protobuf || echo json)
    expect "$format: type" "$requests" \
        "$(grep -lFx "Content-Type: application/$type" received/headers.* | wc -l)"
done
# Each request stands for itself.
for body in received/body.*; do
    jq -e '.resourceSpans[0].scopeSpans[0].spans | length > 0' "$body" > found || fail "$body"
done

# The file as one request, as long as it is not too large.
start_receiver
export_to "for curl" 0 otlp other
curl -sf --noproxy '*' --data-binary @out -H 'Content-Type: application/x-protobuf' "$url" ||
    fail "curl: $?"
cmp out received/body.000000 || fail "curl sends another body"
stop_receiver

# A server that is busy gets each request again, and each once.
start_receiver "503 - -" "200 - -" "429 1 -" "502 0 -"
export_at "busy" 0 --format otlp -o "$url" trace
stop_receiver
"$PROBITY" export --format otlp trace 2> errors > out
cat received/body.* | cmp - out || fail "busy: something is missing or twice"

# What the server says is told, on one line, and is a failure.
start_receiver "200 - -" "200 - -" "413 - $(printf 'too large\033[0m' | hex)"
export_at "refused" 1 --format otlp -o "$url" trace
stop_receiver
grep -qF "'$url' answers 413: too large?[0m; it took 2 requests before" errors ||
    fail "refused: $(cat errors)"
quiet "refused"
# { partial_success: { rejected_spans: 5, error_message: "no" } }
start_receiver "200 - 0a06080512026e6f"
export_at "rejected" 1 --format otlp -o "$url" other
stop_receiver
grep -qF "'$url' rejects 5 spans: no" errors || fail "rejected: $(cat errors)"
start_receiver "200 - $(printf '{"partialSuccess": {"rejectedSpans": "7"}}' | hex)"
export_at "rejected, JSON" 1 --format otlp-json -o "$url" other
stop_receiver
grep -qF "'$url' rejects 7 spans" errors || fail "rejected, JSON: $(cat errors)"
# Answers that are none, of a server that took it.
start_receiver "200 - ffffffff" "200 - 7b" "200 - 0a02"
for format in otlp otlp-json otlp; do
    export_at "no answer, $format" 0 --format "$format" -o "$url" other
done
stop_receiver
export_at "nobody there" 1 --format otlp -o "$url" other
grep -qF "cannot send to '$url': " errors || fail "nobody there: $(cat errors)"
quiet "nobody there"
# An empty trace is no request.
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
finish
