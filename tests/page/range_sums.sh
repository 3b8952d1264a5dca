#!/usr/bin/env bash
# The sums of a selected range in the page of `probity view` on random traces:
# tests/page/range_sums.mjs has the checks. Self times of `probity report` on a real trace and its
# ranges never exceed the time for which its only thread was recorded.
. "$(dirname "$0")/../common.bash"

# ---- report ----

# One thread: all calls of a range are between its first record and its last one.
PROBITY_OUT=$WORK/trace "$PROGRAMS/varied" 40 30
length=$("$PROBITY" info --json trace | jq '.[0].times.duration_s * 1e9 | round')
for part in "0% 100%" "0% 30%" "20% 25%" "40% 90%" "99% 100%"; do
    # A call that begins in the range counts with its full duration.
    "$PROBITY" report --json --since "${part% *}" --until "${part#* }" trace > selves 2> errors
    self=$(jq '[.functions[].self_ns // 0] | add // 0' selves)
    [ "$self" -le "$length" ] || fail "$part: self times $self, recorded $length"
    [ "$part" != "0% 100%" ] || [ "$self" -gt 0 ] || fail "no self times: $(cat errors)"
done

# ---- The page ----

if ! command -v node > /dev/null || ! command -v npm > /dev/null; then
    echo "no node: the page was not tested" >&2
    finish
    exit 77
fi
"$SOURCE/tools/npm_install.sh" "$SOURCE/view" "$BUILD/npm-view" --include=dev
cp -R "$SOURCE/view/src" .
printf '%s\n' 'export { rangeSums } from "./range";' 'export { rangedOf } from "./ranged";' \
    > src/entry.ts
"$BUILD/npm-view/node_modules/.bin/esbuild" src/entry.ts --bundle --format=esm \
    --outfile=sums.mjs --log-level=warning
node "$SOURCE/tests/page/range_sums.mjs" "$WORK/sums.mjs" 300 1 || fail "random traces"
node "$SOURCE/tests/page/range_sums.mjs" "$WORK/sums.mjs" 100 "$RANDOM" || fail "random seed"
finish
