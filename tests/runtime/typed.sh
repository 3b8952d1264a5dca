#!/usr/bin/env bash
# Typed probes: every hit, with role and ids, in processing order across threads. Also with frequent
# chunk changes, with a signal handler that hits typed probes, and read by the second decoder.
# variants: clang asan tsan
. "$(dirname "$0")/../common.bash"
SOURCE=$OLDPWD

# Prints a run's expected lines "role correlation probe". $1 requests
expected_roles() {
    awk -v n="$1" 'BEGIN {
        for (i = 1; i <= n; i++) {
            print "request-begin," i ",request:begin"
            print "queue-put," i ",items:put"
            print "queue-get," i ",items:get"
            print "," i ",7"
            print "request-end," i ",8"
        }
        print ",,1"
    }' | sort
}

# $1 description, $2 requests, $3 trace
check_roles() {
    "$PROBITY" csv --columns role,correlation,probe "$3" > lines 2> errors ||
        fail "$1: $(cat errors)"
    grep -v -e '^lock-' -e ',handled$' lines | sort > found || true
    expected_roles "$2" > wanted
    cmp -s wanted found || fail "$1: expected (<), found (>): $(diff wanted found | head -n 10)"
    # Checks that every request passes its stages in this order, whichever threads handle it.
    awk -F, '$2 != "" && $3 != "handled" { stages[$2] = stages[$2] " " $3 }
        END {
            for (i in stages)
                if (stages[i] != " request:begin items:put items:get 7 8") print i ":" stages[i]
        }' lines > wrong
    [ ! -s wrong ] || fail "$1: order of stages: $(head -n 3 wrong)"
    # Expects a hold for each put, each get and each wait inside a get; a release for each hold; all
    # of one lock.
    "$PROBITY" csv --columns role,object "$3" 2> errors | awk -F, -v n="$2" '
        /^lock-/ { count[$1]++; locks[$2] = 1 }
        END {
            for (i in locks) different++
            if (count["lock-hold"] < 2 * n || count["lock-release"] != count["lock-hold"] ||
                different != 1)
                print count["lock-hold"], count["lock-release"], different
        }' > wrong
    [ ! -s wrong ] || fail "$1: holds, releases, locks: $(cat wrong)"
}

# $1 description, $2 requests, then settings and, last, further arguments of the program
run() {
    local what=$1 requests=$2
    shift 2
    rm -f t.probity
    env PROBITY_OUT=t.probity "$@" "$PROGRAMS/typed" "$requests" > handled 2> errors ||
        fail "$what: $(cat errors)"
    check_roles "$what" "$requests" t.probity
}

run "one request" 1
run "many requests" 5000
run "small chunks" 3000 PROBITY_CHUNK_RECORDS=64
run "no CPU time" 100 PROBITY_CPU_TIME=0

# With a timer: the handler's hits are recorded, and nothing else is damaged.
PROBITY_OUT=s.probity PROBITY_CHUNK_RECORDS=64 "$PROGRAMS/typed" 5000 signal > handled
check_roles "signals" 5000 s.probity
expect "hits of the handler" "$(cat handled)" \
    "$("$PROBITY" csv --columns name s.probity | grep -c '^handled$' || true)"

# info counts typed hits as hits; the second decoder supports them.
run "decoded" 200
"$PROBITY" csv t.probity > lines
expect "hits in info" "$(wc -l < lines)" \
    "$("$PROBITY" info --json t.probity | jq '.[0].counts.hits')"
"$BUILD/examples/second_decoder" t.probity > decoded 2> errors || fail "decoder: $(cat errors)"
cmp -s lines decoded || fail "second decoder differs: $(diff lines decoded | head -n 4)"
"$PROBITY" check t.probity > output 2>&1 || fail "check: $(cat output)"

# A killed program's hits are in its spool.
run "whole" 50
PROBITY_OUT=k.probity "$PROGRAMS/typed" 50000000 > /dev/null &
program=$!
lines_of() { "$PROBITY" csv "$1" 2> /dev/null | head -n 1000 | wc -l; }
until [ -f k.probity ] && [ "$(lines_of k.probity)" = 1000 ]; do
    is_running "$program" || break
done
signal_job KILL "$program" || fail "the program has ended early"
wait "$program" 2> /dev/null || true
"$PROBITY" csv --columns role,correlation k.probity > lines 2> errors || true
awk -F, '$1 == "request-begin" { begun = $2 } $1 == "queue-put" { put = $2 }
    END { print (begun > 0 && (begun == put || begun == put + 1)) }' lines > found
expect "newest request of a killed program" 1 "$(cat found)"
"$PROBITY" recover k.probity > output 2>&1 || fail "recover: $(cat output)"

# In profile mode probes are off.
PROBITY_OUT=p.probity PROBITY_PROFILE=1 "$PROGRAMS/typed" 20 > /dev/null
expect "hits in profile mode" 0 "$("$PROBITY" csv p.probity | wc -l)"

# The header in C and C++, and inside extern "C", and ids of all kinds.
cat > uses.c << 'END'
#ifdef __cplusplus
extern "C" {
#endif
#include <probity_typed.h>
#ifdef __cplusplus
}
#endif
struct packed { unsigned bits : 3; };
enum color { RED, BLUE };
int uses(int number, enum color color, struct packed *packed);
int uses(int number, enum color color, struct packed *packed)
{
    if (number)
        PROBITY_LOCK_WAIT("lock", packed);
    else
        PROBITY_LOCK_HOLD("lock", &number);
    switch (number) {
    case 1:
        PROBITY_PROBE(packed->bits);
        PROBITY_PROBE_WITH(color, packed->bits);
        break;
    default:
        PROBITY_PROBE_NAMED_WITH("one", packed->bits);
        PROBITY_PROBE_ROLE(BLUE, PROBITY_ROLE_QUEUE_PUT, -1, UINT64_MAX);
    }
    PROBITY_REQUEST_END("%\"{|}\\n", color);
    return number;
}
END
cp uses.c uses.cc
machine=
case $($CC -dumpmachine) in x86_64*) machine="-masm=intel -mcmodel=large" ;; esac
for flags in "" -DPROBITY_DISABLE -DPROBITY_UNLISTED "-O2 -fPIC" $machine; do
    for compiler in "$CC -std=gnu11 uses.c" "$CXX -std=gnu++17 uses.cc"; do
        # shellcheck disable=SC2086
        $compiler $flags -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
            -I "$SOURCE/include" -c -o uses.o > output 2>&1 ||
            fail "$compiler $flags: $(grep -m 3 -E 'error|warning' output)"
    done
done

no_leftovers "typed probes"
finish
