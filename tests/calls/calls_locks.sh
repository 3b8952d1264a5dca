#!/usr/bin/env bash
# Locks and threads of programs without probes: waits with a known holder, function and minimum
# duration; mutexes of all kinds, timeouts, cancellation; exact counts; threads that are killed.
# Programs behave as without the library.
# variants: clang
. "$(dirname "$0")/../common.bash"

for program in planted special reused stress c11; do
    "$CC" -D_GNU_SOURCE -O1 -g -pthread -o "$program" "$SOURCE/tests/calls/$program.c"
done
"$CXX" -std=c++17 -O1 -g -pthread -o thrown "$SOURCE/tests/calls/thrown.cc"

# $1 trace: "TID ROLE OBJECT PLACE WALL_NS CORRELATION KIND"
hits_of() {
    "$PROBITY" csv --columns tid,role,object,place,wall_s,wall_ns,correlation,name "$1" 2> errors |
        awk -F, '{ sub(/:.*/, "", $8); printf "%s %s %s %s %.0f %s %s\n", $1, $2, $3, $4,
            $5 % 1000000 * 1000000000 + $6, $7 + 0, $8 }' \
            > hits
    "$PROBITY" check "$1" > output 2>&1 || fail "check: $(cat output)"
}

# $1 calls, $2 trace, then the program
record() {
    local calls=$1 trace=$2
    shift 2
    "$PROBITY" record -f --calls "$calls" -o "$trace" -- "$@" > printed 2> errors ||
        fail "$calls: $*: $(cat errors printed)"
}

# The wait's last release of the object is by the expected holder, and not before the minimum
# duration; both hits have places in the function that waits.
check_planted() {
    awk 'NR == FNR { kind[NR] = $1; object[NR] = $2; waiter[NR] = $3; holder[NR] = $4
            least[NR] = $5; code[NR] = $6; count = NR; next }
        $2 == "lock-release" || $2 == "notify" { by[$3] = $1 }
        $2 == "lock-wait" || $2 == "condition-wait" {
            since[$1, $3] = $5; reported[$1, $3] = $6; at[$1, $3] = $4; by[$3] = 0 }
        $2 == "lock-hold" || $2 == "woken" {
            if ((($1, $3) in since) && !(($1, $3) in length_ns)) {
                length_ns[$1, $3] = $5 - since[$1, $3]
                culprit[$1, $3] = by[$3]
                name[$1, $3] = $7
            }
        }
        END {
            for (i = 1; i <= count; i++) {
                key = waiter[i] SUBSEP object[i]
                far = at[key] - code[i]
                if (name[key] != kind[i] || culprit[key] != holder[i] ||
                    length_ns[key] + 1000 < least[i] || far <= 0 || far > 4096)
                    print kind[i], "name", name[key], "culprit", culprit[key], holder[i],
                        "ns", length_ns[key], least[i], "place", far
                if ((kind[i] == "mutex" || kind[i] == "rwlock-read") && reported[key] != holder[i])
                    print kind[i], "holder that the lock names:", reported[key], "is", holder[i]
            }
            if (count != 8) print count, "waits were planted"
        }' printed hits > wrong
    [ ! -s wrong ] || fail "planted waits, $1: $(cat wrong)"
}

# The program has no scopes: `waits` names the functions that called the C library.
check_functions() {
    local kind object function
    "$PROBITY" waits --json "$1" | jq -r '.rows[] | select(.object != null) | .object as $object |
        .worst[] | "\($object) \(.function) \(.culprit_function)"' > functions
    while read -r kind object _; do
        case $kind in mutex | rwlock* | spin) function=take ;; *) function=give ;; esac
        printf '0x%x wait_for %s\n' "$object" "$function"
    done < printed > wanted
    awk 'NR == FNR { wanted[$1] = $0; next } ($1 in wanted) { n++ }
        ($1 in wanted) && $0 != wanted[$1] { print $0 ", not " wanted[$1] }
        END { if (n != 8) print n " waits of 8" }' wanted functions > wrong
    [ ! -s wrong ] || fail "functions: $(cat wrong)"
    "$PROBITY" path --from mutex:wait --to mutex:hold "$1" > path
    grep -q ' planted in take, while .* planted waits for lock mutex mutex ' path ||
        fail "path: $(cat path)"
    "$PROBITY" why --from mutex:wait --to mutex:hold "$1" > why
    grep -q ' in wait_for, held by thread .* planted in take$' why || fail "why: $(cat why)"
}

# An object's hits in order of time: $1 name that the program printed
roles_of() {
    awk -v object="$(awk -v name="$1" '$1 == name { print $2 }' printed)" '
        $3 == object { printf "%s%s", $2, $2 ~ /woken|given-up/ ? "(" $6 ") " : " " }' hits
}

./planted > /dev/null || fail "planted fails without the library"
record locks,threads p.probity ./planted
hits_of p.probity
check_planted "recorded"
check_functions p.probity
expect "once" "lock-hold lock-wait lock-release lock-hold lock-release" \
    "$(awk '$7 == "once" { print $2 }' hits | paste -sd ' ')"
expect "threads begin, end, are joined" "11 11 11 11" \
    "$(awk '{ n[$2 " " $7]++ } END { print n["thread-begin thread"], n["thread-end thread"],
        n["condition-wait join"], n["woken join"] }' hits)"
# Each join is woken after the end of the thread that it waits for.
awk '$2 == "thread-end" { ended[$3] = 1 } $2 == "thread-begin" { ended[$3] = 0 }
    $2 == "woken" && $7 == "join" && !ended[$3] { print }' hits > wrong
[ ! -s wrong ] || fail "joined before the end: $(cat wrong)"
record locks=waits,threads w.probity ./planted
hits_of w.probity
awk '$1 == "mutex" || $1 == "rwlock-read"' printed > some
awk 'NR == FNR { object[$2] = $4; next } $2 == "lock-wait" && ($3 in object) && $6 == object[$3] {
    n++ } END { print n }' some hits > found
expect "holders with locks=waits" 2 "$(cat found)"

./reused > /dev/null || fail "reused fails without the library"
record locks,threads u.probity ./reused
for trace in u.*.probity; do mv "$trace" child; done
hits_of child
expect "held during fork, in the child" "lock-release lock-hold lock-release " "$(roles_of held)"
hits_of u.probity
expect "held during fork" "lock-hold lock-release " "$(roles_of held)"
expect "waits with clocks: condition" \
    "lock-made condition-wait woken(110) condition-wait woken(110) " "$(roles_of condition)"
expect "waits with clocks: semaphore" \
    "lock-made lock-wait given-up(110) lock-release lock-hold " "$(roles_of semaphore)"
expect "waits with clocks: rwlock" "lock-hold lock-wait given-up(110) lock-wait given-up(110) \
lock-release lock-hold lock-release " "$(roles_of rwlock)"
# The second wait for the mutex may find it free.
expect "waits with clocks: mutex" "lock-hold lock-wait given-up(110) lock-release lock-hold \
lock-release lock-hold lock-release lock-hold lock-release " \
    "$(roles_of mutex | sed 's/given-up(110) lock-wait /given-up(110) /
        s/lock-release lock-wait /lock-release /')"
awk -v object="$(awk '$1 == "reused" { print $2 }' printed)" '
    function fault(what) { print what " in line " NR ": " $0 }
    $3 != object { next }
    { kind = $7; sub(/-read$|-write$/, "", kind) }
    $2 == "lock-made" { if (now != "") fault("not gone"); now = kind; made++; next }
    kind != now { fault("not a " now) }
    $2 == "lock-hold" { if (is_held++) fault("held twice") }
    $2 == "lock-release" { if (is_held-- != 1) fault("not held") }
    $2 == "lock-gone" { if (is_held) fault("held"); now = ""; gone++ }
    END { if (made != 1000 || gone != 1000) print made " made, " gone " gone" }' hits > wrong
[ ! -s wrong ] || fail "reused: $(head -n 3 wrong)"

./special > /dev/null || fail "special fails without the library"
record locks,threads s.probity ./special
for trace in s.*.probity; do mv "$trace" child; done
hits_of child
expect "shared mutex in the child" "lock-wait given-up(110)" "$(roles_of shared | sed 's/ $//')"
hits_of s.probity
main=$(awk '$2 == "lock-made" { print $1; exit }' hits)
expect "the parent holds it" "$main" \
    "$("$PROBITY" csv --columns role,correlation child | sed -n 's/^lock-wait,//p')"
while IFS=: read -r name roles; do
    found=$(roles_of "$name" | sed 's/\(lock-hold lock-release \)\{5\}/5 times \1/; s/ $//')
    expect "$name" "$roles" "$found"
done << 'EXPECTED'
recursive:lock-made lock-hold lock-hold lock-hold lock-release lock-release lock-release
errorcheck:lock-made lock-hold lock-wait given-up(35) lock-release lock-gone
robust:lock-made lock-hold lock-hold lock-release
inheriting:lock-made lock-hold lock-release
limited:lock-made lock-hold lock-wait given-up(110)
mutex:5 times lock-hold lock-release
condition:condition-wait woken(110) condition-wait woken(125)
semaphore:lock-made lock-wait given-up(125)
available:lock-made
EXPECTED
expect "a cancelled join" 1 "$(awk '$2 == "woken" && $7 == "join" && $6 == 125' hits | wc -l)"
expect "threads that end" "$(grep -c ' thread-begin ' hits)" "$(grep -c ' thread-end ' hits)"

# The functions of <threads.h>.
./c11 > /dev/null || fail "c11 fails without the library"
record locks,threads,sleep c.probity ./c11
hits_of c.probity
while IFS=: read -r name roles; do
    expect "c11: $name" "$roles" "$(roles_of "$name" |
        sed 's/ $//; s/lock-//g; s/\(release hold \)\{3\}release/4 times release/')"
done << 'EXPECTED'
held:made hold wait given-up(110) release hold wait 4 times release gone
recursive:made hold hold release release
condition:made condition-wait woken(110) notify notify gone
flag:hold release
EXPECTED
main=$(awk '$1 == "main" { print $2 }' printed)
expect "c11: holder, and creator" "$main $main $main $main" "$(awk -v held="$(awk '$1 == "held" {
    print $2 }' printed)" '$2 == "lock-wait" && $3 == held || $2 == "thread-begin" {
    print $6 }' hits | paste -sd ' ')"
expect "c11: threads begin, end, are joined" "2 2 2 2" \
    "$(awk '{ n[$2 " " $7]++ } END { print n["thread-begin thread"], n["thread-end thread"],
        n["condition-wait join"], n["woken join"] }' hits)"
expect "c11: scopes" "thrd_create 2 thrd_sleep 1" "$("$PROBITY" report --json c.probity |
    jq -r '.functions[] | select(.calls > 0) | "\(.name) \(.calls)"' |
    grep -o 'thrd_[cs].*' | sort | paste -sd ' ')"

record locks,threads t.probity ./thrown
hits_of t.probity
# The C++ library itself makes calls.
expect "runs of call_once" "3 1" \
    "$(awk '$7 == "once" { n[$3, $2]++; if (n[$3, $2] == 3) at = $3 }
        END { print n[at, "lock-hold"], n[at, "lock-release"] }' hits)"

# Only one thread holds a mutex at a time. The order is strict, because ticks of several threads are
# compared.
check_mutual() {
    awk '$7 != "mutex" || $2 == "lock-wait" { next }
        $2 == "lock-hold" { if (holder[$3]) print "held twice:", $0; holder[$3] = $1 }
        $2 == "lock-release" { if (holder[$3] != $1) print "released:", $0; holder[$3] = 0 }' \
        hits | head -n 3 > wrong
    [ ! -s wrong ] || fail "$1: $(cat wrong)"
}
PROBITY_ORDER=strict record locks,threads e.probity ./stress 3000 end
hits_of e.probity
check_mutual "stress"
expect "holds" "$(cat printed)" "$(awk '$2 == "lock-hold" && $7 == "mutex"' hits | wc -l)"

# With locks=waits, locks that are not recorded are counted, in all threads, and nothing is missing.
record locks=waits,threads c.probity ./stress 20000 end
hits_of c.probity
counted=$("$PROBITY" log c.probity | awk '/counted .* of mutex by thread/ { sum += $3 }
    END { print sum + 0 }')
held=$(awk '$2 == "lock-hold" && $7 == "mutex"' hits | wc -l)
expect "counted $counted and recorded $held" "$(cat printed)" $((counted + held))
[ "$counted" -gt 0 ] || fail "nothing was counted"

some_hits() { "$PROBITY" csv "$1" 2> /dev/null | head -n 3000 | wc -l; }
for signal in KILL TERM; do
    PROBITY_ORDER=strict "$PROBITY" record -f --calls locks,threads -o k.probity -- ./stress \
        > /dev/null 2>&1 &
    recorder=$!
    until [ -e k.probity ] && [ "$(some_hits k.probity)" = 3000 ]; do
        is_running "$recorder" || break
    done
    program=$("$PROBITY" info --json k.probity 2> /dev/null | jq '.[0].program.pid') || true
    kill -s "$signal" "$program" || { fail "the program has ended early"; break; }
    wait "$recorder" 2> /dev/null || true
    "$PROBITY" recover k.probity > output 2>&1 || true
    hits_of k.probity
    check_mutual "killed by $signal"
    rm -f k.probity
done
# The same kinds as tests/answers/waits.sh, of a program without typed probes.
# shellcheck source=tests/tool/waits.bash
. "$SOURCE/tests/tool/waits.bash"
build_planted_calls
"$PROBITY" record -f --calls locks -o m.probity -- ./planted_calls 500 > many 2> errors ||
    fail "many: $(cat errors)"
same_causes "many" 0 m.probity many 500 others
no_leftovers "calls of locks"
finish
