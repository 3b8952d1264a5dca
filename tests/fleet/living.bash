# Programs that record while `probity ship` follows them, and checks of their rows in the database
# at "url". Sourced after clickhouse.bash.
# shellcheck disable=SC2154 # url: set by the script

# Starts a program that does rounds; sets "program" and opens descriptor 3. $1 trace
starts_steady() {
    rm -f go
    mkfifo go
    PROBITY_LABEL=$1 PROBITY_OUT=$WORK/$1 "$PROGRAMS/steady" < go > rounds.done 2> /dev/null &
    program=$!
    exec 3> go
}

# $1 number of rounds to do, $2 total number of rounds after that
does_rounds() {
    echo "$1" >&3
    wait_until "$program" has_lines rounds.done 1 "^$2\$"
}

# Returns whether this many calls of work() are in the database. $1 number, $2 label
has_calls() {
    [ "$(sql "SELECT count() FROM probity_calls WHERE depth = 0 AND run IN (SELECT run FROM
              probity_runs WHERE label = '$2')")" -ge "$1" ]
}

is_finished() {
    [ "$(sql "SELECT count() FROM probity_runs WHERE label = '$1' AND finished")" -gt 0 ]
}

# Checks that the database has all calls, once, and that the report is the same. $1 trace, $2 number
# of calls of work()
all_calls() {
    local counts
    counts=$(sql "SELECT sum(depth = 0), sum(depth = 1) FROM probity_calls WHERE run IN
        (SELECT run FROM probity_runs WHERE label = '$1')" | tr '\t' ' ')
    expect "$1: calls" "$2 $((2 * $2))" "$counts"
    expect "$1: hits with ids" "$((3 * $2))" "$(sql "SELECT count() FROM probity_requests WHERE run
        IN (SELECT run FROM probity_runs WHERE label = '$1')")"
    # Signatures come from debugging information here.
    "$PROBITY" report --csv "$1" 2> /dev/null | cut -d, -f1,3-9 | sort > from.file
    "$PROBITY" report --csv --from-fleet "$url" --label "$1" 2> errors | cut -d, -f1,3-9 |
        sort > from.fleet || true
    [ -s from.file ] || fail "$1: nothing in the trace"
    cmp -s from.file from.fleet ||
        fail "$1: $(cat errors) $(diff from.file from.fleet | head -n 6)"
}

# Starts three programs that record in directory $1. Sets "recorders", their jobs, "feeds", and
# "rounds", which each has done.
# shellcheck disable=SC2034 # for the scripts
starts_three() {
    local i feed
    feeds=() recorders=() rounds=0
    for i in 1 2 3; do
        mkfifo "go$i"
        PROBITY_LABEL=$1/$i PROBITY_OUT=$WORK/$1/$i "$PROGRAMS/steady" < "go$i" > "rounds$i" \
            2> /dev/null &
        recorders+=($!)
        exec {feed}> "go$i"
        feeds+=("$feed")
    done
}

# Each of the three does $1 more rounds
all_do() {
    local i feed
    rounds=$((rounds + $1))
    for feed in "${feeds[@]}"; do
        echo "$1" >&"$feed"
    done
    for i in 1 2 3; do
        wait_until "${recorders[i - 1]}" has_lines "rounds$i" 1 "^$rounds\$"
    done
}

# $1 number of calls, $2 directory
all_have() {
    local i
    for i in 1 2 3; do
        has_calls "$1" "$2/$i" || return
    done
}

# $1 number of calls that each must have in the database, $2 directory, $3 rounds at a time. The
# programs record until then.
all_do_until() {
    until all_have "$1" "$2"; do
        is_running "$watcher" || { fail "$2: the watcher has ended: $(cat watch.err)"; return; }
        all_do "$3"
        sleep 0.2 # the rate of recording, not a wait
    done
}

# Ends the three programs, and checks that all that they recorded is in the database. $1 directory
ends_three() {
    local i feed
    for feed in "${feeds[@]}"; do
        echo end >&"$feed"
        exec {feed}>&-
    done
    wait "${recorders[@]}"
    for i in 1 2 3; do
        wait_until "$watcher" is_finished "$1/$i" || fail "$1/$i: $(cat watch.err)"
        all_calls "$1/$i" "$rounds"
    done
}
