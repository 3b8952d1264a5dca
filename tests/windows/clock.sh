#!/usr/bin/env bash
# Times by QueryPerformanceCounter, in place of the processor's counter, which some machines do not
# have at one rate: a sleep of 50 ms takes that long, and the dates agree with those of this system.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
cat > sleep.c << 'END'
#include <windows.h>
#include "probity.h"
int main(void)
{
    for (int i = 0; i < 10; i++) {
        PROBITY_PROBE(1);
        Sleep(50);
        PROBITY_PROBE(2);
    }
    return 0;
}
END
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -o sleep.exe sleep.c "${STATIC[@]}"
for clock in counter monotonic; do
    before=$(date +%s)
    PROBITY_CLOCK=$clock PROBITY_OUT=$clock.probity wine_run sleep.exe > out 2>&1
    expect "$clock: status; $(head -n 3 out)" 0 "$status"
    after=$(date +%s)
    "$PROBITY" check $clock.probity > checked || fail "$clock: $(cat checked)"
    "$PROBITY" csv $clock.probity | awk -F, -v before="$before" -v after="$after" '
        { wall = $6 * 1e9 + $7; if ($6 < before || $6 > after) wrong++ }
        $3 == 2 && (!n++ || wall - last < least) { least = wall - last }
        { last = wall }
        END { print least / 1e6, "ms at least;", wrong + 0, "wrong dates"
              exit !(n == 10 && wrong == 0 && least > 49e6) }' > sums || fail "$clock: $(cat sums)"
    "$PROBITY" info $clock.probity | grep -i '^clock' > info.$clock
done
grep -q 'CLOCK_MONOTONIC' info.monotonic || fail "info: $(cat info.monotonic)"
grep -q 'CLOCK_MONOTONIC' info.counter && fail "info: $(cat info.counter)"
cat sums
