#!/usr/bin/env bash
# probity.exe with SQLite: its exported databases have the same rows as those of the tool on Linux;
# each keeps a history of runs that the other one reads and changes. Without SQLite, it reports
# that.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
exe=$WINDOWS/bin/probity.exe
cp "$SOURCE"/tests/golden/{good/sites,good/threads,systems/windows}.probity .

wine_run "$exe" export --format sqlite -o windows.db sites.probity > out 2>&1
if grep -q 'this build cannot write format' out; then
    wine_run "$exe" runs list > out 2>&1
    expect "runs: status" 1 "$status"
    echo "probity.exe was built without SQLite: $(tr -d '\r' < out | head -n 1)"
    exit 0
fi
for trace in sites threads windows; do
    rm -f windows.db
    wine_run "$exe" export --format sqlite -o windows.db $trace.probity > out 2>&1
    expect "export of $trace: status; $(head -n 3 out)" 0 "$status"
    "$PROBITY" export --format sqlite -f -o linux.db $trace.probity 2> out
    sqlite3 windows.db .dump > windows.sql
    sqlite3 linux.db .dump > linux.sql
    diff linux.sql windows.sql > difference || fail "$trace: $(head -n 10 difference)"
    [ "$(grep -c INSERT linux.sql)" -gt 0 ] || fail "$trace: no rows"
done

# Without the column of the directory, whose name differs there.
mkdir project
cd project
wine_run "$exe" runs init > ../out 2>&1
expect "init: status; $(head -n 3 ../out)" 0 "$status"
wine_run "$exe" runs add --label v1 ../sites.probity > ../out 2>&1
expect "add: status; $(head -n 3 ../out)" 0 "$status"
"$PROBITY" runs add --label v2 ../windows.probity > ../out 2>&1 || fail "add: $(cat ../out)"
"$PROBITY" runs list --csv > ../linux.csv
wine_run "$exe" runs list --csv > ../windows.csv 2> ../out
expect "list: status; $(head -n 3 ../out)" 0 "$status"
cmp ../linux.csv ../windows.csv || fail "list: $(diff ../linux.csv ../windows.csv | head -n 6)"
expect "list: lines" 3 "$(wc -l < ../linux.csv)"
"$PROBITY" diff @v1 -- @v2 > ../linux.diff 2>&1 && expected=0 || expected=$?
wine_run "$exe" diff @v1 -- @v2 > ../windows.diff 2>&1
expect "diff: status" "$expected" "$status"
cmp ../linux.diff ../windows.diff || fail "diff: $(diff ../linux.diff ../windows.diff | head -n 6)"
echo "databases and histories are the same"
