# Makes small seed traces with all kinds of records. Sourced; needs BUILD.

# $1 directory
make_seeds() {
    local directory=$1 trace program size
    mkdir -p "$directory"
    for trace in "$SOURCE"/tests/golden/{good,bad}/*.probity; do
        size=$(stat -c %s "$trace")
        if [ "$size" -gt 0 ] && [ "$size" -le 60000 ]; then cp "$trace" "$directory"; fi
    done
    for program in examples/windows tests/programs/fntrace_values tests/programs/fntrace_scopes \
        "tests/programs/typed 3" "tests/programs/parallel 2 50"; do
        trace=$directory/$(basename "${program%% *}").probity
        # shellcheck disable=SC2086
        PROBITY_OUT=$trace timeout 20 "$BUILD"/$program > /dev/null 2>&1 || true
    done
    # Waits for locks in several blocks.
    PROBITY_CHUNK_RECORDS=512 PROBITY_OUT=$directory/contended.probity \
        "$BUILD/tests/programs/contended" 2 20 > /dev/null
    # Dumps, each with a different kind of reason.
    for trace in request value; do
        PROBITY_OUT=$directory/$trace.probity PROBITY_RING=1M PROBITY_DUMP=$directory/$trace-%i.probity \
            PROBITY_WHEN="$([ "$trace" = request ] && echo 'request > 15ms' || echo 'value failed > 0')" \
            PROBITY_DUMPS=before=1ms,keep=first:1 \
            timeout 20 "$BUILD/tests/programs/conditions_met" "$trace" 1 0 > /dev/null 2>&1 || true
    done
    PROBITY_PROFILE=1 PROBITY_OUT=$directory/profile.probity "$BUILD/examples/windows" > /dev/null
    PROBITY_PROFILE=1 PROBITY_OUT=$directory/profile_cxx.probity "$BUILD/examples/windows_cxx" \
        > /dev/null
    PROBITY_PROFILE=1 PROBITY_OUT=$directory/profile_threads.probity \
        "$BUILD/tests/programs/fntrace_scopes" exit 2 > /dev/null
}
