#!/usr/bin/env bash
# paste.sh BUILD_DIR: copies the table of the last complete run of run.sh to doc/overhead.md.
set -eu
table=${1:?usage: paste.sh BUILD_DIR}/bench.txt
page=$(cd "$(dirname "$0")/.." && pwd)/doc/overhead.md
awk -v table="$table" '
/^<!-- results/ {
    print
    print "\n```"
    while ((getline line < table) > 0) {
        sub(/ +$/, "", line)
        print line
    }
    print "```\n"
    skip = 1
}
/^<!-- end of results/ { skip = 0 }
!skip' "$page" >"$page.new"
mv "$page.new" "$page"
