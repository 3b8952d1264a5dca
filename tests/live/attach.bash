# Shared by the tests of `probity attach`. Sourced after common.bash.

# $1 description, $2 expected status, $3 part of the output or message; the rest: the command
says() {
    local what=$1 expected=$2 text=$3 status=0
    shift 3
    "$PROBITY" "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
    grep -qF -- "$text" output errors || fail "$what: no '$text' in: $(cat output errors)"
}

# $1 name, the rest: the program. Sets job and gate.
start() {
    local name=$1
    shift
    rm -f "$name.go" "$name.out"
    mkfifo "$name.go"
    "$@" < "$name.go" > "$name.out" 2> "$name.err" &
    job=$!
    exec {gate}> "$name.go"
    wait_until "$job" test -s "$name.out" || fail "$name has ended early: $(cat "$name.err")"
}

# Ends the program, which must succeed. $1 its name
stop() {
    exec {gate}>&-
    wait "$job" || fail "$1: status $?: $(head -n 5 "$1.err")"
    expect "$1: standard error" "" "$(cat "$1.err")"
}

# Checks that the trace $1 is complete, and that the probes of each thread follow each other without
# a gap.
is_whole() {
    "$PROBITY" info "$1" > output 2>&1
    grep -q '^complete *yes' output || fail "$1: $(grep '^complete' output)"
    "$PROBITY" check "$1" > output 2>&1 || fail "$1: $(tail -n 1 output)"
    "$PROBITY" csv "$1" 2> errors | awk -F, '
        $2 in next_of && $3 != next_of[$2] && $3 != 0 { print "after " next_of[$2] - 1 ": " $0 }
        { next_of[$2] = $3 + 1; hits++ }
        END { if (hits == 0) print "no hits" }' | head -n 3 > gaps
    [ ! -s gaps ] || fail "$1: $(cat gaps)"
}
