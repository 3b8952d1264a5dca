#!/usr/bin/env bash
# Mutants (tests/mutation): each one matches the sources in exactly one place. COUNT (3) that
# a unit test must detect, chosen by SEED, are applied; `make campaign PARTS=mutation` applies all.
# variants: gcc
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/mutation/mutation.bash"
tree=$WORK/tree
build=$WORK/build

"$MUTANTS" check "$SOURCE" > checked || fail "$(cat checked)"
grep mutants: checked
# Mutants are located by their lines, even if every source file has moved.
mkdir -p moved/src
cp -r "$SOURCE/include" "$SOURCE/src" "$SOURCE/view" moved/src
ln -s "$SOURCE/tests" moved/tests
"$MUTANTS" check moved > checked || fail "after a move: $(cat checked)"

# Copies sources and objects with their time stamps, so that make rebuilds only what a mutant
# changes. The copy's dependency files refer to the original headers, so mutants in headers are not
# applied here.
mutation_copy "$tree"
mkdir -p "$build/obj/tests"
cp -a "$BUILD/generated" "$build"
cp -a "$BUILD/obj/src" "$BUILD/obj/generated" "$build/obj"
cp -a "$BUILD/obj/tests/unit" "$build/obj/tests"
sed "s,$BUILD,$build,g" "$BUILD/flags" > "$build/flags"
touch -r "$BUILD/flags" "$build/flags"
cp -a "$tree/src" original

seed=${SEED:-$RANDOM}
echo "seed $seed"
"$MUTANTS" list "$SOURCE" | awk -F '\t' -v seed="$seed" -v count="${COUNT:-3}" '
    $3 ~ /^unit/ && $4 ~ /\.c$/ { names[n++] = $1 "\t" $3 "\t" $4 }
    END {
        srand(seed)
        for (i = 0; i < count; i++) {
            place = i + int(rand() * (n - i))
            chosen = names[place]
            names[place] = names[i]
            print chosen
        }
    }' > chosen
while IFS=$'\t' read -r name tests file; do
    test=${tests%% *}
    "$MUTANTS" apply "$name" "$tree" || fail "$name does not apply"
    if ! mutation_build "$tree" "$build" "$test" > built 2>&1; then
        fail "$name: $(tail -n 5 built)"
    elif PATIENCE=60 mutation_ask "$tree" "$build" "$test" > asked 2>&1; then
        fail "$name survives $test"
    fi
    grep -q . asked || fail "$name: no output from $test"
    echo "$name: found by $test"
    cp -a "original/${file#src/}" "$tree/$file"
    rm -f "$build/obj/${file%.c}.o"
done < chosen
finish
