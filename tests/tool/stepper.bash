# Builds tests/tool/stepper.c and runs it in the working directory. Sourced after common.bash; the
# test counts as skipped if stepping is not supported.

if [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: the stepper supports only x86-64"
    exit 77
fi
cd "$SOURCE" || exit
sources="tests/tool/stepper.c tests/tool/stepper_scopes.c src/spool/drain.c src/spool/cells.c
    src/format/block.c src/format/stream.c src/format/profile.c src/base/checksum.c src/base/cpu.c"
# The library defines the same names, for its second member. $1 program, the rest: flags
build_stepper() {
    local program=$WORK/$1
    shift
    # shellcheck disable=SC2086
    (cd "$SOURCE" && ${CC:-gcc} -std=gnu11 -Wl,-z,muldefs -O2 -g -Wall -Wextra -pthread \
        -D_GNU_SOURCE -Iinclude -Isrc -Itests "$@" -o "$program" $sources \
        "$BUILD/lib/libprobity-functions.a" "$BUILD/lib/libprobity.a")
}
build_stepper stepper
cd "$WORK" || exit

# Fails if the stepper does; its output is in the file "output". STEPPER_KEEPS=trace keeps the
# trace.
stepper() {
    local status=0
    timeout "${STEPPER_SECONDS:-400}" "./${STEPPER:-stepper}" "$@" > output 2>&1 || status=$?
    [ "$status" = 0 ] || [ "$status" = 77 ] || fail "stepper $*: status $status, $(tail -n 2 output)"
    cat output
    [ "${STEPPER_KEEPS:-}" = trace ] || rm -f trace*
    rm -rf "${SPOOL:?}"/*
    return "$status"
}

if ! ./stepper look fast > output 2>&1 && grep -q PTRACE output; then
    echo "no ptrace here"
    exit 77
fi
rm -rf trace "${SPOOL:?}"/*
