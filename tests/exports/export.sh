#!/usr/bin/env bash
# `probity export`: errors, warnings, and every kind of trace in every format.
# variants: clang asan
# campaign: tsan
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/exports/exported.bash"

# $1 description, $2 status, $3 word expected on stderr; then the arguments.
refused() {
    local what=$1 expected=$2 word=$3 status=0
    shift 3
    "$PROBITY" export "$@" > output 2> errors || status=$?
    expect "$what: status" "$expected" "$status"
    grep -qF -- "$word" errors || fail "$what: stderr lacks '$word': $(cat errors)"
    expect "$what: output" "" "$(cat output)"
    [ ! -e out ] || fail "$what: unexpected output file"
}

PROBITY_OUT=$WORK/trace "$PROGRAMS/tree"
PROBITY_OUT=$WORK/none "$PROGRAMS/exported" none
PROBITY_OUT=$WORK/one "$PROGRAMS/exported" one
PROBITY_OUT=$WORK/counted PROBITY_PROFILE=1 "$PROGRAMS/exported"

# The message about an unknown format lists the same formats as the help.
refused "unknown format" 2 "invalid format 'none' (valid: " --format none trace
sed -n 's/.*(valid: \(.*\))$/\1/p' errors | tr ',' '\n' | xargs -n 1 | sort > formats
"$PROBITY" export --help | sed -n 's/^ \{10\}\([a-z][a-z-]*\) .*/\1/p' | sort > helped
diff formats helped > difference || fail "formats listed (<) and in the help (>): $(cat difference)"
[ "$(wc -l < formats)" -ge 9 ] || fail "too few formats: $(xargs < formats)"
grep -qx chrome formats && grep -qx sqlite formats || fail "formats: $(xargs < formats)"
for section in $(cat formats); do
    grep -q "^\.Ss \(.* , \)*$section\( ,.*\)*$" "$SOURCE/man/probity-export.1" ||
        fail "no section on '$section' in the manual"
done

refused "no format" 2 "--format is required (valid: " trace
refused "no trace" 2 "no trace given" --format folded
refused "unknown value" 2 "invalid --value 'none'" --format folded --value none trace
refused "a value for a timeline" 2 "format 'chrome' does not support this --value" \
    --format chrome --value cpu trace
refused "threads for all" 2 "format 'callgrind' does not support --by-thread" \
    --format callgrind --by-thread trace
refused "a graph of a timeline" 2 "format 'chrome' does not support --graph" \
    --format chrome --graph calls trace
refused "unknown graph" 2 "invalid --graph 'none'" --format graphviz --graph none trace
refused "wrong time" 2 "invalid --since 'x'" --format folded --from x trace
refused "no such file" 1 "cannot open 'nowhere'" --format chrome -o out nowhere
refused "no trace at all" 1 "is not a Probity trace" --format chrome -o out formats
refused "input as output" 1 "refusing to overwrite input" --format chrome -f -o trace trace
refused "no such directory" 1 "cannot write 'none/out':" --format chrome -o none/out trace
refused "no such directory, directory" 1 "cannot create 'none/out':" --format ctf -o none/out trace
status=0
"$PROBITY" export --format chrome --tid 1 trace > output 2> errors || status=$?
expect "no such thread: status" 1 "$status"
grep -q 'no records of thread id 1;' errors ||
    fail "expected an error about the thread: $(cat errors)"

# Output to stdout, including one that cannot be written to.
for format in chrome callgrind folded graphviz speedscope openmetrics; do
    export_to "$format to a file" 0 "$format" trace
    "$PROBITY" export --format "$format" -o - trace 2> errors | cmp -s - out ||
        fail "$format: standard output differs from the file"
    status=0
    "$PROBITY" export --format "$format" trace > /dev/full 2> errors || status=$?
    expect "$format: full standard output: status" 1 "$status"
    grep -q 'cannot write to standard output: No space left' errors ||
        fail "$format: expected an error: $(cat errors)"
done

# A format that cannot represent something reports it; otherwise nothing is printed.
export_to "left out" 0 folded one
grep -q "^probity export: 1 hits of probes are not in the output: 'folded' cannot represent" \
    errors ||
    fail "expected a note about the hit: $(cat errors)"
export_to "nothing left out" 0 chrome one
expect "nothing left out" 1 "$(wc -l < errors)"
export_to "repairs" 0 chrome trace
unwound=$("$PROBITY" report --json trace | jq .repairs.unwound)
grep -q "scopes repaired: $unwound unwound" errors ||
    fail "expected a note about repairs: $(cat errors)"

# At most 4096 queues have a counter; the number of hits of the others is reported.
"$PROGRAMS/gen_adversarial_traces_internal" queues 5000 > queues
for format in chrome perfetto; do
    export_to "$format: too many queues" 0 "$format" queues
    grep -q '^probity export: 904 hits of queues are not in the output: only the first 4096' \
        errors || fail "$format: expected a note about queues: $(cat errors)"
done
for kind in queues locks; do
    "$PROGRAMS/gen_adversarial_traces_internal" "$kind" 5000 > many_stations
    export_to "openmetrics: too many $kind" 0 openmetrics many_stations
    grep -q '^probity export: 904 hits of queues and locks are not in the metrics' \
        errors || fail "expected a note about $kind: $(cat errors)"
done
for format in otlp openmetrics; do
    "$PROGRAMS/gen_adversarial_traces_internal" queues 4096 > queues
    export_to "$format: 4096 queues" 0 "$format" queues
    if grep -q 'hits of queues' errors; then fail "$format: unexpected note: $(cat errors)"; fi
done

# Signals that end the command remove the incomplete output; SIGKILL leaves no named file where the
# file system supports unnamed ones. A full pipe on stderr blocks the command in its message about
# repairs, before the output gets its name.
is_begun() {
    [ -n "$(find "/proc/$1/fd" -lname "$WORK/#*" 2> /dev/null)" ] ||
        ls out.*.tmp/stream > /dev/null 2>&1 || [ -f "$(echo out.*.tmp)" ]
}
mkfifo full
exec {pipe}<> full
dd if=/dev/zero of=full bs=4k oflag=nonblock 2> errors || true
interruptions=()
if ! unfollowed "export interrupted" "no handler runs while it waits in write()"; then
    interruptions=("chrome INT 130" "sqlite TERM 143" "ctf HUP 129")
fi
if has_unnamed_files; then interruptions+=("folded KILL 137"); fi
for interrupted in "${interruptions[@]}"; do
    read -r format signal expected <<< "$interrupted"
    rm -rf out
    env --default-signal "$PROBITY" export --format "$format" -o out trace 2> full &
    export=$!
    wait_until "$export" is_begun "$export" || fail "$format: nothing under a temporary name"
    kill -s "$signal" "$export"
    status=0
    wait "$export" 2> errors || status=$?
    expect "$format: interrupted: status" "$expected" "$status"
    expect "$format: interrupted: left" "" "$(find . -name 'out*' ! -name output)"
done
exec {pipe}>&-

# A user's file or directory with the name of a temporary one is kept.
for format in chrome sqlite ctf; do
    rm -rf out out.tmp
    echo mine > out.tmp
    export_to "$format next to out.tmp" 0 "$format" trace
    expect "$format next to out.tmp" mine "$(cat out.tmp)"
    expect "$format: left next to it" out "$(find . -name 'out*' ! -name output ! -name out.tmp |
        grep -v '^./out/' | sed 's,^\./,,')"
done
rm -rf out out.tmp
mkdir out.tmp
touch out.tmp/metadata out.tmp/stream
export_to "ctf next to a directory out.tmp" 0 ctf trace
expect "a directory out.tmp" "metadata stream" "$(cd out.tmp && echo *)"
rm -r out.tmp
long=$(printf 'x%.0s' $(seq 255))
for format in folded ctf; do
    rm -rf "$long"
    "$PROBITY" export --format "$format" -o "$long" trace 2> errors || fail "long: $(cat errors)"
    [ -e "$long" ] || fail "$format: no output for a long name"
done
rm -r "$long"

# Every kind of trace in every format; JSON is strict, whatever the names and values.
for trace in none one counted trace "$SOURCE"/tests/golden/good/*.probity; do
    for format in $(cat formats); do
        export_to "$(basename "$trace") as $format" 0 "$format" "$trace"
        case $format in
            chrome | speedscope) jq -e . out > /dev/null 2> errors ||
                fail "$(basename "$trace") as $format: $(cat errors)" ;;
        esac
    done
done
# Damaged traces: the readable part or nothing is exported, and the status is that of a damaged
# trace.
for trace in "$SOURCE"/tests/golden/bad/*.probity; do
    for format in chrome folded sqlite; do
        status=0
        rm -rf out
        "$PROBITY" export --format "$format" -o out "$trace" 2> errors || status=$?
        case $status in
            1) [ ! -e out ] || fail "$(basename "$trace") as $format: output of a failure" ;;
            0 | 3) [ -e out ] || fail "$(basename "$trace") as $format: no output" ;;
            *) fail "$(basename "$trace") as $format: status $status: $(cat errors)" ;;
        esac
    done
done
finish
