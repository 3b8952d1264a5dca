#!/usr/bin/env bash
# Returned variables whose address needs a call, volatile ones and arrays; functions that exceptions
# leave in any thread; values recorded on a small stack.
# variants: gcc clang
. "$(dirname "$0")/../common.bash"

# $1 program, the rest: compiler and flags
build() {
    local program=$1
    shift
    "$@" -D_GNU_SOURCE -I "$SOURCE/include" -o program "$SOURCE/tests/programs/$program" \
        -L "$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -lprobity -pthread 2> messages ||
        fail "$*: $(head -n 3 messages)"
}

for flags in -O0 "-O1 -fPIC" -O2 "-O2 -fPIC -ftls-model=global-dynamic" "-O0 -fsanitize=thread" \
    "-O2 -fsanitize=thread"; do
    # The sanitizer does not run in the emulator.
    [[ $VARIANT$flags != aarch64*sanitize* ]] || continue
    rm -f trace
    # shellcheck disable=SC2086
    build returned.cc "$CXX" -std=c++11 $flags
    PROBITY_CHUNK_RECORDS=64 PROBITY_OUT=$WORK/trace ./program || fail "$flags: status $?"
    "$PROBITY" log --color=never trace > log.txt
    expect "$flags: returned" 12 "$(grep -c 'return (77)' log.txt)"
    expect "$flags: addresses of arrays" "1 1" \
        "$(grep -o 'other = 0x.*' log.txt | sort -u | wc -l) $(grep -o 'return (0x.*' log.txt |
            sort -u | wc -l)"
    expect "$flags: contents of arrays" 0 "$(grep -cE 'return \(0x1234\)' log.txt)"
    expect "$flags: left by exceptions" 6 "$(grep -c 'left by an exception' log.txt)"
    expect "$flags: other ends" 0 "$(grep -cE 'return \((-5|0)\)' log.txt)"
done
build small_stack.c "$CC" -O2
for mode in PROBITY_CHUNK_RECORDS=64 PROBITY_ORDER=strict PROBITY_PROFILE=1; do
    rm -f trace
    env "$mode" PROBITY_OUT="$WORK/trace" ./program || fail "small stack, $mode: status $?"
done
finish
