#!/usr/bin/env bash
# `probity why --view`: the page opens at the slow call, block or span that is explained, and shows
# the whole window of a dump. It is opened in chromium.
# variants: gcc
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/page/browser.bash"

# $1 description, $2 status; then arguments of why. Writes "output" and "errors".
why() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" why "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# Prints the place at which a page opens. $1 page
place_of() {
    sed -n 's,.*id="probity-data">\([^<]*\)<.*,\1,p' "$1" | base64 -d |
        python3 -c 'import json, sys, zlib
print(json.dumps(json.loads(zlib.decompress(sys.stdin.buffer.read())).get("place")))'
}

# Writes NAME.html, and NAME.json for the browser: begin and end of what is explained. $1 NAME,
# $2 what is selected in the page, empty: a range; then arguments of why.
page() {
    local name=$1 selected=$2
    shift 2
    why "$name" 0 --json --view "$name.html" "$@"
    python3 - "$selected" > "$name.json" << 'PYTHON'
import json, sys
why = json.load(open("output"))
at = why["cases"][0]["at_ns"] - why["start_ns"]
place = {"from": at, "to": at + why["cases"][0]["ns"]}
print(json.dumps(place | ({"name": sys.argv[1]} if sys.argv[1] else {})))
PYTHON
    expect "$name: the place in the page" "$(jq -c '[.from, .to]' "$name.json")" \
        "$(place_of "$name.html" | jq -c '[.from, .to]')"
}

# Adds the first and last record of a dump. $1 NAME, $2 dump
whole() {
    "$PROBITY" info --json "$2" | python3 -c 'import json, sys
times = json.load(sys.stdin)[0]["times"]
print(json.dumps({name: times[name + "_ns"] - times["started_ns"]
                  for name in ("first", "last")}))' \
        > times.json
    jq -s add "$1.json" times.json > joined.json && mv joined.json "$1.json"
}

# Writes NAME.probity, the dump of the slow call or block. Others that lose their CPU are dumped,
# too, but are shorter according to their records. $1 NAME, $2 condition
dump() {
    local file
    "$PROBITY" record --when "$2" --before 100ms --after 20ms --ring 300s --at-most 1000/1s \
        -o "$1-%i.probity" -- "$PROGRAMS/stalls" 2 1 sleep 100 > /dev/null 2> errors ||
        fail "$1: status $?: $(cat errors)"
    for file in "$1"-*.probity; do
        why "$file" 0 --json "$file"
        echo "$(jq '.cases[0].ns' output) $file"
    done | sort -n > dumped
    mv "$(tail -n 1 dumped | cut -d ' ' -f 2)" "$1.probity"
}

dump call 'function handle_request > 50ms'
page call handle_request call.probity
whole call call.probity
dump block 'block 7864324 -> 7864329 > 50ms'
page block '7864324 → 7864329' block.probity
whole block block.probity

PROBITY_OUT=tree.probity "$PROGRAMS/tree"
page other fibonacci --function fibonacci tree.probity
# Each of these contains other hits, so it is not a block but a range.
PROBITY_OUT=hits.probity "$PROGRAMS/typed" 300 > /dev/null
page span '' --start-probe request:begin --end-probe items:release hits.probity
# The text is the same as without a page, and so is the page of view, except for the place.
"$PROBITY" why call.probity > alone
why "text" 0 --view text.html call.probity
cmp -s alone output || fail "the text differs with a page"
"$PROBITY" view -f -o plain.html call.probity
expect "the place of a page of view" null "$(place_of plain.html)"

# ---- Options ----

why "page that exists" 1 --view call.html call.probity
why "page, replaced" 0 -f --view call.html call.probity
why "page on standard output" 2 --view - call.probity
why "--open without --view" 2 --open call.probity
why "trace as page" 1 -f --view call.probity call.probity
"$PROBITY" check call.probity > /dev/null || fail "the trace was overwritten"
why "no call" 1 --view none.html --function none call.probity
[ ! -e none.html ] || fail "a page without a call"
mkdir bin
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "$1" > reported\n' > bin/xdg-open
chmod +x bin/xdg-open
PATH=$WORK/bin:$PATH why "browser" 0 -f --view opened.html --open call.probity
expect "arguments of the browser" opened.html "$(cat reported)"

needs_browser
in_browser arrived call.html call.json -- arrived block.html block.json -- \
    arrived other.html other.json -- arrived span.html span.json > faults ||
    fail "in chromium: $(cat faults)"
finish
