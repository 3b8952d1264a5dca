#!/usr/bin/env bash
# The second library, which prints a program's CSV, log and summary: the directories from which it
# is loaded, and those from which it must not be; what a program without it reports and keeps; which
# programs contain the code for dumps, and what the others report; the size of the first library.
. "$(dirname "$0")/../common.bash"

cat > some.c <<'PROGRAM'
#include <probity.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **argument)
{
    static struct probity_options options;

    options.out = count > 1 ? argument[1] : NULL;
    if (count > 1 && probity_start(&options) != 0)
        return 4;
    for (int i = 0; i < 5; i++)
        PROBITY_PROBE(7);
    if (getenv("SLOW") != NULL) {
        usleep(20000);
        PROBITY_PROBE(7);
    }
#ifdef ASKS
    probity_snapshot("asked for");
#endif
    exit(3);
}
PROGRAM
# A library that creates a file when loaded, and has no hooks of any version.
cat > other.c <<'LIBRARY'
#include <fcntl.h>
#include <stddef.h>

__attribute__((constructor)) static void at_load(void)
{
    open("loaded", O_CREAT | O_WRONLY, 0600);
}
const void *probity_print_hooks(unsigned version)
{
    (void)version;
    return NULL;
}
LIBRARY

# $1 name, the rest: the libraries to link with
build() {
    # shellcheck disable=SC2086 # flags
    "${CC:-gcc}" $SANITIZE_FLAG -O2 -Wall -Werror -I"$SOURCE/include" -o "$1" some.c "${@:2}" \
        -pthread 2> messages || fail "$1 does not build: $(cat messages)"
    expect "$1: messages of the linker" "" "$(cat messages)"
}
first=$BUILD/lib/libprobity.a
second="-Wl,-u,probity_print_hooks $BUILD/lib/libprobity-print.a"
build alone "$first"
# shellcheck disable=SC2086 # flags
build linked "$first" $second
build static -static "$first"
# shellcheck disable=SC2086 # flags
build static_linked -static "$first" $second
build asks -DASKS "$first"
build static_asks -static -DASKS "$first"
build dumps -Wl,-u,probity_snapshot "$first"
build shared -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -lprobity
mkdir first_only other
cp "$BUILD/lib/libprobity.so.0" first_only
build shared_alone -Lfirst_only -l:libprobity.so.0 -Wl,-rpath,"$WORK/first_only"
"${CC:-gcc}" -shared -fPIC -Wl,-soname,libprobity-print.so.0 -o other/libprobity-print.so.0 other.c

clean() {
    rm -f ./*.csv* ./*.probity* log sum loaded errors
}

# $1 program, the rest: settings. Writes "errors"; the program's status is always 3. ARGUMENT: the
# file to which the program itself starts recording.
run() {
    local status=0
    clean
    env "${@:2}" "./$1" ${ARGUMENT:+"$ARGUMENT"} 2> errors || status=$?
    expect "$*: status" 3 "$status"
}

# ---- With the library: the output is printed, and no trace is left ----

found() {
    run "$@" PROBITY_OUT="$WORK/hits.csv" PROBITY_LOG="$WORK/log" PROBITY_SUMMARY="$WORK/sum"
    expect "$1: stderr" "" "$(cat errors)"
    expect "$1: CSV" 5 "$(wc -l < hits.csv)"
    [ -e log ] || fail "$1: no log"
    grep -q '^trace: .*: complete' sum || fail "$1: no summary"
    [ ! -e hits.csv.probity ] || fail "$1: the trace was not removed"
}
for program in linked static_linked shared; do found $program; done
found alone LD_LIBRARY_PATH="$BUILD/lib"

# ---- Without it: one line, and a complete trace ----

# $1 reason, $2 program, the rest: settings
missing() {
    local reason=$1 trace setting
    shift
    for setting in OUT="$WORK/hits.csv" LOG=stderr SUMMARY=stderr; do
        run "$@" "PROBITY_$setting"
        expect "$* $setting: lines" 1 "$(wc -l < errors)"
        grep -qE "^probity: no (CSV|log|summary) '.*': .*$reason.*; the trace '.*' is kept$" \
            errors ||
            fail "$* $setting: $(cat errors)"
        trace=$(echo ./*.probity)
        expect "$* $setting: hits in $trace" 5 "$("$PROBITY" csv "$trace" | wc -l)"
        expect "$* $setting: CSV" "" "$(ls -- *.csv 2> /dev/null)"
    done
    run "$@" PROBITY_OUT="$WORK/hits.csv"
    "$PROBITY" recover hits.csv > /dev/null || fail "$*: recover"
    expect "$*: the CSV by recover" 5 "$(wc -l < hits.csv)"
}
for program in alone shared_alone; do
    missing "libprobity-print.so.0: cannot open" $program
done
missing "a static program cannot load" static
# Not from the current directory, and neither an older nor a newer version.
cp other/libprobity-print.so.0 .
missing "libprobity-print.so.0: cannot open" alone
[ ! -e loaded ] || fail "a library in the current directory was loaded"
rm libprobity-print.so.0
missing "has a different version" alone LD_LIBRARY_PATH="$WORK/other"

# ---- Loaded only if it is used ----

run alone LD_LIBRARY_PATH="$WORK/other" PROBITY_OUT="$WORK/hits.csv"
[ -e loaded ] || fail "the library for this test is not loaded"
run alone LD_LIBRARY_PATH="$WORK/other" PROBITY_OUT="$WORK/hits.probity"
[ ! -e loaded ] || fail "loaded for a trace"
expect "a trace: stderr" "" "$(cat errors)"

# An explicit start uses the library, too.
ARGUMENT=$WORK/hits.csv run alone LD_LIBRARY_PATH="$BUILD/lib"
expect "explicit start: CSV" 5 "$(wc -l < hits.csv)"
ARGUMENT=$WORK/hits.csv run alone
grep -q "^probity: no CSV '.*libprobity-print" errors || fail "explicit start: $(cat errors)"

# Without a drainer, a message says so, and the spool keeps its contents.
run alone PROBITY_WRITER=external PROBITY_OUT="$WORK/hits.probity"
grep -q "not completed (run 'probity recover' on it)" errors || fail "no drainer: $(cat errors)"
"$PROBITY" recover hits.probity > /dev/null || fail "no drainer: recover"
expect "no drainer: hits" 5 "$("$PROBITY" csv hits.probity | wc -l)"
# `record` drains it, even if the program ends before draining begins.
for program in alone static shared_alone; do
    for try in 1 2 3 4; do
        rm -f hits.probity
        "$PROBITY" record --writer external -o hits.probity -- "./$program" > output 2> errors ||
            true
        expect "$program, drained by record, try $try: stderr" "" "$(cat errors)"
        expect "$program, drained by record: hits" 5 "$("$PROBITY" csv hits.probity | wc -l)"
        "$PROBITY" info hits.probity | grep -q '^state *closed' ||
            fail "$program, drained by record: not closed"
    done
done
run linked PROBITY_WRITER=external PROBITY_OUT="$WORK/hits.probity"
expect "no drainer, with the library: stderr" "" "$(cat errors)"
expect "no drainer, with the library: hits" 5 "$("$PROBITY" csv hits.probity | wc -l)"

# ---- Conditions and dumps: in the shared library, and in programs that request them ----

condition="block 7->7 > 10ms"
makes_dumps() {
    run "$1" PROBITY_OUT="$WORK/hits.probity" PROBITY_WHEN="$condition" SLOW=1
    expect "$1, with a condition: stderr" "" "$(cat errors)"
    expect "$1: hits of the dump" 6 "$("$PROBITY" csv hits-1.probity | wc -l)"
}
for program in dumps asks static_asks shared; do makes_dumps $program; done
for program in asks static_asks; do
    run $program PROBITY_OUT="$WORK/hits.probity" PROBITY_RING=2s
    expect "$program: reason" 1 "$("$PROBITY" info hits-1.probity | grep -c 'asked for')"
done
for program in alone static linked; do
    run $program PROBITY_OUT="$WORK/hits.probity" PROBITY_WHEN="$condition"
    expect "$program, with a condition" "probity: PROBITY_WHEN=$condition: this program was \
linked without dumps (link it with -Wl,-u,probity_snapshot); not recording" "$(cat errors)"
    expect "$program, with a condition: files" "" "$(ls -- *.probity 2> /dev/null)"
    # A ring does not need the code for dumps.
    run $program PROBITY_OUT="$WORK/hits.probity" PROBITY_RING=2s PROBITY_DUMPS=before=1s
    expect "$program, a ring: stderr" "" "$(cat errors)"
    expect "$program, a ring: hits" 5 "$("$PROBITY" csv hits.probity | wc -l)"
done

# ---- Programs with more rights than their user ----

set_user_id() {
    [ "$(id -u)" = 0 ] || { echo "not root: no set-user-id program"; return; }
    chmod 711 "$WORK"
    mkdir -m 777 open
    cp alone open/alone
    chown 65533 open/alone
    chmod 4755 open/alone
    cp -r other open/other
    local status=0
    (cd open && setpriv --reuid 65534 --regid 65534 --clear-groups \
        env LD_LIBRARY_PATH="$PWD/other" PROBITY_SPOOL_DIR= ./alone "$PWD/hits.csv") \
        2> errors || status=$?
    expect "set-user-id: status" 3 "$status"
    grep -q "a set-user-id program does not load libprobity-print.so.0" errors ||
        fail "set-user-id: $(cat errors)"
    [ ! -e open/loaded ] || fail "set-user-id: a library was loaded"
    expect "set-user-id: hits" 5 "$("$PROBITY" csv open/hits.csv.probity | wc -l)"
}
set_user_id

# ---- The size of the library in every traced program ----

weight() {
    local bytes
    strip -o stripped "$1"
    bytes=$(stat -c %s stripped)
    echo "$(basename "$1"): $bytes bytes stripped"
    [ "$bytes" -le "$2" ] || fail "$(basename "$1"): $bytes bytes stripped, more than $2"
}
if [ "${VARIANT:-gcc}" = gcc ] && [ "$(uname -m)" = x86_64 ]; then
    weight alone 153600
    weight "$BUILD/lib/libprobity.so.0" 184320
fi
no_leftovers "the second library"
finish
