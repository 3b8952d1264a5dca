#!/usr/bin/env bash
# A malicious database: replies with changed numbers, lengths and texts, truncated, repeated,
# endless, or with redirections. Commands end with a documented status, print no control characters
# and no lines from a reply, use bounded memory (measured by gcc), and connect to no other address.
# COUNT: number of changed databases for each command; SEED: of the first.
# variants: gcc asan
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
database=$url
lying=$lies/${url##*/}
url=$lying
control() { curl -sS --noproxy '*' --data-binary "TEST $1" "$lies/"; }

control 0
run=$("$PROBITY" fleet --from-fleet "$url" --json | jq -r '.runs[0].run')
commands=("fleet" "fleet --json" "report" "report --json" "list" "tree"
    "tree --json" "blocks" "hist *" "threads" "runs list" "report --csv" "diff @tree -- @several"
    "fleet --request 77" "fetch -f -o fetched $run")
measured=()
# $1 words of a command
ask() {
    local words
    read -ra words <<< "$1"
    status=0
    (
        [ "${VARIANT:-gcc}" = asan ] || ulimit -v 1000000 # KiB
        exec timeout 120 "${measured[@]}" "$PROBITY" "${words[0]}" --from-fleet "$url" \
            "${words[@]:1}"
    ) > output 2> errors || status=$?
    ! grep -q 'returned status 599' errors || fail "$1: the server has no database: $(cat errors)"
}

# Unchanged replies have the same results as the database's own.
for command in "${commands[@]}"; do
    url=$database ask "$command"
    mv output output.database
    sed "s,$database,URL,g" errors > errors.database
    truth=$status
    ask "$command"
    expect "$command: status" "$truth" "$status"
    cmp -s output output.database || fail "$command: $(diff output.database output | head -n 5)"
    diff errors.database <(sed "s,$lying,URL,g" errors) > differences ||
        fail "$command: $(head -n 5 differences)"
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
        ! grep -q 'out of memory' errors || fail "seed $seed: $command: $(cat errors)"
        ! LC_ALL=C grep -qP '[\x01-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' output errors ||
            fail "seed $seed: $command: control characters: $(cat -v output errors | head -n 5)"
        ! grep -q '^#!' output errors ||
            fail "seed $seed: $command: shows a line of a reply: $(grep -B 1 '^#!' output errors)"
    done
done

# The largest reply is 256 MiB.
control endless
measured=(python3 -c 'import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
with open("peak", "w") as file:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=file)
sys.exit(status)')
for command in fleet "fetch -f -o fetched $run"; do
    ask "$command"
    expect "$command, an endless reply: status" 1 "$status"
    grep -q 'the reply is too large' errors ||
        fail "$command, an endless reply: $(cat errors)"
    [ "${VARIANT:-gcc}" = asan ] || [ "$(cat peak)" -le 400000 ] ||
        fail "$command, an endless reply: $(cat peak) KiB"
done
measured=()
control redirect
for command in fleet "fetch -f -o fetched $run"; do
    ask "$command"
    expect "$command, sent elsewhere: status" 1 "$status"
    grep -q 'returned status 307' errors || fail "$command, sent elsewhere: $(cat errors)"
done
expect "requests while sent elsewhere" 2 "$(control COUNT)"
finish
