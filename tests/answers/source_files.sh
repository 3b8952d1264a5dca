#!/usr/bin/env bash
# Selection of functions by their source file, from line tables: with each compiler's hooks, entries
# and sleds, in programs and libraries, with DWARF 3 to 5, and without debugging information.
# variants: clang
. "$(dirname "$0")/../common.bash"
CC=${CC:-gcc}
is_clang=$("$CC" --version | grep -c clang) || true

# "NAME CALLS" of the trace, sorted, in one line
counts() {
    "$PROBITY" report --json trace > report.json || fail "$what: no report"
    jq -r '.functions[] | "\(.name) \(.calls)"' report.json |
        LC_ALL=C sort | xargs
}

# $1 description, $2 expected counts, then options of record and the program
selects() {
    what=$1
    local expected=$2
    shift 2
    rm -rf trace*
    "$PROBITY" record --functions -o trace "$@" > out 2> errors || fail "$what: $(cat errors)"
    expect "$what" "$expected" "$(counts)"
    grep -vE 'by (XRay sleds|patchable entries)|recording only the entries' errors > others || true
    expect "$what: messages" "" "$(cat others)"
}

mkdir -p app/parse app/net
cat > app/parse/words.c << 'END'
#include "../inline.h"
__attribute__((noinline)) int words(int x) { return doubled(x) + 1; }
__attribute__((noinline)) static int letters(int x) { __asm__ volatile("" : "+r"(x)); return x; }
int parse(int x) { return letters(x) + words(x); }
END
cat > app/net/words.c << 'END'
#include "../inline.h"
/* Its first instruction is of the other file. */
__attribute__((noinline)) int send_all(int x) { return seen(x) + 2; }
END
cat > app/inline.h << 'END'
__attribute__((noinline)) static int doubled(int x)
{
    __asm__ volatile("" : "+r"(x));
    return 2 * x;
}
static inline __attribute__((always_inline)) int seen(int x)
{
    __asm__ volatile("nop" : "+r"(x));
    return x;
}
END
cat > app/main.c << 'END'
int parse(int x);
int send_all(int x);
int main(void) { return parse(1) + parse(2) + send_all(3) != 16; }
END
sources=(app/main.c app/parse/words.c app/net/words.c)

# $1 name, the rest: flags. LINK: flags
build() {
    local name=$1
    shift
    # shellcheck disable=SC2086
    "$CC" -O1 -fno-optimize-sibling-calls "$@" -o "$name" "${sources[@]}" ${LINK:-}
}
library="-L$BUILD/lib -Wl,-rpath,$BUILD/lib -lprobity-functions -lprobity"

# $1 name of the program, $2 the call of seen(), if found: gcc puts hooks into inlined code, too
check_patterns() {
    local name=$1 seen=$2
    selects "$name: name" "letters 2 parse 2 send_all 1 words 2" --file words.c -- "./$name"
    selects "$name: directory" "letters 2 parse 2 words 2" --file 'parse/*.c' -- "./$name"
    selects "$name: path" "letters 2 parse 2 words 2" --file '*/app/parse/*' -- "./$name"
    selects "$name: header" "doubled 2$seen" --file inline.h -- "./$name"
    selects "$name: two" "main 1 send_all 1" --file 'n*t/*' --file main.c -- "./$name"
    selects "$name: with others" "words 2" --file 'parse/*' --exclude 'p*' --function '*r*s' \
        --exclude letters --object "$name" -- "./$name"
}

build hooks -g -finstrument-functions
check_patterns hooks " seen 1"
for version in 3 4 5; do
    build "dwarf$version" -g -gdwarf-$version -finstrument-functions
    selects "DWARF $version" "letters 2 parse 2 words 2" --file 'parse/words.c' -- "./dwarf$version"
done
build lto -g -finstrument-functions -flto
selects "LTO" "letters 2 parse 2 words 2" --file 'parse/words.c' -- ./lto

if [ "$(uname -m)" = x86_64 ]; then
    build patchable -g -fpatchable-function-entry=5
    check_patterns patchable ""
    if [ "$is_clang" = 0 ]; then
        LINK=$library build fentry -g -mfentry -pg -minstrument-return=call
        check_patterns fentry ""
    elif build sleds -g -fxray-instrument -fxray-instruction-threshold=1; then
        check_patterns sleds ""
        grep -q 'by XRay sleds in 1 object, 1 selected' errors ||
            fail "sleds: $(cat errors)"
        build after -g -finstrument-functions-after-inlining
        check_patterns after ""
    fi
fi

# A library that is known only at run time.
"$CC" -g -O1 -finstrument-functions -fPIC -shared -o libapp.so app/parse/words.c app/net/words.c
"$CC" -O1 -g -finstrument-functions -o linked app/main.c -L. -Wl,-rpath,. -lapp
selects "library" "send_all 1" --file 'net/*' -- ./linked
selects "library and program" "main 1 send_all 1" --file 'net/*' --file main.c -- ./linked

# A file of rules, and the environment.
printf 'file net/*  # only\nfile main.c\nexclude main\n' > rules
selects "rules" "send_all 1" --selection rules -- ./hooks
what=environment
rm -rf trace*
PROBITY_SELECT="file parse/*;exclude words" PROBITY_OUT=trace PROBITY_START=first \
    LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$BUILD/lib/libprobity-functions.so" ./hooks 2> errors ||
    fail "$what: $(cat errors)"
expect "$what" "letters 2 parse 2" "$(counts)"

# Without debugging information, no function matches, and a message reports that.
for kind in none compressed stripped; do
    case $kind in
    none) build none -finstrument-functions ;;
    compressed) build compressed -g -gz -finstrument-functions ;;
    stripped) strip -g -o stripped hooks ;;
    esac
    rm -rf trace*
    "$PROBITY" record --functions --file '*' -o trace -- "./$kind" 2> errors || fail "$kind: failed"
    [ ! -e trace ] || fail "$kind: recorded"
    grep -q "probity: $kind: .file. rules select none of its functions.*-g" errors ||
        fail "$kind: $(cat errors)"
    grep -q "none that the program calls is selected (.file. rules .* with -g)" errors ||
        fail "$kind: $(cat errors)"
done
# With debugging information for some functions only, those match.
"$CC" -O1 -finstrument-functions -c -o main.o app/main.c
"$CC" -O1 -g -finstrument-functions -c -o words.o app/parse/words.c
"$CC" -O1 -finstrument-functions -o partly main.o words.o app/net/words.c
selects "partly" "doubled 2 letters 2 parse 2 words 2" --file '*' -- ./partly
finish
