#!/usr/bin/env bash
# `probity view --tiles`: the directory has at most 5 % of the trace's size in tiles, all with fixed
# names; each level has all calls and blocks (tiles_sums.py), thread states, requests, locks and
# queues (tiles_whole.py); a failed command leaves nothing; only a directory of tiles is replaced.
# The server uses tiles that belong to the trace (tiles_served.py), and recreates others. In
# headless chromium the page steps through the levels, as a file and served, and tolerates garbage.
# BROWSER=no leaves the browser out. MILLIONS: records of the traces of calls and of hits. TRACKED:
# length of the traces with requests.
# variants: gcc clang asan
# timeout: 900
. "$(dirname "$0")/../common.bash"

for wrong in "--tiles d -o x.html" "--serve --tiles d --diff x" "--tiles d --serve -f"; do
    status=0
    # shellcheck disable=SC2086
    "$PROBITY" view $wrong none.probity > output 2> errors || status=$?
    expect "view $wrong: status ($(cat errors))" 2 "$status"
done

# Few enough spans in the page to leave room for several levels.
MILLIONS=${MILLIONS:-4}
SPANS=$((MILLIONS * 500))
"$BUILD/bench/gen_scopes" run.probity 2 "$MILLIONS"
tiles() {
    "$PROBITY" view --spans "$SPANS" "$@" > output 2> errors || fail "view: $(cat errors)"
}
tiles --tiles d run.probity
expect "printed" "d/index.html" "$(cat output)"
expect "other files" "index.html tiles.txt trace-0.index " \
    "$(find d -mindepth 1 ! -name 'tile-*.js' -printf '%f\n' | sort | tr '\n' ' ')"
"$PROBITY" tree --json run.probity > tree.json
"$PROBITY" blocks --json run.probity > blocks.json
python3 "$SOURCE/tests/page/tiles_sums.py" d run.probity tree.json blocks.json > said 2>&1 ||
    fail "tiles_sums.py failed"
expect "failures" "" "$(grep -v '^compared\|^units' said | head -20)"
grep '^compared [1-9]' said || fail "nothing was compared"
sed -n 's/^units //p' said > units.json

# Hits: blocks, the last of which have no end and are late.
"$BUILD/bench/gen" hits.probity 3 "$MILLIONS" > /dev/null
tiles --tiles h hits.probity
"$PROBITY" tree --json hits.probity > tree.json
"$PROBITY" blocks --json hits.probity > blocks.json
python3 "$SOURCE/tests/page/tiles_sums.py" h hits.probity tree.json blocks.json > said 2>&1 ||
    fail "tiles_sums.py failed for hits"
expect "failures with hits" "" "$(grep -v '^compared\|^units' said | head -20)"
grep '^compared [1-9]' said || fail "nothing was compared for hits"

# Requests, locks and queues, and thread states if this machine permits: each level has the contents
# of a page without merged spans.
# $1 name of the trace; $2 its kinds of lanes
whole() {
    tiles --tiles "$1.tiles" "$1.probity"
    "$PROBITY" view --spans 4000000 -o "$1.html" "$1.probity" > output 2> errors ||
        fail "view of $1: $(cat errors)"
    python3 "$SOURCE/tests/tool/tiles_whole.py" "$1.tiles" "$1.html" > said ||
        fail "tiles_whole.py failed for $1"
    expect "tiles of $1" "" "$(grep -v '^compared' said | head -20)"
    sed -n 's/^compared //p' said > "$1.json"
    # shellcheck disable=SC2016 # a variable of jq
    jq -e --arg kinds "$2" \
        '. as $all | .levels > 1 and ($kinds | split(" ") | all($all[.] > 1000))' \
        "$1.json" > output || fail "too little in the tiles of $1: $(cat "$1.json")"
    local file read=0
    for file in "$1.probity" "$1.probity.sched"; do
        [ ! -e "$file" ] || read=$((read + $(stat -c %s "$file")))
    done
    [ "$(jq .bytes "$1.json")" -le $((read / 20)) ] ||
        fail "the tiles of $1 are too large: $(cat "$1.json")"
}
TRACKED=${TRACKED:-60000}
SPANS=$((TRACKED / 20))
PROBITY_OUT=tracked.probity "$PROGRAMS/tracked" "$TRACKED"
whole tracked "rows blocks"
"$PROBITY" record --sched -o states.probity -- "$PROGRAMS/tracked" "$TRACKED" > output 2> errors
if [ -e states.probity.sched ]; then
    whole states "rows blocks states"
    grep -q "^trace .* states $(stat -c %s states.probity.sched) " states.tiles/tiles.txt ||
        fail "tiles.txt: $(cat states.tiles/tiles.txt)"
else
    echo "thread states were not compared: $(cat errors)"
fi
SPANS=$((MILLIONS * 500))

# A comparison with tiles of the new run.
cp tracked.probity base.probity
"$PROBITY" view --spans $((TRACKED / 20)) --diff base.probity --tiles compared tracked.probity \
    > output 2> errors ||
    fail "view --diff --tiles: $(cat errors)"
python3 "$SOURCE/tests/tool/tiles_whole.py" compared tracked.html > said ||
    fail "tiles_whole.py failed"
expect "tiles with --diff" "" "$(grep -v '^compared' said | head -20)"
expect "number of bases" "diff 1" "$(grep '^diff' compared/tiles.txt)"

# Existing files and directories are kept, except for a directory of tiles.
status=0
"$PROBITY" view --tiles d run.probity > output 2> errors || status=$?
expect "an existing directory: status" 1 "$status"
mkdir other
touch other/precious
status=0
"$PROBITY" view -f --tiles other run.probity > output 2> errors || status=$?
expect "another directory: status" 1 "$status"
expect "another directory" "precious" "$(ls other)"
tiles -f --tiles d run.probity

# If a file cannot be written completely, nothing is left.
mkdir full
status=0
(cd full && ulimit -f 8 &&
    "$PROBITY" view --tiles d --spans "$SPANS" ../run.probity > /dev/null 2> ../errors) || status=$?
expect "no room: status" 1 "$status"
expect "no room: files" "" "$(ls full)"

: > address # not that of the previous server
"$PROBITY" view --serve --tiles d run.probity > address 2> errors &
server=$!
wait_until "$server" has_lines address 1 '^http://127.0.0.1:'
if ! grep -q . address; then
    wait "$server" || true
    grep -q "built without --serve" errors || fail "no server: $(cat errors)"
    finish
    exit
fi
expect "the tiles belong to the trace" "" "$(cat errors)"
ln -s /etc/passwd d/tile-3999.js
python3 "$SOURCE/tests/page/tiles_served.py" "$(cat address)" d > said 2>&1 ||
    fail "requests failed"
expect "requests" "" "$(cat said)"
rm d/tile-3999.js

if [ "${BROWSER:-yes}" = yes ] && command -v /usr/bin/chromium > /dev/null &&
    command -v node > /dev/null; then
    MODULES=$BUILD/npm-view
    "$SOURCE/tools/npm_install.sh" "$SOURCE/view" "$MODULES" --include=dev
    mkdir -p "$BUILD/test-logs/view"
    cp -R d bad
    for file in bad/tile-*.js; do
        number=${file#bad/tile-}
        printf 'probityTile(%d,"eJxLYWBgYGQEAAGWAGw=");\n' "${number%.js}" > "$file"
    done
    browse() {
        HOME=$WORK node "$SOURCE/tests/browser/view.mjs" "$MODULES/node_modules" \
            "$BUILD/test-logs/view" "$@" > said 2> errors || fail "$(cat said errors)"
    }
    browse tiles d/index.html units.json -- tiles "$(cat address)" units.json \
        -- garbage bad/index.html -- tiledRows tracked.tiles/index.html
fi
signal_job INT "$server" || true
signal_job TERM "$server" || true
wait "$server" 2> /dev/null || true

# Requests, locks and queues of a served page.
: > address # not that of the previous server
"$PROBITY" view --serve --tiles tracked.tiles tracked.probity > address 2> errors &
server=$!
wait_until "$server" has_lines address 1 '^http://127.0.0.1:'
expect "the tiles belong to the trace with tracks" "" "$(cat errors)"
if [ -n "${MODULES:-}" ]; then
    browse tiledRows "$(cat address)"
fi
signal_job TERM "$server" || true
wait "$server" 2> /dev/null || true

# Garbage served as text; and a different trace.
for file in d/tile-*.js; do
    printf '<html>404 </html>' > "$file"
done
: > address # not that of the previous server
"$PROBITY" view --serve --tiles d run.probity > address 2> errors &
server=$!
wait_until "$server" has_lines address 1 '^http://127.0.0.1:'
if [ -n "${MODULES:-}" ]; then
    browse garbage "$(cat address)"
fi
signal_job TERM "$server" || true
wait "$server" 2> /dev/null || true
"$BUILD/bench/gen_scopes" run2.probity 1 1
: > address # not that of the previous server
"$PROBITY" view --serve --tiles d run2.probity > address 2> errors &
server=$!
wait_until "$server" has_lines address 1 '^http://127.0.0.1:'
expect "made anew" 1 "$(grep -c "recreating it" errors)"
expect "the trace of the tiles" 1 "$(grep -c "^trace $(stat -c %s run2.probity) " d/tiles.txt)"
signal_job TERM "$server" || true
wait "$server" 2> /dev/null || true
finish
