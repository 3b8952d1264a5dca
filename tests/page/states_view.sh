#!/usr/bin/env bash
# Thread states on the page of `probity view`: their sums are those of `probity threads`, even where
# they are merged; a blocked stretch shows what the thread was blocked on, which thread held that
# and which one woke it; critical paths are those of `probity path`, part by part. The page is
# opened in chromium.
# variants: gcc
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/page/browser.bash"

# shellcheck source=tests/tool/states.bash
. "$SOURCE/tests/tool/states.bash"
if [ ! -e "$BUILD/lib/libprobity-calls.so" ]; then
    echo "left out: no libprobity-calls in this build"
    finish
    exit
fi

# $1 trace; then arguments of the program
record() {
    local trace=$1
    shift
    "${with_tracefs[@]}" "$PROBITY" record --calls locks,io,sleep --sched -o "$trace" -- \
        "$PROGRAMS/states_shown.shared" "$@" > /dev/null 2> errors ||
        fail "$trace: status $?: $(cat errors)"
}

# $1 page, then arguments of view
view() {
    local page=$1
    shift
    "$PROBITY" view -f -o "$page" "$@" > output 2> errors ||
        fail "$page: status $?: $(cat errors)"
}

record short.probity 12
record long.probity 30 3000
view short.html short.probity
view long.html --spans 8000 long.probity
# A request that passes from thread to thread.
"${with_tracefs[@]}" "$PROBITY" record --sched -o requests.probity -- "$PROGRAMS/tracks" \
    > /dev/null 2> errors || fail "requests: status $?: $(cat errors)"
view requests.html requests.probity
# A call that wakes a thread is known to be a wait only after that thread has ended its work.
"${with_tracefs[@]}" "$PROBITY" record --calls io --sched -o outlasting.probity -- \
    "$PROGRAMS/outlasting.shared" > /dev/null 2> errors ||
    fail "outlasting: status $?: $(cat errors)"
view outlasting.html outlasting.probity
for trace in short long requests outlasting; do
    which=(--function serve --slowest 6)
    [ $trace != requests ] || which=(--slowest 6)
    "$PROBITY" threads --json $trace.probity > $trace.threads
    "$PROBITY" path "${which[@]}" --json $trace.probity > $trace.path
    python3 "$SOURCE/tests/tool/page_states.py" $trace.html $trace.threads $trace.path \
        $trace.reported 8000 || fail "$trace: the page's states"
done
jq -e '.near == false' short.reported > /dev/null || fail "spans of the short trace are merged"
jq -e '.near' long.reported > /dev/null || fail "no spans of the long trace are merged"

needs_browser
in_browser states short.html short.reported -- paths short.html short.reported -- \
    paths long.html long.reported -- paths requests.html requests.reported -- \
    paths outlasting.html outlasting.reported > faults ||
    fail "in chromium: $(cat faults)"
finish
