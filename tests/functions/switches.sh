#!/usr/bin/env bash
# `probity level --off` and `--on`: functions are switched off and on while threads call them, with
# macros and with the compiler's hooks. Off, each call is counted exactly; on, it is recorded.
# variants: clang asan tsan
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/functions/switching.bash"

# $1 message, the rest: options
is_refused() {
    local status=0
    "$PROBITY" level "${@:2}" "$job" > said 2>&1 || status=$?
    expect "level ${*:2}: status" "${REFUSED:-1}" "$status"
    grep -qF -- "$1" said || fail "level ${*:2}: no '$1' in $(cat said)"
}

stop() {
    end_job 'only the entries of functions'
    "$PROBITY" report --json trace > report.json 2> report.err || fail "report: $(cat report.err)"
    jq -r '.functions[] | select(.calls > 0) | "\(.name) \(.calls)"' report.json | sort > found
    grep -v '^ready\|^done' out | grep -v ' 0$' | sort > expected
    diff expected found > difference || fail "$what: actual (<), found (>): $(cat difference)"
}

# $1 function, $2 comparison of the calls that were only counted
counts() {
    expect "$what: $1, only counted $2" true \
        "$(jq "[.functions[] | select(.name == \"$1\")][0].calls_counted $2" report.json)"
}

# $1 description, the rest: the program
switches() {
    what=$1
    shift
    start A=1 "$@"
    call early 10
    level 'functions called so far are only counted' --off early --off 'l*'
    call early 20
    call later 7 # declared while it is off
    level 'levels 5, 5' --set on=early --set 'off=b*y'
    call early 5
    level '1 of 3 functions' --on busy
    call later 3
    level '0 of 3 functions' --on '*'
    call later 2
    # The last matching pattern applies.
    level '2 of 3 functions' --off '*' --on early
    for ((i = 0; i < 20; i++)); do
        level '0 of 3' --on '*'
        level '1 of 3' --off busy
    done
    call early 1
    level '0 of 3' --on busy
    stop
    counts early "== 20"
    counts later "== 10"
    counts busy "> 0"
    expect "$what: busy, recorded" true \
        "$(jq '[.functions[] | select(.name == "busy")][0] | .calls > .calls_counted' report.json)"
    "$PROBITY" log trace > log 2> errors || fail "$what: log: $(cat errors)"
    grep -q 'set by probity level, settings off=early' log || fail "$what: log: $(grep set log)"
}

switched=$SOURCE/tests/functions/switched.c
build macros "$switched" '-DFUNCTION=FN_FUNC(void, 1)'
switches macros ./macros 3
if ! unfollowed "hooks" "it has its own"; then
    build hooks "$switched" -finstrument-functions '-Wl,--no-as-needed' -L"$BUILD/lib" \
        -lprobity-functions
    switches -finstrument-functions ./hooks 3
    if [ "$VARIANT" = asan ]; then
        echo "left out under asan: patchable: asan's constructors have entries, which count"
    elif [ "$(uname -m)" = x86_64 ]; then
        build patchable "$switched" -fpatchable-function-entry=5 '-Wl,--no-as-needed' \
            -L"$BUILD/lib" -lprobity-functions
        switches -fpatchable-function-entry ./patchable 3
    fi
fi

# Functions named by a condition stay on; a budget may demote functions that were switched on;
# neither loses calls.
what=conditions
start PROBITY_RING=10s,16M env PROBITY_WHEN='gap early > 100s;function later > 100s' ./macros 2
call early 10
call later 10
level '1 of 3' --off '*'
is_refused 'only counted (budget, or switched off); see on=' \
    --set 'when=rate busy > 9/s'
call early 10
call later 10
# A function that the same request switches on is already recorded; both take effect in this order.
is_refused 'only counted (budget, or switched off)' --set 'when=rate busy > 9/s' --on '*' --off busy
is_refused 'only counted (budget, or switched off)' --set 'when=rate busy > 9/s' --on early
level '0 of 3' --set 'when=rate busy > 900000000/s' --on busy
level '0 of 3' --off '*'
stop
counts early "== 0"
counts later "== 0"
counts busy "> 0"
if ! unfollowed "a budget" "the writer reads counters that threads are making"; then
    what=budget
    start PROBITY_BUDGET=0.01% ./macros 2
    is_counted() { "$PROBITY" log trace > log 2>&1 && grep -q 'calls of busy are only' log; }
    wait_until "$job" is_counted
    level '0 of ' --on busy
    level 'functions' --off busy --off early
    call early 4
    stop
    counts early "== 4"
fi

# Rejected requests change nothing.
what=refusals
start PROBITY_MODE=block ./macros 1
call early 1
REFUSED=2 is_refused "invalid off ''" --off early --off ''
mapfile -t many < <(printf -- '--off=f%d\n' {1..33})
is_refused "more than 32 patterns at once" "${many[@]}"
level 'are only counted' "${many[@]:0:32}"
is_refused "on and off: there are 32 patterns already" --off early
level '0 of 2' --on '*'
level "none of them matches 'f1'" --off f1
level 'are only counted' --off early
! grep -q matches said || fail "early matches: $(cat said)"
level '"functions_called": 2, "functions_off": 1}' --json --off 'e*'
level '"functions_called": 2, "functions_off": 1, "unmatched": "f\"2"}' --json --off 'f"2'
level '0 of 2' --on '*'
call early 1
stop
what='profile mode'
start PROBITY_PROFILE=1 ./macros 1
call early 1
is_refused "in profile mode, functions cannot be switched" --off early
stop
counts early "== 0"
what=profile
start PROBITY_PROFILE=1 ./macros 1
call early 1
is_refused "in profile mode, functions cannot be switched" --off early
stop

# Each recording begins with all functions on.
if unfollowed "a further recording" "its end reads counters of threads that end"; then
    finish
    exit
fi
what=again
start A=1 ./macros 1
call early 1
level '2 of 2' --off '*'
"$PROBITY" detach "$job" > said || fail "detach: status $?"
rm trace
"$PROBITY" attach -o trace "$job" > said || fail "attach: status $?"
call early 3
"$PROBITY" detach "$job" > said || fail "detach: status $?"
exec {gate}>&-
wait "$job" || fail "status $?: $(cat errors)"
"$PROBITY" report --json trace > report.json || fail "report: status $?"
counts early "== 0"
expect "again: early" 3 "$(jq '[.functions[] | select(.name == "early")][0].calls' report.json)"
finish
