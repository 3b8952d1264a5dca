#!/usr/bin/env bash
# Faults sown on purpose (tests/mutation): each still fits the sources, in one place exactly; and of
# those that a unit test is to find, three are sown, chosen by SEED. `make campaign PARTS=bite` sows
# them all.
# timeout: 300
. "$(dirname "$0")/common.bash"
. "$SOURCE/tests/mutation/mutation.bash"
tree=$WORK/tree
build=$WORK/build

"$FAULTS" check "$SOURCE" > checked || fail "$(cat checked)"
grep faults: checked

# A copy of sources and objects, as new as they are, so that make builds what a fault changes only.
# The names of headers in it are those of the original: so no fault in a header is sown here.
mutation_copy "$tree"
mkdir -p "$build/view" "$build/obj/tests"
cp -a "$BUILD/view/page.html" "$build/view"
cp -a "$BUILD/generated" "$build"
cp -a "$BUILD/obj/src" "$BUILD/obj/generated" "$build/obj"
cp -a "$BUILD/obj/tests/unit" "$build/obj/tests"
sed "s,$BUILD,$build,g" "$BUILD/flags" > "$build/flags"
touch -r "$BUILD/flags" "$build/flags"
cp -a "$tree/src" original

seed=${SEED:-$RANDOM}
echo "seed $seed"
"$FAULTS" list | awk -F '\t' -v seed="$seed" '
    $3 ~ /^unit/ && $4 ~ /\.c$/ { names[n++] = $1 "\t" $3 "\t" $4 }
    END {
        srand(seed)
        for (i = 0; i < 3; i++) {
            place = i + int(rand() * (n - i))
            chosen = names[place]
            names[place] = names[i]
            print chosen
        }
    }' > chosen
while IFS=$'\t' read -r name tests file; do
    test=${tests%% *}
    "$FAULTS" apply "$name" "$tree" || fail "$name does not apply"
    if ! mutation_build "$tree" "$build" "$test" > built 2>&1; then
        fail "$name: $(tail -n 5 built)"
    elif PATIENCE=60 mutation_ask "$tree" "$build" "$test" > asked 2>&1; then
        fail "$name survives $test"
    fi
    grep -q . asked || fail "$name: $test said nothing"
    echo "$name: found by $test"
    cp -a "original/${file#src/}" "$tree/$file"
    rm -f "$build/obj/${file%.c}.o"
done < chosen
finish
