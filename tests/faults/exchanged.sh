#!/usr/bin/env bash
# A directory of traces, spools or outputs is replaced by a link to a directory with files of the
# same names, between any two of the tool's calls on files, including those between a check and the
# use of what was checked. No file there is changed or removed. CAMPAIGN=yes: between all calls, not
# a sample.
# variants: gcc
# timeout: 900
. "$(dirname "$0")/../common.bash"
SESSION=5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e
crafted() { python3 "$SOURCE/tests/tool/crafted.py" "$@"; }

# The library that intercepts the calls does not work with sanitizers.
${CC:-cc} -O2 -shared -fPIC -o exchange.so "$SOURCE/tests/faults/exchange.c" -ldl ||
    fail "exchange.c does not compile"

# Every function of libc that examines or changes what a path or directory leads to is intercepted.
# Those that start programs, load libraries or connect sockets are left out.
names='access|[a-z]*chmod(at)?|[a-z]*chown(at)?|creat|faccessat|fopen|ftw|glob|link(at)?|mk[a-z]*'
names+='|nftw|open|open(at|dir)|fdopendir|readdir|readlink(at)?|realpath|remove|rename(at2?)?|rmdir'
names+='|scandir|l?stat|fstatat|statfs|statx|symlink(at)?|truncate|unlink(at)?|utimensat'
left_out=$(nm -D --undefined-only "$PROBITY" | sed 's/.* //; s/@.*//; s/64$//' |
    grep -xE "$names" | grep -vxE 'mktime' | sort -u |
    comm -23 - <(nm -D --defined-only exchange.so | sed 's/.* //' | sort))
expect "functions that are not intercepted" "" "$left_out"

# A killed trace for which a CSV was requested, and its spool. The trace's inode number is in the
# spool's header, so each round fills and links the same file.
crafted trace kept --killed --csv x --session $SESSION
crafted spool saved.spool --session $SESSION --for kept --committed "$(stat -c %s kept)" \
    --segments 3 --trace-path "$WORK/traces/t.csv.probity"
cp kept saved.trace
# $1 directory of the spool, $2 prefix of the names in it
prepare() {
    local name
    rm -rf traces traces.away spools spools.away victim link
    mkdir -m 700 traces spools victim
    cat saved.trace > kept
    ln kept traces/t.csv.probity
    for name in 0 1 2; do
        install -m 600 saved.spool "$1/$2$SESSION.$name"
    done
    for name in t.csv t.csv.probity t.csv.incomplete {,.probity-}$SESSION.{0,1,2}; do
        echo precious > "victim/$name"
    done
    chmod 600 victim/{*,.p*}
    mkdir victim/directory
    for name in out directory/{metadata,stream}; do
        echo precious > "victim/$name"
    done
    ln -s victim link
}
contents() { (cd victim && ls -A && cat ./[!d]* .p* directory/*); }
is_done() { [ ! -e "$1" ]; } # $1 the spool

# $1 description, $2 directory of the spool, $3 prefix of names in it, $4 directory to replace; the
# rest: the command
exchanged() {
    local what=$1 place=$2 prefix=$3 from=$4 calls at wanted step=1 checked=0
    shift 4
    prepare "$place" "$prefix"
    wanted=$(contents)
    LD_PRELOAD=$WORK/exchange.so EXCHANGE_REPORT=$WORK/report "$@" > output 2>&1 ||
        fail "$what, nothing is replaced: $(cat output)"
    is_done "$place/$prefix$SESSION.0" ||
        fail "$what, nothing is replaced: left: $(ls -A "$place" traces)"
    calls=$(cat report)
    [ "$calls" -gt 20 ] || fail "$what: only $calls calls were seen"
    [ "${CAMPAIGN:-}" = yes ] || step=7
    for ((at = 1 + RANDOM % step; at <= calls; at += step)); do
        prepare "$place" "$prefix"
        LD_PRELOAD=$WORK/exchange.so EXCHANGE_REPORT=$WORK/report EXCHANGE_AT=$at \
            EXCHANGE_FROM=$WORK/$from EXCHANGE_TO=$WORK/link "$@" > output 2>&1 || true
        [ "$(cat report)" != failed ] || fail "$what, call $at: $from could not be replaced"
        [ "$(contents)" = "$wanted" ] || fail "$what, call $at: $(ls -A victim) $(cat output)"
        checked=$((checked + 1))
    done
    echo "$what: $checked of $calls"
}

export PROBITY_SPOOL_DIR=$WORK/spools
TRACE=traces/t.csv.probity
exchanged "spool in the trace's directory" traces .probity- traces "$PROBITY" recover $TRACE
exchanged "spool in its directory" spools "" spools "$PROBITY" recover $TRACE
exchanged "trace of a spool" spools "" traces "$PROBITY" spools --recover
exchanged "removed spool" spools "" spools "$PROBITY" spools --remove --lose-records

# Without -f, no existing file is replaced.
is_done() { [ -e traces/out ] || [ -e traces/directory ]; }
# New names are harmless: the link might have existed before the command.
contents() { (cd victim && cat t.* .p* out directory/{metadata,stream}); }
cp "$SOURCE/tests/golden/good/names.probity" closed.probity
exchanged "CSV" spools "" traces "$PROBITY" csv -o traces/out closed.probity
exchanged "merged trace" spools "" traces "$PROBITY" merge -o traces/out closed.probity
exchanged "database" spools "" traces "$PROBITY" export --format sqlite -o traces/out closed.probity
exchanged "directory" spools "" traces "$PROBITY" export --format ctf -o traces/directory \
    closed.probity
finish
