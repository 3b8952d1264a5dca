#!/usr/bin/env bash
# Installs the npm packages of a directory of the tree elsewhere, so that nothing is added to the
# tree:
#
#   tools/npm_install.sh DIRECTORY TARGET [OPTION]...
#
# reads package.json and package-lock.json in DIRECTORY, and leaves the packages in
# TARGET/node_modules; options are those of `npm ci`, by default --omit=optional. Does nothing if
# the same packages are already there; concurrent runs wait for each other. Packages' install
# scripts are not run. Lock files have versions and checksums, but no URLs, so any registry can be
# used. To update them:
#
#   npm install --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts
#
#   NPM_KEPT  a directory with copies of what was installed, also by other builds (tools/test.sh):
#             to copy the packages takes a tenth of the CPU time of `npm ci`. It keeps the six sets
#             that were used last
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

kept=
if [ -n "${NPM_KEPT:-}" ] && mkdir -p "$NPM_KEPT"; then
    kept=$NPM_KEPT/$({ cat package.json package-lock.json; echo "$(node --version) $*"; } |
        sha256sum | cut -c 1-32)
fi

# Copies appear under their names only when they are complete.
keep_copy() {
    local part=$kept.$$
    if ! { cp -a node_modules "$part" && touch "$part" && mv -T "$part" "$kept"; }; then
        rm -rf "$part"
    fi
    find "$NPM_KEPT" -mindepth 1 -maxdepth 1 -printf '%T@ %p\0' | sort -z -n -r | tail -z -n +7 |
        cut -z -d ' ' -f 2- | xargs -0r rm -rf
}

if [ -n "$kept" ] && cp -a "$kept" node_modules 2> npm.log; then
    touch "$kept"
else
    rm -rf node_modules
    # npm is verbose, and only its errors matter.
    if ! npm ci --ignore-scripts "$@" --no-audit --no-fund > npm.log 2>&1; then
        cat npm.log >&2
        exit 1
    fi
    [ -z "$kept" ] || keep_copy 2> npm.log || true
fi
touch installed
