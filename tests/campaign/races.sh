#!/usr/bin/env bash
# Races: models in all of their states, and with faults put into them; helgrind, DRD and memcheck;
# the thread sanitizer over all tests that it can follow; and AArch64's weaker order under qemu.
. "$(dirname "$0")/campaign.bash"
. "$SOURCE/tests/model/model.bash"
. "$SOURCE/tests/run/helgrind.bash"
MODEL_SECONDS=3600
MODEL_MIB=9000

# Steps run in a shell that knows what is sourced here.
model_in_step() {
    failures=0
    model "$@"
    [ "$failures" = 0 ]
}

fault_in_step() {
    failures=0
    model_fault "$@"
    [ "$failures" = 0 ]
}

tool_in_step() {
    failures=0
    races_under "$@"
    [ "$failures" = 0 ]
}

# ---- Models ----
model_names
models=0
while read -r name file settings; do
    # shellcheck disable=SC2086
    step "model-$name" model_in_step "$name" "$file" holds $settings || continue
    models=$((models + 1))
done <<'LIST'
thread-signal handover.pml -DOWNERS=1 -DRECORDS=4 -DHOW=36
thread-signal-of-two handover.pml -DOWNERS=1 -DRECORDS=3 -DHOW=36 -DHANDLED=2 -DHOW_HANDLED=1
nested-signals handover.pml -DOWNERS=1 -DRECORDS=2 -DHOW=4 -DNESTED=2
signal-dropping handover.pml -DOWNERS=1 -DRECORDS=4 -DHOW=36 -DDROP
two-threads handover.pml -DOWNERS=2 -DRECORDS=2 -DHOW=36 -DSIGNALLED=0 -DCHUNKS=3
two-threads-signal handover.pml -DOWNERS=2 -DRECORDS=1 -DHOW=9 -DWORDS=2
nobody-stuck handover.pml -DOWNERS=1 -DRECORDS=4 -DHOW=36 -DNO_DEATH
nobody-stuck-two handover.pml -DOWNERS=2 -DRECORDS=2 -DHOW=36 -DSIGNALLED=0 -DNO_DEATH
pool pool.pml
live live.pml
recover-two recover.pml -DTOOLS=2 -DRUNS=1
recover-killed recover.pml -DTOOLS=1 -DRUNS=2
levels levels.pml
LIST
states=$(cat "$STATE"/model-*.out |
    awk '{ for (i = 2; i <= NF; i++) if ($i == "states;") n += $(i - 1) } END { print n + 0 }')
row "Models of which all states hold" "13 of 13" "$models of 13, $states states"

faults=0 found=0
while read -r file fault; do
    faults=$((faults + 1))
    step "fault-${file%.pml}-$fault" fault_in_step "$file" "$fault" && found=$((found + 1))
done <<< "$MODEL_FAULTS"
row "Faults put into the models and found" "$faults" "$found"

# ---- Valgrind ----
runs=0 clean=0
while read -r name arguments; do
    for tool in helgrind drd; do
        runs=$((runs + 1))
        # shellcheck disable=SC2086
        step "$tool-$name" tool_in_step "$tool" $arguments && clean=$((clean + 1))
    done
done <<'LIST'
parallel parallel.shared
churn threads.shared churn 100 300
beside threads.shared beside 60 20
alive threads.shared alive 60 50
exit threads.shared pthread_exit 20 300
destructor threads.shared destructor 20 300
ending stopping.shared ending
names control.shared names 100
log own_log.shared run 300
LIST
row "Programs of many threads under helgrind and DRD: clean" "$runs" "$clean"

unit_in_step() {
    valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
        "$BUILD/tests/unit/$1"
}

command_in_step() {
    local command=$1 status=0
    valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
        "$PROBITY" "$command" "$STATE/memcheck.probity" > out 2> err || status=$?
    cat err
    [ "$status" -ne 9 ] && ! grep -q '^==[0-9]*==' err
}

runs=0 clean=0
for unit in "$SOURCE"/tests/unit/test_*.c; do
    unit=$(basename "$unit" .c)
    # It takes as long as it may between two steps of the processor.
    [ "$unit" != test_live ] || continue
    runs=$((runs + 1))
    step "memcheck-$unit" unit_in_step "$unit" && clean=$((clean + 1))
done
[ -e "$STATE/memcheck.probity" ] ||
    PROBITY_OUT=$STATE/memcheck.probity "$PROGRAMS/parallel" || fail "no trace for the tool"
for command in csv log report tree threads info check timeline blocks hist list; do
    runs=$((runs + 1))
    step "memcheck-$command" command_in_step "$command" && clean=$((clean + 1))
done
row "Unit tests and commands under memcheck: clean" "$runs" "$clean"

# ---- Thread sanitizer ----
tsan_in_step() {
    (cd "$SOURCE" && ONLY="^(tsan|gcc/build)" BUILD=$BUILD tools/test.sh)
}
step tsan tsan_in_step || true
row "Tests under the thread sanitizer" "0 failed" \
    "$(grep -hE '^[0-9]+ passed' "$STATE"/tsan.out "$STATE"/tsan.running 2> /dev/null | tail -n 1)"

# ---- AArch64 ----
aarch64_in_step() {
    (cd "$SOURCE" && BUILD=$BUILD tools/check_aarch64.sh)
}
rounds=0
for ((round = 1; round <= 20; round++)); do
    step "aarch64-$round" aarch64_in_step && rounds=$((rounds + 1))
done
row "Runs of three threads on AArch64 (qemu), complete" "20" "$rounds"
[ "$failures" = 0 ]
