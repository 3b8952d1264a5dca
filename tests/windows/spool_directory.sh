#!/usr/bin/env bash
# Without PROBITY_SPOOL_DIR, spools are in the user's directory for temporary files: a terminated
# program leaves its records there, and probity.exe finds them. This directory, and the one that the
# program runs in, may have spaces, and letters that are not in the system's code page. A missing
# directory is not replaced by one whose name has similar letters.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
compile_programs kill_target
# Wine passes the names of files on Linux on as UTF-8.
export LC_ALL=C.UTF-8 TEMPORARY=temporary

# Wine does not pass on TMP from outside. $TEMPORARY: the directory's name, in the current
# directory. $@ program and arguments; its output is in $WORK/out
run_here() {
    printf '@set TMP=%%CD%%\\%%TEMPORARY%%\r\n@set PROBITY_SPOOL_DIR=\r\n@set PROBITY_OUT=%s\r\n' \
        trace.probity > "$WORK/run.bat"
    printf '@%s\r\n@exit %%errorlevel%%\r\n' "$*" >> "$WORK/run.bat"
    wine_run cmd /c "Z:${WORK//\//\\}\\run.bat" > "$WORK/out" 2>&1
}

for directory in "the user's own" "für Łódź, 日本"; do
    cd "$WORK"
    mkdir -p "$directory/temporary"
    cd "$directory"
    run_here "Z:${WORK//\//\\}\\kill_target.exe" counts TerminateProcess
    expect "$directory: status; $(head -n 5 "$WORK/out")" 1 "$status"
    [ -e trace.probity ] || fail "$directory: no trace: $(cat "$WORK/out")"
    expect "$directory: in the directory for temporary files" probity "$(ls temporary)"
    expect "$directory: spools" 1 "$(find temporary/probity -type f | wc -l)"
    expect "$directory: spools elsewhere" "" "$(ls "$SPOOLS")"
    run_here "Z:${WINDOWS//\//\\}\\bin\\probity.exe" recover trace.probity
    expect "$directory: recover: status; $(head -n 5 "$WORK/out")" 0 "$status"
    hits=$(python3 "$SOURCE/tests/windows/verify.py" "$PROBITY" trace.probity counts)
    expect "$directory: spools after recovery" "" "$(find temporary -type f)"
    echo "$directory: $hits hits"
done

# In the code page, with similar letters, the name would be Lódz.
cd "$WORK"
mkdir -p similar/Lódz
cd similar
TEMPORARY=Łódź
run_here "Z:${WORK//\//\\}\\kill_target.exe" counts TerminateProcess
expect "missing: status; $(head -n 5 "$WORK/out")" 1 "$status"
expect "missing: the directory with similar letters" "" "$(ls Lódz)"
expect "missing: spools next to the trace" 1 "$(find . -name '.probity-*.0' | wc -l)"
run_here "Z:${WINDOWS//\//\\}\\bin\\probity.exe" recover trace.probity
expect "missing: recover: status; $(head -n 5 "$WORK/out")" 0 "$status"
hits=$(python3 "$SOURCE/tests/windows/verify.py" "$PROBITY" trace.probity counts)
echo "missing: $hits hits"
