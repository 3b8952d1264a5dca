# Refuses a test program, or the tool, what it asks the system for: one call after the other, once
# and from there on for ever. Sourced by tests/run/refused*.sh and tests/campaign/refused.sh, which
# differ in how many of the calls they try.
# shellcheck source=tests/run/common.bash
if [ "$(uname -m)" != x86_64 ]; then
    echo "refuse knows the registers of x86-64 only"
    exit 77
fi
REFUSE=$BUILD/tests/refuse
runs=0 refusals=0
(cd "$SOURCE" && "${CC:-gcc}" -std=gnu11 -O2 -g -Wall -Wextra -D_GNU_SOURCE -Itests -o "$REFUSE.$$" \
    tests/tool/refuse.c && mv "$REFUSE.$$" "$REFUSE")
if ! "$REFUSE" -n 1 -k membarrier true 2> /dev/null; then
    echo "no ptrace or no seccomp here"
    exit 77
fi

# Chunks and a spool as small as can be: all paths in few records.
export PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=4096

# How each way of recording is asked for, beyond the way that the program goes. $1 way; prints
# settings for `env`.
settings_of() {
    case $1 in
        control) ;;
        csv) echo "PROBITY_OUT=$WORK/trace.csv" ;;
        profile) echo "PROBITY_OUT=$WORK/trace PROBITY_PROFILE=1 PROBITY_LEVEL=5" ;;
        scopes) echo "PROBITY_OUT=$WORK/trace PROBITY_LEVEL=5" ;;
        ring) echo "PROBITY_OUT=$WORK/trace PROBITY_MODE=ring" ;;
        log) echo "PROBITY_OUT=$WORK/trace PROBITY_LOG=$WORK/log PROBITY_LEVEL=5" ;;
        summary) echo "PROBITY_OUT=$WORK/trace PROBITY_SUMMARY=$WORK/summary PROBITY_LEVEL=5" ;;
        *) echo "PROBITY_OUT=$WORK/trace" ;;
    esac
}

# What the program does in each way.
program_way_of() {
    case $1 in
        profile | log | summary) echo scopes ;;
        csv) echo hits ;;
        *) echo "$1" ;;
    esac
}

# What the traces here hold, in the words of the program: "PID STREAM HITS" or "FUNCTION CALLS".
# $1 way, further: traces
found_in() {
    local way=$1 trace
    shift
    case $way in
        scopes | profile | log | summary)
            "$PROBITY" report --csv "$@" 2> /dev/null |
                awk -F, '{ gsub(/"[^"]*"/, "") } $1 == "branch" { n[1] += $8 + $9 }
                    $1 == "leaf" { n[2] += $8 + $9 }
                    END { print "branch", n[1] + 0; print "leaf", n[2] + 0 }' ;;
        typed)
            "$PROBITY" csv "$@" 2> /dev/null | awk -F, '{ sub(/:.*/, "", $3); n[$3]++ }
                END { for (name in n) print name, n[name] }' ;;
        csv)
            # A trace that is still there could not become the CSV.
            if [ -e trace.csv ]; then cat trace.csv; else "$PROBITY" csv "$@"; fi 2> /dev/null |
                "$PROGRAMS/check_hits" 2>> faults ;;
        *)
            for trace; do
                # A gap where hits were dropped is in order; it shows in the counts.
                "$PROBITY" csv "$trace" 2> /dev/null | "$PROGRAMS/check_hits" -f 2>> faults
            done | awk '{ n[$1 " " $2] += $3 } END { for (key in n) print key, n[key] }' ;;
    esac
}

# Sum of what is dropped, in all traces here.
dropped_in() {
    "$PROBITY" info "$@" 2> /dev/null | awk '$1 == "dropped" { n += $2 } END { print n + 0 }'
}

# What the program promised in "output" against what is found: "MADE FOUND INVENTED".
balance() {
    awk 'NR == FNR { made[$1 ($3 != "" ? " " $2 : "")] += $NF; all += $NF; next }
         { key = $1 ($3 != "" ? " " $2 : ""); found += $NF
           if ($NF > made[key]) invented += $NF - made[key] }
         END { print all + 0, found + 0, invented + 0 }' output found
}

# Looks at what a program left: files output, errors, trace*; $1 what, $2 way, $3 status.
# ALL: nothing may be missing.
judge_program() {
    local what=$1 way=$2 status=$3 traces made found invented dropped left
    expect "$what: status" 5 "$status"
    ! grep -q noticed output || fail "$what: $(cat output)"
    local lines
    lines=$(wc -l < errors)
    # A child that fails by itself says so itself; a log, and its trace, are two things.
    [ "$lines" -le 1 ] || { [[ $way =~ child|log|summary ]] && [ "$lines" -le 2 ]; } ||
        fail "$what: more than a line on stderr: $(cat errors)"
    traces=$(find . -maxdepth 1 -name 'trace*' | sort)
    : > faults
    if [ -z "$traces" ]; then
        [ -z "${ALL:-}" ] || fail "$what: no trace: $(cat errors)"
        [ "$lines" -gt 0 ] || [ "$(awk '{ n += $NF } END { print n + 0 }' output)" = 0 ] ||
            fail "$what: no trace, and not a word"
        return 0
    fi
    # shellcheck disable=SC2086
    "$PROBITY" recover $traces > recovered 2>&1 || true
    # shellcheck disable=SC2086
    "$PROBITY" check $traces > checked 2>&1 || true
    # A trace that could not be written further says so, and holds no damage.
    ! grep -v ': 0 faults in \|: ok: \|is a finished CSV' checked > damaged || fail "$what: check: $(head -n 3 damaged)"
    # shellcheck disable=SC2086
    found_in "$way" $traces > found
    read -r made found invented < <(balance)
    # shellcheck disable=SC2086
    dropped=$(dropped_in $traces)
    [ "$invented" = 0 ] || fail "$what: $invented more than made: $(cat found)"
    if [ $((found + dropped)) -lt "$made" ] && [ "$lines" = 0 ]; then
        fail "$what: $made made, $found found, $dropped dropped, and not a word"
    fi
    if [ -n "${ALL:-}" ] && [ "$found" -lt "$made" ]; then
        fail "$what: $made made, $found found: $(cat errors)"
    fi
    if [ "$dropped" = 0 ] && [ -s faults ]; then fail "$what: $(head -n 2 faults)"; fi
    left=$(find "$SPOOL" -type f | head -n 3)
    # A spool that cannot be removed, of a trace that has become a CSV, has no owner any more.
    [ -z "$left" ] || [[ $what == *csv*\(unlink\) ]] || fail "$what: left in the spool's folder: $left"
}

# Refuses a program one call after the other. $1 program, $2 way, $3 hits, $4 calls between those
# that are tried, further: options of refuse
sweep_program() {
    local program=$1 way=$2 hits=$3 stride=$4 n=1 status reached refused name what settings
    shift 4
    read -ra settings < <(settings_of "$way"; echo)
    while :; do
        fresh
        status=0
        env "${settings[@]}" timeout 20 "$REFUSE" -n $n "$@" -o report "$PROGRAMS/$program" \
            "$(program_way_of "$way")" "$hits" > output 2> errors < /dev/null || status=$?
        runs=$((runs + 1))
        read -r reached refused name < report || true
        [ "$refused" != 0 ] || break
        refusals=$((refusals + 1))
        what="$program $way $* call $n of $reached ($name)"
        judge_program "$what" "$way" "$status"
        n=$((n + stride))
    done
}
