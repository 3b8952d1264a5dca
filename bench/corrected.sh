#!/usr/bin/env bash
# corrected.sh BUILD_DIR [RUNS]: compares the times of `probity report`, minus recording overhead,
# with the true times (corrected.c), in units of the error that the report states. That error covers
# only the time added by recording, so time off the CPU, in which other programs ran, is excluded on
# both sides. Medians over many short runs, because other load also makes either side slower on the
# CPU. PROBITY: a tool other than that of the build.
set -eu
build=$1
runs=${2:-31}
trace=bench.corrected.$$.probity
trap '[[ $BASHPID != $$ ]] || rm -f "$trace" "$trace".*' EXIT

# For one run, prints lines "WHAT <tab> UNIT <tab> TARGET <tab> VALUE".
compare_run() {
    "$build/bench/corrected" "$trace" >"$trace.truth"
    "${PROBITY:-$build/bin/probity}" report --csv \
        --since "$(awk '/^from/ { print $2 }' "$trace.truth")" "$trace" >"$trace.report"
    awk '
        function say(what, unit, target, value) {
            printf "%s\t%s\t%s\t%.6f\n", what, unit, target, value
        }
        function compare(what, truth, raw, corrected, error, cpu) {
            corrected -= raw - cpu
            raw = cpu
            say(what ": raw", "%", "", truth > 0 ? 100 * (raw / truth - 1) : 0)
            say(what ": off by", "errors", "<= 1", (corrected - truth) / error)
            say(what ": stated error", "ns/call", "", error / calls)
        }
        NR == FNR {
            total[$1] = $2
            # The duration of a loop depends on what it calls, so its own time is known only for the
            # empty function.
            if ($1 !~ /^call_/ || $1 == "call_empty")
                self[$1] = $2
            next
        }
        FNR == 1 {
            split($0, names, ",")
            for (i in names)
                at[names[i]] = i
            FS = ","
            next
        }
        {
            gsub(/"[^"]*"/, "text")
            split($0, field, ",")
            name = field[at["function"]]
            calls = field[at["calls"]]
            if (name in self)
                compare(name " self", self[name], field[at["self_ns"]],
                    field[at["self_corrected_ns"]], field[at["self_error_ns"]],
                    field[at["cpu_self_ns"]])
            compare(name " total", total[name], field[at["total_ns"]],
                field[at["total_corrected_ns"]], field[at["total_error_ns"]],
                field[at["cpu_total_ns"]])
        }' "$trace.truth" "$trace.report"
}

for _ in $(seq "$runs"); do
    compare_run
done >"$trace.runs"
sort -s -t "$(printf '\t')" -k1,1 -k4,4n "$trace.runs" | awk -F '\t' '
    function row(    middle) {
        middle = value[int((n + 1) / 2)]
        if (target ~ /^<=/ && middle < 0)
            middle = -middle
        printf "row\tcorrected\t%s\t%.6g\t%s\t%s\n", what, middle, unit, target
    }
    $1 != what { if (n) row(); n = 0 }
    { what = $1; unit = $2; target = $3; value[++n] = $4 }
    END { row() }'
