#!/usr/bin/env bash
# Traces of several hosts on one time line (doc/hosts.md): although clocks are off by seconds and
# drift, every record is within the stated error, and every receive is later than its send.
# Contradictory bounds are reported and not used.
# variants: gcc asan
. "$(dirname "$0")/../common.bash"

make() { # $1 seed, $2 kind
    rm -rf made
    mkdir made
    python3 "$SOURCE/tests/tool/make_hosts.py" "$1" made "$2" || fail "$2 $1: not made"
    traces=(made/a.probity made/b.probity made/c.probity)
}

# $1 what; then the command and its arguments. Writes "output" and "errors".
tool() {
    local what=$1 status=0
    shift
    "$PROBITY" "$@" > output 2> errors || status=$?
    expect "$what: status ($(head -c 300 errors))" 0 "$status"
}

pairs_of() { # $1 filter for each pair
    jq -c "[.[].alignment.pairs[] | {pair: \"\(.from)\(.to)\", what: $1}] | unique |
        [.[] | \"\(.pair) \(.what)\"]" info
}

info() { # $1 what
    tool "info: $1" info --json "${traces[@]}"
    mv output info
}

right() { # $1 what
    tool "csv: $1" csv "${traces[@]}"
    python3 "$SOURCE/tests/tool/check_hosts.py" made/truth.json info output > wrong
    [ ! -s wrong ] || fail "$1: $(head -n 3 wrong)"
}

# Only a and c exchange no messages.
for seed in 1 2; do
    make "$seed" messages
    for trace in "${traces[@]}"; do tool "check" check "$trace"; done
    info "$seed"
    expect "pairs" '["01 bounded","02 bounded","12 bounded"]' "$(pairs_of .state)"
    expect "links" '["01 messages","02 requests","12 messages"]' "$(pairs_of .by)"
    right "messages $seed"
done
expect "reported" 2 "$(grep -c 'aligned to aaaaaaa.* ppm, error at most' errors)"
tool "--quiet" csv --quiet "${traces[@]}"
expect "--quiet" "" "$(cat errors)"
tool "--no-align" info --no-align --json "${traces[@]}"
expect "--no-align" '[null,null,null]' "$(jq -c '[.[].alignment]' output)"
expect "clocks as they are" true \
    "$(jq -s '.[0][1].times != .[1][1].times' output info)"
tool "report" report --json "${traces[@]}"
expect "report" '["aaaaaaa","bbbbbbb","ccccccc"]' "$(jq -c '[.hosts[].host]' output)"
# Facts that info prints are not repeated in a message.
tool "info as text" info "${traces[@]}"
expect "info: clocks" 2 "$(grep -c 'aligned to aaaaaaa.* ppm, error at most' output)"
expect "info: reported" 0 "$(grep -c 'aligned' errors)"
# The clock of the first host is kept, whichever host that is.
tool "b first" info --json made/b.probity made/a.probity
tool "b alone" info --json made/b.probity
"$PROBITY" info --json made/b.probity made/a.probity 2> errors | jq '.[0].times' > first
jq '.[0].times' output | cmp -s - first || fail "the first host's times differ: $(cat first)"

# A request visits b and c. The time of each message on the network is a part of the path, and
# correct to within the error.
tool "path" path --slowest 50 --json "${traces[@]}"
expect "path: ways" '["01","12","21","10"]' "$(jq -c '[.spans[].parts |
    map(select(.state == "wire") | "\(.from_trace)\(.to_trace)")] | unique | .[]' output)"
expect "path: sums" true "$(jq '[.spans[] | (.parts | map(.ns) | add) == .ns] | all' output)"
python3 "$SOURCE/tests/tool/check_wires.py" made/truth.json < output > wrong
[ ! -s wrong ] || fail "path: $(head -n 3 wrong)"
tool "path as text" path "${traces[@]}"
expect "path as text" 4 "$(grep -c ' wire .* on .* to .* on .*, error at most' output)"
tool "path without alignment" path --no-align --json "${traces[@]}"
expect "path without alignment" '[]' "$(jq -c '[.spans[].parts[] | select(.state == "wire" and
    .ns < 10000000) | .error_ns // empty]' output)"

make 4 requests
info requests
expect "pairs" '["01 bounded","02 bounded"]' "$(pairs_of .state)"
expect "links" '["01 requests","02 requests"]' "$(pairs_of .by)"
right requests

# The anchors show that the clock was set: its host's time does not follow it.
make 5 stepped
info stepped
expect "stepped" '["01 bounded","02 bounded","12 bounded"]' "$(pairs_of .state)"
right stepped

# Programs that were killed early have only one anchor: 3 is the status of incomplete traces.
make 1 cut
"$PROBITY" info --json "${traces[@]}" > info 2> errors || expect "info: cut" 3 $?
"$PROBITY" csv "${traces[@]}" > output 2> errors || expect "csv: cut" 3 $?
python3 "$SOURCE/tests/tool/check_hosts.py" made/truth.json info output > wrong
[ ! -s wrong ] || fail "cut: $(head -n 3 wrong)"

make 1 named
tool "named: path" path "${traces[@]}"
"$PROBITY" info "${traces[@]}" >> output 2>&1 || fail "named: status $?"
expect "named" 0 "$(LC_ALL=C grep -ac $'[\x01-\x08\x0b-\x1f\x7f-\xff]' output)"

make 6 one-way
info one-way
expect "one-way" '["01 one-sided","02 bounded","12 one-sided"]' "$(pairs_of .state)"
expect "no error" null "$(jq -c '.[0].alignment.pairs[] | select(.to == 1) | .error_ns' info)"

# A clock that jumped, which the anchors do not show, and an id that was reused.
for kind in jumped reused; do
    make 7 "$kind"
    info "$kind"
    expect "$kind" '"contradictory"' \
        "$(jq -c '.[0].alignment.pairs[] | select(.to == 1) | .state' info)"
    tool "$kind" csv "${traces[@]}"
    expect "$kind: reported" 1 "$(grep -c 'aaaaaaa and bbbbbbb contradict each other' errors)"
done
finish
