#!/usr/bin/env bash
# Random programs that leave functions by longjmp: callers, messages and times of functions must
# equal what the programs report. 12 programs, or SEEDS of them, each at -O0 and -O2.
# variants: clang
. "$(dirname "$0")/../common.bash"
command -v python3 > /dev/null || { echo "left out: no python3"; exit 0; }

# $1 seed, $2 optimization
program() {
    # shellcheck disable=SC2086
    python3 "$SOURCE/tests/fntrace/random_jumps.py" "$1" > program.c &&
        $CC "$2" -w $SANITIZE_FLAG -I"$SOURCE/include" -o program program.c \
            "$BUILD/lib/libprobity.a" -lpthread -lm ||
        { fail "$1 $2: does not compile"; return; }
    # A disturbed run may have wrong times, but never wrong calls.
    for _ in 1 2 3; do
        rm -f trace
        PROBITY_OUT=$WORK/trace ./program > books || { fail "$1 $2: status $?"; return; }
        "$PROBITY" log --color=never trace > log 2> /dev/null || true
        "$PROBITY" report --json trace > report || fail "$1 $2: no report"
        grep -q unwound log && jumped=$((jumped + 1))
        python3 "$SOURCE/tests/fntrace/random_jumps.py" --compare books log report \
            2> fault && return
        grep -q '^CPU time' fault || break
    done
    fail "$1 $2: $(cat fault)"
}

jumped=0
for seed in $(seq "${SEEDS:-12}"); do
    for optimization in -O0 -O2; do
        program "$seed" "$optimization"
    done
done
[ "$jumped" -ge "${SEEDS:-12}" ] || fail "only $jumped of the programs have jumped"
finish
