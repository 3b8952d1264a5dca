#!/usr/bin/env bash
# pictures.sh BUILD_DIRECTORY: regenerates doc/pictures/*.png for the README: pages of `probity
# view` as headless chromium draws them (tools/pictures.mjs). The web server of examples/ is built
# with scopes and recorded under load; then the program of doc/tutorial.md before and after its
# change. Run by `make pictures`, after the build; needs wrk, chromium, node and npm.
set -eu

build=$(cd "${1:?usage: pictures.sh BUILD_DIRECTORY}" && pwd)
tree=$(cd "$(dirname "$0")/.." && pwd)
probity=$build/bin/probity
most_bytes=153600
runs=5
window_us=300
read -ra compiler <<< "${CC:-gcc}"
work=$(mktemp -d)
server=
clean_up() {
    [ -z "$server" ] || kill -KILL "$server" 2> /dev/null || true
    rm -rf "$work"
}
trap '[[ $BASHPID != $$ ]] || clean_up' EXIT

fail() {
    echo "pictures: $*" >&2
    exit 1
}

compile() {
    "${compiler[@]}" -O2 -g -D_GNU_SOURCE -ffile-prefix-map="$tree/=" -I"$tree/include" "$@" \
        "$build/lib/libprobity.a" -pthread
}

# Leaves httpd.probity: two seconds under load, ended by SIGKILL.
record_server() {
    local port='' turn
    compile -DFN_INSTRUMENT "$tree"/examples/httpd/*.c -o httpd
    mkdir root
    cp "$tree"/doc/*.md root
    : > httpd.out
    PROBITY_OUT=httpd.probity ./httpd --root root --port 0 > httpd.out &
    server=$!
    for turn in $(seq 200); do
        port=$(sed -n 's/^listening on 127.0.0.1://p' httpd.out)
        [ -z "$port" ] || break
        [ "$turn" -lt 200 ] || fail "the server does not start"
        sleep 0.05
    done
    wrk -t1 -c16 -d2s "http://127.0.0.1:$port/model.md" > wrk.out
    kill -KILL "$server"
    wait "$server" 2> /dev/null || true
    server=
    "$probity" recover httpd.probity > recovered
}

# Prints, in seconds since 1970, when the stretch of window_us begins in which the most workers
# ended a request (probe 9); of several such stretches, the one with the most requests.
busiest() {
    "$probity" csv --columns tid,wall_s,wall_ns --probe 9 httpd.probity |
        awk -F, -v us="$window_us" '{
            stretch = int($3 / 1000 / us)
            key = $2 " " stretch
            requests[key]++
            if (!((key, $1) in seen)) {
                seen[key, $1] = 1
                workers[key]++
            }
            rank = workers[key] * 1000 + requests[key]
            if (rank > best) {
                best = rank
                found = sprintf("%d.%09d", $2, stretch * us * 1000)
            }
        }
        END { print found }'
}

page_of_server() {
    local from
    from=$(busiest)
    "$probity" view --from "@$from" --to "@$(awk -v from="$from" -v us="$window_us" 'BEGIN {
        split(from, part, ".")
        printf "%d.%09d", part[1], part[2] + us * 1000 }')" -o httpd.html httpd.probity
}

page_of_comparison() {
    local run bases=()
    compile "$tree/examples/tutorial.c" -o before
    compile -DFIXED "$tree/examples/tutorial.c" -o after
    for run in $(seq "$runs"); do
        PROBITY_OUT=before$run.probity ./before > /dev/null
        PROBITY_OUT=after$run.probity ./after > /dev/null
        bases+=(--diff "before$run.probity")
    done
    "$probity" view "${bases[@]}" -o diff.html after?.probity
}

for program in wrk /usr/bin/chromium node npm; do
    command -v "$program" > /dev/null || fail "$program is missing"
done
[ -x "$probity" ] || fail "there is no $probity: build first (make)"
"$tree/tools/npm_install.sh" "$tree/view" "$build/npm-view" --include=dev
cd "$work"
record_server
page_of_server
page_of_comparison
mkdir pictures
node "$tree/tools/pictures.mjs" "$build/npm-view/node_modules" httpd.html diff.html pictures
for picture in pictures/*.png; do
    bytes=$(wc -c < "$picture")
    [ "$bytes" -le "$most_bytes" ] || fail "$picture has $bytes bytes, at most $most_bytes"
    echo "doc/$picture: $bytes bytes"
done
mkdir -p "$tree/doc/pictures"
cp pictures/*.png "$tree/doc/pictures/"
