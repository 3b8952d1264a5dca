# Runs programs under valgrind's thread checkers. Sourced after tests/common.bash.

# $1 helgrind or drd; the rest: a program linked with the shared library, and its arguments
races_under() {
    local tool=$1 program=$2 status=0
    shift 2
    fresh
    # Fair scheduling: otherwise a thread that always records would starve the others.
    PROBITY_OUT=$WORK/trace timeout "${RACES_SECONDS:-280}" valgrind --quiet --tool="$tool" \
        --fair-sched=yes --error-exitcode=9 --log-file=reported.%p \
        --suppressions="$SOURCE/tests/tool/valgrind.supp" "$PROGRAMS/$program" "$@" \
        > expected 2> errors || status=$?
    expect "$tool $program $*: status" 0 "$status"
    # Includes the reports of children. The tool's own messages begin with --.
    cat reported.* | grep -v '^--' > reported || true
    expect "$tool $program $*: reported" "" "$(head -n 30 reported)"
    [ -s trace ] || fail "$tool $program $*: nothing was recorded: $(cat errors)"
}
