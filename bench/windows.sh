#!/usr/bin/env bash
# The cost of a probe in programs for Windows under Wine, compiled by gcc and with MSVC's rules by
# clang-cl, and natively. In one process, windows of a floor, which stores the counter, alternate
# with windows of probes; the minimum and the median of the windows are divided by the floor's.
# Makes RUNS runs of each program in turn, at real-time priority unless REALTIME=no. The last
# column, "best", is the minimum of all probes over the minimum of all floors: other work only adds
# to both.
#
# No run has a time limit: on a busy machine, Wine takes many seconds to start a program. The output
# of a program is written to a file, since Wine's server inherits its descriptors and outlives it.
#
#     make && make windows && BUILD=build WINDOWS=build-windows bench/windows.sh
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "${BUILD:-build}") windows=$(realpath "${WINDOWS:-build-windows}")
source=$PWD
work=$(mktemp -d)
trap '[[ $BASHPID != $$ ]] || rm -rf "$work"' EXIT
fail() {
    echo "$*" >&2
    exit 1
}
export WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=' WINEPREFIX=${WINEPREFIX:-$windows/wine}
export PROBITY_SPOOL_DIR=$work/spools
mkdir "$PROBITY_SPOOL_DIR"
cd "$work"
cat > probe.c << 'END'
#include <stdio.h>
#include <stdlib.h>
#include "probity.h"
#ifdef _MSC_VER
#define NOINLINE __declspec(noinline)
#else
#define NOINLINE __attribute__((noinline))
#endif
enum { WINDOWS = 6000000 / HITS };
static uint64_t words[HITS];
static double floors[WINDOWS], probes[WINDOWS];
static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}
NOINLINE static void make_floor(void)
{
    volatile uint64_t *at = words;
    for (int i = 0; i < HITS; i++)
        at[i] = probity_ticks() << 24 | 7;
}
NOINLINE static void make_hits(void)
{
    for (int i = 0; i < HITS; i++)
        PROBITY_PROBE(7);
}
int main(void)
{
    for (int i = 0; i < WINDOWS; i++) {
        uint64_t first = probity_ticks();
        make_floor();
        uint64_t second = probity_ticks();
        make_hits();
        floors[i] = (double)(second - first) / HITS;
        probes[i] = (double)(probity_ticks() - second) / HITS;
    }
    qsort(floors, WINDOWS, sizeof *floors, compare);
    qsort(probes, WINDOWS, sizeof *probes, compare);
    printf("%.2f %.2f %.3f %.3f\n", floors[0], probes[0], probes[0] / floors[0],
           probes[WINDOWS / 2] / floors[WINDOWS / 2]);
    return 0;
}
END
cp "$windows/bin/libprobity.dll" .
SOURCE=$source
# shellcheck source=tests/windows/msvc.bash
. "$source/tests/windows/msvc.bash"
for hits in 300 16384; do
    flags=(-O2 "-DHITS=$hits" "-I$source/include")
    x86_64-w64-mingw32-gcc "${flags[@]}" -o "static.$hits.exe" probe.c "$windows/lib/libprobity.a" \
        -lsynchronization -ladvapi32 -lntdll
    x86_64-w64-mingw32-gcc "${flags[@]}" -o "dll.$hits.exe" probe.c "$windows/lib/libprobity.dll.a"
    if command -v clang > /dev/null; then
        msvc c11 /c /O2 /GS- "/DHITS=$hits" /Foprobe.obj -w probe.c
        x86_64-w64-mingw32-gcc -o "msvc.$hits.exe" probe.obj "$windows/lib/libprobity.dll.a" \
            2> /dev/null
    fi
    gcc "${flags[@]}" -pthread -o "linux.$hits" probe.c "$build/lib/libprobity.a"
done
# A server that each program starts again would take more time than the program.
server=$(command -v wineserver || echo /usr/lib/wine/wineserver)
"$server" -p60 > /dev/null 2>&1 < /dev/null || true
wine cmd /c exit > /dev/null 2>&1 < /dev/null || fail "Wine does not start"
first=
[ "${REALTIME:-yes}" = no ] || ! chrt -f 50 true 2> /dev/null || first="chrt -f 50"
for ((i = 0; i < ${RUNS:-15}; i++)); do
    for program in {linux,static,dll,msvc}.{300,16384}*; do
        [ -x "$program" ] || continue
        start=./$program
        [[ $program != *.exe ]] || start="wine $program"
        # shellcheck disable=SC2086 # several words
        PROBITY_OUT=trace $first $start > out 2> errors < /dev/null ||
            fail "$program: status $?: $(head -n 3 errors)"
        [ "$(wc -w < out)" -eq 4 ] || fail "$program printed: $(head -n 3 out)"
        echo "$program $(tr -d '\r' < out)" >> results
        rm -f trace
    done
done
echo "program            floor least  probe least   least / least        median / median"
echo "                   ticks        ticks         least  median  most  least  median  most  best"
for program in {linux,static,dll,msvc}.{300,16384}*; do
    [ -x "$program" ] || continue
    for column in 4 5; do
        awk -v name="$program" -v column=$column '$1 == name { print $column }' results |
            sort -n > sorted
        awk '{ all[NR] = $1 }
            END { printf "%s %s %s ", all[1], all[int((NR + 1) / 2)], all[NR] }' sorted
    done > ratios
    awk -v name="$program" -v ratios="$(cat ratios)" '$1 == name {
            if (!count++ || $2 < floor) floor = $2
            if (count == 1 || $3 < probe) probe = $3 }
        END { printf "%-18s %-12s %-13s %s", name, floor, probe, ratios
            printf "%.3f\n", probe / floor }' results
done
