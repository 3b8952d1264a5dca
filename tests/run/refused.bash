# Refuses a test program, or the tool, what it asks the system for: one call after the other, once
# and from there on for ever. Sourced by tests/run/refused*.sh and tests/campaign/refused.sh, which
# differ in how many of the calls they try. No `< <(...)` here: bash takes the status of such a
# command for that of a later one whose process has got the same number, which happens in thousands
# of runs.
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
    read -r made found invented <<< "$(balance)"
    # shellcheck disable=SC2086
    dropped=$(dropped_in $traces)
    [ "$invented" = 0 ] || fail "$what: $invented more than made: $(cat found)"
    if [ $((found + dropped)) -lt "$made" ] &&
        ! grep -q 'not recording\|recover\|no CPU\|memory' errors; then
        fail "$what: $made made, $found found, $dropped dropped, and no word of it: $(cat errors)"
    fi
    if [ -n "${ALL:-}" ] && [ "$found" -lt "$made" ]; then
        fail "$what: $made made, $found found: $(cat errors)"
    fi
    if [ "$dropped" = 0 ] && [ -s faults ]; then fail "$what: $(head -n 2 faults)"; fi
    # Where hits were dropped there are gaps, and nothing else.
    ! grep 'twice\|back' faults > damaged || fail "$what: $(head -n 2 damaged)"
    left=$(find "$SPOOL" -type f; find . -name '*.tmp*')
    [ -z "$left" ] || fail "$what: left: $(head -n 3 <<< "$left")"
    if [ "$lines" = 0 ] && [ "$dropped" = 0 ]; then judge_texts "$what" "$way"; fi
}

# A log, or a summary, of whose failure there was no word: it tells all. $1 what, $2 way
judge_texts() {
    case $2 in
        log)
            expect "$1: log" "$(cat output)" "branch $(grep -c ' void branch$' log)
leaf $(grep -c ' int leaf$' log)" ;;
        summary)
            while read -r name calls; do
                grep -q "^ *$calls .* $name\$" summary || fail "$1: summary: $(cat summary)"
            done < output ;;
    esac
}

# Refuses a program one call after the other. $1 program, $2 way, $3 hits, $4 calls between those
# that are tried, further: options of refuse
sweep_program() {
    local program=$1 way=$2 hits=$3 stride=$4 n=1 status reached refused name what settings
    shift 4
    read -ra settings <<< "$(settings_of "$way")"
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

# A program to which all calls of a kind are refused from one on does not ask for them again with
# each record. $1 way, $2 calls, $3 the first that is refused
asks_seldom() {
    local reached refused name dropped
    fresh
    PROBITY_OUT=$WORK/trace timeout 20 "$REFUSE" -n "$3" -a -k "$2" -o report "$PROGRAMS/refused" \
        "$1" 2000 > output 2> errors || true
    runs=$((runs + 1)) refusals=$((refusals + 1))
    judge_program "$1, $2 refused for ever" "$1" 5
    read -r reached refused name < report
    dropped=$(dropped_in trace)
    if [ "$dropped" -lt 5000 ] || [ "$refused" -lt 3 ] || [ "$refused" -gt $((dropped / 20)) ]; then
        fail "$1: $refused of $reached $name refused for $dropped records"
    fi
}

# ---- The tool ------------------------------------------------------------------------------------

MEMORY=$BUILD/tests/refuse_memory.so

# Traces of all kinds in $INPUTS, and what each command makes of them when nothing is refused.
make_inputs() {
    INPUTS=$(mktemp -d /tmp/probity-test.XXXXXX)
    trap 'rm -rf "$WORK" "$SPOOL" "$INPUTS"' EXIT
    (cd "$SOURCE" && "${CC:-gcc}" -std=gnu11 -O2 -g -Wall -Wextra -D_GNU_SOURCE -fPIC -shared \
        -o "$MEMORY.$$" tests/tool/refuse_memory.c && mv "$MEMORY.$$" "$MEMORY")
    local run
    cp "$PROGRAMS/refused" "$INPUTS/program"
    for run in one two; do
        env PROBITY_LEVEL=5 PROBITY_LABEL=$run PROBITY_OUT="$INPUTS/$run" \
            "$INPUTS/program" mixed 20 > /dev/null || true
    done
    PROBITY_PROFILE=1 PROBITY_LEVEL=5 PROBITY_OUT=$INPUTS/profile \
        "$INPUTS/program" scopes 20 > /dev/null || true
    (PROBITY_OUT=$INPUTS/killed "$PROGRAMS/ends" kill 2 300 || true) > /dev/null 2>&1
    mkdir "$INPUTS/spool"
    mv "$SPOOL"/* "$INPUTS/spool/"
    "$PROBITY" export --format ctf -o "$INPUTS/old.ctf" "$INPUTS/two" 2> /dev/null
    (cd "$INPUTS" && "$PROBITY" runs init > /dev/null && "$PROBITY" runs add one > /dev/null &&
        mv .probity history)
}

# What stands in the way of each command's output, in the form that it has: another file, or folder.
# $1 command, as below
prepare() {
    rm -rf "${WORK:?}"/* "${WORK:?}"/.probity "${SPOOL:?}"/*
    case $1 in
        *ctf*) cp -r "$INPUTS/old.ctf" out ;;
        *'-o out'*) echo old > out ;;
    esac
    case $1 in
        recover*)
            cp "$INPUTS/killed" killed
            cp "$INPUTS"/spool/* "$SPOOL/" ;;
        'runs init') ;;
        runs*) cp -r "$INPUTS/history" .probity ;;
    esac
}

# Where a command's answer is. What a run of it cannot have in common with another is taken out.
answer_of() {
    case $1 in
        *ctf*) cat out/* ;;
        *sqlite*) [ "$(cat out)" = old ] && echo old || sqlite3 out .dump ;;
        *'-o out'*) cat out ;;
        recover*) "$PROBITY" csv killed | cut -d, -f1-3 ;;
        'runs init') [ -d .probity ] && echo yes ;;
        'runs add'* | 'runs rm'*) "$PROBITY" runs list | cut -c1-60 ;;
        overhead* | record*) ;;
        *) cat stdout ;;
    esac 2> /dev/null | grep -av 'added' || true
}

# The same as it stood before the command.
before_of() {
    case $1 in
        *ctf*) cat "$INPUTS"/old.ctf/* ;;
        *'-o out'*) echo old ;;
        'runs init') ;;
        recover*) ;;
        'runs add'* | 'runs rm'*)
            (mkdir -p "$WORK/earlier" && cd "$WORK/earlier" && cp -r "$INPUTS/history" .probity &&
                "$PROBITY" runs list | cut -c1-60) ;;
    esac | grep -av 'added' || true
}

# One line each; TRACES is where they are.
commands() {
    cat <<'LIST'
csv -f -o out TRACES/one
csv --header TRACES/one TRACES/two
log -f -o out TRACES/one
log TRACES/one
report -f -o out TRACES/one
report --json TRACES/one
report TRACES/profile
info TRACES/one
info --json TRACES/one
check TRACES/one
recover killed
tree -f -o out TRACES/one
tree --json TRACES/profile
threads -f -o out TRACES/one
blocks -f -o out TRACES/one
blocks --json TRACES/one
hist -f -o out branch TRACES/one
diff -f -o out TRACES/one -- TRACES/two
list -f -o out TRACES/one
model -f -o out TRACES/one
model --dot TRACES/one
overhead TRACES/one
runs init
runs add TRACES/two
runs list
runs show 1
runs rm 1
timeline TRACES/one
timeline --json TRACES/one
view -f -o out TRACES/one
view -f -o out --diff TRACES/two TRACES/one
export --format chrome -f -o out TRACES/one
export --format speedscope -f -o out TRACES/one
export --format callgrind -f -o out TRACES/one
export --format folded -f -o out TRACES/one
export --format sqlite -f -o out TRACES/one
export --format graphviz -f -o out TRACES/one
export --format perfetto -f -o out TRACES/one
export --format pprof -f -o out TRACES/one
export --format ctf -f -o out TRACES/one
export --format otlp -f -o out TRACES/one
export --format otlp-json -f -o out TRACES/one
LIST
}

# $1 what, $2 command, $3 status, $4 the status without a refusal
judge_tool() {
    local what=$1 command=$2 status=$3 usual=$4
    if [ "$status" -ge 124 ]; then
        fail "$what: status $status: $(tail -n 2 stderr)"
        return 0
    fi
    [ -z "${ALL:-}" ] || [ "$status" = "$usual" ] || fail "$what: status $status: $(cat stderr)"
    answer_of "$command" > answer
    if [ "$status" = "$usual" ]; then
        cmp -s answer "$INPUTS/answer" || cmp -s answer "$INPUTS/answer.alone" || fail "$what: another answer, and no failure:" \
            "$(diff -a "$INPUTS/answer" answer | head -n 4; cat stderr)"
    else
        grep -q probity stderr || fail "$what: status $status, and not a word: $(cat stderr)"
        [ "$(grep -vc '^Try ' stderr)" -le 3 ] || fail "$what: many words: $(head -n 5 stderr)"
        before_of "$command" > before
        case $command in
            recover*) again_recovers "$what" ;;
            *'-o out'* | 'runs init' | 'runs add'* | 'runs rm'*)
                cmp -s answer before ||
                    { grep -q 'standard output' stderr && cmp -s answer "$INPUTS/answer"; } ||
                    fail "$what: failed ($(cat stderr)), but its output is not as before" ;;
        esac
    fi
    judge_left "$what"
}

# Whatever stopped a recovery, another one goes on. $1 what
again_recovers() {
    "$PROBITY" recover killed > stdout 2>&1 || fail "$1: recovered again: $(cat stdout)"
    answer_of recover > answer
    cmp -s answer "$INPUTS/answer" || fail "$1: recovered again: another answer"
    [ -z "$(ls "$SPOOL")" ] || fail "$1: recovered again: left: $(ls "$SPOOL")"
}

# What cannot be removed is named. $1 what
judge_left() {
    local left
    for left in *.tmp*; do
        [ ! -e "$left" ] || grep -qF "'$left' is left and may be removed" stderr ||
            fail "$1: left without a word: $left: $(cat stderr)"
    done
}

# $1 command; further: in front of the tool. Output in stdout and stderr; prints the status.
run_command() {
    local command=$1 status=0
    shift
    # shellcheck disable=SC2086
    timeout 20 "$@" "$PROBITY" ${command//TRACES/$INPUTS} > stdout 2> stderr < /dev/null || status=$?
    echo "$status"
}

# What the command says when nothing is refused, and what without the program that was traced, whose
# signatures then are not to be had. $1 command; prints the status.
learn_answer() {
    prepare "$1"
    mv "$INPUTS/program" "$INPUTS/moved"
    run_command "$1" > /dev/null
    answer_of "$1" > "$INPUTS/answer.alone"
    mv "$INPUTS/moved" "$INPUTS/program"
    prepare "$1"
    run_command "$1"
    answer_of "$1" > "$INPUTS/answer"
}

# Refuses the tool one system call after the other. $1 command, $2 calls between those that are
# tried, further: options of refuse
sweep_tool() {
    local command=$1 stride=$2 n=1 status usual reached refused name
    shift 2
    usual=$(learn_answer "$command")
    while :; do
        prepare "$command"
        status=$(run_command "$command" "$REFUSE" -n $n "$@" -o "$INPUTS/report")
        runs=$((runs + 1))
        read -r reached refused name < "$INPUTS/report" || true
        [ "$refused" != 0 ] || break
        refusals=$((refusals + 1))
        judge_tool "$command: $* call $n of $reached ($name)" "$command" "$status" "$usual"
        n=$((n + stride))
    done
}

# Replaces a folder where the file system cannot exchange two names, and each step behind that
# fails: one of the two is always there.
folder_in_two_steps() {
    if ! command -v strace > /dev/null; then
        echo "no strace: folders on file systems without exchange are not tested"
        return 0
    fi
    local command='export --format ctf -f -o out TRACES/one' usual fault
    usual=$(learn_answer "$command")
    for fault in rename:error=EIO:when=1 rename:error=EIO:when=2 unlinkat:error=EIO:when=1 \
        rmdir:error=EIO; do
        prepare "$command"
        judge_tool "$command, $fault" "$command" "$(run_command "$command" strace -f -qq \
            -o /dev/null -e inject=renameat2:error=ENOSYS -e "inject=$fault")" "$usual"
        runs=$((runs + 1)) refusals=$((refusals + 1))
    done
}

# How many allocations a command makes. $1 command
allocations_of() {
    prepare "$1"
    head -c 16 /dev/zero > "$INPUTS/report"
    run_command "$1" env "LD_PRELOAD=$MEMORY" "REFUSE_MEMORY=$INPUTS/report:0" > /dev/null
    od -An -tu8 -N 8 "$INPUTS/report"
}

# Refuses the tool one allocation after the other. $1 command, $2 stride, $3 "" or ":ever"
sweep_memory() {
    local command=$1 stride=$2 ever=$3 n=1 status usual refused
    usual=$(learn_answer "$command")
    while :; do
        prepare "$command"
        head -c 16 /dev/zero > "$INPUTS/report"
        status=$(run_command "$command" env "LD_PRELOAD=$MEMORY" "REFUSE_MEMORY=$INPUTS/report:$n$ever")
        runs=$((runs + 1))
        refused=$(od -An -tu8 -j 8 -N 8 "$INPUTS/report")
        [ "$refused" -gt 0 ] || break
        refusals=$((refusals + 1))
        judge_tool "$command: allocation $n$ever" "$command" "$status" "$usual"
        n=$((n + stride))
    done
}
