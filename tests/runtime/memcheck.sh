#!/usr/bin/env bash
# Scopes under Memcheck: recorded, in profile mode, off by level and not recorded. Any report about
# the library would appear in every user's output.
# variants: gcc
. "$(dirname "$0")/../common.bash"

if ! command -v valgrind > /dev/null; then
    echo "needs valgrind"
    exit 77
fi

# $1 description, $2 way of jumps.c, then the environment
memcheck() {
    local what=$1 way=$2 status=0
    shift 2
    rm -f trace
    env "$@" valgrind --quiet --error-exitcode=99 "$PROGRAMS/jumps" "$way" 20 > /dev/null \
        2> errors || status=$?
    expect "$what, $way: status and errors" "0 " "$status $(grep -E '^==' errors | head -n 5)"
}

for way in loop far off; do
    memcheck "not recorded" "$way" PROBITY_LEVEL=1
    memcheck recorded "$way" PROBITY_LEVEL=1 PROBITY_OUT="$WORK/trace"
    memcheck "in profile mode" "$way" PROBITY_LEVEL=1 PROBITY_PROFILE=1 PROBITY_OUT="$WORK/trace"
    memcheck "off by level" "$way" PROBITY_LEVEL=0 PROBITY_OUT="$WORK/trace"
done
finish
