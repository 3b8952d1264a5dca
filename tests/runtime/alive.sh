#!/usr/bin/env bash
# A live process is never mistaken for a dead one, or vice versa: without a writer thread, in other
# namespaces, after the first thread has exited, with all descriptors closed, and after exec.
. "$(dirname "$0")/../common.bash"
# Programs that are killed or call exec leak by design.
export ASAN_OPTIONS=detect_leaks=0
program=''

# Starts the program and waits until it has recorded something; sets $trace. $1: "" or the command
# that enters another namespace; the rest: arguments.
start() {
    local inside=$1
    shift
    fresh
    mkfifo ready go
    # shellcheck disable=SC2086
    PROBITY_OUT=$WORK/trace.%p $inside "$PROGRAMS/$program" "$@" > expected 2> errors &
    started=$!
    cat ready > path &
    await_file "$started" path errors
    trace=$(cat path)
}

# Releases the program and waits for its exit.
go_on() {
    # The FIFO opens once the program reads it.
    { : > released; echo; } > go &
    wait_until "$started" test -e released || {
        fail "$what: has ended early: $(cat errors)"
        finish
    }
    wait "$started" || fail "$what: status $?: $(cat errors)"
}

# Checks that the program is seen as live. $1 namespace command or "", $2 mode. A trace contains the
# process id inside the namespace, so numbering starts at 1 in each.
lives() {
    what="$program $2${1:+ under $1}"
    start "$@"
    expect "$what: state" live "$("$PROBITY" info --json "$trace" | jq -r '.[0].state')"
    status=0
    "$PROBITY" recover "$trace" > out 2> err || status=$?
    expect "$what: recover" 1 "$status"
    grep -q 'still being recorded' err || fail "$what: $(cat err)"
    if [ -n "$1" ] && [ "$2" = closes_all ]; then
        pid=$(pgrep -P "$started")
        expect "$what: level" "$pid: levels 5, 5" "$("$PROBITY" level "$pid" 2>&1)"
    fi
    go_on
    same_hits "$what" trace.*
    no_leftovers "$what"
}

# Checks that the spool is seen as dead and recovered while other programs run. Arguments as above.
is_dead() {
    what="$program $2"
    start "$@"
    if [ "$2" = clones ]; then
        kill -KILL "$started"
        wait "$started" 2> killed || true
    fi
    expect "$what: state" killed "$("$PROBITY" info --json "$trace" | jq -r '.[0].state')"
    "$PROBITY" recover "$trace" > out 2> err || fail "$what: recover: $(cat err)"
    if [ "$2" = clones ]; then
        timeout 300 bash -c 'echo > go' || fail "$what: does not read"
    else
        go_on
    fi
    same_hits "$what" trace.*
    no_leftovers "$what"
}

# Only the namespaces that this machine allows.
namespaces=()
for namespace in "unshare --pid --fork" \
    "unshare --time --fork --monotonic 100000 --boottime 100000"; do
    # shellcheck disable=SC2086
    if $namespace true 2> /dev/null; then
        namespaces+=("$namespace")
    elif unshare --user --map-root-user ${namespace#unshare} true 2> /dev/null; then
        namespaces+=("unshare --user --map-root-user ${namespace#unshare}")
    else
        echo "left out: '$namespace' is not permitted here"
    fi
done

for program in alive alive.shared; do
    for how in child first_thread_ends child_first_thread_ends closes_all child_closes_all; do
        lives "" $how
        for namespace in ${namespaces[@]+"${namespaces[@]}"}; do
            lives "$namespace" $how
        done
    done
    is_dead "" child_executes
    is_dead "" clones
done

# Process ids wrap around: another recording program has the id of a killed one. In a PID namespace
# the next id can be chosen.
fresh
cat > reuse.bash << 'END'
PROBITY_OUT=$WORK/killed "$PROGRAMS/killed_after" 5 &
killed=$!
wait "$killed" 2> /dev/null
mkfifo go
echo "$((killed - 1))" > /proc/sys/kernel/ns_last_pid || exit 5
PROBITY_OUT=$WORK/second "$PROGRAMS/waiting" < go > ready &
echo "$killed $!" > ids
exec 3> go
wait_until "$!" test -s ready || exit 6
"$PROBITY" info --json killed second | jq -r '.[].state' > states
"$PROBITY" spools --json | jq -r '.spools[] | .state + " " + .program' | LC_ALL=C sort > spools
"$PROBITY" level "$killed" 1 > level 2>&1
"$PROBITY" recover killed > recovered 2>&1
echo $? >> recovered
"$PROBITY" recover second > refused 2>&1
echo $? >> refused
echo >&3
exec 3>&-
wait "$!"
END
export PROGRAMS PROBITY WORK
export -f is_running wait_until
reuse=(unshare --pid --fork --mount-proc)
"${reuse[@]}" true 2> /dev/null || reuse=(unshare --user --map-root-user "${reuse[@]:1}")
status=0
"${reuse[@]}" bash reuse.bash > out 2> err || status=$?
if [ -s ids ]; then
    read -r first second < ids
    expect "a reused process id: ids" "$first" "$second"
    expect "a reused process id: status" 0 "$status"
    expect "a reused process id: states" "killed live" "$(xargs < states)"
    expect "a reused process id: spools" "alive waiting dead killed_after" "$(xargs < spools)"
    grep -q "^$first: levels 1, 5" level || fail "a reused process id: level: $(cat level)"
    expect "a reused process id: recover" 0 "$(tail -n 1 recovered)"
    expect "a reused process id: recover a live one" 1 "$(tail -n 1 refused)"
    grep -q 'still being recorded' refused || fail "a reused process id: $(cat refused)"
    expect "a reused process id: hits" "5 2" \
        "$("$PROBITY" csv killed | wc -l) $("$PROBITY" csv second | wc -l)"
    no_leftovers "a reused process id"
else
    echo "left out: a reused process id, which this user may not choose: $(cat err)"
fi

# Wall times of two traces read together equal those of each read alone, even though a time
# namespace shifts the other clocks. One program runs while the other one waits.
program=alive
for namespace in ${namespaces[@]+"${namespaces[@]}"}; do
    [[ $namespace == *--time* ]] || continue
    what="$namespace: wall times"
    start "$namespace" closes_all
    PROBITY_OUT=$WORK/outside "$PROGRAMS/ends" exit > /dev/null || true
    go_on
    for each in "$trace" outside; do
        "$PROBITY" csv --columns tick,wall "$each"
    done | sort > alone
    [ "$(wc -l < alone)" -ge 50 ] || fail "$what: $(wc -l < alone) hits"
    # The fitted clock lines may differ by a nanosecond or so.
    "$PROBITY" csv --columns tick,wall "$trace" outside | sort > together
    paste -d, alone together | awk -F, '$1 != $3 || $2 - $4 > 1e-3 || $4 - $2 > 1e-3 { bad++ }
            END { exit bad > 0 }' ||
        fail "$what: $(paste -d, alone together | tail -n 2)"
done
finish
