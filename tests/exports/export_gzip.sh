#!/usr/bin/env bash
# `probity export --gzip`, and outputs named *.gz: gunzip restores the plain output. A full disk is
# an error, and no file is left.
# variants: gcc asan
. "$(dirname "$0")/../common.bash"

PROBITY_OUT=$WORK/exported "$PROGRAMS/exported" 4 300
PROBITY_OUT=$WORK/none "$PROGRAMS/exported" none
for trace in exported none; do
    for format in chrome perfetto firefox speedscope pprof otlp otlp-json; do
        what="$format of $trace"
        "$PROBITY" export --format $format -o plain "$trace" 2> errors ||
            fail "$what: $(cat errors)"
        "$PROBITY" export --format $format -o named.gz "$trace" 2> errors ||
            fail "$what, named: $(cat errors)"
        "$PROBITY" export --format $format --gzip "$trace" > piped 2> errors ||
            fail "$what, standard output: $(cat errors)"
        cmp -s named.gz piped || fail "$what: differs by name"
        gunzip -c named.gz > unpacked 2> errors || fail "$what: $(cat errors)"
        cmp plain unpacked || fail "$what: differs from the plain output"
        [ "$trace" = none ] || [ "$(stat -c %s named.gz)" -lt "$(stat -c %s plain)" ] ||
            fail "$what: not smaller"
        rm -f plain named.gz piped unpacked
        status=0
        "$PROBITY" export --format $format --gzip "$trace" > /dev/full 2> errors || status=$?
        expect "$what, full disk: status" 1 "$status"
        grep -q 'cannot write' errors || fail "$what, full disk: $(cat errors)"
    done
done

# An output larger than the limit on file sizes: nothing is left.
mkdir empty
(
    ulimit -f 8
    status=0
    "$PROBITY" export --format chrome -o empty/out.gz exported 2> errors || status=$?
    [ "$status" = 1 ]
) || fail "limit of the size: status"
expect "limit of the size: files" "" "$(ls -A empty)"

# Not compressed, whatever the name; and usage errors.
"$PROBITY" export --format folded -o stacks.gz exported 2> errors || fail "$(cat errors)"
! gunzip -t stacks.gz 2> errors || fail "folded is compressed"
for arguments in '--format folded' '--format sqlite -o out' \
    '--format otlp -o http://127.0.0.1:1/v1/traces'; do
    status=0
    # shellcheck disable=SC2086
    "$PROBITY" export --gzip $arguments exported > output 2> errors || status=$?
    expect "--gzip $arguments: status" 2 "$status"
done
finish
