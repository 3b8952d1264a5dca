#!/usr/bin/env bash
# The reader and examples/second_decoder.c, which was written from doc/ alone, agree on every golden
# trace and on real ones; damaged traces give the right exit status and message.
# variants: clang asan
# campaign: tsan
. "$(dirname "$0")/../common.bash"
tests=$(cd "$OLDPWD" && cd "$(dirname "$0")/.." && pwd)
golden=$tests/golden
decoder=$BUILD/examples/second_decoder

# Sets $status and writes messages to "$1.err". $1 output file, the rest: a command
run() {
    local output=$1
    shift
    status=0
    timeout 300 "$@" > "$output" 2> "$output.err" || status=$?
}

# $1 description, $2 expected, $3 found: files
same() {
    cmp -s "$2" "$3" || fail "$1: expected (<) and found (>): $(diff -a "$2" "$3" | head -n 6)"
}

check_good() {
    local trace=$1 name=${1#"$golden"/}
    run reader "$PROBITY" csv "$trace"
    expect "$name: status of csv" 0 "$status"
    expect "$name: stderr of csv" "" "$(cat reader.err)"
    same "$name: csv" "${trace%.probity}.csv" reader
    if [ -e "${trace%.probity}.ids" ]; then
        run ids "$PROBITY" csv --columns role,correlation,object,place "$trace"
        same "$name: ids" "${trace%.probity}.ids" ids
    fi
    run second "$decoder" "$trace"
    expect "$name: status of the second decoder" 0 "$status"
    same "$name: second decoder" "${trace%.probity}.csv" second
    run check "$PROBITY" check "$trace"
    expect "$name: check says $(cat check check.err): status" 0 "$status"
}

# $1 trace, $2 reader, $3 status, $4 text expected in its messages (for check, also in its report on
# stdout)
check_bad() {
    local name=${1#"$golden"/} said=$2.err
    case $2 in
        decoder) run decoder "$decoder" "$1" ;;
        *) run "$2" "$PROBITY" "$2" "$1" ;;
    esac
    expect "$name: $(head -n 3 "$2.err"): status of $2" "$3" "$status"
    if [ "$2" = check ]; then
        cat check >> check.err
    elif [ "$2" = csv ]; then
        [ "$(wc -l < "$said")" -le 1 ] || fail "$name: csv: more than one line: $(cat "$said")"
    fi
    if [ -n "$4" ]; then
        grep -qF -- "$4" "$said" || fail "$name: $2: expected '$4', found: $(head -n 3 "$said")"
        grep -qF -- "$1" "$said" || fail "$name: $2 does not name the file: $(head -n 3 "$said")"
    fi
}

check_bads() {
    local trace reader expected text
    for trace in "$golden"/bad/*.probity; do
        while read -r reader expected text; do
            check_bad "$trace" "$reader" "$expected" "$text"
        done < "${trace%.probity}.expect"
        [ -e "${trace%.probity}.csv" ] || continue
        same "${trace#"$golden"/}: csv" "${trace%.probity}.csv" csv
        same "${trace#"$golden"/}: second decoder" "${trace%.probity}.csv" decoder
    done
}

# Both decoders on a real trace. $1 description, $2 trace, $3 "near" if records are read from a
# spool: the second decoder is then exact, while the reader's CPU times are rounded like a writer's
# (100 ns).
check_real() {
    run reader "$PROBITY" csv "$2"
    expect "$1: $(cat reader.err): status of csv" 0 "$status"
    run second "$decoder" "$2"
    expect "$1: $(cat second.err): status of the second decoder" 0 "$status"
    [ -s reader ] || fail "$1: nothing was recorded"
    if [ "${3:-}" != near ]; then
        same "$1" second reader
        return
    fi
    paste -d, second reader | awk -F, '
        { near = ($4 - $11) * 1000000000 + $5 - $12 }
        $1 != $8 || $2 != $9 || $3 != $10 || $6 != $13 || $7 != $14 || near > 102 || near < -102 {
            print "line " NR ": " $0; exit 1 }' > faults || fail "$1: $(cat faults)"
}

check_reals() {
    local how
    PROBITY_OUT=hello.probity "$BUILD/examples/hello"
    check_real "hello" hello.probity
    PROBITY_OUT=logger.probity "$BUILD/examples/logger"
    check_real "logger" logger.probity
    expect "logger: hits" 8000 "$(wc -l < reader)"
    for how in return kill; do
        { (PROBITY_OUT=$how.probity exec "$PROGRAMS/ends" $how 3 30000) || true; } > ends 2>&1
        check_real "$how" $how.probity near
        expect "$how: hits" 120000 "$(wc -l < reader)"
    done
    # Small chunks, and a spool of several segments.
    { (PROBITY_OUT=many.probity PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=4096 \
        exec "$PROGRAMS/ends" kill 12 3000) || true; } > ends 2>&1
    check_real "many" many.probity near
    expect "many: hits" 39000 "$(wc -l < reader)"
    "$PROBITY" recover kill.probity > recovered 2>&1
    check_real "recovered" kill.probity
    expect "recovered: hits" 120000 "$(wc -l < reader)"
}

# The committed files equal the output of their generator.
check_maker() {
    python3 "$tests/tool/make_golden.py" "$WORK/golden"
    diff -rq -x log -x model -x systems "$golden" "$WORK/golden" > differences ||
        fail "make_golden: $(head differences)"
}

# The reader, the second decoder and the generator agree on random traces, to the nanosecond.
check_random() {
    local seed=${SEED:-$RANDOM} count=${RANDOM_TRACES:-400} trace
    mkdir "$WORK/random"
    python3 "$tests/tool/make_random_traces.py" "$seed" $count "$WORK/random"
    for trace in "$WORK"/random/*.probity; do
        "$PROBITY" csv "$trace" > reader 2> reader.err || fail "$trace: csv: $(cat reader.err)"
        same "SEED=$seed: ${trace##*/}: csv" "${trace%.probity}.csv" reader
        "$decoder" "$trace" > second 2> second.err || fail "$trace: decoder: $(cat second.err)"
        same "SEED=$seed: ${trace##*/}: second decoder" "${trace%.probity}.csv" second
    done
    "$PROBITY" check "$WORK"/random/*.probity > check 2>&1 ||
        fail "SEED=$seed: check: $(grep -v ': ok' check | head -n 3)"
    expect "SEED=$seed: random traces" $count "$(grep -c ': ok' check)"
    rm -r "$WORK/random"
}

for trace in "$golden"/{good,systems}/*.probity; do
    check_good "$trace"
done
check_random
check_bads
check_reals
check_maker
finish
