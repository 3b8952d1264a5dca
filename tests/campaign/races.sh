#!/usr/bin/env bash
# Races: checks models in all states and with injected faults; helgrind, DRD and memcheck; the
# thread sanitizer on all tests that support it; AArch64's weaker memory order under qemu.
. "$(dirname "$0")/campaign.bash"
. "$SOURCE/tests/model/model.bash"
. "$SOURCE/tests/runtime/helgrind.bash"
MODEL_SECONDS=3600
MODEL_MIB=9000

# Under valgrind, programs run many times slower, perhaps on a busy machine.
RACES_SECONDS=600

# Steps run in a shell with the functions that are sourced here.
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
models=0 held=0
while read -r name file settings; do
    # shellcheck disable=SC2086
    models=$((models + 1))
    step "model-$name" model_in_step "$name" "$file" holds $settings && held=$((held + 1))
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
row "Models whose states all satisfy the assertions" "$models" "$held, $states states"

faults=0 found=0
while read -r file fault; do
    faults=$((faults + 1))
    step "fault-${file%.pml}-$fault" fault_in_step "$file" "$fault" && found=$((found + 1))
done <<< "$MODEL_FAULTS"
row "Faults injected into the models and found" "$faults" "$found"

# ---- Valgrind ----
runs=0 clean=0
while read -r name arguments; do
    for tool in helgrind drd; do
        runs=$((runs + 1))
        # shellcheck disable=SC2086
        step "$tool-$name" tool_in_step "$tool" ${arguments/PLUGIN/$PROGRAMS/plugin_hits.so} &&
            clean=$((clean + 1))
    done
done <<'LIST'
parallel parallel.shared
churn threads.shared churn 100 300
beside threads.shared beside 8 20
alive threads.shared alive 60 50
exit threads.shared pthread_exit 20 300
destructor threads.shared destructor 20 300
ending stopping.shared ending
names control.shared names 100
log own_log.shared run 300
walks blocks.shared
calls tree.shared
queue-signal typed.shared 50 signal
values exported.shared 3 20
scopes-exit fntrace_scopes.shared exit 20
scopes-cancel fntrace_scopes.shared cancel 20
thread_exit_in_scope-exit thread_exit_in_scope.shared exit 20
thread_exit_in_scope-deferred thread_exit_in_scope.shared deferred 20
signals signals.shared storm 200 2
forks forks.shared plain
forks-short forks.shared short
loader loader.shared PLUGIN 10
storm storm.shared ledger 1 3 2
cpu-times cpu_times.shared 1 50
LIST
# The example web server with the shared library under a short load. $1 helgrind or drd; or tsan,
# for a server built with it
server_in_step() {
    local status=0 port server=("$BUILD-tsan/examples/httpd")
    failures=0
    fresh
    mkdir -p root/cgi-bin
    head -c 102400 /dev/urandom > root/large.bin
    printf '#!/bin/sh\nprintf "\\n%%s\\n" "$QUERY_STRING"\n' > root/cgi-bin/echo
    chmod +x root/cgi-bin/echo
    if [ "$1" != tsan ]; then
        "$CC" -std=gnu11 -O2 -g -pthread -D_GNU_SOURCE -I"$SOURCE/include" \
            "$SOURCE"/examples/httpd/*.c -L"$BUILD/lib" -lprobity -Wl,-rpath,"$BUILD/lib" -o shared
        server=(valgrind --quiet --tool="$1" --error-exitcode=9 --log-file=reported.%p
            --suppressions="$SOURCE/tests/tool/valgrind.supp" ./shared)
    fi
    : > server.out
    PROBITY_OUT=$WORK/trace setarch -R "${server[@]}" --root root --port 0 --threads 4 \
        --idle 60 > server.out 2> errors &
    server_pid=$!
    await_port "$server_pid"
    for path in large.bin "cgi-bin/echo?x"; do
        wrk -t1 -c8 -d3s --timeout 60s "http://127.0.0.1:$port/$path" | grep requests ||
            fail "no answer"
    done
    kill -TERM "$server_pid"
    wait "$server_pid" || status=$?
    expect "server under $1: status ($(head -n 30 errors))" 0 "$status"
    cat reported.* > reported 2> /dev/null || true
    expect "server under $1: reported" "" "$(head -n 30 reported 2> /dev/null)"
    "$PROBITY" check trace || fail "server under $1: check"
    [ "$failures" = 0 ]
}

for tool in helgrind drd; do
    runs=$((runs + 1))
    step "$tool-server" server_in_step "$tool" && clean=$((clean + 1))
done
row "Programs with threads, and the web server under load, under helgrind and DRD: clean" "$runs" \
    "$clean"

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
    # Under memcheck, single steps could take arbitrarily long.
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
    (cd "$SOURCE" && CAMPAIGN=yes ONLY="^(tsan|gcc/build)" BUILD=$BUILD tools/test.sh)
}
step tsan tsan_in_step || true
row "Tests under the thread sanitizer" "0 failed" \
    "$(grep -hE '^[0-9]+ passed' "$STATE"/tsan.out "$STATE"/tsan.running 2> /dev/null | tail -n 1)"
export TSAN_OPTIONS=suppressions=$SOURCE/tests/tool/tsan.supp
step tsan-server server_in_step tsan && found=clean || found="not clean"
row "The web server under load, under the thread sanitizer" "clean" "$found"

# ---- AArch64 ----
aarch64_in_step() {
    (cd "$SOURCE" && BUILD=$BUILD tools/check_aarch64.sh)
}
rounds=0
for ((round = 1; round <= 20; round++)); do
    step "aarch64-$round" aarch64_in_step && rounds=$((rounds + 1))
done
row "Runs of three threads on AArch64 (qemu), complete" "$((round - 1))" "$rounds"
[ "$failures" = 0 ]
