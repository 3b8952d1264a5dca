#!/usr/bin/env bash
# Installs the npm packages of a directory of the tree elsewhere, so that nothing is added to the
# tree:
#
#   tools/npm_install.sh DIRECTORY TARGET [OPTION]...
#
# reads package.json and package-lock.json in DIRECTORY, and installs the packages in
# TARGET/node_modules; options are those of `npm ci`, by default --omit=optional. Does nothing if
# the same packages are already installed; concurrent runs wait for each other. Packages' install
# scripts are not run. Lock files contain versions and checksums, but no URLs, so any registry can
# be used. To update them:
#
#   npm install --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts
set -eu
directory=$1 target=$2
shift 2
[ $# -gt 0 ] || set -- --omit=optional
mkdir -p "$target"
exec 9> "$target/lock"
flock 9
if cmp -s "$directory/package.json" "$target/package.json" &&
    cmp -s "$directory/package-lock.json" "$target/package-lock.json" &&
    [ -e "$target/installed" ]; then
    exit 0
fi
if grep -q '"resolved"' "$directory/package-lock.json"; then
    echo "npm_install: $directory/package-lock.json has addresses" >&2
    exit 1
fi
rm -rf "$target/installed" "$target/node_modules"
cp "$directory/package.json" "$directory/package-lock.json" "$target"
cd "$target"
# npm is verbose; only its errors matter.
if ! npm ci --ignore-scripts "$@" --no-audit --no-fund > npm.log 2>&1; then
    cat npm.log >&2
    exit 1
fi
touch installed
