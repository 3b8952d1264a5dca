#!/usr/bin/env bash
# A command that is killed while it gives its output a name, or whose output the file system cannot
# store. Without -f no temporary name exists at any moment; with -f the old file exists until a
# complete one replaces it, and one complete file may remain under a temporary name.
# variants: gcc
. "$(dirname "$0")/../common.bash"

if ! has_unnamed_files; then
    echo "needs a file system with unnamed files"
    exit 77
fi
names() { find . -name 'named*' | sort | tr '\n' ' '; }
killed() { env LD_PRELOAD="$PROGRAMS/plugin_kill_at_rename.so" "$PROBITY" "$@" || return 1; }

PROBITY_OUT=$WORK/trace "$PROGRAMS/tree" > /dev/null || fail "tree: status $?"
for command in "csv" "report --json" "export --format chrome" "view"; do
    # shellcheck disable=SC2086
    "$PROBITY" $command -o whole trace > output 2>&1 || fail "$command: $(cat output)"
    # shellcheck disable=SC2086
    killed $command -o named trace > output 2>&1 || fail "$command, without -f: $(cat output)"
    expect "$command, without -f" "./named " "$(names)"
    expect "$command, without -f: size" "$(wc -c < whole)" "$(wc -c < named)"
    # shellcheck disable=SC2086
    killed $command -o named trace > output 2>&1 && fail "$command: an existing file was replaced"
    grep -q "already exists; use -f" output || fail "$command: $(cat output)"
    expect "$command, existing" "./named " "$(names)"
    echo old > named
    # shellcheck disable=SC2086
    ! killed $command -f -o named trace > output 2>&1 || fail "$command: was not killed"
    expect "$command, killed: the old file" old "$(cat named)"
    expect "$command, killed: names" 1 "$(find . -name 'named.????????.tmp' | wc -l)"
    expect "$command, killed: size" "$(wc -c < whole)" "$(cat named.*.tmp | wc -c)"
    # shellcheck disable=SC2086
    "$PROBITY" $command -f -o named trace > output 2>&1 || fail "$command, again: $(cat output)"
    expect "$command, again: size" "$(wc -c < whole)" "$(wc -c < named)"
    rm -f named* whole
done

# An error that is first reported by close(): the incomplete file gets no name.
for command in "csv" "report --json" "export --format chrome" "export --format sqlite" "view"; do
    # shellcheck disable=SC2086
    ! env LD_PRELOAD="$PROGRAMS/plugin_close_fails.so" "$PROBITY" $command -o named trace \
        > output 2>&1 || fail "$command, close() fails: status 0"
    grep -q "cannot write 'named': Input/output error" output || fail "$command: $(cat output)"
    expect "$command, close() fails" "" "$(names)"
    echo old > named
    # shellcheck disable=SC2086
    ! env LD_PRELOAD="$PROGRAMS/plugin_close_fails.so" "$PROBITY" $command -f -o named trace \
        > output 2>&1 || fail "$command -f, close() fails: status 0"
    expect "$command -f, close() fails" "./named " "$(names)"
    expect "$command -f, close() fails: the old file" old "$(cat named)"
    rm -f named*
done

# A name that becomes taken after the command has begun.
mkfifo pipe
"$PROBITY" csv -o named - < pipe > output 2>&1 &
exec 3> pipe
head -c 100 trace >&3
echo mine > named
tail -c +101 trace >&3
exec 3>&-
! wait $! || fail "a name taken meanwhile: status 0"
expect "a name taken meanwhile" mine "$(cat named)"
expect "a name taken meanwhile: names" "./named " "$(names)"
finish
