#!/usr/bin/env bash
# How many lines of what reads hostile bytes the corpus of the doors reaches. `make fuzz-coverage`
# calls it, and the campaign. A line for each file, and one for all; with --missed also each line
# that is not reached.
set -eu
cd "$(dirname "$0")/../.."
SOURCE=$PWD
missed=${1:-}
folder=$(realpath -m "$BUILD")-coverage
doors=(commands reader spool runs arguments settings)
# The reading side of src/spool; the other side is the traced program's.
read_side=(src/reader/*.c src/format/*.c src/spool/{attach,cells,control,drain}.c)

make -s -j2 "BUILD=$folder" CC=gcc CXX=g++ SANITIZE= CFLAGS='-O0 --coverage' LDFLAGS=--coverage \
    "${doors[@]/#/$folder/tests/fuzz_}" > "$folder.log" 2>&1 || {
    tail -n 5 "$folder.log" >&2
    exit 1
}
find "$folder" -name '*.gcda' -delete
export PROBITY_SPOOL_DIR=$folder/spool
mkdir -p "$PROBITY_SPOOL_DIR"
for door in "${doors[@]}"; do
    corpus=$SOURCE/tests/fuzz/corpus/$door
    [ -d "$corpus" ] || corpus=$SOURCE/tests/fuzz/corpus/trace
    "$folder/tests/fuzz_$door" 0 "$corpus"/* > "$folder/$door.out" 2>&1 ||
        { tail -n 3 "$folder/$door.out" >&2; exit 1; }
done
# gcov finds sources from where they were compiled, and tells of headers too.
for file in "${read_side[@]}"; do
    gcov -t "$folder/obj/${file%.c}.o" 2> /dev/null |
        awk -F: -v file="$file" -v missed="$missed" '
            $2 ~ /^ *0$/ && $3 == "Source" { is_ours = $4 == file }
            !is_ours || $1 ~ /-$/ { next }
            { lines++; reached += $1 !~ /#$/ }
            $1 ~ /#$/ && missed != "" { sub(/^[^:]*: */, file ":"); print > "/dev/stderr" }
            END { print file, reached + 0, lines + 0 }'
done | awk '
    { printf "%-28s %5d of %5d lines, %5.1f %%\n", $1, $2, $3, 100 * $2 / $3 }
    { reached += $2; all += $3 }
    END { printf "reached: %d of %d lines, %.1f %%\n", reached, all, 100 * reached / all }'
