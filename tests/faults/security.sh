#!/usr/bin/env bash
# Traces, spools and directories planted by other users (doc/security.md): no file that they name is
# written, removed or followed.
. "$(dirname "$0")/../common.bash"

SESSION=5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e
crafted() { python3 "$SOURCE/tests/tool/crafted.py" "$@"; }

# Another user cannot read this repository, so that user's commands run in a world-accessible
# directory.
if [ "$(id -u)" = 0 ]; then
    STRANGER=65534
    chmod 711 "$WORK"
    mkdir -m 777 shared
    cp "$SOURCE/tests/tool/crafted.py" "$WORK"
    chmod 644 crafted.py
else
    echo "not root: skipping the attacks by another user"
    STRANGER=
fi
as_stranger() {
    setpriv --reuid $STRANGER --regid $STRANGER --clear-groups env PYTHONDONTWRITEBYTECODE=1 "$@"
}

# $1 description, $2 expected status; the rest: the command, whose messages are written to "errors"
status_of() {
    local what=$1 expected=$2 status=0
    shift 2
    "$@" > output 2> errors || status=$?
    expect "$what: status" "$expected" "$status"
}

# ---- Which file is written ----

echo precious > victim
crafted trace tag.probity --csv "$WORK/victim" --name 'x\nplanted\n'
status_of "a CSV anywhere" 0 "$PROBITY" recover tag.probity
expect "a CSV anywhere: the file" precious "$(cat victim)"
[ -e tag.probity ] || fail "a CSV anywhere: the trace is gone"
mkdir other
echo precious > other/own.csv
crafted trace own.csv.probity --csv "$WORK/other/own.csv"
status_of "the trace's own CSV" 0 "$PROBITY" recover own.csv.probity
expect "the trace's own CSV: elsewhere" precious "$(cat other/own.csv)"
[ -s own.csv ] || fail "the trace's own CSV: it is not next to the trace"
[ ! -e own.csv.probity ] || fail "the trace's own CSV: the trace was not removed"
# The trace cannot choose a file in its own directory, either.
crafted trace beside.csv.probity --csv "$WORK/victim"
status_of "a CSV next to the trace" 0 "$PROBITY" recover beside.csv.probity
expect "a CSV next to the trace: the file" precious "$(cat victim)"
[ -s beside.csv ] || fail "a CSV next to the trace was written under another name"
# A link in place of the CSV is replaced, not followed; the trace itself must not be a link.
ln -s "$WORK/victim" linked.csv
crafted trace linked.csv.probity --csv linked.csv
status_of "a link as the CSV" 0 "$PROBITY" recover linked.csv.probity
expect "a link as the CSV: its target" precious "$(cat victim)"
crafted trace real.probity --killed
ln -s real.probity link.probity
status_of "a link as the trace" 1 "$PROBITY" recover link.probity
grep -q 'symbolic link' errors || fail "a link as the trace: $(cat errors)"
rm -f ./*.probity ./*.csv

# ---- Which files are removed ----

killed() { crafted trace killed.probity --killed --session $SESSION "$@"; }
spool() {
    crafted spool "$1" --session $SESSION --for killed.probity \
        --committed "$(stat -c %s killed.probity)" "${@:2}"
}

# The directory is reached through a link, and the name is not the session's.
mkdir library
ln -s library link
for number in 0 1 2 3; do echo precious > library/libfoo.so.$number; done
killed --spool "$WORK/link/libfoo.so.0"
spool library/libfoo.so.0 --segments 3
status_of "another name" 3 "$PROBITY" recover killed.probity
expect "another name: files" 4 "$(find library -type f | wc -l)"
rm -r library link
# The name is the session's, but the directory is reached through a link, is writable by others, or
# contains "..".
mkdir -m 700 private
mkdir -m 770 open
ln -s private link
for place in link open private/../private; do
    killed --spool "$WORK/$place/$SESSION.0"
    spool "$place/$SESSION.0"
    status_of "a spool in $place" 3 "$PROBITY" recover killed.probity
    [ -e "$place/$SESSION.0" ] || fail "a spool in $place: it was removed"
    rm "$place/$SESSION.0"
done
killed --spool "$WORK/private/$SESSION.0"
spool private/$SESSION.0
status_of "a spool in a private directory" 0 "$PROBITY" recover killed.probity
expect "a spool in a private directory: files" 0 "$(find private -type f | wc -l)"
# Further segments that are links or writable by others are kept, whatever number the header gives.
killed --spool "$WORK/private/$SESSION.0"
spool private/$SESSION.0 --segments 1000
ln -s ../victim private/$SESSION.1
ln -s $SESSION.0 private/$SESSION.2
: > private/$SESSION.3
: > private/$SESSION.4
chmod 600 private/$SESSION.3
chmod 666 private/$SESSION.4
: > private/$SESSION.3x
status_of "further segments" 0 "$PROBITY" recover killed.probity
expect "further segments: what is left" "$SESSION.1 $SESSION.2 $SESSION.3x $SESSION.4" \
    "$(cd private && echo *)"
expect "further segments: the link's target" precious "$(cat victim)"
rm -rf private open link killed.probity

# ---- Copies ----

leave_killed() {
    { PROBITY_OUT=killed.probity "$PROGRAMS/logged" kill || true; } > /dev/null 2>&1
}
text_of() { "$PROBITY" log --time none "$1" 2> errors; }

leave_killed
before=$(text_of killed.probity)
cp killed.probity copy.probity
status_of "a copy" 3 "$PROBITY" recover copy.probity
grep -q 'is a copy' errors || fail "a copy: $(cat errors)"
cmp killed.probity copy.probity || fail "a copy: it was changed"
mv killed.probity renamed.probity
status_of "a renamed trace" 0 "$PROBITY" recover renamed.probity
expect "a renamed trace: its log" "$before" "$(text_of renamed.probity)"
no_leftovers "a renamed trace"
leave_killed
before=$(text_of killed.probity)
cp killed.probity copy.probity
status_of "a copy that is trusted" 0 "$PROBITY" recover --trust copy.probity
expect "a copy that is trusted: its log" "$before" "$(text_of copy.probity)"
no_leftovers "a copy that is trusted"
rm -f ./*.probity

# ---- Names ----

# Whatever the name of a site, rows remain rows, and no control character reaches a terminal.
crafted trace names.probity --name 'a\nb\r\x1b[31m\x9b2J\x07\\n,"q"'
escaped='"a\nb\r\033[31m\2332J\a\\n,""q"""'
for command in "csv" "list --csv" "blocks --csv" "report --csv" "tree --csv" "hist --csv *"; do
    set -f
    # shellcheck disable=SC2086
    "$PROBITY" ${command%% *} names.probity ${command#"${command%% *}"} > output 2>&1 || true
    set +f
    ! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177\233]')" output ||
        fail "names: $command: control characters: $(od -c output | head -n 20)"
done
"$PROBITY" csv names.probity > output
expect "names: lines" 1 "$(wc -l < output)"
expect "names: a line" "999999,1,$escaped,,," "$(sed 's/[0-9]*,[0-9]*$//' output)"
"$PROBITY" list --csv names.probity > output
grep -qF "$escaped" output || fail "names: list --csv: $(cat output)"
expect "names: the rows of a list" 2 "$(wc -l < output)"
# The same in JSON, including control characters in UTF-8 and those that reorder others.
crafted trace hidden.probity --name 'a\xc2\x9b2J\x7f\xe2\x80\xaeb\xf3\xa0\x81\x81c\xc3\xa9'
for command in list blocks model info threads timeline; do
    "$PROBITY" $command --json hidden.probity > output 2>&1 || true
    ! LC_ALL=C grep -aq "$(printf '[\177]\|\302[\200-\237]\|\342\200\256\|\363\240')" output ||
        fail "names: $command --json: $(od -c output | head -n 20)"
done
"$PROBITY" list --json hidden.probity > output
grep -qF 'a\u009B2J\u007F\u202Eb\uDB40\uDC41cé' output || fail "names: list --json: $(cat output)"
name=$(printf 'odd\033]0;name\a\nline.probity')
cp names.probity "$name"
status_of "a file's name" 0 "$PROBITY" recover "$name"
expect "a file's name" 'odd\033]0;name\a\nline.probity: already closed' "$(cat output)"
status_of "a file's name that is not there" 1 "$PROBITY" recover "$name.not"
expect "a file's name that is not there: lines" 1 "$(wc -l < errors)"
! LC_ALL=C grep -q "$(printf '\033')" errors || fail "a file name is not escaped"
rm -f -- names.probity "$name"

# ---- The directory is replaced while a program records ----

mkdir -p away/to target
for name in out.csv out.csv.probity; do echo precious > target/$name; done
mkfifo go
PROBITY_OUT=$WORK/away/to/out.csv "$PROGRAMS/waiting" < go > ready 2> errors &
exec 3> go
await_file $! ready errors
mv away/to away/gone
ln -s "$WORK/target" away/to
echo >&3
exec 3>&-
wait $! || fail "an exchanged directory: the program failed"
expect "an exchanged directory" "precious precious " "$(cat target/out.csv* | tr "\n" " ")"
[ -e away/gone/out.csv.probity ] || fail "an exchanged directory: the trace is gone"

# ---- Another user ----

another_user() {
    cd shared || exit
    as_stranger python3 ../crafted.py trace theirs.csv.probity --csv "$WORK/victim"
    echo precious > theirs.csv
    for name in theirs.csv.probity theirs.csv; do
        status_of "another user's $name" 1 "$PROBITY" recover $name
        grep -q 'belongs to another user' errors || fail "another user's $name: $(cat errors)"
    done
    expect "another user's trace" "precious precious " "$(cat theirs.csv ../victim | tr "\n" " ")"
    "$PROBITY" csv theirs.csv.probity > output || fail "another user's trace cannot be read"
    [ -s output ] || fail "another user's trace: nothing was read"
    status_of "trusted" 0 "$PROBITY" recover --trust theirs.csv.probity
    expect "trusted: elsewhere" precious "$(cat ../victim)"
    [ ! -e theirs.csv.probity ] || fail "trusted: the trace was not removed"
    rm -f theirs*

    # Created by another user under a matching name while a program runs.
    cat > plant << END
setpriv --reuid $STRANGER --regid $STRANGER --clear-groups sh -c '
    python3 ../crafted.py trace sh.424242.probity --killed --csv "$WORK/victim" --session $SESSION
    python3 ../crafted.py spool .probity-$SESSION.0 --session $SESSION --for sh.424242.probity'
END
    status_of "a planted trace" 0 "$PROBITY" record -- sh plant
    grep -q 'belong to other users' errors || fail "a planted trace: $(cat errors)"
    expect "a planted trace: the file" precious "$(cat ../victim)"
    [ -e .probity-$SESSION.0 ] || fail "a planted trace: its spool was recovered"
    # Even on request, another user's spool is used only for that user's trace.
    crafted trace mine.probity --killed --session $SESSION
    status_of "their spool, my trace" 3 "$PROBITY" recover mine.probity
    [ -e .probity-$SESSION.0 ] || fail "their spool, my trace: it was removed"
    status_of "their spool, their trace" 0 "$PROBITY" recover --trust sh.424242.probity
    [ ! -e .probity-$SESSION.0 ] || fail "their spool, their trace: the spool was not removed"
    expect "their spool, their trace: the file" precious "$(cat ../victim)"
    rm -f ./* .probity*

    # My spool, and another user's trace, which copies its session; even if the owner's id is
    # missing.
    crafted trace mine.probity --killed --session $SESSION
    crafted spool "$SPOOL/$SESSION.0" --session $SESSION
    as_stranger python3 ../crafted.py trace theirs.probity --killed --session $SESSION \
        --spool "$SPOOL/$SESSION.0"
    status_of "my spool, their trace" 1 "$PROBITY" recover theirs.probity
    "$PROBITY" info theirs.probity > output 2>&1 || true
    ! grep -q 'killed' output || fail "my spool, their trace: the spool was read with the trace"
    [ -e "$SPOOL/$SESSION.0" ] || fail "my spool, their trace: it was removed"
    # A spool directory owned by another user.
    rm -f "$SPOOL"/*
    as_stranger mkdir -m 700 dir
    crafted spool dir/$SESSION.0 --session $SESSION --for mine.probity
    PROBITY_SPOOL_DIR=$PWD/dir status_of "their directory" 3 "$PROBITY" recover mine.probity
    [ -e dir/$SESSION.0 ] || fail "their directory: my file in it was removed"

    # An index next to my trace that hides its records: my index is used, but not another user's.
    rm -rf ./* "${SPOOL:?}"/*
    PROBITY_OUT=$PWD/mine.probity "$PROGRAMS/typed" 2000 > /dev/null || fail "typed: status $?"
    "$PROBITY" csv --since 50% mine.probity > expected
    "$PROBITY" index --every 1 mine.probity || fail "no index"
    "$PROBITY" csv --since 50% mine.probity | cmp - expected || fail "my index"
    mv mine.probity.index good
    crafted index mine.probity.index --for good
    expect "my index, which hides records" 0 "$("$PROBITY" csv --since 50% mine.probity | wc -l)"
    mv mine.probity.index hides
    chmod 644 hides
    [ "$(wc -l < expected)" -gt 500 ] || fail "their index: $(wc -l < expected) records"
    as_stranger cp hides mine.probity.index
    for command in "csv" "csv --until 90%" "report --json" "log"; do
        # shellcheck disable=SC2086
        set -- "$PROBITY" ${command%% *} --since 50% ${command#"${command%% *}"} mine.probity
        "$@" > found 2> errors || fail "their index: $command: $(cat errors)"
        mv mine.probity.index aside
        "$@" > expected 2> errors || fail "no index: $command: $(cat errors)"
        mv aside mine.probity.index
        cmp expected found || fail "their index hides records of my trace from $command"
    done

    # A link at the path where the program prints its summary.
    echo precious > ../victim
    as_stranger ln -s "$WORK/victim" summary
    PROBITY_SUMMARY=$PWD/summary "$PROGRAMS/waiting" <<< x > output 2> errors ||
        fail "a link for the summary: status"
    expect "a link for the summary: its target" precious "$(cat ../victim)"
    grep -q summary errors || fail "a link for the summary: $(cat errors)"
    ln -s "$WORK/victim" own
    PROBITY_SUMMARY=$PWD/own "$PROGRAMS/waiting" <<< x > output 2> errors ||
        fail "own link: status"
    [ "$(wc -l < ../victim)" -gt 1 ] || fail "own link: nothing was written to its target"

    # Links to a pipe, to which output with -f is written directly.
    rm -f ./*
    crafted trace mine.probity
    mkfifo ../pipe
    exec 4<> ../pipe
    as_stranger ln -s ../pipe theirs
    status_of "their link to a pipe" 1 "$PROBITY" csv -f -o theirs mine.probity
    grep -q 'another user' errors || fail "their link to a pipe: $(cat errors)"
    ! read -rt 0 <&4 || fail "their link to a pipe: it was followed"
    ln -s ../pipe own
    status_of "own link to a pipe" 0 "$PROBITY" csv -f -o own mine.probity
    read -rt 0 <&4 || fail "own link to a pipe: nothing was written"
    exec 4>&-

    # A history of runs in a directory above the current one.
    rm -rf ./* "${SPOOL:?}"/*
    as_stranger mkdir -p theirs/mine
    (cd theirs && as_stranger "$PROBITY" runs init > /dev/null) || fail "no history was created"
    chown "$(id -u)" theirs/mine
    cd theirs/mine || exit
    status_of "their history" 1 "$PROBITY" runs list
    grep -q 'another user' errors || fail "their history: $(cat errors)"
    status_of "their history, a label" 1 "$PROBITY" diff @old -- @new
    grep -q 'another user' errors || fail "their history, a label: $(cat errors)"
    status_of "their history, named" 0 "$PROBITY" runs list --project ..
    cd ../.. || exit
    rm -rf theirs
    # My history in another user's directory, and that user's link to it.
    as_stranger mkdir theirs
    "$PROBITY" runs init --project theirs > /dev/null
    cd theirs || exit
    status_of "my history in theirs" 1 "$PROBITY" runs list
    cd .. || exit
    mv theirs/.probity .
    chmod 755 .
    status_of "my history" 0 "$PROBITY" runs list
    mkdir linked
    ln -s ../.probity linked/.probity
    cd linked || exit
    status_of "a link to a history" 1 "$PROBITY" runs list
    cd ../.. || exit
}

[ -z "$STRANGER" ] || another_user
finish
