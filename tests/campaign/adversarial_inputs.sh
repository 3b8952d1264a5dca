#!/usr/bin/env bash
# Malicious inputs. Fuzzes all targets (tests/fuzz) until all runs of this part together have made
# FUZZ_TOTAL executions, or this run has taken FUZZ_SECONDS; the target with the cheapest executions
# runs in FUZZ_JOBS (1) concurrent processes. Then runs every command on golden traces, truncated at
# every byte and with every bit flipped, and on crafted traces, with limits on time and memory. If
# interrupted, it resumes: corpora and counts are kept in the state directory, findings in its
# directory `found`.
. "$(dirname "$0")/campaign.bash"
# shellcheck source=tests/fuzz/seeds.bash
. "$SOURCE/tests/fuzz/seeds.bash"
budget=${FUZZ_SECONDS:-900}
goal=${FUZZ_TOTAL:-1000000000}
jobs=${FUZZ_JOBS:-1}
mkdir -p "$STATE/found" "$STATE/seeds"
# Do not lower the priority further if the caller already runs at a low one.
niceness=$(nice)
polite=(nice -n "$((niceness < 10 ? 10 - niceness : 0))")

# ---- Fuzzing ----

# $1 suffix of the build directory, $2 compiler, $3 sanitizers, $4 flags; the rest: targets
build_targets() {
    local directory=$BUILD-$1 compiler=$2 sanitize=$3 flags=$4
    shift 4
    make -s -C "$SOURCE" -j2 "BUILD=$directory" "CC=$compiler" "CXX=$compiler++" \
        "SANITIZE=$sanitize" "CFLAGS=$flags" "${@/#/$directory/tests/}" > "$STATE/build.log" 2>&1 ||
        fail "build of $1: $(tail -n 5 "$STATE/build.log")"
}

make_all_seeds() {
    local trace number=0 way
    make_seeds "$STATE/traces"
    for trace in "$STATE"/traces/*.probity; do
        for way in 0 9 23 31 37 45 47; do
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

# Adds new inputs to the corpus, and the number of executions to their total. $1 target, $2 kind of
# build, $3 seconds, $4 corpus; the rest: options, and directories of seeds. JOB: number of a
# concurrent process.
fuzz() {
    local target=$1 kind=$2 seconds=$3 corpus=$4 log=$STATE/$1.$2${JOB:-}.log status=0 number
    shift 4
    mkdir -p "$STATE/corpus/$corpus"
    ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 \
        "${polite[@]}" "$BUILD-$kind/tests/$target" -max_total_time="$seconds" \
            -print_final_stats=1 \
        -timeout=10 -rss_limit_mb=2000 -close_fd_mask=1 -artifact_prefix="$STATE/found/$target-" \
        "$STATE/corpus/$corpus" "$SOURCE/tests/fuzz/corpus/$corpus" "$@" > "$log" 2>&1 || status=$?
    number=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    count "executions.$target.$kind${JOB:-}" "${number:-0}"
    count "seconds.$target.$kind${JOB:-}" "$seconds"
    [ "$status" -eq 0 ] ||
        fail "$target ($kind): $(grep -m 3 -aE 'ERROR|runtime error|SUMMARY' "$log")"
}

# Same as above in several concurrent processes with different random seeds. Findings go to the
# directory `found`, whose contents decide the result.
fuzz_side_by_side() {
    local job
    for ((job = 1; job < jobs; job++)); do
        JOB=$job fuzz "$@" > /dev/null &
    done
    fuzz "$@"
    wait
    [ -z "$(ls "$STATE/found")" ] || fail "see $STATE/found"
}

# Most of a round is spent on the target and driver with the most executions, on small traces, which
# find as much in a third of the time. Counts are written at the end of each step.
fuzz_round() {
    local share=$((budget / 20 + 1)) length
    share=$((share < 12 ? share : 12)) # at most four minutes, so that an interruption costs little
    for length in 320 512 384 1024; do
        fuzz_side_by_side fuzz_reader fuzz-fast $((share * 4)) trace -max_len=$length \
            "$STATE/seeds"
    done
    fuzz fuzz_reader fuzz "$share" trace -max_len=4096 "$STATE/seeds"
    fuzz fuzz_commands fuzz "$share" trace -max_len=4096 "$STATE/seeds"
    fuzz fuzz_index fuzz "$share" trace -max_len=16384 "$STATE/seeds"
    fuzz fuzz_spool fuzz $(((share + 1) / 2)) spool -max_len=2500
    fuzz fuzz_runs fuzz $(((share + 1) / 2)) runs -max_len=1000
    fuzz fuzz_arguments fuzz $(((share + 1) / 2)) arguments -max_len=2500
    fuzz fuzz_settings fuzz $(((share + 1) / 2)) settings -max_len=4096
    fuzz_afl "$share"
}

# Runs AFL++ on the same target, because its mutations are different.
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

# To minimize the corpus in the repository without losing coverage: `fuzz_reader -merge=1
# tests/fuzz/corpus/trace STATE/corpus/trace`.
step seeds make_all_seeds
build_targets fuzz clang fuzzer-no-link,address,undefined '' \
    fuzz_{reader,commands,index,spool,runs,arguments,settings}
FAST_FUZZ=1 build_targets fuzz-fast clang '' '-O3 -march=native' fuzz_reader
if command -v afl-clang-fast > /dev/null; then
    build_targets fuzz-afl afl-clang-fast fuzzer-no-link -O2 fuzz_reader
fi
end=$((SECONDS + budget)) # build time does not count
# shellcheck disable=SC2154 # failures: of common.bash
until [ "$(executions)" -ge "$goal" ] || [ "$SECONDS" -ge "$end" ] || [ "$failures" -gt 0 ]; do
    fuzz_round
done
row "Executions of fuzz targets, all runs" "$goal" "$(executions)"
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

# ---- Truncation and flipped bits ----

golden=("$SOURCE"/tests/golden/good/{with_ids,sites,late,listed,threads,cpu,packed_ids}.probity)
step cut "${polite[@]}" "$BUILD/tests/truncate_bitflip" cut 1 1 1 "${golden[@]}"
step flip "${polite[@]}" "$BUILD/tests/truncate_bitflip" flip 8 4 1 "${golden[@]}"
row "Golden traces truncated at every byte, by every command" "0 faults" \
    "$(tail -n 1 "$STATE/cut.out" 2> /dev/null || echo failed)"
row "Golden traces with each bit flipped, by every command" "0 faults" \
    "$(tail -n 1 "$STATE/flip.out" 2> /dev/null || echo failed)"

# ---- Adversarial inputs ----

step adversarial "${polite[@]}" env COUNT=100000 bash "$SOURCE/tests/faults/bounded.sh"
row "Adversarial inputs, by every command" "$(sed -n 's/^bounds: //p' "$STATE/adversarial.out")" \
    "$(sed -n 's/^worst: //p' "$STATE/adversarial.out")"
# shellcheck disable=SC2154 # of common.bash
[ "$failures" -eq 0 ]
