# Sourced: traces to begin with, of all kinds of records, small. Needs BUILD.

# $1 folder
make_seeds() {
    local folder=$1 trace program size
    mkdir -p "$folder"
    for trace in "$SOURCE"/tests/golden/{good,bad}/*.probity; do
        size=$(stat -c %s "$trace")
        if [ "$size" -gt 0 ] && [ "$size" -le 60000 ]; then cp "$trace" "$folder"; fi
    done
    for program in examples/windows tests/programs/fntrace_values tests/programs/fntrace_scopes \
        "tests/programs/typed 3" "tests/programs/parallel 2 50"; do
        trace=$folder/$(basename "${program%% *}").probity
        # shellcheck disable=SC2086
        PROBITY_OUT=$trace timeout 20 "$BUILD"/$program > /dev/null 2>&1 || true
    done
    PROBITY_PROFILE=1 PROBITY_OUT=$folder/profile.probity "$BUILD/examples/windows" > /dev/null
}
