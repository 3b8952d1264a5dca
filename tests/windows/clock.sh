#!/usr/bin/env bash
# Times from QueryPerformanceCounter, instead of the processor's counter: a sleep of 50 ms takes
# that long, and the dates agree with those of this system. It is used on request (monotonic), and
# if CPUID does not report that the counter has a constant rate (variant). For the latter, in the
# file that uses the instruction, a macro replaces it and clears the bit.
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
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -o counter.exe sleep.c "${STATIC[@]}"
cp counter.exe monotonic.exe
cat > cpuid.s << 'END'
.macro cpuid
    cmpl $0x80000007, %eax
    .byte 0x0f, 0xa2
    jne .Lother_leaf_\@
    andl $~0x100, %edx
.Lother_leaf_\@:
.endm
END
x86_64-w64-mingw32-gcc -O2 -D_GNU_SOURCE -DNO_OLDNAMES "-I$SOURCE/src" "-I$SOURCE/include" \
    -isystem "$SOURCE/src/base/windows/posix" -include "$SOURCE/src/base/windows/thread_local.h" \
    -Wa,cpuid.s -c -o cpu.o "$SOURCE/src/base/cpu.c"
# The first of two definitions applies.
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -Wl,--allow-multiple-definition -o variant.exe sleep.c cpu.o \
    "${STATIC[@]}"
for clock in counter monotonic variant; do
    before=$(date +%s)
    PROBITY_CLOCK=$([ $clock = monotonic ] && echo monotonic || echo counter) \
        PROBITY_OUT=$clock.probity wine_run $clock.exe > out 2>&1
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
for clock in monotonic variant; do
    grep -q 'CLOCK_MONOTONIC' info.$clock || fail "$clock: info: $(cat info.$clock)"
done
grep -q 'CLOCK_MONOTONIC' info.counter && fail "info: $(cat info.counter)"
cat sums
