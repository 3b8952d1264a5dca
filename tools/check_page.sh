#!/usr/bin/env bash
# Checks the types and the style of the sources of `probity view`'s page (view/), with TypeScript
# and ESLint from npm. Environment: BUILD. Exit status 1 where there is anything to say; 77 without
# npm.
set -eu
tree=$(cd "$(dirname "$0")/.." && pwd)
folder=${BUILD:?BUILD is not set}/npm-view
if ! command -v npm > /dev/null; then
    echo "page: no npm here" >&2
    exit 77
fi
"$tree/tools/npm_install.sh" "$tree/view" "$folder" --include=dev
cd "$folder"
rm -rf src
cp -R "$tree/view/src" "$tree/view/tsconfig.json" "$tree/view/eslint.config.mjs" .
npm run --silent check
echo "page: $(cat src/* | wc -l) lines, types and style as they should be"
