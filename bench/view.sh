#!/usr/bin/env bash
# view.sh BUILD_DIR [MILLIONS]: time and memory of `probity view` on one CPU for a trace of MILLIONS
# of enters and leaves (default 100) from 8 threads, and, if headless chromium is available, how
# long the page of a trace a tenth as long takes to open.
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
if command -v chromium > /dev/null && command -v npm > /dev/null; then
    "$tree/tools/npm_install.sh" "$tree/view" "$build/npm-view" --include=dev
    HOME=$work node "$tree/tests/browser/view.mjs" "$build/npm-view/node_modules" "$work" \
        speed "$work/page.html" 2> "$work/said" || { cat "$work/said" >&2; exit 1; }
    opened=$(sed -n 's/.*opened in \([0-9]*\) ms.*/\1/p' "$work/said")
    row "$((millions / 10)) M records: page opens" \
        "$(awk "BEGIN { print $opened / 1000 }")" s "<= 3"
fi
