#!/usr/bin/env bash
# Programs that close descriptors, change directory or run at their resource limits are still
# recorded; a program is never recorded without a request.
# variants: clang
. "$(dirname "$0")/../common.bash"
# The caller may have left descriptors open, and programs here count theirs.
exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-

# $1 program, $2 way, $3 number
hostile() {
    local status=0
    fresh
    (PROBITY_OUT=trace exec "$PROGRAMS/$1" "$2" "${3:-}") > expected 2> errors || status=$?
    expect "$1 $2: status" 5 "$status"
    expect "$1 $2: stderr" "" "$(cat errors)"
    same_hits "$1 $2" trace
    no_leftovers "$1 $2"
}

for program in hostile hostile.shared; do
    hostile $program close_all
    hostile $program close_always
    hostile $program chdir
    hostile $program descriptors

    for limit in 3 4 5 6 8 20; do
        fresh
        status=0
        "$PROGRAMS/$program" few "$limit" > expected 2> errors || status=$?
        expect "$limit descriptors: status" 5 "$status"
        quiet "$limit descriptors"
        if [ -s expected ]; then
            same_hits "$limit descriptors" trace
        else
            expect "$limit descriptors: trace" "" "$(find . -name 'trace*')"
            [ -s errors ] || fail "$limit descriptors: no message"
        fi
        no_leftovers "$limit descriptors"
    done

    # Without stdin, stdout and stderr.
    fresh
    status=0
    PROBITY_OUT=$WORK/trace "$PROGRAMS/$program" descriptors <&- > expected 2>&- || status=$?
    expect "descriptors closed: status" 99 "$status"
    printf '%s\n' "$(cut -d, -f1 <("$PROBITY" csv trace) | sort -u) 0 50000" | cmp - expected ||
        fail "descriptors closed: hits"

    # Recording is switched off.
    fresh
    expect "off: threads" 1 "$("$PROGRAMS/$program" count_threads || true)"
    expect "off: files" "" "$(find "$WORK" "$SPOOL" -mindepth 1)"
    expect "on: threads" 2 "$(PROBITY_OUT=$WORK/trace "$PROGRAMS/$program" count_threads || true)"
done

# A set-uid program ignores the environment; the same user's other programs do not.
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
    fresh
    chmod 777 "$WORK"
    mkdir -m 700 spool
    cp "$PROGRAMS/hostile" plain
    cp "$PROGRAMS/hostile" suid
    chown 1 spool suid
    chmod 4755 suid
    export PROBITY_OUT=$WORK/trace PROBITY_SPOOL_DIR=$WORK/spool
    expect "its user: threads" 2 \
        "$(setpriv --reuid 1 --clear-groups ./plain count_threads || true)"
    expect "its user: trace" "./trace" "$(find . -name 'trace*')"
    rm -f trace
    expect "set-uid: threads" 1 \
        "$(setpriv --reuid 65534 --clear-groups ./suid count_threads || true)"
    expect "set-uid: trace" "" "$(find . -name 'trace*')"
fi
finish
