#!/usr/bin/env bash
# Runs the check of words on small trees: each phrase must be found, and clean text must pass. Exit
# status 1 if a phrase is missed or clean text is rejected.
set -eu
check=$(cd "$(dirname "$0")" && pwd)/check_words.sh
root=$(mktemp -d)
trap '[[ $BASHPID != $$ ]] || rm -rf "$root"' EXIT
failed=0

# $1 expected exit status, $2 file, $3 its text
expect() {
    local status=0
    rm -rf "${root:?}"/*
    mkdir -p "$root/man" "$root/src/cli"
    printf '%s\n' "$3" > "$root/$2"
    "$check" "$root" > "$root/out" 2>&1 || status=$?
    if [ "$status" != "$1" ]; then
        echo "self-test: '$3' in $2: status $status, not $1: $(cat "$root/out")" >&2
        failed=1
    fi
}

expect 1 man/a.1 'Dropped for want of a chunk.'
expect 1 man/a.1 'Its Folder is removed.'
expect 1 man/a.1 'Likewise for threads.'
expect 1 man/a.1 'The page is made anew.'
expect 1 man/a.1 'It records calls of libc.'
expect 1 man/a.1 'The path goes over to the holder.'
expect 1 README.md 'A thread waits for ever.'
expect 1 README.md 'It follows living programs.'
expect 1 README.md 'The fault is since mended.'
expect 1 src/cli/a.c 'fail("--json and --csv exclude each other");'
expect 1 src/cli/a.c '    {"help", "  -h  this text\n", 1}; put("%s", "so many");'
expect 1 src/cli/a.c 'put("a \"quoted\" word", "in vain");'
expect 1 README.md $'A place for want\n  of a chunk.'
expect 1 src/cli/a.c $'    .help = "the states of "\n        "threads",'
expect 0 src/cli/a.c '/* "likewise" is a comment */'
expect 0 src/cli/a.c 'int so, many; /* so many */ put("clean");'
expect 0 man/a.1 'The directory is removed if nothing is in flight; subfoldering is no word.'
expect 0 man/a.1 'An error is reported.'
expect 0 README.md 'It records calls to libc until the beginning of the next block.'
exit "$failed"
