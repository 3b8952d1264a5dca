# Compares the tool's results with what awk computes from `probity log`. Sourced after common.bash.

# $1 description, $2 status, $3 command; then its arguments. Writes "output" and "errors".
tool() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# Writes the calls in the log of a trace: "TID ENTER LEAVE TIMED NAME NUMBER", in ns, numbered in
# order of entry. Pauses are written to the file "pauses": "TID FROM TO".
calls_of() {
    : > pauses
    "$PROBITY" log --time=relative "$1" 2> /dev/null | awk '
        function put(tid, indent) {
            print tid + 0, enter[tid, indent], ns, timed[tid, indent], name[tid, indent], \
                number[tid, indent]
        }
        {
            split($1, time, ".")
            ns = time[1] * 1000000000 + time[2]
            tid = $2
            text = $0
            sub(/^[^:]*: /, "", text)
            indent = match(text, /[^ ]/) - 1
            text = substr(text, indent + 1)
        }
        # A call left by a jump ends within its callers, whatever its logged time.
        text ~ /^elapsed:/ { next }
        text ~ /^leave; \(unwound\)/ { jumped[tid, ++jumps[tid]] = indent; next }
        { for (; jumps[tid] > 0; jumps[tid]--) put(tid, jumped[tid, jumps[tid]]) }
        text ~ /^\[profiling off\]/ { is_off = 1; next }
        text ~ /^\[profiling on\]/ { is_off = 0; next }
        text ~ /^pause;/ { paused[tid] = ns; next }
        text ~ /^resume;/ { print tid + 0, paused[tid], ns > "pauses"; next }
        text ~ /^(leave;|return \()/ {
            put(tid, indent)
            next
        }
        text ~ /^[a-z_]+ [*a-z_]+\(.*\)$/ {
            enter[tid, indent] = ns
            timed[tid, indent] = !is_off
            sub(/\(.*/, "", text)
            sub(/.*[ *]/, "", text)
            name[tid, indent] = text
            number[tid, indent] = ++calls
        }'
}

# Reads such calls sorted by thread and enter, longest first, and prints "path NAME;NAME CALLS TOTAL
# SELF" and "function NAME CALLS TOTAL SELF ELAPSED". Nesting follows time, or the number if a call
# took no time.
sums_of() {
    sort -k1,1n -k2,2n -k3,3nr -k6,6n | awk '
        function less_pauses(tid, from, to,    i, ns) {
            ns = to - from
            for (i = 1; i <= pauses; i++)
                if (pause_tid[i] == tid && pause_from[i] >= from && pause_to[i] <= to)
                    ns -= pause_to[i] - pause_from[i]
            return ns
        }
        function stretch(name, tid, from, to,    i) {
            for (i = 1; i <= pauses; i++)
                if (pause_tid[i] == tid && pause_from[i] >= from && pause_to[i] <= to) {
                    print "stretch", name, from, pause_from[i]
                    from = pause_to[i]
                }
            print "stretch", name, from, to
        }
        BEGIN {
            while ((getline line < "pauses") > 0) {
                split(line, field, " ")
                pauses++
                pause_tid[pauses] = field[1]
                pause_from[pauses] = field[2]
                pause_to[pauses] = field[3]
            }
        }
        {
            if ($1 != tid) { depth = 0; tid = $1 }
            while (depth > 0 && ends[depth] < $3) depth--
            lasted = less_pauses($1, $2, $3)
            total = $4 ? lasted : 0
            path = (depth > 0 ? paths[depth] ";" : "") $5
            if (depth > 0 && timed[depth]) {
                self[paths[depth]] -= lasted
                own[names[depth]] -= lasted
            }
            is_outermost = 1
            for (i = 1; i <= depth; i++) if (names[i] == $5) is_outermost = 0
            depth++
            ends[depth] = $3; timed[depth] = $4; paths[depth] = path; names[depth] = $5
            calls[path]++; totals[path] += total; self[path] += total
            count[$5]++; own[$5] += total
            if (is_outermost) sums[$5] += total
            if (is_outermost && $4) stretch($5, $1, $2, $3)
        }
        END {
            for (path in calls) print "path", path, calls[path], totals[path], self[path]
            for (name in count) print "function", name, count[name], sums[name], own[name]
        }' | sort -k1,1 -k2,2 -k3,3n | awk '
        $1 == "stretch" {
            if ($2 != name || $3 > end) { name = $2; begin = end = $3 }
            if ($4 > end) { elapsed[name] += $4 - end; end = $4 }
            next
        }
        { lines[++n] = $0 }
        END {
            for (i = 1; i <= n; i++) {
                split(lines[i], field, " ")
                print lines[i] (field[1] == "function" ? " " elapsed[field[2]] + 0 : "")
            }
        }' | sort
}
