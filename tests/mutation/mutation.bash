# Applies a mutant to a copy of the sources, builds what has changed, and runs tests. Sourced after
# common.bash; shared by the short test and the campaign. Tests are named unit/NAME or SUBJECT/NAME.

# shellcheck disable=SC2034 # for the scripts
MUTANTS=$SOURCE/tests/mutation/mutants.py

# Copies the files that make reads. $1 destination
mutation_copy() {
    mkdir -p "$1"
    tar -C "$SOURCE" -cf - Makefile bench completion doc examples include man packaging src tests \
        tools view README.md | tar -C "$1" -xf -
}

# Copies a build so that make finds it up to date, except for programs that would load the
# original's shared library. $1 a build of the sources, $2 directory for the copy
mutation_copy_build() {
    local part
    mkdir -p "$2"
    for part in bench bin examples generated lib obj tests; do
        cp -a "$1/$part" "$2"
    done
    sed "s,$1/,$2/,g" "$1/flags" > "$2/flags"
    touch -r "$1/flags" "$2/flags"
    find "$2/obj" -name '*.d' -exec sed -i "s,$1/,$2/,g" {} +
    rm -f "$2"/tests/programs/*.shared "$2"/tests/programs/*.so
}

# Prints the make targets for a program. $1 source of a program run by tests, $2 build directory
mutation_programs() {
    local program
    program=$(basename "${1%.*}")
    case $program in
        plugin*) echo "$2/tests/programs/$program.so" ;;
        *_internal) echo "$2/tests/programs/$program" ;;
        *) echo "$2/tests/programs/$program" "$2/tests/programs/$program.shared" ;;
    esac
}

# Prints the make targets, in the copy's build directory $2, that test $1 needs.
mutation_targets() {
    local kind=${1%%/*} name=${1#*/} script file text words
    if [ "$kind" = unit ]; then
        echo "$2/tests/unit/$name"
        return 0
    fi
    script=$SOURCE/tests/$1.sh
    text=$(cat "$script")
    for file in "$SOURCE"/tests/*.bash "$SOURCE"/tests/*/*.bash; do
        [[ $text != *"$(basename "$file")"* ]] || text+=$(cat "$file")
    done
    echo tool lib
    [[ $text != *examples* ]] || echo examples
    for file in tests/death tests/truncate_bitflip; do
        [[ $text != *"/$file"* ]] || echo "$2/$file"
    done
    [[ $text != *bench* ]] || echo bench-programs
    words=" $(tr -cs 'a-z_' ' ' <<< "$text") "
    for file in "$SOURCE"/tests/programs/*.c "$SOURCE"/tests/programs/*.cc; do
        name=$(basename "${file%.*}")
        [[ $words != *" $name "* && $words != *" ${name#plugin_} "* ]] ||
            mutation_programs "$file" "$2"
    done
}

# Builds what tests need. $1 sources, $2 build directory, the rest: tests
mutation_build() {
    local tree=$1 build=$2 test
    shift 2
    [[ " $* " != *" page/view "* ]] || make -s -C "$tree" "BUILD=$build" page || return 1
    # shellcheck disable=SC2046
    make -s -j2 -C "$tree" "BUILD=$build" "CC=$CC" "CXX=$CXX" \
        $(for test; do mutation_targets "$test" "$build"; done | tr ' ' '\n' | sort -u)
}

# A test that does not end in time fails, and the processes that it started are killed. $1 sources,
# $2 build directory, $3 test
mutation_ask() (
    cd "$1" || exit
    case $3 in
        unit/*) set -- "$2/tests/$3" ;;
        *) set -- env "BUILD=$2" "PROBITY=$2/bin/probity" VARIANT=gcc bash "$1/tests/$3.sh" ;;
    esac
    status=0
    timeout -k 5 "${PATIENCE:-300}" "$@" < /dev/null &
    wait $! || status=$?
    kill -KILL -- "-$!" 2> /dev/null || true
    exit $status
)
