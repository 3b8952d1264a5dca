#!/usr/bin/env bash
# Markers for other tracers (probity_usdt.h): a reader of the ELF notes finds each with its
# arguments, and the counts from the kernel's uprobes equal those of the program and of Probity.
# variants: clang
. "$(dirname "$0")/../common.bash"

fresh
program=$PROGRAMS/usdt
readelf -nW "$program" | awk '$1 == "Name:" { name = $2 }
    $1 == "Arguments:" { print name, NF - 1 }' | sort -u > found
cat > wanted << 'END'
function_enter 2
function_leave 1
jobs__put 2
parsed 0
probe 1
probe_7 1
probe_with 3
END
cmp -s wanted found || fail "marks: expected (<), found (>): $(diff wanted found)"

"$program" 1000 | sort > wanted
[ "$(grep -c ' 1000$' wanted)" -eq 5 ] || fail "the program: $(cat wanted)"

# The markers are passed whether or not the program is recorded.
for out in "" "$WORK/trace.probity"; do
    status=0
    PROBITY_OUT=$out "$PROGRAMS/count_marks" "$program" 1000 > lines || status=$?
    if [ $status -eq 77 ]; then
        echo "usdt: marks were not counted: $(cat lines)"
        finish
        exit
    fi
    expect "count_marks${out:+, recorded}: status" 0 "$status"
    awk '{ sum[$1] += $2 } END { for (name in sum) print name, sum[name] }' lines | sort > found
    cmp -s wanted found ||
        fail "counts${out:+, recorded}: expected (<), found (>): $(diff wanted found)"
done
expect "calls in the report" 2000 \
    "$("$PROBITY" report --json trace.probity | jq '[.functions[].calls] | add')"
expect "hits in the CSV" 5000 "$("$PROBITY" csv trace.probity | wc -l)"

if command -v bpftrace > bpftrace.path && [ "$(id -u)" -eq 0 ]; then
    # shellcheck disable=SC2016 # the script is bpftrace's
    timeout 120 bpftrace -e "usdt:$program:probity:function_enter { @[str(arg0)] = count(); }" \
        -c "$program 1000" > bpf.out 2> bpf.errors || true
    expect "bpftrace" "@[count_up]: 1000 @[inner]: 1000" "$(grep '^@' bpf.out | sort | xargs)"
else
    echo "usdt: no bpftrace here, or not as root"
fi
finish
