#!/usr/bin/env bash
# Hostile files: fuzzing of all doors (tests/fuzz), until FUZZ_TOTAL executions are reached over all
# runs of this part, or FUZZ_SECONDS are over in this run, with FUZZ_JOBS (1) processes side by side
# at the door where executions are cheap; every command over every cut and every
# turned bit of golden traces; traces made to do harm, in bounds of time and memory. Interrupted, it
# goes on: corpora and counts stay in the state folder, and what was found in its folder `found`.
. "$(dirname "$0")/campaign.bash"
# shellcheck source=tests/fuzz/seeds.bash
. "$SOURCE/tests/fuzz/seeds.bash"
budget=${FUZZ_SECONDS:-900}
goal=${FUZZ_TOTAL:-1000000000}
jobs=${FUZZ_JOBS:-1}
mkdir -p "$STATE/found" "$STATE/seeds"
# Whoever starts this as politely need not be more polite still.
niceness=$(nice)
polite=(nice -n "$((niceness < 10 ? 10 - niceness : 0))")

# ---- Fuzzing ----

# $1 suffix of the build's folder, $2 compiler, $3 sanitizers, $4 flags; the rest: doors
build_doors() {
    local folder=$BUILD-$1 compiler=$2 sanitize=$3 flags=$4
    shift 4
    make -s -C "$SOURCE" -j2 "BUILD=$folder" "CC=$compiler" "CXX=$compiler++" \
        "SANITIZE=$sanitize" "CFLAGS=$flags" "${@/#/$folder/tests/}" > "$STATE/build.log" 2>&1 ||
        fail "build of $1: $(tail -n 5 "$STATE/build.log")"
}

make_all_seeds() {
    local trace number=0 way
    make_seeds "$STATE/traces"
    for trace in "$STATE"/traces/*.probity; do
        for way in 0 9 31; do
            { printf '%b' "\\x$(printf %x $way)"; cat "$trace"; } > "$STATE/seeds/$number"
            number=$((number + 1))
        done
    done
    cp -r "$SOURCE/tests/fuzz/corpus/." "$STATE/corpus"
}

executions() {
    local total=0 file
    for file in "$STATE"/executions.*.count; do
        [ ! -e "$file" ] || total=$((total + $(cat "$file")))
    done
    echo "$total"
}

# $1 door, $2 kind of build, $3 seconds, $4 corpus; the rest: options, and folders of seeds. What is
# new goes into the first folder, the corpus. Adds what it has executed. JOB: of several at once.
fuzz() {
    local door=$1 kind=$2 seconds=$3 corpus=$4 log=$STATE/$1.$2${JOB:-}.log status=0 number
    shift 4
    mkdir -p "$STATE/corpus/$corpus"
    ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 \
        "${polite[@]}" "$BUILD-$kind/tests/$door" -max_total_time="$seconds" -print_final_stats=1 \
        -timeout=10 -rss_limit_mb=2000 -close_fd_mask=1 -artifact_prefix="$STATE/found/$door-" \
        "$STATE/corpus/$corpus" "$SOURCE/tests/fuzz/corpus/$corpus" "$@" > "$log" 2>&1 || status=$?
    number=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    count "executions.$door.$kind${JOB:-}" "${number:-0}"
    count "seconds.$door.$kind${JOB:-}" "$seconds"
    [ "$status" -eq 0 ] ||
        fail "$door ($kind): $(grep -m 3 -aE 'ERROR|runtime error|SUMMARY' "$log")"
}

# The same, by several processes at once, each with its own seed of chance. What they find stays in
# the folder `found`, by which they are judged.
fuzz_side_by_side() {
    local job
    for ((job = 1; job < jobs; job++)); do
        JOB=$job fuzz "$@" > /dev/null &
    done
    fuzz "$@"
    wait
    [ -z "$(ls "$STATE/found")" ] || fail "see $STATE/found"
}

# Most of a round is for the door and the driver that execute most often, and there for small
# traces, which say as much in a third of the time. Counts are written at the end of each step.
fuzz_round() {
    local share=$((budget / 20 + 1)) length
    share=$((share < 12 ? share : 12)) # rounds of four minutes at most, so that little is lost
    for length in 320 512 384 1024; do
        fuzz_side_by_side fuzz_reader fuzz-often $((share * 4)) trace -max_len=$length \
            "$STATE/seeds"
    done
    fuzz fuzz_reader fuzz "$share" trace -max_len=4096 "$STATE/seeds"
    fuzz fuzz_commands fuzz "$share" trace -max_len=4096 "$STATE/seeds"
    fuzz fuzz_spool fuzz $(((share + 1) / 2)) spool -max_len=2500
    fuzz fuzz_runs fuzz $(((share + 1) / 2)) runs -max_len=1000
    fuzz fuzz_arguments fuzz $(((share + 1) / 2)) arguments -max_len=2500
    fuzz fuzz_settings fuzz $(((share + 1) / 2)) settings -max_len=4096
    fuzz_afl "$share"
}

# AFL++ by the same door: it has ways of its own to change what it is given.
fuzz_afl() {
    local out=$STATE/afl before=0 after
    command -v afl-fuzz > /dev/null || return 0
    before=$(sed -n 's/^execs_done *: //p' "$out/default/fuzzer_stats" 2> /dev/null || echo 0)
    AFL_AUTORESUME=1 AFL_SKIP_CPUFREQ=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1 AFL_BENCH_UNTIL_CRASH=1 \
        AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 "${polite[@]}" timeout "$1" afl-fuzz -V "$1" \
        -i "$STATE/corpus/trace" -o "$out" -g 2 -G 4096 -- "$BUILD-fuzz-afl/tests/fuzz_reader" \
        > "$STATE/afl.log" 2>&1 || true
    after=$(sed -n 's/^execs_done *: //p' "$out/default/fuzzer_stats" 2> /dev/null || echo 0)
    [ "${after:-0}" -ge "${before:-0}" ] || before=0
    count executions.fuzz_reader.afl "$((${after:-0} - ${before:-0}))"
    count seconds.fuzz_reader.afl "$1"
    ! find "$out/default/crashes" -name 'id*' 2> /dev/null | grep -q . ||
        fail "AFL++: see $out/default/crashes"
}

# A corpus goes into the repository as small as it keeps what it reaches:
# `fuzz_reader -merge=1 tests/fuzz/corpus/trace STATE/corpus/trace`.
step seeds make_all_seeds
build_doors fuzz clang fuzzer-no-link,address,undefined '' \
    fuzz_{reader,commands,spool,runs,arguments,settings}
OFTEN=1 build_doors fuzz-often clang '' '-O3 -march=native' fuzz_reader
if command -v afl-clang-fast > /dev/null; then
    build_doors fuzz-afl afl-clang-fast fuzzer-no-link -O2 fuzz_reader
fi
end=$((SECONDS + budget)) # building is not counted
# shellcheck disable=SC2154 # failures: of common.bash
until [ "$(executions)" -ge "$goal" ] || [ "$SECONDS" -ge "$end" ] || [ "$failures" -gt 0 ]; do
    fuzz_round
done
row "Executions of fuzzed doors, all runs" "$goal" "$(executions)"
for file in "$STATE"/executions.*.count; do
    name=$(basename "$file" .count)
    name=${name#executions.}
    seconds=$(total_of "seconds.$name")
    [ "$seconds" -eq 0 ] || row "… of them ${name/./, }" "" \
        "$(cat "$file"), $(($(cat "$file") / seconds)) a second"
done
row "Inputs that crash, hang, or break a rule" 0 \
    "$(find "$STATE/found" "$STATE/afl/default/crashes" -type f 2> /dev/null | wc -l)"

step coverage env "BUILD=$BUILD" bash "$SOURCE/tests/fuzz/coverage.sh"
row "Lines of src/reader, src/format and the reading side of src/spool that the corpus reaches" "" \
    "$(sed -n 's/^reached: //p' "$STATE/coverage.out" 2> /dev/null || echo failed)"

# ---- Cuts and turned bits ----

golden=("$SOURCE"/tests/golden/good/{with_ids,sites,late,listed,threads,cpu,packed_ids}.probity)
step cut "${polite[@]}" "$BUILD/tests/sweep" cut 1 1 1 "${golden[@]}"
step flip "${polite[@]}" "$BUILD/tests/sweep" flip 8 4 1 "${golden[@]}"
row "Golden traces cut at every byte, by every command" "0 faults" \
    "$(tail -n 1 "$STATE/cut.out" 2> /dev/null || echo failed)"
row "Every bit of them turned over, likewise" "0 faults" \
    "$(tail -n 1 "$STATE/flip.out" 2> /dev/null || echo failed)"

# ---- Traces made to do harm ----

step monsters "${polite[@]}" env COUNT=100000 bash "$SOURCE/tests/run/bounded.sh"
row "Traces made to do harm, by every command" "$(sed -n 's/^bounds: //p' "$STATE/monsters.out")" \
    "$(sed -n 's/^worst: //p' "$STATE/monsters.out")"
# shellcheck disable=SC2154 # of common.bash
[ "$failures" -eq 0 ]
