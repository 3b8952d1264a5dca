#!/usr/bin/env bash
# `probity list`: what is listed against comments in the sources, hits against the lines of
# `probity csv` and the calls of `probity log`; all ways to compile and link; children, plugins, kills.
# variants: clang asan
# timeout: 600
. "$(dirname "$0")/common.bash"
SOURCE=$OLDPWD

# $1 what, $2 status, $3 command; then its arguments. Leaves "output" and "errors".
tool() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# What the comments of sources tell: "KIND NAME FILE:LINE LEVEL". $1 words that begin them, $2 ...
# sources
marked() {
    local words=$1 source
    shift
    for source in "$@"; do
        sed -nE "s,.*/\* ($words): ([a-z]*) ([^ ]*) ([0-9-]*) \*/.*,\2 \3 LINE \4,;T;=;p" "$source" |
            paste - - | awk -v file="$(basename "$source")" '{ print $2, $3, file ":" $1, $5 }'
    done | sort
}

# The same of "output", which is CSV of a list, with hits behind it where $1 says so. Of functions
# that are there several times (templates) one line, with all calls.
listed() {
    awk -v has_hits="${1:-}" '
        NR > 1 {
            n = 0
            for (rest = $0 ","; rest != ""; ) {
                if (!match(rest, /^"([^"]|"")*",/)) match(rest, /^[^,]*,/)
                text = substr(rest, 1, RLENGTH - 1)
                if (text ~ /^"/) text = substr(text, 2, length(text) - 2)
                gsub(/""/, "\"", text)
                field[++n] = text
                rest = substr(rest, RLENGTH + 1)
            }
            name = field[1] == "probe" ? field[2] : field[3]
            gsub(/ /, "_", name)
            file = field[5]
            sub(/.*\//, "", file)
            level = field[9] == "" ? "-" : field[9]
            if (field[11] == 1) hits[field[1] " " name " " file ":" field[6] " " level] += field[12]
        }
        END { for (site in hits) print site (has_hits ? " " hits[site] : "") }' output | sort
}

# Hits by an independent way: "KIND NAME HITS" of all probes and sites by the lines of csv, and of
# functions by the enters that the log shows. $1 ... traces
counted() {
    "$PROBITY" csv --columns probe "$@" 2> errors |
        awk '{ gsub(/ /, "_"); count[$0]++ }
             END { for (name in count) print (name ~ /^[0-9]*$/ ? "probe " : "site ") name, count[name] }'
    "$PROBITY" log --format "%e %f" "$@" 2> /dev/null | awk '$1 == "enter" { print }' || true
}

build() { # $1 compiler, $2 sources, $3 flags for compiling, $4 for linking
    # shellcheck disable=SC2086
    $1 -D_GNU_SOURCE -I"$SOURCE/include" -Wall -Wextra -Wpedantic -Wshadow -Werror $3 -o program $2 \
        $4 -L"$BUILD/lib" "$BUILD/lib/libprobity.a" -pthread -lm -ldl > messages 2>&1
}

# ---- What is listed, in all ways to compile and link -------------------------------------------

# $1 what, $2 source, $3 words of the comments that count
expect_listed() {
    rm -f trace
    PROBITY_OUT=$WORK/trace ./program > program.out || fail "$1: status $?"
    tool "$1" 0 list --csv trace
    marked "$3" "$2" > expected
    listed > found
    cmp -s expected found || fail "$1: $(diff expected found | head -n 6)"
    tool "$1" 0 check trace
}

# $1 compiler, $2 source
all_ways() {
    local level way flags link words
    for level in -O0 -O2 -O3; do
        for way in "pie:-fPIE:-pie:list|gone" "no-pie:-fno-pie:-no-pie:list|gone" \
            "static:-fno-pie:-static:list|gone" "static-pie:-fPIE:-static-pie:list|gone" \
            "gc:-fPIE -ffunction-sections -fdata-sections:-pie -Wl,--gc-sections:list"; do
            IFS=: read -r way flags link words <<< "$way"
            build "$1" "$2" "$level $flags" "$link" ||
                { fail "$1 $level $way: $(head -n 4 messages)"; continue; }
            expect_listed "$(basename "$2") $1 $level $way" "$2" "$words"
        done
    done
}

if [ "$VARIANT" != asan ]; then
    all_ways "$CC" "$SOURCE/tests/programs/listed.c"
    all_ways "$CXX -std=c++17" "$SOURCE/tests/programs/listed_cxx.cc"
fi
finish
