#!/usr/bin/env bash
# `probity list`: checks the list against comments in the sources, and hits against `probity csv`
# and the calls of `probity log`; all ways to compile and link, or WAYS of them, chosen by SEED;
# children, plugins, kills.
# variants: clang asan
# timeout: 600
. "$(dirname "$0")/../common.bash"
SOURCE=$OLDPWD

# $1 description, $2 status, $3 command; then its arguments. Writes "output" and "errors".
tool() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# Prints the expected list, taken from comments in the sources: "KIND NAME FILE:LINE LEVEL". $1
# words that begin such comments, $2 ... sources
marked() {
    local words=$1 source
    shift
    for source in "$@"; do
        sed -nE "s,.*/\* ($words): ([a-z]*) ([^ ]*) ([0-9-]*) \*/.*,\2 \3 LINE \4,;T;=;p" \
            "$source" |
            paste - - | awk -v file="$(basename "$source")" '{ print $2, $3, file ":" $1, $5 }'
    done | sort
}

# Prints the same from "output", the CSV of a list, with hits if $1 requests them. A function that
# occurs several times (a template) is one line with all calls.
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

# Appends independently counted hits to the lines of "expected": from csv for probes and sites, from
# the log for functions. $1 ... traces
counted() {
    local kind name place level count
    "$PROBITY" csv "$@" 2> errors | cut -d , -f 3- |
        sed -E 's/(,[0-9]*){4}$//; s/^"(.*)"$/\1/; s/""/"/g; s/ /_/g' > probes
    "$PROBITY" log --color never "$@" > calls 2> errors
    while read -r kind name place level; do
        if [ "$kind" = function ]; then
            count=$(grep -cE "^[0-9/]+: +([a-z:]+ )?$name\\(" calls || true)
        else
            count=$(grep -cxF -- "$name" probes || true)
        fi
        echo "$kind $name $place $level $count"
    done < expected
}

build() { # $1 compiler, $2 sources, $3 flags for compiling, $4 for linking
    # shellcheck disable=SC2086
    $1 -D_GNU_SOURCE -I"$SOURCE/include" -Wall -Wextra -Wpedantic -Wshadow -Werror $3 \
        -o program $2 ${4:-} "$BUILD/lib/libprobity.a" -pthread -lm -ldl > messages 2>&1
}

# ---- The list, however the program is compiled and linked --------------------------------------

# $1 description, $2 source, $3 words of the comments that count
expect_listed() {
    rm -f trace
    PROBITY_OUT=$WORK/trace ./program > program.out || fail "$1: status $?"
    tool "$1" 0 list --csv trace
    marked "$3" "$2" > expected
    listed > found
    cmp -s expected found || fail "$1: $(diff expected found | head -n 6)"
    tool "$1" 0 check trace
    tool "$1" 0 list --json trace
}

# Prints "LEVEL:WAY:FLAGS:LINK:WORDS" of the chosen ways.
chosen_ways() {
    local level way
    for level in -O0 -O2 -O3; do
        for way in "pie:-fPIE:-pie:list|gone" "no-pie:-fno-pie:-no-pie:list|gone" \
            "static:-fno-pie:-static:list|gone" "static-pie:-fPIE:-static-pie:list|gone" \
            "gc:-fPIE -ffunction-sections -fdata-sections:-pie -Wl,--gc-sections:list"; do
            echo "$level:$way"
        done
    done | awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort |
        cut -f 2 | head -n "${WAYS:-99}"
}

# $1 compiler, $2 source
all_ways() {
    local level way flags link words
    while IFS=: read -r level way flags link words; do
        build "$1" "$2" "$level $flags" "$link" ||
            { fail "$1 $level $way: $(head -n 4 messages)"; continue; }
        expect_listed "$(basename "$2") $1 $level $way" "$2" "$words"
    done < <(chosen_ways)
}

# A list in a library, with a program that has no sites.
as_library() {
    # shellcheck disable=SC2086
    $1 -D_GNU_SOURCE -I"$SOURCE/include" -O2 -fPIC -shared -DLISTED_LIBRARY -o liblisted.so "$2" \
        -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -lprobity &&
        $1 -D_GNU_SOURCE -I"$SOURCE/include" -O2 -DLISTED_MAIN -o program "$2" -L. -llisted \
            -Wl,-rpath,"$WORK" -L"$BUILD/lib" -Wl,-rpath-link,"$BUILD/lib"
    expect_listed "$1 library" "$2" "list|gone"
    expect "$1: object" "$WORK/liblisted.so" \
        "$(jq -r '.sites[] | select(.listed).object' output | sort -u)"
}

if [ "$VARIANT" != asan ]; then
    seed=${SEED:-$RANDOM}
    echo "seed $seed"
    all_ways "$CC" "$SOURCE/tests/programs/listed.c"
    all_ways "$CXX -std=c++17" "$SOURCE/tests/programs/listed_cxx.cc"
    as_library "$CC" "$SOURCE/tests/programs/listed.c"
    as_library "$CXX -std=c++17" "$SOURCE/tests/programs/listed_cxx.cc"
    build "$CC" "$SOURCE/tests/programs/listed.c" "-O2 -DPROBITY_UNLISTED" ||
        fail "unlisted: $(head -n 4 messages)"
    PROBITY_OUT=$WORK/bare ./program
    tool unlisted 0 list bare
    expect "unlisted: total" "0 of 0 sites hit" "$(grep 'sites hit' output)"
    expect "unlisted: said" 1 "$(grep -c '^1 of 1 traces have no list of sites' output)"
    for define in "-DPROBITY_DISABLE -UFN_INSTRUMENT" "-DPROBITY_UNLISTED"; do
        printf '#include "%s.h"\n' FnTrace probity_typed > none.c
        cat >> none.c << 'END'
void f(int i);
void f(int i)
{
    FN_FUNC(void, FN_1);
    PROBITY_PROBE(7);
    PROBITY_PROBE_NAMED("a");
    PROBITY_LOCK_HOLD("l", &i);
    (void)i;
}
END
        # shellcheck disable=SC2086
        $CC -D_GNU_SOURCE -I"$SOURCE/include" $define -O2 -c -o none.o none.c
        expect "$define: notes" 0 "$(readelf -SW none.o | grep -c 'probity[.]note' || true)"
    done

    # The list adds no instruction to a probe, not even at the end of a function. (A scope uses its
    # note as description.)
    cat > tails.c << 'END'
#include <probity_typed.h>
void numbered(void);
void named(void);
void typed(int *lock);
void numbered(void) { PROBITY_PROBE(7); }
void named(void) { PROBITY_PROBE_NAMED("named"); }
void typed(int *lock) { PROBITY_LOCK_HOLD("lock", lock); }
END
    for define in -DPROBITY_UNLISTED -DLISTED; do
        # shellcheck disable=SC2086
        $CC -D_GNU_SOURCE -I"$SOURCE/include" -O2 $define -c -o tails.o tails.c
        objdump -d --no-show-raw-insn tails.o |
            awk '/^[0-9a-f]+ </ { name = $2 } /^ / { count[name]++ }
                END { for (name in count) print name, count[name] }' | sort > "tails$define"
    done
    expect "instructions of a list" "" "$(diff tails-DPROBITY_UNLISTED tails-DLISTED)"
    expect "instructions: functions" 3 "$(grep -cE '<(numbered|named|typed)>' tails-DLISTED)"
fi

# ---- Hits --------------------------------------------------------------------------------------

LISTED=$SOURCE/tests/programs/listed.c

# $1 description, $2 sources; the rest: traces
expect_hits() {
    local what=$1 sources=$2
    shift 2
    # shellcheck disable=SC2086
    marked "list|gone" $sources > expected
    counted "$@" > counts
    tool "$what" 0 list --csv "$@"
    listed yes > found
    cmp -s counts found || fail "$what: $(diff counts found | head -n 6)"
    local all hit
    all=$(wc -l < counts)
    hit=$(awk '$5 > 0' counts | wc -l)
    tool "$what" 0 list "$@"
    expect "$what: total" "$hit of $all sites hit" "$(grep -o '.* sites hit' output)"
    expect "$what: percent" "$((hit * 1000 / all))" \
        "$(sed -nE 's/.* sites hit \(([0-9]+)\.([0-9]) %\)/\1\2/p' output)"
}

fresh
PROBITY_OUT=$WORK/plain "$PROGRAMS/listed" || fail "plain: status $?"
expect_hits plain "$LISTED" plain
expect "plain: some were hit" 8 "$(awk '$5 > 0' counts | wc -l)"
PROBITY_OUT=$WORK/ring PROBITY_MODE=ring "$PROGRAMS/listed.shared" || fail "ring: status $?"
tool ring 0 list --csv ring
listed > found
cut -d ' ' -f 1-4 counts | cmp -s - found || fail "ring: the list differs"

# Killed: the list is in the file, the remaining records are in the spool. Then recovered.
(PROBITY_OUT=$WORK/killed "$PROGRAMS/listed" kill) 2> /dev/null || true
tool killed 0 info --json killed
expect "killed: state" killed "$(jq -r '.[0].state' output)"
expect_hits killed "$LISTED" killed
tool recover 0 recover killed
expect_hits recovered "$LISTED" killed

# A child has its parent's list; their hits add up.
PROBITY_OUT=$WORK/family "$PROGRAMS/listed" fork || fail "fork: status $?"
set -- family*
expect "fork: traces" 2 $#
expect_hits "fork: parent" "$LISTED" "$1"
expect "fork: parent" 8 "$(awk '$5 > 0' counts | wc -l)"
expect_hits "fork: child" "$LISTED" "$2"
expect "fork: child" 3 "$(awk '$5 > 0' counts | wc -l)"
expect_hits "fork: both" "$LISTED" "$1" "$2"
expect "fork: both" 11 "$(awk '$5 > 0' counts | wc -l)"
expect "fork: places" 1 \
    "$("$PROBITY" list --json "$1" "$2" | jq '.sites[] | select(.number == 4000000000).places')"

# A plugin loaded later is listed at the end, after the initial list.
PROBITY_OUT=$WORK/plugged "$PROGRAMS/listed.shared" plugin "$PROGRAMS/plugin_listed.so" ||
    fail "plugin: status $?"
expect_hits plugin "$LISTED $SOURCE/tests/programs/plugin_listed.c" plugged
expect "plugin: object" "$PROGRAMS/plugin_listed.so" \
    "$("$PROBITY" list --json --function '*plug*' plugged | jq -r '.sites[0].object')"

# A plugin that is loaded again at another address counts as the same one.
listed_blocks() {
    od -A n -v -t u1 -w1 "$1" | awk '
        { byte[n++] = $1 }
        function u32(at) {
            return byte[at] + 256 * (byte[at + 1] + 256 * (byte[at + 2] + 256 * byte[at + 3]))
        }
        END {
            for (at = 16; at < n; at += 24 + u32(at + 4)) blocks += byte[at + 12] == 6
            print blocks + 0
        }'
}
"$PROGRAMS/listed.shared" replug "$PROGRAMS/plugin_listed.so" replugged || fail "replug: $?"
expect "replug: blocks, of the program and of the plugin" 2 "$(listed_blocks replugged)"

# Profile mode counts only functions.
PROBITY_OUT=$WORK/profiled PROBITY_PROFILE=1 "$PROGRAMS/listed" || fail "profile: status $?"
tool profile 0 list --csv profiled
listed yes | awk '$1 == "function" { print $2, $5 }' | sort > found
"$PROBITY" report --csv profiled | awk -F , 'NR > 1 { print $1, $8 }' > called
marked "list|gone" "$LISTED" | awk '$1 == "function" { print $2, 0 }' |
    sort -k1,1 -k2,2nr - called | awk '!seen[$1]++' > expected
cmp -s expected found || fail "profile: $(diff expected found | head -n 6)"
tool profile 0 list profiled
expect "profile: said" 1 "$(grep -c '^1 of 1 traces were recorded in profile mode' output)"

# ---- Filters, sort orders, output formats ------------------------------------------------------

# $1 description, $2 condition in jq; the rest: options
expect_sites() {
    local what=$1 condition=$2
    shift 2
    "$PROBITY" list --json plain | jq -c ".sites[] | select($condition)" | sort > expected
    tool "$what" 0 list --json "$@" plain
    jq -c '.sites[]' output | sort > found
    [ -s expected ] || fail "$what: nothing to find"
    cmp -s expected found || fail "$what: $(diff expected found | head -n 4)"
}

expect_sites never '.hits == 0' --never
expect "never: total stays" "18 8" "$(jq -r '.total | "\(.sites) \(.hit)"' output)"
expect_sites hit '.hits > 0' --hit
expect_sites function '.name == "twice" or .within == "twice"' --function 'twic?'
expect "function: total" "2 2" "$(jq -r '.total | "\(.sites) \(.hit)"' output)"
expect_sites functions '.name == "twice" or .within == "twice" or .name == "called" or
    .within == "called"' --function 'twic?' --function called
expect_sites file '.file | endswith("listed.c")' --file 'list*.c'
expect_sites probe '.number == 7 or (.name == "loop" and .kind == "site")' --probe 7,loop
tool "probe of none" 1 list --probe 7,nothing plain
for what in function file; do
    tool "$what of none" 1 list --$what '*.none' plain
    expect "$what of none: total" "0 of 0 sites hit" "$(grep 'sites hit' output)"
    grep -qF "no site in a $what matching '*.none'; " errors || fail "$what: $(cat errors)"
done
for what in function file; do
    tool "two of $what, one of none" 1 list --$what '*' --$what '*.none' plain
    grep -qF "no site in a $what matching '*.none'; " errors || fail "$what: $(cat errors)"
done
# A function that exists but is excluded by another filter is not an error.
tool "function in another file" 0 list --function twice --file 'list*.c' --never plain
tool "all hit" 0 list --function twice --never --probe 7 plain
tool "tid of none" 1 list --tid 1 plain

# Names with bytes that need escapes: the locations stay aligned.
PROBITY_OUT=odd "$PROGRAMS/odd_names"
tool "odd names" 0 list odd
expect "column of places" "$(awk 'NR == 1 { print index($0, "place") }' output)" \
    "$(awk '/function +1  broken / { print index($0, "\\u202egnitirw") }' output)"
tid=$("$PROBITY" csv plain | head -n 1 | cut -d , -f 2)
"$PROBITY" list --csv plain > all
tool tid 0 list --csv --tid "$tid" plain
cmp -s all output || fail "tid: the only thread did not make all hits"
tool range 0 list --csv --from 1000 plain
expect "range: nothing so late" 0 "$(awk -F , 'NR > 1 { sum += $NF } END { print sum }' output)"
tool limit 0 list --limit 3 --csv plain
head -n 4 all | cmp -s - output || fail "limit"
tool "by hits" 0 list --sort hits --csv plain
awk -F , 'NR > 1 { print $NF }' output | sort -c -n -r || fail "by hits: order"
tool "by level" 0 list --sort level --json plain
jq -r '.sites[] | select(.kind == "function").level' output | sort -c -n || fail "by level: order"
tool "by name" 0 list --sort name --json plain
jq -r '.sites[] | select(.number).number' output | sort -c -n || fail "by name: order"
tool "by place" 0 list --json plain
jq -r '.sites[] | select(.listed).line' output | sort -c -n || fail "by place: order"
tool "wrong order" 2 list --sort size plain
tool "json and csv" 2 list --json --csv plain
tool "never and hit" 2 list --never --hit plain
tool "no trace" 2 list
tool "output" 0 list -o out plain
tool "output again" 1 list -o out plain
tool "output by force" 0 list -f -o out plain
"$PROBITY" list plain | cmp -s - out || fail "output: differs"

# Damage to the list is reported, and the hits are still shown.
"$PROBITY" list --json --hit plain | jq -c '.sites[] | [.kind, .number, .name, .hits]' |
    sort > expected
at=$(grep -abo 'never_called' plain | head -n 1 | cut -d : -f 1)
printf 'N' | dd of=plain bs=1 seek="$at" conv=notrunc 2> /dev/null
tool damaged 3 list --json --hit plain
jq -c '.sites[] | [.kind, .number, .name, .hits]' output | sort | cmp -s - expected ||
    fail "damaged: hits"
expect "damaged: no list" 1 "$(jq '.total.traces_without_list' output)"
rm -f plain killed family* plugged profiled ring
no_leftovers list
finish
