#!/usr/bin/env bash
# Installs the engine of package.json with its checksums in package-lock.json:
#
#   tests/engine/install.sh TARGET
#
# leaves it in TARGET/node_modules, half a gigabyte. Does nothing if it exists; concurrent runs wait
# for each other. Packages' install scripts are not run. The lock file contains no URLs, and covers
# only the platforms for which it was made; `npm ci` would require all of them.
set -eu
directory=$(cd "$(dirname "$0")" && pwd) target=${1:?usage: install.sh TARGET}
mkdir -p "$target"
exec 9> "$target/lock"
flock 9
if cmp -s "$directory/package-lock.json" "$target/installed"; then
    exit 0
fi
rm -rf "$target/installed" "$target/node_modules"
cp "$directory/package.json" "$directory/package-lock.json" "$target"
cd "$target"
if ! npm install --ignore-scripts --no-save --no-audit --no-fund --fetch-retries=1 > npm.log 2>&1
then
    tail -n 3 npm.log >&2
    exit 1
fi
cp "$directory/package-lock.json" installed
