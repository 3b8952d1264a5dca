#!/usr/bin/env bash
# Traces of several hosts on the page of `probity view`: threads are grouped by host, and clocks are
# those of `probity info`. The page is opened in chromium.
# variants: gcc
. "$(dirname "$0")/../common.bash"

mkdir made
python3 "$SOURCE/tests/tool/make_hosts.py" 3 made messages || fail "traces not made"
"$PROBITY" info --json made/[abc].probity > info.json || fail "info: status $?"
"$PROBITY" view -o hosts.html made/[abc].probity > output 2> errors ||
    fail "view: status $?: $(cat errors)"

# Where there is room for every call, the traces are read again: on the same line.
"$PROBITY" view -o few.html --spans 12000 made/[abc].probity > output 2> errors ||
    fail "few spans: status $?: $(cat errors)"
stretches=$(sed -n 's,.*id="probity-data">\([^<]*\)<.*,\1,p' few.html | base64 -d |
    python3 -c 'import sys, zlib
sys.stdout.buffer.write(zlib.decompress(sys.stdin.buffer.read()))' |
    jq '.timeline.stretches | length')
[ "$stretches" -gt 0 ] || fail "no interval with every call"

if ! command -v /usr/bin/chromium > /dev/null || ! command -v node > /dev/null; then
    echo "neither chromium nor node: pages were not looked at" >&2
    finish
    exit 77
fi
MODULES=$BUILD/npm-view
"$SOURCE/tools/npm_install.sh" "$SOURCE/view" "$MODULES" --include=dev
mkdir -p "$BUILD/test-logs/view"
HOME=$WORK node "$SOURCE/tests/browser/view.mjs" "$MODULES/node_modules" "$BUILD/test-logs/view" \
    hosts hosts.html info.json > faults || fail "in chromium: $(cat faults)"
finish
