#!/usr/bin/env bash
# Checks the house rules that a script can check (CONTRIBUTING.md lists them) and reports the share
# of comments. Usage: tools/check_style.sh [ROOT]. Exit status 1 when a rule is broken.
# tools/check_style_selftest.sh proves that each rule can fail.
set -eu
export LC_ALL=C
tools=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$tools/..}"

# Which folders of src/ a file may include. Nothing includes cli/, and the half that runs in the
# traced program never meets the half that reads traces, but for two places: library/, where the
# library needs both, and recover.c, which completes what a dead writer left.
allowed_includes() {
    case $1 in
        base/*) echo base ;;
        format/*) echo base format ;;
        spool/*) echo base format spool ;;
        writer/recover.c) echo base format spool reader writer ;;
        writer/*) echo base format spool writer ;;
        runtime/*) echo base format spool writer runtime ;;
        reader/*) echo base format spool reader ;;
        analysis/*) echo base reader analysis ;;
        output/*) echo base reader analysis store output ;;
        store/*) echo base analysis store ;;
        library/*) echo base runtime analysis output library ;;
        symbols/*) echo base reader symbols ;;
        cli/*) echo base reader analysis output symbols store writer cli ;;
    esac
}

check_includes() {
    local file folder allowed
    for file in src/*/*.[ch]; do
        [ -e "$file" ] || continue
        folder=${file#src/}
        folder=${folder%%/*}
        allowed=" $(allowed_includes "${file#src/}") "
        sed -n 's,^ *# *include *"\([a-z]*\)/.*,\1,p' "$file" | sort -u | while read -r target; do
            [[ $allowed == *" $target "* ]] || echo "$file: $folder/ may not include $target/"
        done
    done
}

text_files() {
    find . \( -name .git -o -name 'build' -o -name 'build-*' \) -prune -o -type f \
        \( -name '*.[ch]' -o -name '*.cc' -o -name '*.sh' -o -name '*.awk' -o -name '*.md' -o \
        -name '*.mk' -o -name Makefile -o -name '*.[13]' -o -name '*.in' -o -name '*.py' \) -print |
        sed 's,^\./,,'
}

# The brackets keep this file from finding itself.
check_text() {
    text_files | while read -r file; do
        grep -nE '(^|[^A-Za-z0-9_./])/(wor[k]|roo[t]|hom[e])/[a-z]' "$file" |
            sed "s,^\([0-9]*\):.*,$file:\1: path of one machine," || true
        case $file in
            *.[ch] | *.cc) ;; # their markers are found by check_style.awk
            *) grep -nE '(^|[^A-Za-z0-9_])(TO[D]O|FIX[M]E|XX[X]|HAC[K])([^A-Za-z0-9_]|$)' "$file" |
                sed "s,^\([0-9]*\):.*,$file:\1: left-over marker," || true ;;
        esac
        case $file in
            *.sh | *.awk) awk -v file="$file" 'length($0) > 100 {
                print file ":" FNR ": line of " length($0) " columns, at most 100" }' "$file" ;;
        esac
    done
}

check_code() {
    local files
    mapfile -t files < <(text_files | grep -E '\.([ch]|cc)$' | sort)
    [ ${#files[@]} -eq 0 ] || awk -f "$tools/check_style.awk" "${files[@]}"
}

report_share() {
    awk '/^#share/ { lines[$2] += $3; comments[$2] += $4; all += $3; commented += $4 }
         END {
             for (group in lines)
                 if (lines[group] > 0)
                     printf "style: %-18s %6d lines, %2d %% with comment\n", group, lines[group],
                         100 * comments[group] / lines[group]
             if (all > 0)
                 printf "style: %-18s %6d lines, %2d %% with comment\n", "all", all,
                     100 * commented / all
         }' | sort
}

findings=$(check_code; check_includes; check_text)
report_share <<< "$findings"
sed -n 's/^#warning /style: warning: /p' <<< "$findings"
faults=$(grep -v '^#' <<< "$findings" | grep . || true)
if [ -n "$faults" ]; then
    echo "$faults" >&2
    echo "style: $(wc -l <<< "$faults") faults" >&2
    exit 1
fi
echo "style: no fault"
