#!/usr/bin/env bash
# A trace describes its run: executable, build id, processors, label. Same for forked children,
# static and position-dependent programs, and a program without a build id.
# variants: clang asan
HEADERS=$(cd "$(dirname "$0")/../../include" && pwd)
. "$(dirname "$0")/../common.bash"

# $1 trace, $2 path in its object
fact() { "$PROBITY" info --json "$1" | jq -r ".[0]$2"; }
build_id_of() { readelf -n "$1" | sed -n 's/^ *Build ID: //p'; }

program=$PROGRAMS/forks
PROBITY_LABEL='one "run"' PROBITY_OUT=$WORK/%p.trace "$program" plain > expected
for trace in *.trace; do
    expect "label" 'one "run"' "$(fact "$trace" .label)"
    expect "executable" "$(readlink -f "$program")" "$(fact "$trace" .program.executable)"
    expect "build id" "$(build_id_of "$program")" "$(fact "$trace" .program.build_id)"
    expect "processors" "$(getconf _NPROCESSORS_ONLN)" "$(fact "$trace" .program.processors)"
done
[ "$(ls ./*.trace | wc -l)" -ge 2 ] || fail "no child trace"
"$PROBITY" info "$trace" > text
for line in 'label  *one "run"' "executable  *$(readlink -f "$program")" \
    "build id  *$(build_id_of "$program")" "processors  *$(getconf _NPROCESSORS_ONLN)"; do
    grep -q "^$line\$" text || fail "no line '$line'"
done

# ---- Other kinds of programs ----

fresh
cat > some.c << 'END'
#include <probity.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct probity_options options = {.out = argv[1], .label = argc > 2 ? argv[2] : NULL};
    int result = probity_start(&options);

    PROBITY_PROBE(1);
    return result == 0 ? 0 : 9;
}
END
# $1 name, then flags
build() {
    local name=$1
    shift
    # shellcheck disable=SC2086
    "${CC:-gcc}" -I"$HEADERS" -o "$name" some.c "$@" "$BUILD/lib/libprobity.a" -pthread
}

if [ "${VARIANT:-gcc}" != asan ]; then
    build named -Wl,--build-id=0x00c0ffee
    build static -static -Wl,--build-id=sha1
    build fixed -no-pie -Wl,--build-id=sha1
    build unnamed -Wl,--build-id=none
    for name in named static fixed; do
        "./$name" "$name.trace"
        expect "$name" "$(build_id_of $name)" "$(fact $name.trace .program.build_id)"
    done
    expect "named" 00c0ffee "$(fact named.trace .program.build_id)"
    expect "no label" null "$(fact named.trace .label)"
    ./unnamed unnamed.trace
    expect "unnamed" "size:$(stat -c %s unnamed)" "$(fact unnamed.trace .program.build_id)"

    # ---- Labels ----

    ./named option.trace "from the program"
    expect "option" "from the program" "$(fact option.trace .label)"
    PROBITY_LABEL=other ./named both.trace "from the program"
    expect "environment" other "$(fact both.trace .label)"
    PROBITY_LABEL='' ./named empty.trace "from the program"
    expect "empty" "from the program" "$(fact empty.trace .label)"
    long=$(printf '%255s' '' | tr ' ' x)
    ./named long.trace "$long"
    expect "255 bytes" "$long" "$(fact long.trace .label)"
    status=0
    ./named longer.trace "x$long" 2> errors || status=$?
    expect "256 bytes: status" 9 "$status"
    grep -q 'options: label' errors || fail "256 bytes: $(cat errors)"
    status=0
    PROBITY_LABEL=x$long ./named longer.trace 2> errors || status=$?
    expect "256 bytes in the environment: status" 9 "$status"
    grep -q PROBITY_LABEL errors || fail "256 bytes in the environment: $(cat errors)"
    "$PROBITY" record --label tried -o record.trace ./named unused
    expect "record" tried "$(fact record.trace .label)"
    ! "$PROBITY" info record.trace | tr -d '\n' | grep -q $'\033' || fail "escape codes"
    "$PROBITY" record --label $'\033[31m' -o wild.trace ./named unused
    ! "$PROBITY" info wild.trace | grep -q $'\033' || fail "a label is not escaped"
    for wrong in "" "x$long"; do
        status=0
        "$PROBITY" record --label "$wrong" -o wrong.trace ./named unused 2> errors || status=$?
        expect "record, wrong label: status" 2 "$status"
    done
fi
finish
