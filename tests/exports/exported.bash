# Shared by the tests of `probity export`: traces, the output of `probity report` and `probity csv`
# for them, and checks that apply to every format. Sourced after common.bash.

# Records the example web server under a few requests as the trace "server". SERVER_TRACE: a trace
# of that server to use instead, such as that of `make demo`.
record_server() {
    local port='' server
    if [ -n "${SERVER_TRACE:-}" ]; then
        cp "$SERVER_TRACE" server
        return
    fi
    mkdir -p root
    seq 500 > root/page.html
    : > server.out # must exist before the server does
    PROBITY_OUT=$WORK/server "$BUILD/examples/httpd" --root root --port 0 --threads 2 \
        > server.out 2> server.err &
    server=$!
    await_port "$server"
    for _ in $(seq 30); do
        curl -s "http://127.0.0.1:$port/page.html" "http://127.0.0.1:$port/none" > /dev/null ||
            fail "server: no answer: $(cat server.err)"
    done
    kill -TERM "$server"
    wait "$server" || fail "server: $(cat server.err)"
}

# Traces by name, each of a different kind: functions of all shapes, threads, jumps, malicious
# names, 64 threads, a kill, a single record, no record, and profile mode.
record_all() {
    local program
    record_server
    for program in tree parallel jumps exported; do
        PROBITY_OUT=$WORK/$program "$PROGRAMS/$program" > output
    done
    PROBITY_OUT=$WORK/many "$PROGRAMS/exported" 64 5
    PROBITY_OUT=$WORK/killed "$PROGRAMS/exported" 3 200 kill 2> errors || true
    PROBITY_OUT=$WORK/one "$PROGRAMS/exported" one
    PROBITY_OUT=$WORK/none "$PROGRAMS/exported" none
    PROBITY_OUT=$WORK/counted PROBITY_PROFILE=1 "$PROGRAMS/exported"
    printf '%s\n' server tree parallel jumps exported many killed one none > traces
}

# Starts a program that records the trace "live" and then waits until end_live.
start_live() {
    mkfifo hold
    PROBITY_OUT=$WORK/live "$PROGRAMS/exported" 2 100 wait < hold > ready &
    live=$!
    exec {hold}> hold
    wait_until "$live" test -s ready || fail "live: has ended early"
}

end_live() {
    exec {hold}>&-
    wait "$live" || fail "live: status $?"
}

# Exports to "out". $1 description, $2 expected status, $3 format; the rest: arguments
export_to() {
    local what=$1 expected=$2 format=$3 status=0
    shift 3
    rm -rf out
    "$PROBITY" export --format "$format" -o out "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# Tab-separated lines "NAME CALLS SELF CPU_SELF" of the functions in the report.
functions_of() {
    "$PROBITY" report --json "$@" 2> /dev/null | jq -r '.functions[] |
        [.name, .calls, .self_ns // 0, .cpu_self_ns // 0] | @tsv' | sort
}

# Lines "TID NAME WALL CPU" of hits with plain names, sorted.
hits_of() {
    "$PROBITY" csv --columns tid,probe,name,wall,cpu "$@" 2> /dev/null |
        awk -F , -v OFS='\t' '{ name = $3 != "" ? $3 : $2 }
            NF == 5 && name ~ /^[a-z0-9 ._-]+$/ {
                sub(/\./, "", $4); sub(/\./, "", $5); sub(/^0*/, "", $5)
                print $1, name, $4, $5 + 0 }' | sort
}

# Checks the requirements for every format. $1 format, $2 trace
check_manners() {
    local status=0
    export_to "a new file" 0 "$1" "$2"
    [ -e out ] || fail "$1: no output"
    grep -q "'$2' is complete" errors ||
        fail "$1: expected the line about completeness: $(cat errors)"
    rm -rf out
    echo kept > out
    "$PROBITY" export --format "$1" -o out "$2" 2> errors || status=$?
    expect "$1: what is there: status" 1 "$status"
    expect "$1: what is there" kept "$(cat out)"
    rm -rf out
    status=0
    # shellcheck disable=SC2064
    (trap '' XFSZ; ulimit -f 0; "$PROBITY" export --format "$1" -o out many 2> errors) || status=$?
    expect "$1: full disk: status" 1 "$status"
    expect "$1: full disk: left" "" "$(find . -name 'out*' ! -name 'output')"
    head -c $(($(stat -c %s many) * 2 / 3)) many > part
    export_to "cut" 3 "$1" part
    [ -e out ] || fail "$1: no output for a truncated trace"
    export_to "a missing trace" 1 "$1" nowhere
    [ ! -e out ] || fail "$1: an output file despite missing input"
}

# Records the trace "lossy", in which records were lost, and writes the numbers lost to
# "lost.expected", event by event, as `probity log` prints them. Losses depend on the speed of the
# writer thread, so this retries; losses after the last record are not events.
record_lossy() {
    local lost
    for _ in $(seq 20); do
        rm -f lossy
        PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=16384 PROBITY_MODE=drop \
            PROBITY_OUT=$WORK/lossy "$PROGRAMS/control" fast 300000 > output
        "$PROBITY" log lossy 2> errors | sed -n 's/.*\[records lost here: \([0-9]*\)\].*/\1/p' \
            > lost.expected
        lost=$(awk '{ lost += $1 } END { print lost + 0 }' lost.expected)
        if [ "$lost" -gt 0 ] &&
            "$PROBITY" info lossy | grep -q "^dropped  *$lost (no free chunk $lost,"; then
            return
        fi
    done
    fail "lossy: none of 20 runs lost records before its end only"
}

# Same as above, and writes "lack.expected": the message of a format without events.
record_lack() {
    record_lossy
    echo "'lossy' is incomplete: $(awk '{ lost += $1 } END {
        print lost " records dropped: " lost }' lost.expected) no free chunk, 0 memory or" \
        "limit, 0 not writable" > lack.expected
}

# Tab-separated lines "CATEGORY NAME COUNT NS" of the spans between hits, from the tool's reports:
# blocks, stages and requests of correlation ids, waits for locks and holds. For traces whose locks
# and requests have different names.
spans_of_hits() {
    local named='def text($text; $name): if $name == null or $name == "" then $text
        else "\($text) (\($name))" end;'
    {
        "$PROBITY" blocks --json "$@" 2> /dev/null | jq -r "$named"' .blocks[] | ["block",
            text(.from; .from_name) + " -> " + text(.to; .to_name), .calls, .wall_ns] | @tsv'
        "$PROBITY" blocks --by correlation --json "$@" 2> /dev/null | jq -r "$named"' .blocks[] |
            ["stage", text(.from; .from_name) + " -> " + text(.to; .to_name), .calls, .wall_ns] |
            @tsv'
        "$PROBITY" model --json "$@" 2> /dev/null | jq -r '
            (.requests[] | ["request", .name, .response.count, .response.total_ns]),
            (.locks[] | ["lock wait", .name + " wait", .waiting.count, .waiting.total_ns],
                ["lock hold", .name + " hold", .held.count, .held.total_ns]) |
            select(.[2] > 0) | @tsv'
    } | sort
}

# Prints the sum of CPU times of all blocks.
blocks_cpu_of() {
    "$PROBITY" blocks --json "$@" 2> /dev/null | jq '[.blocks[].cpu_ns // 0] | add // 0'
}

# Lines "NAME MAXIMUM CHANGES" of queues.
queues_of() {
    "$PROBITY" model --json "$@" 2> /dev/null | jq -r '.queues[] |
        [.name, .length.max, .puts + .gets] | @tsv' | sort
}

# Records all traces, and calls the script's `compare` for each, and for two processes.
compare_all() {
    local trace
    record_all
    while read -r trace; do
        compare "$trace" "$trace"
    done < traces
    [ "$(functions_of many | wc -l)" -ge 4 ] || fail "too few functions in 'many'"
    [ "$(hits_of server | wc -l)" -gt 300 ] || fail "too few hits from the server"
    compare "two processes" server exported
}
