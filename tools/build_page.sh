#!/usr/bin/env bash
# Builds the page of `probity view` from its sources in view/. `make page` writes the result to
# view/dist/page.html, which is kept in the tree, so that building the tool requires no Node.js.
# Usage: tools/build_page.sh DIRECTORY OUT
#
# Works in a copy of view/ in DIRECTORY, since node_modules must not be among the sources. The lock
# file pins the bundler, whose output is the same on every machine.
set -eu
tree=$(cd "$(dirname "$0")/.." && pwd)
directory=${1:?usage: build_page.sh DIRECTORY OUT} name=${2:?usage: build_page.sh DIRECTORY OUT}
out=$(realpath -m "$name")

if ! command -v node > /dev/null || ! command -v npm > /dev/null; then
    echo "page: building it requires nodejs and npm" >&2
    exit 1
fi
"$tree/tools/npm_install.sh" "$tree/view" "$directory" --omit=dev --prefer-offline --fetch-retries=1
cd "$directory"
rm -rf src
cp -R "$tree/view/bundle.mjs" "$tree/view/src" .
node bundle.mjs page.html
mkdir -p "$(dirname "$out")"
# An unchanged page keeps its modification time, so that nothing is rebuilt because of it.
if cmp -s page.html "$out"; then
    echo "page: $name is up to date"
else
    cp page.html "$out"
    echo "page: $name written"
fi
