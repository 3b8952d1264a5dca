#!/usr/bin/env bash
# Looks for phrases that are not plain English in the files that users read. A phrase is on the list
# only if it is wrong wherever it occurs; extend SCOPE by a directory once that directory is clean.
# Usage: tools/check_words.sh [ROOT]. Exit status 1 if there are any.
set -eu
export LC_ALL=C # faster
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
all=$(mktemp)
trap '[[ $BASHPID != $$ ]] || rm -f "$all"' EXIT

report() {
    echo "words: $1" >&2
    failed=1
}

places=()
for place in "${SCOPE[@]}"; do
    [ ! -e "$place" ] || places+=("$place")
done
if [ ${#places[@]} -gt 0 ]; then
    while IFS= read -r found; do
        report "$found"
    done < <(grep -rHniEw -- "$pattern" "${places[@]}" || true)
fi

# $1 a function that prints the text of files; then files. Prints a line for each phrase found. All
# texts are searched at once; only if they contain a phrase is each file searched.
find_in() {
    local text_of=$1 file
    shift
    [ $# -gt 0 ] || return 0
    "$text_of" "$@" > "$all"
    [ -s "$all" ] || [ "$text_of" = strings_of ] || echo "$# files: no text could be read"
    grep -aqiEw -- "$pattern" "$all" || return 0
    for file; do
        "$text_of" "$file" | grep -aoiEw -- "$pattern" | sed "s,^,$file: ," || true
    done
}

# For a phrase that is split across two lines, joins the lines of each text, without comment marks.
joined_lines() {
    sed -szE 's/[[:space:]]*\n[[:space:]]*([*#]|\/\/)?[[:space:]]*/ /g' -- "$@"
}

# Joins adjacent string literals of C.
strings_of() {
    sed -szE 's/"[[:space:]]*\n[[:space:]]*"//g' -- "$@" | tr '\0' '\n' | grep -E '"' |
        grep -vE '^( \*|/\*|#include)' |
        sed -E 's/^[^"]*//; s/"([^"\\]|\\.)*"/&\x01/g; s/\x01[^"]*/ /g'
}

texts=() sources=()
[ ${#places[@]} = 0 ] || mapfile -t texts < <(find "${places[@]}" -type f ! -name '*.png' | sort)
for place in "${STRINGS[@]}"; do
    [ ! -e "$place" ] || mapfile -t -O ${#sources[@]} sources < <(find "$place" -name '*.c' | sort)
done
while IFS= read -r found; do
    report "$found"
done < <(find_in joined_lines "${texts[@]}"; find_in strings_of "${sources[@]}")
exit "$failed"
