#!/usr/bin/env bash
# 8 threads record at full rate. However the process ends, the trace contains every counted hit, at
# most one more of each thread, and nothing else. ROUNDS: kills at random moments.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
TESTS=$SOURCE/tests/windows

for kind in static shared; do
    declare -n library=${kind^^}
    x86_64-w64-mingw32-gcc "${FLAGS[@]}" -Wno-infinite-recursion -o "$kind.exe" \
        "$TESTS/kill_target.c" "${library[@]}"
done
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -shared -o detach.dll "$TESTS/detach.c"
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -o killer.exe "$TESTS/killer.c"

# $1 trace, $2 counts, $3 the state in which the process leaves the trace: unfinished or closed
verify() {
    expect "$1: state" "$3" "$("$PROBITY" info "$1" | sed -n 's/^state  *//p')"
    [ "$3" = closed ] || "$PROBITY" recover --trust "$1" > recovered ||
        fail "$1: $(cat recovered)"
    python3 "$TESTS/verify.py" "$PROBITY" "$1" "$2"
}

# A thread's records are complete, whichever of its fibers made them.
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -o fibers.exe "$TESTS/fibers.c" "${STATIC[@]}"
PROBITY_OUT=fibers.probity wine_run fibers.exe > out 2>&1
expect "fibers: status; $(head -n 3 out)" 0 "$status"
hits=$("$PROBITY" info fibers.probity | sed -n 's/^hits *//p')
expect "fibers: hits" "$(tr -d '\r' < out)" "$hits"
for function in pass answer; do
    expect "fibers: calls of $function" 2000 "$("$PROBITY" report --json fibers.probity |
        jq --arg name $function '.functions[] | select(.name == $name) | .calls')"
done

total=0
for kind in static shared; do
    for end in exit ExitProcess detach TerminateProcess job access abort overflow; do
        rm -f trace.probity
        PROBITY_OUT=trace.probity wine_run "$kind.exe" counts "$end" > out 2>&1
        state=unfinished
        case $end in exit | ExitProcess) state=closed ;; esac
        [ "$end" != detach ] || expect "$kind: detach: status" 5 "$status"
        case $end in
            abort | detach) state=$("$PROBITY" info trace.probity | sed -n 's/^state  *//p') ;;
        esac
        hits=$(verify trace.probity counts "$state")
        echo "$kind: $end: $hits hits, $state"
    done
    mkdir "rounds.$kind"
    LIMIT=3600 wine_run killer.exe "$kind.exe" "rounds.$kind" "${ROUNDS:-10}" > out 2>&1
    expect "$kind: $(tail -n 2 out): status of the killer" 0 "$status"
    for ((i = 0; i < ${ROUNDS:-10}; i++)); do
        hits=$(verify "rounds.$kind/$i.probity" "rounds.$kind/$i.counts" unfinished)
        total=$((total + hits))
        rm "rounds.$kind/$i.probity"
    done
done
echo "$((2 * ${ROUNDS:-10})) kills: $total hits, none lost, torn or invented"
