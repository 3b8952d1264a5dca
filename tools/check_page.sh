#!/usr/bin/env bash
# Checks the page of `probity view`: types and style of its sources in view/, with TypeScript and
# ESLint from npm, and that view/dist/page.html, which is kept in the tree, is their bundle.
# Environment: BUILD. Exit status 1 if there are errors; 77 without npm.
set -eu
tree=$(cd "$(dirname "$0")/.." && pwd)
kept=$tree/view/dist/page.html
directory=${BUILD:?BUILD is not set}/npm-view

fail() {
    echo "page: $*" >&2
    exit 1
}

! grep -oE '/(home|root|tmp|usr|var)/[^"]*|node_modules|https?://[^"]*' "$kept" |
    grep -v '^http://www\.w3\.org/' || fail "view/dist/page.html names the paths or addresses above"
if ! command -v npm > /dev/null; then
    echo "page: no npm here" >&2
    exit 77
fi
"$tree/tools/npm_install.sh" "$tree/view" "$directory" --include=dev
cd "$directory"
rm -rf src
cp -R "$tree/view/src" "$tree/view/tsconfig.json" "$tree/view/eslint.config.mjs" \
    "$tree/view/bundle.mjs" .
npm run --silent check
echo "page: $(cat src/* | wc -l) lines, types and style are correct"
node bundle.mjs bundled.html
cmp bundled.html "$kept" ||
    fail "view/dist/page.html is not the bundle of view/: run \`make page\` and commit the result"
echo "page: view/dist/page.html is the bundle of its sources"
