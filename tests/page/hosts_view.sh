#!/usr/bin/env bash
# Traces of several hosts on the page of `probity view`: threads are grouped by host, clocks are
# those of `probity info`, and arrows lead from each send to its receive. The page is opened in
# chromium.
# variants: gcc
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/page/browser.bash"

mkdir made
python3 "$SOURCE/tests/tool/make_hosts.py" 3 made messages || fail "traces not made"
"$PROBITY" info --json made/[abc].probity > info.json || fail "info: status $?"
"$PROBITY" view -o hosts.html made/[abc].probity > output 2> errors ||
    fail "view: status $?: $(cat errors)"

# Prints the page's data. $1 page
data_of() {
    sed -n 's,.*id="probity-data">\([^<]*\)<.*,\1,p' "$1" | base64 -d |
        python3 -c 'import sys, zlib
sys.stdout.buffer.write(zlib.decompress(sys.stdin.buffer.read()))'
}

# Each message is from the host that sent it, and later at the other one.
data_of hosts.html > data.json
expect "messages" "$(jq -c '[to_entries[] | .key as $host | .value.hits[] |
    select(.[1] | endswith(":send")) | $host] | group_by(.) | map(length)' made/truth.json)" \
    "$(jq -c '[.messages.list[][0]] | group_by(.) | map(length)' data.json)"
expect "sent before they are received, elsewhere" '[0,true]' \
    "$(jq -c '.messages | [.beyond, (.list | all(.[5] > 0 and .[0] != .[3]))]' data.json)"
# The block that begins with the first send.
jq -c '.messages.list[0] as [$trace, $thread, $sent, $to] | .timeline as $timeline |
    ($timeline.threads | map(.trace == $trace and .thread == $thread and .track == null) |
        index(true)) as $place |
    {place: "\($place).3.0.\($timeline.since_start_ns + $sent)",
     arrow: "\($timeline.threads[$place].tid)-\(1000 * ($to + 1))"}' data.json > arrow.json

# For intervals with every call, the traces are read again, and aligned.
"$PROBITY" view -o few.html --spans 12000 made/[abc].probity > output 2> errors ||
    fail "few spans: status $?: $(cat errors)"
[ "$(data_of few.html | jq '.timeline.stretches | length')" -gt 0 ] ||
    fail "no interval with every call"

# Tiles of aligned traces differ from those with each host's own clock.
for options in "" --no-align; do
    # shellcheck disable=SC2086
    "$PROBITY" view $options --tiles "tiles$options" made/[abc].probity > output 2> errors ||
        fail "tiles $options: status $?: $(cat errors)"
done
expect "origins of tiles" "0 1" \
    "$(grep -c '^no-align$' tiles/tiles.txt) $(grep -c '^no-align$' tiles--no-align/tiles.txt)"

needs_browser
in_browser hosts hosts.html info.json arrow.json > faults || fail "in chromium: $(cat faults)"
finish
