#!/usr/bin/env bash
# Checks the house rules that a script can check (CONTRIBUTING.md lists them) and reports the share
# of comments. Usage: tools/check_style.sh [ROOT]. Exit status 1 if a rule is violated.
# tools/check_style_selftest.sh proves that each rule can fail.
set -eu
export LC_ALL=C
tools=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$tools/..}"

# Which directories of src/ a file may include. Only commands include cli/, and code that runs in
# the traced program never includes code that reads traces, with these exceptions: embed_print/,
# which needs both, and the files of writer/ that complete the trace of a dead writer.
allowed_includes() {
    case $1 in
        *_command.c)
            echo base reader analysis print answers exports log page symbols store fleet writer cli
            ;;
        base/*) echo base ;;
        format/*) echo base format ;;
        spool/*) echo base format spool ;;
        writer/recover.c | writer/drainer.c | writer/snapshot.c)
            echo base format spool reader writer
            ;;
        writer/*) echo base format spool writer ;;
        runtime/*) echo base format spool writer runtime ;;
        functions/*) echo base functions ;;
        calls/*) echo base calls ;;
        reader/*) echo base format spool reader ;;
        analysis/*) echo base reader analysis ;;
        print/*) echo base reader print ;;
        answers/*) echo base reader analysis store print answers ;;
        log/*) echo base reader analysis print log ;;
        exports/*) echo base reader analysis print log answers exports store ;;
        fleet/*) echo base reader analysis answers fleet ;;
        page/*) echo base reader analysis print answers page ;;
        store/*) echo base analysis answers store ;;
        embed_print/*) echo base runtime writer analysis answers exports log print embed_print ;;
        embed/*) echo base runtime embed ;;
        symbols/*) echo base reader symbols ;;
        sched/*) echo base format reader sched ;;
        cli/*)
            echo base reader analysis print answers exports symbols sched store fleet writer cli
            ;;
    esac
}

check_includes() {
    local file directory allowed
    find src -mindepth 2 -name '*.[ch]' | sort | while read -r file; do
        directory=${file#src/}
        directory=${directory%%/*}
        allowed=" $(allowed_includes "${file#src/}") "
        sed -n 's,^ *# *include *"\([a-z_]*\)/.*,\1,p' "$file" | sort -u | while read -r target; do
            [[ $allowed == *" $target "* ]] || echo "$file: $directory/ may not include $target/"
        done
    done
}

# Each operating system must implement every function that the common headers declare
# (doc/porting.md).
check_systems() {
    local header name system
    for system in $(find src/base -mindepth 1 -maxdepth 1 -type d 2> /dev/null | sort); do
        for header in os os_confine clock objects functions thread_count; do
            [ -e "src/base/$header.h" ] || continue
            sed -n '/^static\|^typedef/d; s/^[a-z].*[ *]\(probity_[a-z_]*\)(.*/\1/p' \
                "src/base/$header.h" |
                while read -r name; do
                    grep -qE "^[a-z].*[ *]$name\(" "$system"/*.c 2> /dev/null ||
                        echo "$system: no function $name of base/$header.h"
                done
        done
    done
}

# Each of these functions is listed in doc/porting.md, by its name without prefix.
check_contracts() {
    local header name short
    for header in os os_confine clock objects functions thread_count; do
        [ -e "src/base/$header.h" ] || continue
        sed -n '/^static\|^typedef/d; s/^[a-z].*[ *]\(probity_[a-z_]*\)(.*/\1/p' \
            "src/base/$header.h" |
            while read -r name; do
                short=${name#probity_}
                short=${short#os_}
                [ "$header" != clock ] || short=${short#clock_}
                grep -qF "\`$short\`" doc/porting.md 2> /dev/null ||
                    echo "src/base/$header.h: $name is not in doc/porting.md"
            done
    done
}

# A source file that includes a header of one system, but does not belong to that system's part, is
# listed in doc/porting.md.
check_system_headers() {
    local file
    find src -name '*.[ch]' ! -path 'src/base/linux/*' ! -path 'src/base/windows/*' -print0 |
        sort -z |
        xargs -0r grep -lE '^ *# *include *<(linux/|asm/|sys/syscall|sys/auxv|windows|winternl)' |
        while read -r file; do
            grep -qF "\`$file\`" doc/porting.md 2> /dev/null ||
                echo "$file: includes a header of one system, but is not in doc/porting.md"
        done
}

# Answers and exports have a directory each, whose includes must form no cycle. Commands may include
# all of them.
check_rooms() {
    find src/answers src/exports src/store -name '*.[ch]' ! -name '*_command.c' 2> /dev/null |
        while read -r file; do
        room=${file#src/}
        sed -n 's,^ *# *include *"\(\(answers\|exports\|store\)/[^"]*\)/[^/"]*".*,\1,p' "$file" |
            sed "s,^,${room%/*} ,"
    done | sort -u | tsort 2>&1 > /dev/null | sed -n 's,^tsort: -*:* *,,p' | grep / |
        sed 's,^.*$,src/&: in a cycle of rooms,' || true
}

text_files() {
    find . \( -name .git -o -name 'build' -o -name 'build-*' \) -prune -o -type f \
        \( -name '*.[ch]' -o -name '*.cc' -o -name '*.sh' -o -name '*.awk' -o -name '*.md' -o \
        -name '*.mk' -o -name Makefile -o -name '*.[137]' -o -name '*.in' -o -name '*.py' \) \
        -print |
        sed 's,^\./,,'
}

# One process for all files: several for each file would take a minute of CPU time. $1 regular
# expression for names of files, $2 for lines; $3 description of a matching line
find_lines() {
    text_files | grep -E "$1" | tr '\n' '\0' | xargs -0r grep -nE "$2" /dev/null |
        sed "s,^\([^:]*:[0-9]*\):.*,\1: $3," || true
}

# The brackets keep this file from matching itself. Markers in C are found by check_style.awk.
check_text() {
    find_lines . '(^|[^A-Za-z0-9_./])/(wor[k]|roo[t]|hom[e])/[a-z]' 'path of one machine'
    find_lines '[.](sh|awk|bash|md|mk|[137]|in|py)$|(^|/)Makefile$' \
        '(^|[^A-Za-z0-9_])(TO[D]O|FIX[M]E|XX[X]|HAC[K])([^A-Za-z0-9_]|$)' 'left-over marker'
    text_files | grep -E '[.](sh|bash|awk)$' | tr '\n' '\0' | xargs -0r awk 'length($0) > 100 {
        print FILENAME ":" FNR ": line of " length($0) " columns, at most 100" }'
}

# A background subshell that is killed right after the fork runs the EXIT trap of its parent,
# whose directory is then gone. So the trap has to check which process runs it, without the
# builtin `[`: such a subshell runs builtins in a process that it cannot wait for, so that each of
# them seems to fail.
check_traps() {
    text_files | grep -E '\.(sh|bash)$' | tr '\n' '\0' |
        xargs -0r grep -nE "^[^#]*trap [^-].*[[:space:]]EXI[T]([[:space:]]|$)" /dev/null |
        grep -vF '[[ $BASHPID != $$ ]] ||' |
        sed "s,^\([^:]*:[0-9]*\):.*,\1: EXIT trap that subshells may run," || true
}

check_code() {
    local files
    mapfile -t files < <(text_files | grep -E '\.([ch]|cc)$' | sort)
    [ ${#files[@]} -eq 0 ] || awk -f "$tools/check_style.awk" "${files[@]}"
}

# A source file that opens, creates, renames, removes or runs a file by name must be listed in
# doc/security.md, by its own name or by its directory.
check_files() {
    local calls='open|openat|fopen|freopen|opendir|rename|renameat2?|unlink|unlinkat|link|linkat'
    calls+='|symlink|symlinkat|mkdir|mkdirat|rmdir|mkstemp|mkostemp|mkdtemp|truncate|dlopen'
    calls+='|execvp?e?|posix_spawnp?|sqlite3_open(_v2)?'
    find src -name '*.[ch]' -print0 | sort -z | xargs -0r awk \
        -v calls="(^|[^a-zA-Z0-9_>.])($calls)[(]" '
        /^ *([*]|\/[*])/ { next }
        { gsub(/"[^"]*"|\/[*].*[*]\//, "") }
        $0 ~ calls && !(FILENAME in seen) { seen[FILENAME]; print FILENAME }' |
        while read -r file; do
            name=${file#src/}
            grep -qF -e "\`$name\`" -e "\`$(dirname "$name")/\`" doc/security.md 2> /dev/null ||
                echo "$file: opens or changes files by name, but is not in doc/security.md"
        done
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

# Counts assertions, including static ones, in the code that records and reads, without empty lines
# and comments.
report_assertions() {
    find src/base src/format src/spool src/runtime src/writer src/reader -name '*.[ch]' \
        -exec cat {} + 2> /dev/null | awk '
        /^ *([*]|\/[*]|$)/ { next }
        { lines++ }
        /^ *(probity_assert|_Static_assert)[(]/ { assertions++ }
        END {
            if (lines > 0)
                printf "style: %d assertions in %d lines of core: %.1f in 1,000\n", assertions,
                    lines, 1000 * assertions / lines
        }'
}

findings=$(
    check_code; check_includes; check_systems; check_contracts
    check_system_headers; check_rooms; check_text; check_traps; check_files
)
report_share <<< "$findings"
report_assertions
sed -n 's/^#warning /style: warning: /p' <<< "$findings"
faults=$(grep -v '^#' <<< "$findings" | grep . || true)
if [ -n "$faults" ]; then
    echo "$faults" >&2
    echo "style: $(wc -l <<< "$faults") faults" >&2
    exit 1
fi
echo "style: no fault"
