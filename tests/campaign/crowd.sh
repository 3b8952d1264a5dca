#!/usr/bin/env bash
# Threads and processes: what tests/run/crowd.sh does, by the thousand.
# shellcheck source=tests/campaign/campaign.bash
. "$(dirname "$0")/campaign.bash"
# shellcheck source=tests/run/crowd.bash
. "$SOURCE/tests/run/crowd.bash"

SEEDS=${SEEDS:-40}
REPEATS=${REPEATS:-10}

# Runs what counts its faults itself; status 1 where there were any.
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
    thread_crowds "$1" 15000 400
    count threads 30000
}

# The ways of forks.sh, one after the other.
forks_again() {
    bash "$SOURCE/tests/run/forks.sh"
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
step reloads whole reloads 200000 || true
step copies whole copies 50 || true
step namespaces whole namespaces || true
step too_many whole too_many_threads 2000 500 || true
step own_malloc whole own_malloc || true
step handlers whole handlers handlers 200 || true
step handlers_shared whole handlers handlers.shared 200 || true
step leavers whole leavers 1000 || true
step libcs whole libcs all || true

# $1 name of a step, or the beginning of several
faults_of() {
    grep -h FAILED "$STATE/$1"*.running 2> /dev/null | wc -l
}

# $1 what, $2 name of the steps, $3 unit
found() {
    row "$1" "0 faults" "$(faults_of "$2") faults in $3"
}

found "Fork storms, three generations deep, $SEEDS seeds; each hit is compared, before and after \`recover\`" \
    storm_ "$(total_of processes) processes, $(total_of hits) hits"
found "Every way to fork of \`tests/run/forks.sh\`: vfork, raw clone, daemon, chain, in all threads" forks_ \
    "$(total_of forks) rounds"
found "Threads one by one and 500 at a time; no growth of mappings, descriptors, memory" threads_ \
    "$(total_of threads) threads"
found "Two libraries loaded in turns at one address: names, counts, no growth" reloads "400000 loads"
found "Several copies of the library in one process, linked, loaded, and by \`dlmopen\`" \
    "[cn][oa][pm]" "2 + 8 arrangements"
found "Handlers of fork and exit, destructors of thread data, callbacks of \`dl_iterate_phdr\`" handlers \
    "400 rounds"
found "Threads that leave their scopes by \`pthread_exit\` or cancelled, also at any instruction" leavers \
    "6000 threads"
found "More threads than chunks: whole or counted" too_many "2000 threads"
found "glibc static; musl dynamic, static, shared library" libcs "4 × ${#all_ways[@]} ways"
finish
