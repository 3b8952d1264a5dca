#!/usr/bin/env bash
# Reports how many lines of the code that reads untrusted bytes are covered by the targets' corpora.
# Called by `make fuzz-coverage` and the campaign. Prints a line per file and a total; with
# --missed, also each line not covered.
set -eu
cd "$(dirname "$0")/../.."
SOURCE=$PWD
missed=${1:-}
directory=$(realpath -m "$BUILD")-coverage
targets=(commands reader spool runs arguments settings)
# The part of src/spool that reads; the rest runs in the traced program.
read_side=(src/reader/*.c src/format/*.c src/spool/{attach,cells,control,drain}.c)

make -s -j2 "BUILD=$directory" CC=gcc CXX=g++ SANITIZE= CFLAGS='-O0 --coverage' LDFLAGS=--coverage \
    "${targets[@]/#/$directory/tests/fuzz_}" > "$directory.log" 2>&1 || {
    tail -n 5 "$directory.log" >&2
    exit 1
}
find "$directory" -name '*.gcda' -delete
export PROBITY_SPOOL_DIR=$directory/spool
mkdir -p "$PROBITY_SPOOL_DIR"
for target in "${targets[@]}"; do
    corpus=$SOURCE/tests/fuzz/corpus/$target
    [ -d "$corpus" ] || corpus=$SOURCE/tests/fuzz/corpus/trace
    "$directory/tests/fuzz_$target" 0 "$corpus"/* > "$directory/$target.out" 2>&1 ||
        { tail -n 3 "$directory/$target.out" >&2; exit 1; }
done
# gcov gives paths relative to where sources were compiled, and also reports headers.
for file in "${read_side[@]}"; do
    gcov -t "$directory/obj/${file%.c}.o" 2> /dev/null |
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
