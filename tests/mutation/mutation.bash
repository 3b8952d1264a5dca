# Sows a fault into a copy of the sources, builds what has changed and asks tests. Sourced behind
# common.bash; shared by the quick cut and the campaign. A test is called unit/NAME or run/NAME.

# shellcheck disable=SC2034 # for the scripts
FAULTS=$SOURCE/tests/mutation/faults.py

# A copy of what make reads. $1 where to
mutation_copy() {
    mkdir -p "$1"
    tar -C "$SOURCE" -cf - Makefile bench completion doc examples include man packaging src tests \
        tools view README.md | tar -C "$1" -xf -
}

# $1 a test: the targets of make that it needs, in the copy's build directory $2
mutation_targets() {
    local kind=${1%%/*} name=${1#*/} script program programs shared
    if [ "$kind" = unit ]; then
        echo "$2/tests/unit/$name"
        return 0
    fi
    script=$SOURCE/tests/run/$name.sh
    shared=$(cd "$SOURCE/tests/run" && for file in *.bash; do
        ! grep -qF "$file" "$script" || echo "$SOURCE/tests/run/$file"
    done)
    echo tool lib
    # shellcheck disable=SC2086
    ! grep -q examples "$script" $shared || echo examples
    # shellcheck disable=SC2086
    programs=$(cat "$script" $shared | tr -cs 'a-z_' '\n' | sort -u)
    for program in "$SOURCE"/tests/programs/*.c "$SOURCE"/tests/programs/*.cc; do
        program=$(basename "${program%.*}")
        grep -qx -e "$program" -e "${program#plugin_}" <<< "$programs" || continue
        case $program in
            plugin*) echo "$2/tests/programs/$program.so" ;;
            *_internal) echo "$2/tests/programs/$program" ;;
            *) echo "$2/tests/programs/$program $2/tests/programs/$program.shared" ;;
        esac
    done
}

# $1 sources, $2 build directory, then tests: builds what they need
mutation_build() {
    local tree=$1 build=$2 test
    shift 2
    # shellcheck disable=SC2046
    make -s -j2 -C "$tree" "BUILD=$build" "CC=$CC" "CXX=$CXX" \
        $(for test; do mutation_targets "$test" "$build"; done | tr ' ' '\n' | sort -u)
}

# $1 sources, $2 build directory, $3 test. A test that does not end has failed.
mutation_ask() (
    cd "$1" || exit
    case $3 in
        unit/*) set -- "$2/tests/$3" ;;
        run/*) set -- env "BUILD=$2" "PROBITY=$2/bin/probity" VARIANT=gcc bash "$1/tests/$3.sh" ;;
    esac
    exec timeout -k 5 "${PATIENCE:-300}" "$@" < /dev/null
)
