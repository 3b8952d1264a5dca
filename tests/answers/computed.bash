# Computes the contents of traces from `probity log` and `probity csv`. Sourced before common.bash.

# Writes "NAME TOTAL SELF CPU" in ns for all calls in the traces to the file "calls". The log prints
# a call's times one level deeper than the call, which is then the last line of its level. UNLIKE: a
# regular expression for names to leave out.
calls_of() {
    "$PROBITY" log "$@" 2> log.errors | awk -v unlike="${UNLIKE:-none}" '
        function ns(value, unit) {
            sub(/[,)]/, "", unit)
            return int(value * (unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : 1e9) \
                + 0.5)
        }
        {
            thread = $1
            sub(/^[0-9\/]+: /, "")
            match($0, /^ */)
            depth = RLENGTH
            if ($1 != "elapsed:") {
                line[thread, depth] = $0
                next
            }
            name = line[thread, depth - 2]
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
            if (name ~ unlike) next
            print name, ns($2, $3), ns($5, $6), ns($8, $9)
        }' | sort -k1,1 -k2,2n > calls
    [ -s calls ] || fail "no calls in $*"
}

# Prints the times of the hits at one and three quarters of a trace, as option values.
middle_of() {
    "$PROBITY" csv --columns wall "$1" |
        awk '{ at[NR] = $1 } END { print "@" at[int(NR / 4)], "@" at[int(NR * 3 / 4)] }'
}

# Converts CSV lines to "FROM;TO;WALL;CPU;THREAD;AT" in ns, one for each span between probes, in the
# file "blocks". The probe is the last column, because its name may contain commas. Seconds count
# from the first hit, so that sums are exact. BEGINS and ENDS: space-separated probes that begin and
# end spans, or empty for all. A span that begins again before its end gives a line "FROM;-" for its
# first beginning.
blocks_of() {
    "$PROBITY" csv --columns tid,thread,cpu_s,cpu_ns,wall_s,wall_ns,probe "$@" 2> errors |
        awk -v begins="${BEGINS:-}" -v ends="${ENDS:-}" '
        function is_in(list, probe) { return list == "" || index(list, " " probe " ") }
        {
            split($0, field, ",")
            probe = $0
            for (i = 0; i < 6; i++) sub(/^[^,]*,/, "", probe)
            if (NR == 1) base = field[5]
            wall = (field[5] - base) * 1000000000 + field[6]
            cpu = field[3] * 1000000000 + field[4]
            thread = field[1] " " field[2]
            if (thread in last && is_in(ends, probe)) {
                printf "%s;%s;%.0f;%.0f;%s;%s\n", last[thread], probe, wall - walls[thread],
                    cpu - cpus[thread], field[1], at[thread]
                delete last[thread]
            }
            if (!is_in(begins, probe)) next
            if (thread in last) print last[thread] ";-;;;" field[1]
            last[thread] = probe
            walls[thread] = wall
            cpus[thread] = cpu
            at[thread] = sprintf("%s%09d", field[5], field[6])
        }' > blocks
    [ -s blocks ] || fail "no blocks in $*"
}
