# Sourced by scripts that record programs with --calls, after common.bash.
# shellcheck shell=bash

# $1 name of a trace, the rest: options and the program
record() {
    local trace=$1
    shift
    rm -f "$trace"*
    "$PROBITY" record -o "$trace" "$@" > out 2> errors || fail "$*: $(cat errors)"
    expect "$*: messages" "" "$(cat errors)"
    "$PROBITY" check "$trace" > /dev/null 2> faults || fail "$*: $(cat faults)"
}
