#!/usr/bin/env bash
# Looks for phrases that are not plain English in the files that users read. A phrase is on the list
# only if it is wrong wherever it occurs; extend SCOPE by a directory once that directory is clean.
# Usage: tools/check_words.sh [ROOT]. Exit status 1 if there are any.
set -eu
cd "${1:-$(dirname "$0")/..}"

# Files and directories that are clean.
SCOPE=(completion man README.md CONTRIBUTING.md SECURITY.md CHANGES.md Makefile CMakeLists.txt
    bench doc include packaging tests/README.md)
# C files of which only string literals are checked, not comments.
STRINGS=(src/answers src/base src/calls src/cli src/embed src/embed_print src/exports src/fleet
    src/format src/functions src/log src/page src/print src/reader src/runtime src/sched src/spool
    src/store src/symbols src/writer)

# Extended regular expressions, matched as whole words and without regard to case.
PHRASES=(
    'in vain'
    'for want of'
    'in want of'
    'under way'
    'folders?'
    'likewise'
    'let(s|ting)? go of'
    'so many'
    'wrong call'
    'needs a value'
    'exclude each other'
    'name(s)? another (file|one)'
    'make room and'
    'cannot tell'
    'this text'
    'told'
    'tells'
    'no order'
    'there are none'
    'of use to nobody'
    'stands? for'
    'at work on'
    'sown'
    'anew'
    'for ever'
    'per cent'
    'calls? of (libc|the C library)'
    'in the place of'
    'go(es)? over to'
    'where the waiting went'
    'strangers?'
    'the begin'
    'is taken for'
    'somebody'
    'states of (the )?threads'
    'director(y|ies) of spools'
    'is made of what'
    'living programs?'
    'not to be had'
    'knows no'
    'since mended'
    'which (is|are) not here'
)

pattern=$(IFS='|'; echo "${PHRASES[*]}")
failed=0

report() {
    echo "words: $1" >&2
    failed=1
}

for place in "${SCOPE[@]}"; do
    [ -e "$place" ] || continue
    while IFS= read -r found; do
        report "$found"
    done < <(grep -rHniEw -- "$pattern" "$place" || true)
done

# A phrase that is split across two lines: the lines of each text are joined, without marks of
# comments.
while IFS= read -r file; do
    while IFS= read -r found; do
        report "$file: $found"
    done < <(sed -zE 's/[[:space:]]*\n[[:space:]]*([*#]|\/\/)?[[:space:]]*/ /g' -- "$file" |
        grep -aoiEw -- "$pattern" || true)
done < <(for place in "${SCOPE[@]}"; do
    [ ! -e "$place" ] || find "$place" -type f ! -name '*.png'
done | sort)

# String literals of C, joined if they follow each other.
strings_of() {
    sed -zE 's/"[[:space:]]*\n[[:space:]]*"//g' -- "$1" | grep -E '"' |
        grep -vE '^( \*|/\*|#include)' |
        sed -E 's/^[^"]*//; s/"([^"\\]|\\.)*"/&\x01/g; s/\x01[^"]*/ /g'
}

for place in "${STRINGS[@]}"; do
    [ -e "$place" ] || continue
    while IFS= read -r file; do
        while IFS= read -r found; do
            report "$file: $found"
        done < <(strings_of "$file" | grep -iEw -- "$pattern" || true)
    done < <(find "$place" -name '*.c' | sort)
done
exit "$failed"
