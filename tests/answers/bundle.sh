#!/usr/bin/env bash
# A bundle of a client, another process of its host, and a server on another host: each command
# prints the same as for the three traces.
# variants: gcc
. "$(dirname "$0")/../common.bash"

PROBITY_OUT=server.probity "$PROGRAMS/remote" server port &
server=$!
wait_until "$server" test -s port
PROBITY_OUT=client.probity "$PROGRAMS/remote" client port 50 || fail "client: status $?"
wait "$server" || fail "server: status $?"
# With thread states, if the kernel permits them.
"$PROBITY" record --sched -o other.probity -- "$PROGRAMS/tree" > /dev/null 2> errors ||
    fail "record: $(cat errors)"
python3 "$SOURCE/tests/tool/shift_clock.py" server.probity other 2500000000 150
traces=(client.probity other.probity server.probity)

"$PROBITY" merge -o all "${traces[@]}" 2> errors || fail "merge: $(cat errors)"

# $* a command and its options
answers() {
    local from=0 of=0
    "$PROBITY" "$@" "${traces[@]}" > separate 2> separate.errors || from=$?
    "$PROBITY" "$@" all > bundle 2> bundle.errors || of=$?
    expect "$*: status" "$from" "$of"
    sed -i 's,all/,,g' bundle bundle.errors
    cmp separate bundle || fail "$*: other output"
    cmp separate.errors bundle.errors || fail "$*: other messages: $(cat bundle.errors)"
    [ -s separate ] || fail "$*: no output"
}

answers report --json
answers report --csv --since 10% --until 60%
answers path --json
answers blocks
answers list
answers timeline --json
answers export --format perfetto
answers export --format chrome
answers info --json
answers threads
answers tree --json
answers log
answers csv
answers check
answers waits --json
answers hist fibonacci
finish
