# shellcheck shell=bash
# switching.bash: a program that executes its input, while `probity level` switches its functions or
# sites off and on (switched.h). Sourced after common.bash.

# $1 name, the rest: sources and flags
build() {
    "$CC" ${SANITIZE_FLAG:+"$SANITIZE_FLAG"} -O1 -g -I"$SOURCE/include" -o "$1" "${@:2}" \
        -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -lprobity -pthread 2> messages ||
        fail "$1 does not build: $(cat messages)"
}

# $1 variables of the environment, the rest: the program. Sets job and gate.
start() {
    rm -f go out trace trace[.-]*
    mkfifo go
    env "$1" PROBITY_OUT=trace "${@:2}" < go > out 2> errors &
    job=$!
    exec {gate}> go
    wait_until "$job" has_lines out 1 || fail "ended early: $(cat errors)"
    calls=0
}

# $1 name, $2 times
call() {
    echo "$1 $2" >&"$gate"
    calls=$((calls + 1))
    wait_until "$job" has_lines out $calls '^done'
}

# $1 part of the expected message, the rest: options
level() {
    "$PROBITY" level "${@:2}" "$job" > said 2>&1 || fail "level ${*:2}: $(cat said)"
    grep -qF -- "$1" said || fail "level ${*:2}: no '$1' in $(cat said)"
}

# Ends the program and checks its trace. $1 lines that it may have printed on standard error
end_job() {
    exec {gate}>&-
    wait "$job" || fail "${what:?}: status $?: $(cat errors)"
    expect "$what: stderr" "" "$(grep -v -- "$1" errors)"
    "$PROBITY" check trace > check.out 2>&1 || fail "$what: check: $(cat check.out)"
}
