#!/usr/bin/env bash
# self.sh BUILD_DIR: compares self times of `probity report` with the true ones (self.c): with CPU
# time, without it, and in profile mode. The same run measures what a scope adds to its own self
# time and its caller's, and a pause to its scope; that is subtracted. If the report corrects times,
# its own correction is compared as well, in units of the error that it states, in the runs in which
# it does not count the function as waiting: that error covers recording, not the time of other
# programs. Uses medians of many short runs, because the load of other programs outside the timed
# loops would count as self time.
set -eu
build=$1
runs=31
trace=bench.self.$$.probity
trap '[[ $BASHPID != $$ ]] || rm -f "$trace" "$trace".*' EXIT

# For one run, prints lines "WHAT <tab> UNIT <tab> TARGET <tab> VALUE". An empty value: the function
# waited in this run.
compare_run() {
    "$build/bench/self" "$trace" >"$trace.truth"
    "$build/bin/probity" report --json "$trace" >"$trace.report"
    awk '
        function field(key,    text) {
            text = $0
            if (!sub(".*\"" key "\": \"?", "", text))
                return ""
            sub(/[",}].*/, "", text)
            return text
        }
        function say(what, unit, target, value) {
            printf "%s\t%s\t%s\t%s\n", what, unit, target, value == "" ? "" : sprintf("%.6f", value)
        }
        function cost_of(name, times) { return (self[name] - truth[name] - read_ns[name]) / times }
        function percent(found, expected) { return 100 * (found / expected - 1) }
        NR == FNR {
            names[++count] = $1
            calls[$1] = $2; truth[$1] = $3; children[$1] = $4; pauses[$1] = $5; read_ns[$1] = $6
            next
        }
        /^\{"name"/ {
            name = field("name")
            self[name] = field("self_ns"); total[name] = field("total_ns")
            corrected[name] = field("self_corrected_ns"); stated[name] = field("self_error_ns")
            found[name] = field("calls")
            waited[name] = field("cpu_total_ns") != "" && field("cpu_total_ns") != "null" &&
                total[name] - field("cpu_total_ns") > field("total_error_ns") + 0
        }
        END {
            own = cost_of("cost_child", calls["cost_child"])
            caller = cost_of("cost_parent", children["cost_parent"])
            pause = cost_of("cost_pause", pauses["cost_pause"])
            say("a scope adds to its self time", "ns", "", own)
            say("a scope adds to its caller", "ns", "", caller)
            say("a pause adds to its scope", "ns", "", pause)
            for (i = 1; i <= count; i++) {
                name = names[i]
                if (name ~ /^cost_|^paused$/)
                    continue
                wrong += found[name] != calls[name]
                cost = own * calls[name] + caller * children[name] + pause * pauses[name] + \
                    read_ns[name]
                all_truth += truth[name]
                all_cost += cost
                say(name ": self time, all in", "%", "", percent(self[name], truth[name]))
                say(name ": self time, error", "%", "<= 1", percent(self[name] - cost, truth[name]))
                if (stated[name] + 0 > 0)
                    say(name ": self time as the report corrects it, off by", "errors", "<= 1",
                        waited[name] ? "" : (corrected[name] - truth[name]) / stated[name])
            }
            say("total time, error", "%", "<= 1", percent(total["root"] - all_cost, all_truth))
            say("functions with wrong calls", "", "= 0", wrong)
        }' "$trace.truth" "$trace.report"
}

# $1 group
compare() {
    for _ in $(seq $runs); do
        compare_run
    done >"$trace.runs"
    sort -s -t "$(printf '\t')" -k1,1 -k4,4n "$trace.runs" | awk -F '\t' -v group="$1" '
        function row(    middle) {
            if (n == 0) {
                printf "note\tself\t%s: %s: no figure, it waited in all %d runs\n", group, what, all
                return
            }
            middle = value[int((n + 1) / 2)]
            if (target ~ /^<=/ && middle < 0)
                middle = -middle
            printf "row\tself\t%s: %s\t%.6g\t%s\t%s\n", group, what, middle, unit, target
            if (unit == "errors")
                printf "note\tself\t%s: %s: in %d of %d runs\n", group, what, n, all
        }
        $1 != what { if (all) row(); n = all = 0 }
        { what = $1; unit = $2; target = $3; all++ }
        $4 != "" { value[++n] = $4 }
        END { row() }'
}

compare "wall and CPU"
PROBITY_CPU_TIME=0 compare "wall only"
PROBITY_CPU_TIME=0 PROBITY_PROFILE=1 compare "profile mode, wall only"
