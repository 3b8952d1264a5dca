#!/usr/bin/env bash
# Makes the page of `probity view` in a folder of its own: copies view/ there, installs what it is
# bundled from, and bundles it into page.html. An empty page.html stands for a tool without the
# page; why, is said. Usage: tools/build_page.sh FOLDER
set -eu
tree=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:?usage: build_page.sh FOLDER}
mkdir -p "$folder"
cd "$folder"

without() {
    echo "page: $1: the tool is built without \`probity view\`; install nodejs and npm (Debian's" \
        "do), see that npm gets its packages, and build again" >&2
    : > page.html
    touch -d @0 page.html # so that the next build tries again
    exit 0
}

command -v node > /dev/null || without "no node here"
command -v npm > /dev/null || without "no npm here"
"$tree/tools/npm_install.sh" "$tree/view" . --omit=dev --prefer-offline \
    --fetch-retries=1 || without "npm could not install packages"
cp -R "$tree/view/bundle.mjs" "$tree/view/src" .
node bundle.mjs page.html
