#!/usr/bin/env bash
# Programs whose symbol tables and debugging information are damaged or malicious: recording their
# functions, with --args, --returns and --file, neither crashes nor hangs, in the program or in the
# tool, and every call is counted. SECONDS_EACH: how long to try modified copies, 10 s by default;
# SEED: of the modifications; DWARF_FILES: number of files to read with libdw.
# variants: asan
# timeout: 900
. "$(dirname "$0")/../common.bash"
CC=${CC:-gcc}
[ "$(uname -m)" = x86_64 ] || { echo "not for this CPU"; exit 77; }

# DWARF of types that contain themselves, and of a function with parameters of these types.
cat > cyclic.c << 'END'
struct pair { int x, y; };
__attribute__((noinline)) int take(struct pair a, int *b) { return a.x + *b; }
int main(void)
{
    int one = 1;
    return take((struct pair){1, 2}, &one) != 2;
}
END
"$CC" -O1 -finstrument-functions -c -o cyclic.o cyclic.c
# $1 what kind of parameter has the type at the label `type`; on stdin, the entries from there on
link_cyclic() {
    {
        echo '.section .debug_abbrev,"",@progbits'
        python3 - << 'END'
# number: tag, has children, attributes and forms
entries = [
    (1, 0x11, 1, []),
    (2, 0x2e, 1, [(3, 8), (0x11, 1), (0x12, 1)]),
    (3, 5, 0, [(3, 8), (0x49, 0x13)]),
    (4, 0x13, 1, [(0x0b, 0x0b)]),
    (5, 0x0d, 0, [(3, 8), (0x49, 0x13), (0x38, 0x0b)]),
    (6, 0x16, 0, [(0x49, 0x13)]),
    (7, 0x1f, 0, [(0x49, 0x13)]),
    (8, 1, 1, [(0x49, 0x13)]),
    (9, 0x21, 0, [(0x2f, 7)]),
    (10, 0x39, 1, [(1, 0x13)]),
    (11, 0x24, 0, [(0x0b, 0x0b), (0x3e, 0x0b)])]
for number, tag, has, attributes in entries:
    flat = [x for pair in attributes for x in pair]
    print(".byte", ",".join(map(str, [number, tag, has] + flat + [0, 0])))
print(".byte 0")
END
        cat << END
        .section .debug_info,"",@progbits
start:  .long end - after
after:  .value 4
        .long .debug_abbrev
        .byte 8
        .byte 1
        .byte 2
        .string "take"
        .quad take
        .quad take + 16
        .byte 3
        .string "a"
        .long type - start
        .byte 0
END
        cat
        echo '        .byte 0
end:'
    } > dwarf.s
    "$CC" -Wa,--noexecstack -c -o dwarf.o dwarf.s && "$CC" -o "$1" cyclic.o dwarf.o
}
link_cyclic typedefs << 'END'
type:   .byte 6
        .long type - start
END
link_cyclic member_pointer << 'END'
type:   .byte 7
        .long type - start
END
link_cyclic arrays << 'END'
type:   .byte 8
        .long type - start
        .byte 9
        .quad 0x7fffffffffffffff
        .byte 0
END
{
    printf 'type: .byte 4\n.byte 16\n'
    for _ in $(seq 60); do printf '.byte 5\n.string "m"\n.long type - start\n.byte 0\n'; done
    printf '.byte 0\n'
} | link_cyclic structs
{
    printf 'type: .byte 4\n.byte 16\n'
    for _ in $(seq 60); do printf '.byte 5\n.string "m"\n.long array - start\n.byte 0\n'; done
    printf '.byte 0\narray: .byte 8\n.long type - start\n.byte 9\n.quad 0\n.byte 0\n'
} | link_cyclic structs_of_arrays
# Each is its parent's first child, and its own sibling, too.
{
    printf 'type: .byte 11\n.byte 4\n.byte 5\n'
    for i in $(seq 200); do printf 's%d: .byte 10\n.long s%d - start\n' "$i" $((i + 1)); done
    printf 's201: '
    for i in $(seq 201); do printf '.byte 0\n'; done
} | link_cyclic siblings

# In a sanitized build, the library cannot be preloaded: only the tool reads the programs.
record=("$PROBITY" record --functions)
[ -z "${SANITIZE:-}" ] || record=("$PROBITY" record)
# $1 program. Its memory is limited, so that a runaway program does not affect others.
try() {
    local status=0
    rm -rf trace*
    timeout 200 "${record[@]}" --args '*' --returns '*' -o trace -- "./$1" > out 2> errors ||
        status=$?
    expect "$1: status ($(tail -n 3 errors))" 0 "$status"
    [ -n "${SANITIZE:-}" ] ||
        expect "$1" "main 1 take 1" "$("$PROBITY" report --json trace |
            jq -r '.functions[] | "\(.name) \(.calls)"' | LC_ALL=C sort | xargs)"
    ! grep -q 'takes too long' errors || fail "$1: $(cat errors)"
}
for program in typedefs member_pointer arrays structs structs_of_arrays siblings; do
    try $program
done

# Modified copies of real programs. Loaded parts are unchanged, so the programs work.
"$CC" -g -O1 -finstrument-functions -o hooks cyclic.c
"$CC" -g -gdwarf-4 -O1 -finstrument-functions -o older cyclic.c
strip -g -o stripped hooks
for compiler in gcc clang; do
    if command -v $compiler > /dev/null; then
        "$compiler" -g -O1 -o linked.$compiler cyclic.c
    fi
done
# The parts that the library reads, in a process.
case ${VARIANT:-gcc} in
gcc) count=60000 ;;
*) count=15000 ;;
esac
ASAN_OPTIONS=${ASAN_OPTIONS:-}:log_path=$WORK/asan UBSAN_OPTIONS=log_path=$WORK/ubsan \
    timeout 300 "$BUILD/tests/fuzz_objects" "$count" hooks older stripped linked.* > fuzzed 2>&1 ||
    fail "fuzz_objects: $(tail -n 3 fuzzed; head -n 20 asan* ubsan* 2> /dev/null)"
cat fuzzed

# The parts that the tool reads with libdw: prototypes, places, arguments; each file in a child.
# The seeds have no build id, because places are only looked up in files with the trace's build id.
cat > types.cc << 'END'
template <class T> struct list { T *first; int count; virtual int size() const { return count; } };
struct pair { int x, y; enum kind { FEW, MANY } kind; union { float f; unsigned u; }; pair *next; };
__attribute__((noinline)) int take(pair a, const list<pair> &all, double part, bool is)
{
    auto add = [&](int more) { return more + a.y; };
    return add(all.size()) + (is ? (int)part : a.kind);
}
extern "C" pair visit(int count, pair *last)
{
    pair made = *last;
    made.x += take(made, list<pair>{}, 0.5, count > 2);
    return made;
}
END
for version in 4 5; do
    "${CXX:-g++}" -g -gdwarf-$version -O1 -shared -fPIC -nostdlib -fno-rtti -fdebug-types-section \
        -Wl,--build-id=none -o types.$version types.cc
    "$CC" -g -gdwarf-$version -O1 -shared -fPIC -nostdlib -Wl,--build-id=none \
        -o small.$version cyclic.c
done
seeds=(types.[45] small.[45])
UNCHANGED=1 timeout 300 "$BUILD/tests/fuzz_dwarf" 0 "${seeds[@]}" > unchanged 2>&1 ||
    fail "fuzz_dwarf: $(tail -n 5 unchanged)"
! grep '^failed' unchanged || fail "fuzz_dwarf finds nothing in some of ${seeds[*]}"
timeout 300 "$BUILD/tests/fuzz_dwarf" "${DWARF_FILES:-1500}" "${seeds[@]}" > fuzzed 2>&1 ||
    fail "fuzz_dwarf: $(tail -n 5 fuzzed)"
cat fuzzed
! grep -q '^failed' fuzzed || fail "fuzz_dwarf: $(grep -c '^failed' fuzzed) files"
python3 "$SOURCE/tests/faults/hostile_objects.py" "${SEED:-1}" "${SECONDS_EACH:-10}" \
    hooks older -- "${record[@]}" --args '*' --returns '*' --file '*' -o trace ||
    fail "changed copies"
finish
