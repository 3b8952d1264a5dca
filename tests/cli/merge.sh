#!/usr/bin/env bash
# `probity merge`: names, rejected inputs, outputs, thread states, and bundles in place of traces.
# variants: gcc asan
. "$(dirname "$0")/../common.bash"

mkdir one two
for place in one two; do
    PROBITY_OUT=$place/run.probity "$PROGRAMS/tree" > /dev/null || fail "tree: status $?"
done

# $1 expected status, $2 regular expression for a message, then arguments of merge
merges() {
    local expected=$1 pattern=$2 status=0
    shift 2
    "$PROBITY" merge "$@" > output 2> errors || status=$?
    expect "merge $*: status ($(cat errors))" "$expected" "$status"
    if [ -n "$pattern" ]; then
        grep -qE -- "$pattern" errors || fail "merge $*: $(cat errors)"
    fi
}

# Prints the names of the traces in the bundle $1
names_in() {
    "$PROBITY" info --json "$1" | jq -r '.[].trace' | sed "s,^$1/,," | tr '\n' ' '
}

merges 0 '' -o both one/run.probity two/run.probity
expect "names" 'run.probity run.probity~2 ' "$(names_in both)"
"$PROBITY" info --json one/run.probity | jq -c '.[0] | del(.trace)' > alone
"$PROBITY" info --json both/run.probity | jq -c '.[0] | del(.trace)' > member
cmp alone member || fail "one member differs from its trace"
expect "files left" '' "$(find . -name '*.tmp')"

# Standard output, standard input, and a bundle in a bundle.
"$PROBITY" merge one/run.probity two/run.probity > piped 2> errors || fail "pipe: $(cat errors)"
cmp both piped || fail "standard output has another bundle"
expect "from standard input" 2 "$("$PROBITY" info --json - < both | jq length)"
# shellcheck disable=SC2002 # a pipe, not a file
expect "from a pipe" 2 "$(cat both | "$PROBITY" info --json - | jq length)"
cp one/run.probity first
PROBITY_OUT=third "$PROGRAMS/tree" > /dev/null || fail "tree: status $?"
merges 0 '' -o nested third both
expect "names of a bundle's members" 'third run.probity run.probity~2 ' "$(names_in nested)"
merges 0 '' -o odd one/../one/run.probity third
expect "a name" 'run.probity third ' "$(names_in odd)"
cp third $'a\nb'
merges 0 '' -o odd -f $'a\nb'
expect "control characters" 'a_b ' "$(names_in odd)"

# Rejected; nothing is written.
merges 1 'already exists' -o both third
# A link to nothing is found before the work is done.
ln -s nothing dangling
merges 1 "'dangling' already exists" -o dangling third
[ -L dangling ] || fail "a link to nothing was replaced"
[ ! -e nothing ] || fail "a link to nothing was followed"
rm dangling
ln third third.link
merges 1 'is the same trace' -o none third third.link
merges 1 'is the same trace' -o none one/run.probity first
merges 1 'is the same trace' -o none both one/run.probity
merges 1 'refusing to overwrite input' -f -o third third first
merges 1 'refusing to overwrite input' -f -o both both third
merges 1 'not a Probity trace' -o none "$PROGRAMS/tree"
merges 2 'no trace given' -o none
[ ! -e none ] || fail "a refused bundle was written"
"$PROBITY" recover both > output 2>&1 && fail "a bundle is recovered"
grep -q 'is a bundle of traces' output || fail "recover: $(cat output)"

# A trace given twice is counted once.
"$PROBITY" report both both/run.probity > /dev/null 2> errors || fail "report: $(cat errors)"
grep -q "'both/run.probity' is the same trace as 'both/run.probity'; counted once" errors ||
    fail "twice: $(cat errors)"
"$PROBITY" report both/none > output 2>&1 && fail "a missing member is read"
grep -q "cannot open 'both/none': No such file" output || fail "missing member: $(cat output)"
"$PROBITY" report third/none > output 2>&1 && fail "a member of a trace is read"
grep -q "cannot open 'third/none': Not a directory" output || fail "no bundle: $(cat output)"

# Damage.
head -c -8 both > shorter
{ cat both; printf 12345678; } > longer
cp both changed
printf X | dd of=changed bs=1 seek=70 conv=notrunc status=none
for name in shorter longer changed; do
    "$PROBITY" report "$name" > output 2>&1 && fail "$name: a damaged bundle is read"
    grep -q "the bundle '$name' is damaged: " output || fail "$name: $(cat output)"
done

# A killed program's trace is complete only after recovery.
{ PROBITY_OUT=$WORK/killed "$PROGRAMS/killed_after" 100 || true; } > /dev/null 2>&1
merges 1 'run `probity recover` first' -o none killed third
[ ! -e none ] || fail "a refused bundle was written"
"$PROBITY" recover killed > output 2>&1 || fail "recover: $(cat output)"
merges 0 '' -o recovered killed third
head -c -20 killed > part
merges 3 'is incomplete' -o incomplete part third
expect "of a cut trace" 'part third ' "$(names_in incomplete 2> errors)"
finish
