#!/usr/bin/env bash
# view.sh BUILD_DIR [MILLIONS]: time and memory of `probity view` on one CPU for a trace of MILLIONS
# of enters and leaves (default 100) from 8 threads, and, if headless chromium is available, how
# long the page of a trace a tenth as long takes to open. The same page, and one of the example web
# server under load, with calls to libc and thread states if this machine permits: size, when
# the timeline is drawn, time of the page's thread for a step of the mouse wheel, heap.
set -eu
build=$1
millions=${2:-100}
tree=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "$build/bench.view.XXXXXX")
trap '[[ $BASHPID != $$ ]] || rm -rf "$work"' EXIT

row() { printf 'row\tview\t%s\t%s\t%s\t%s\n' "$@"; }

# Writes "page.html"; sets wall_s, cpu_s, peak_kib. $1 millions
measure() {
    "$build/bench/gen_scopes" "$work/trace" 8 "$1" values
    read -r wall_s cpu_s peak_kib < <("$build/bench/usage" "$build/bin/probity" view -f \
        -o "$work/page.html" "$work/trace")
}

measure "$millions"
row "$millions M records: wall time" "$wall_s" s "<= 60"
row "$millions M records: CPU time" "$cpu_s" s ""
row "$millions M records: peak memory" "$(awk "BEGIN { print $peak_kib / 1024 }")" MiB "<= 256"
measure $((millions / 10))
bytes=$(stat -c %s "$work/page.html")
row "$((millions / 10)) M records: page" "$(awk "BEGIN { print $bytes / 1048576 }")" MiB "<= 20"
# Records "web" from the web server without probes. $1 seconds
record_web() {
    local port='' server
    mkdir -p "$work/root"
    head -c 4096 /dev/zero | tr '\0' 'x' > "$work/root/page.html"
    : > "$work/address"
    "$build/bin/probity" record --calls locks,io,threads --sched -f -o "$work/web" -- \
        "$build/examples/httpd-plain" --root "$work/root" --port 0 --threads 4 \
        > "$work/address" 2> "$work/said" &
    server=$!
    for _ in $(seq 200); do
        port=$(sed -n 's/^listening on 127.0.0.1://p' "$work/address")
        [ -z "$port" ] || break
        sleep 0.05
    done
    "$build/examples/httpd_load" --connections 16 --seconds "$1" "$port" /page.html \
        > "$work/answers"
    pkill -TERM -P "$server" || true
    wait "$server" || true
}

# $1 description, $2 page, $3 maximum size in MB
page_rows() {
    local figures
    row "$1: page" "$(awk "BEGIN { print $(stat -c %s "$2") / 1e6 }")" MB "<= $3"
    command -v chromium > /dev/null && command -v npm > /dev/null || return 0
    HOME=$work node "$tree/tests/browser/view.mjs" "$build/npm-view/node_modules" "$work" \
        measured "$2" 2> "$work/said" || { cat "$work/said" >&2; exit 1; }
    figures=$(sed -n 's/^measured: {/{/p' "$work/said")
    row "$1: timeline drawn after" "$(jq '.drawn_ms / 1000' <<<"$figures")" s "<= 1"
    row "$1: step of the wheel, median" "$(jq .step_p50_ms <<<"$figures")" ms "<= 17"
    row "$1: step of the wheel, p99" "$(jq .step_p99_ms <<<"$figures")" ms ""
    row "$1: JavaScript heap" "$(jq '.heap_bytes / 1e6' <<<"$figures")" MB "<= 500"
}

if command -v chromium > /dev/null && command -v npm > /dev/null; then
    "$tree/tools/npm_install.sh" "$tree/view" "$build/npm-view" --include=dev
    HOME=$work node "$tree/tests/browser/view.mjs" "$build/npm-view/node_modules" "$work" \
        speed "$work/page.html" 2> "$work/said" || { cat "$work/said" >&2; exit 1; }
    opened=$(sed -n 's/.*opened in \([0-9]*\) ms.*/\1/p' "$work/said")
    row "$((millions / 10)) M records: page opens" \
        "$(awk "BEGIN { print $opened / 1000 }")" s "<= 3"
fi
page_rows "$((millions / 10)) M records" "$work/page.html" 20
record_web 5
"$build/bin/probity" view -f -o "$work/page.html" "$work/web"
page_rows "web server, calls and states" "$work/page.html" 5
