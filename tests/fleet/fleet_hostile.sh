#!/usr/bin/env bash
# A malicious database: replies with changed numbers, lengths and texts, truncated, repeated,
# endless, or with redirections. Commands end with a documented status, print no control characters,
# use bounded memory, and connect to no other address. COUNT: number of changed databases for each
# command; SEED: of the first.
# variants: asan
# timeout: 900
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
starts_database

record tree "$PROGRAMS/tree"
record several "$PROGRAMS/parallel"
record typed "$PROGRAMS/typed"
record blocks "$PROGRAMS/blocks"
echo 3000 | record rounds "$PROGRAMS/steady"
PROBITY_PROFILE=1 record profiled "$PROGRAMS/varied" 0 20
probity "ship" 0 ship --to "$url" --init --detail records tree several typed blocks rounds profiled

: > port.out
python3 "$SOURCE/tests/fleet/fleet_mutate.py" "$http_port" > port.out 2> mutate.err &
liar=$!
end_servers() {
    kill -s KILL "$liar" 2> /dev/null || true
    stop_server KILL
}
trap '[[ $BASHPID != $$ ]] || { end_servers; rm -rf "$WORK" "$SPOOL"; }' EXIT
wait_until "$liar" test -s port.out || fail "no server: $(cat mutate.err)"
lies=http://127.0.0.1:$(cat port.out)
url=$lies/${url##*/}
control() { curl -sS --noproxy '*' --data-binary "TEST $1" "$lies/"; }

control 0
run=$("$PROBITY" fleet --from-fleet "$url" --json | jq -r '.runs[0].run')
commands=("fleet" "fleet --json" "report" "report --json" "list" "tree"
    "tree --json" "blocks" "hist *" "threads" "runs list" "report --csv" "diff @tree -- @several"
    "fleet --request 77" "fetch -f -o fetched $run")
# $1 words of a command
ask() {
    local words
    read -ra words <<< "$1"
    status=0
    timeout 120 "$PROBITY" "${words[@]}" --from-fleet "$url" > output 2> errors || status=$?
}
for command in "${commands[@]}"; do
    ask "$command"
    case $status in 0 | 1 | 2 | 3) ;; *) fail "$command: status $status: $(cat errors)" ;; esac
    echo "$command: status $status, $(wc -c < output) bytes"
done
first=${SEED:-1}
for ((seed = first; seed < first + ${COUNT:-12}; seed++)); do
    control "$seed"
    for command in "${commands[@]}"; do
        ask "$command"
        case $status in
        0 | 1 | 2 | 3) ;;
        *) fail "seed $seed: $command: status $status: $(tail -n 5 errors)" ;;
        esac
        ! grep -qE 'Sanitizer|runtime error' errors ||
            fail "seed $seed: $command: $(head -n 20 errors)"
        ! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' output errors ||
            fail "seed $seed: $command: control characters: $(cat -v output errors | head -n 5)"
    done
done

control endless
for command in fleet "fetch -f -o fetched $run"; do
    ask "$command"
    expect "$command, an endless reply: status" 1 "$status"
    [ -s errors ] || fail "$command, an endless reply: no message"
done
control redirect
for command in fleet "fetch -f -o fetched $run"; do
    ask "$command"
    expect "$command, sent elsewhere: status" 1 "$status"
    grep -q 'returned status 307' errors || fail "$command, sent elsewhere: $(cat errors)"
done
expect "requests while sent elsewhere" 2 "$(control COUNT)"
finish
