#!/usr/bin/env bash
# A program that flushes, or records more than fits in the spool, after its threads have ended at
# exit and before the trace has ended, does not hang: it does not wait for the writer thread, which
# has ended, too. The exiting thread prints the log of a short program; if the writer thread had
# begun to print it, a message reports that the rest is in the trace.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -DLATE -shared -o late.dll "$SOURCE/tests/windows/late.c"
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -DUSER -shared -o user.dll "$SOURCE/tests/windows/late.c" \
    "${SHARED[@]}"
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -o late.exe "$SOURCE/tests/windows/late.c"
export PROBITY_MODE=block PROBITY_SPOOL_BYTES_MAX=4194304
for how in flush block; do
    rm -f trace.probity
    LIMIT=${LIMIT:-100} PROBITY_OUT=trace.probity wine_run late.exe $how > out 2>&1
    expect "$how: status" 0 "$status"
    expect "$how: output" "done" "$(tr -d '\r' < out)"
    expect "$how: state" closed "$("$PROBITY" info trace.probity | sed -n 's/^state  *//p')"
done
# Only records that are counted are missing.
read -r hits dropped < <("$PROBITY" info --json trace.probity |
    jq -r '[first(.. | .hits? // empty), first(.. | .dropped_no_free_chunk? // empty)] | @tsv')
expect "hits and records dropped" 3000001 "$((hits + dropped))"
[ "$dropped" -gt 0 ] || fail "the spool had room for all hits"
echo "$hits hits, $dropped dropped"

unset PROBITY_MODE PROBITY_SPOOL_BYTES_MAX
wraps=-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
for kind in static shared; do
    declare -n library=${kind^^}
    x86_64-w64-mingw32-gcc "${FLAGS[@]}" $wraps -o "$kind.exe" "$SOURCE/tests/windows/logged.c" \
        "${library[@]}" -lntdll
    for how in '' exit unwritten begun; do
        rm -f log ./*.probity
        LIMIT=${LIMIT:-100} PROBITY_LOG=log wine_run "$kind.exe" ${how:+"$how"} > out 2> errors
        expect "$kind $how: log: status" 0 "$status"
        left=$(find . -maxdepth 1 -name '*.probity' -printf '%f')
        # Otherwise it depends on how far the writer thread has got.
        [ "$how" != unwritten ] || expect "$kind $how: trace left; $(cat errors)" "" "$left"
        [ "$how" != begun ] || [ -n "$left" ] || fail "$kind $how: no trace"
        if [ -n "$left" ]; then
            grep -q "log 'log' lacks the last lines; see the trace '.*$left'" errors ||
                fail "$kind $how: no message: $(cat errors)"
            "$PROBITY" log "$left" > log
        fi
        expect "$kind $how: calls in the log; $(cat errors)" 3 "$(grep -c 'leave;' log)"
    done
done

# The exiting thread makes CSV and summary, too. The trace is removed, unless the log needs it.
while read -r how left; do
    rm -f log summary table.csv ./*.probity
    PROBITY_LOG=log PROBITY_SUMMARY=summary PROBITY_OUT=table.csv wine_run static.exe "$how" \
        > out 2> errors < /dev/null
    expect "outputs, $how: status; $(cat errors)" 0 "$status"
    expect "outputs, $how: hits in the CSV" 3 "$(wc -l < table.csv)"
    expect "outputs, $how: traces; $(cat errors)" "$left" \
        "$(find . -maxdepth 1 -name '*.probity' -printf '%f')"
    grep -q work summary || fail "outputs, $how: $(cat summary errors)"
done << 'end'
unwritten
begun table.csv.probity
end
