#!/usr/bin/env bash
# Threads and processes: repeats tests/runtime/stress_threads.sh thousands of times.
# shellcheck source=tests/campaign/campaign.bash
. "$(dirname "$0")/campaign.bash"
# shellcheck source=tests/runtime/stress_threads.bash
. "$SOURCE/tests/runtime/stress_threads.bash"

SEEDS=${SEEDS:-40}
REPEATS=${REPEATS:-10}

# Runs a command that counts its own errors; fails if there were any.
whole() {
    local before=$failures
    "$@"
    [ "$failures" -eq "$before" ]
}

# $1 program, $2 seed
counted_storm() {
    processes=0 hits=0
    storm "$1" "$2" 60 6
    count processes "$processes"
    count hits "$hits"
}

# $1 program
counted_threads() {
    many_threads "$1" 15000 400
    count threads 30000
}

# Runs forks.sh once more.
forks_again() {
    bash "$SOURCE/tests/runtime/forks.sh"
    count forks 1
}

for seed in $(seq "$SEEDS"); do
    program=storm
    [ $((seed % 2)) -eq 0 ] || program=storm.shared
    step "storm_$seed" whole counted_storm "$program" "$seed" || true
done
for repeat in $(seq "$REPEATS"); do
    program=threads
    [ $((repeat % 2)) -eq 0 ] || program=threads.shared
    step "threads_$repeat" whole counted_threads "$program" || true
    step "forks_$repeat" forks_again || true
done
step reloads whole reloads 100000 || true
step copies whole copies 50 || true
step namespaces whole namespaces || true
step too_many whole too_many_threads 2000 300 || true
step own_malloc whole own_malloc || true
step handlers whole handlers handlers 200 || true
step handlers_shared whole handlers handlers.shared 200 || true
step thread_exit_in_scope whole thread_exit_in_scope 1000 || true
step libcs whole libcs all || true

# $1 name of a step, or a prefix of several; $2 description; $3 number of repetitions
found() {
    local faults amount=$3
    faults=$(grep -h FAILED "$STATE/$1"*.running 2> /dev/null | wc -l)
    compgen -G "$STATE/$1*.done" > /dev/null || amount="nothing that was done to its end"
    row "$2" "0 faults" "$faults faults in $amount"
}

found storm_ "Fork storms, three generations deep, each hit compared ($SEEDS seeds)" \
    "$(total_of processes) processes, $(total_of hits) hits"
found forks_ "Every way to fork: vfork, raw clone, daemon, chain, in all threads" \
    "$(total_of forks) rounds of \`tests/runtime/forks.sh\`"
found threads_ "Threads one by one and 500 at a time: no growth" "$(total_of threads) threads"
found reloads "Libraries loaded in turn at one address: names, counts, no growth" "200,000 loads"
found copies "Several copies of the library, loaded and linked" "8 arrangements"
found namespaces "A copy loaded by \`dlmopen\`" "2 arrangements"
found own_malloc "The writer allocates nothing" "1 run"
found handlers "Handlers of fork and exit, destructors of thread data, callbacks" "400 rounds"
found thread_exit_in_scope "Threads that leave scopes by \`pthread_exit\`, or cancelled anywhere" \
    "6,000 threads"
found too_many "More threads than chunks: complete, or counted" "2,000 threads"
found libcs "glibc static; musl dynamic, static, shared" "4 × ${#all_ways[@]} ways"
finish
