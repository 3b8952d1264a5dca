#!/usr/bin/env bash
# Runs the campaigns of doc/reliability.md. Called by `make campaign`; without arguments all parts
# run, in the order of their names. After an interruption it resumes: each part stores its completed
# steps and its counts in $BUILD/campaign/NAME/.
#
#   tools/campaign.sh [PART...]         run tests/campaign/PART.sh; status 1 if one found a fault
#   tools/campaign.sh --paste [PART...] write the figures of parts into doc/reliability.md
#   tools/campaign.sh --forget PART...  restart these parts from the beginning
#
#   BUILD   build directory; the variants are BUILD-clang, BUILD-asan, BUILD-tsan
set -eu
cd "$(dirname "$0")/.."
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
mkdir -p "${BUILD:=build}/campaign"
BUILD=$(cd "$BUILD" && pwd)
export BUILD
for name in "${!PROBITY_@}"; do unset "$name"; done
page=doc/reliability.md

parts_of() {
    local part
    if [ $# -eq 0 ]; then
        for part in tests/campaign/*.sh; do basename "$part" .sh; done
    fi
    for part; do
        if [ ! -e "tests/campaign/$part.sh" ]; then
            echo "campaign: invalid part '$part' (valid: $(parts_of | paste -sd ' '))" >&2
            return 1
        fi
        echo "$part"
    done
}

machine() {
    printf '%s, %d CPUs, Linux %s' \
        "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" "$(uname -r)"
}

# Replaces the rows between a part's two markers in the page.
paste_part() {
    local part=$1 rows=$BUILD/campaign/$1/rows
    if [ ! -s "$rows" ]; then
        echo "campaign: part '$part' has no figures yet" >&2
        return 0
    fi
    if ! grep -q "^<!-- campaign $part -->\$" "$page"; then
        echo "campaign: $page has no marker '<!-- campaign $part -->'" >&2
        return 1
    fi
    {
        echo
        echo "| What | Target | Found |"
        echo "|---|---|---|"
        awk -F '\t' '{ printf "| %s | %s | %s |\n", $1, $2, $3 }' "$rows"
        echo
        cat "$BUILD/campaign/$part/where"
        echo
    } > "$BUILD/campaign/$part/table"
    awk -v part="$part" -v table="$BUILD/campaign/$part/table" '
        $0 == "<!-- /campaign " part " -->" { inside = 0 }
        !inside { print }
        $0 == "<!-- campaign " part " -->" {
            inside = 1
            while ((getline line < table) > 0)
                print line
        }' "$page" > "$page.new"
    mv "$page.new" "$page"
}

run_part() {
    local part=$1 directory=$BUILD/campaign/$1 status=0 started=$SECONDS
    mkdir -p "$directory"
    echo "campaign: $part"
    # Figures that are pasted later name the version of the sources from which they are.
    printf '%s; %s; commit %s%s.\n' "$(machine)" "$(date -u +%F)" \
        "$(git rev-parse --short=12 HEAD 2> /dev/null || echo unknown)" \
        "$(git diff --quiet HEAD 2> /dev/null || echo ' with changes')" > "$directory/where"
    env "PART=$part" "STATE=$directory" "PROBITY=$BUILD/bin/probity" VARIANT=gcc \
        "CC=${CC:-gcc}" "CXX=${CXX:-g++}" bash "tests/campaign/$part.sh" || status=$?
    if [ "$status" -ne 0 ]; then
        echo "campaign: $part: FAILED (status $status), see $directory" >&2
    else
        echo "campaign: $part: done in $((SECONDS - started)) s"
    fi
    return "$status"
}

mode=run
case ${1:-} in
    --paste) mode='paste'; shift ;;
    --forget) mode=forget; shift ;;
    -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
if [ "$mode" = forget ] && [ $# -eq 0 ]; then
    echo "campaign: --forget requires the names of parts" >&2
    exit 2
fi
parts=$(parts_of "$@")
failed=0
for part in $parts; do
    case $mode in
        run) run_part "$part" || failed=1 ;;
        paste) paste_part "$part" || failed=1 ;;
        forget) rm -rf "${BUILD:?}/campaign/$part" ;;
    esac
done
exit "$failed"
