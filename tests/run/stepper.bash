# Builds tests/tool/stepper.c, and runs it in the working directory. Sourced behind common.bash; ends
# the test as skipped where there is nothing to step with.

if [ "$(uname -m)" != x86_64 ]; then
    echo "the stepper knows the registers of x86-64 only"
    exit 77
fi
cd "$SOURCE" || exit
sources="tests/tool/stepper.c tests/tool/stepper_scopes.c src/spool/drain.c src/spool/cells.c
    src/format/block.c src/format/stream.c src/format/profile.c src/base/checksum.c src/base/cpu.c"
# shellcheck disable=SC2086
${CC:-gcc} -std=gnu11 -O2 -g -Wall -Wextra -pthread -D_GNU_SOURCE -Iinclude -Isrc -Itests \
    -o "$WORK/stepper" $sources "$BUILD/lib/libprobity.a"
cd "$WORK" || exit

# Fails as the stepper does; what it says is in the file `output`. STEPPER_KEEPS=trace: that stays.
stepper() {
    local status=0
    timeout "${STEPPER_SECONDS:-100}" ./stepper "$@" > output 2>&1 || status=$?
    [ "$status" = 0 ] || fail "stepper $*: status $status, $(tail -n 2 output)"
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
