#!/usr/bin/env bash
# CPU time from QueryThreadCycleTime, which Wine 8 lacks: with a replacement function that does not
# count while a thread rests, work takes CPU time and rest does not, in ns. `info` states the error
# of the measured rate.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -o cycle_time.exe "$SOURCE/tests/windows/cycle_time.c" \
    "${STATIC[@]}"
PROBITY_OUT=trace.probity wine_run cycle_time.exe > out 2>&1
expect "cycle_time.exe: status; $(head -n 3 out)" 0 "$status"
"$PROBITY" check trace.probity > checked || fail "$(cat checked)"
"$PROBITY" csv trace.probity | awk -F, '
    { cpu = $4 * 1e9 + $5; wall = $6 * 1e9 + $7 }
    $3 == 2 { worked += cpu - last_cpu; work += wall - last_wall }
    $3 == 3 { rested += cpu - last_cpu; rest += wall - last_wall }
    { last_cpu = cpu; last_wall = wall }
    END {
        printf "work: CPU %.1f of %.1f ms; rest: CPU %.1f of %.1f ms\n", worked / 1e6, work / 1e6,
            rested / 1e6, rest / 1e6
        exit !(worked > 0.9 * work && worked < 1.1 * work && rested < 0.2 * rest)
    }' > sums || fail "$(cat sums)"
for tool in "$PROBITY" "wine $WINDOWS/bin/probity.exe"; do
    error=$($tool info --json trace.probity | jq '.[0] | .. | .cpu_rate_error_millionths? // empty')
    [ "${error:-0}" -gt 0 ] && [ "$error" -lt 100000 ] || fail "error of the rate: '$error'"
    $tool info trace.probity | tr -d '\r' |
        grep -qx "CPU clock     cycles at a measured rate, accurate to +- $error millionths" ||
        fail "$($tool info trace.probity)"
done
cat sums
echo "the rate is accurate to $error millionths"
