# shellcheck shell=bash
# browser.bash: pages in Debian's Chromium. Sourced after common.bash.

# Installs the modules of the page. Without Chromium or Node.js, ends the script as skipped, after
# its other checks.
needs_browser() {
    if ! command -v /usr/bin/chromium > /dev/null || ! command -v node > /dev/null; then
        echo "neither chromium nor node: pages were not looked at" >&2
        finish
        exit 77
    fi
    MODULES=$BUILD/npm-view
    "$SOURCE/tools/npm_install.sh" "$SOURCE/view" "$MODULES" --include=dev
    mkdir -p "$BUILD/test-logs/view"
}

# Runs scenarios. $1, $2 ... scenarios of tests/browser/view.mjs, separated by --. Prints the
# errors.
in_browser() {
    HOME=$WORK node "$SOURCE/tests/browser/view.mjs" "$MODULES/node_modules" \
        "$BUILD/test-logs/view" "$@"
}
