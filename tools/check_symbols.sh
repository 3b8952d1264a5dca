#!/usr/bin/env bash
# Compares the exported names of the libraries of a build with the declarations in the headers:
#   - the shared library exports exactly the names that include/ declares with visibility "default";
#   - libprobity-print has one name, for libprobity;
#   - libprobity-calls has the functions that src/calls/names.h lists, and those that libprobity
#     calls;
#   - its functions enter what records the call by jumps, without which the program's return address
#     is not found, and nothing is recorded;
#   - every global name in the static library begins with probity_ or alexta_ (it shares the name
#     space of other people's programs);
#   - mutable state at file scope is in src/runtime only, except in the files that mutable_state()
#     lists with their reasons;
#   - code that runs while vector registers are in use (x86-64) calls only functions that preserve
#     them.
# Usage: tools/check_symbols.sh BUILD, of a build without sanitizers. Exit status 1 when something
# differs.
set -eu
build=${1:?usage: check_symbols.sh BUILD}
compiler=${CC:-gcc}
failed=0

complain() {
    echo "symbols: $1" >&2
    failed=1
}

# Preprocesses the headers into one declaration per line, and prints the names declared with the
# attribute.
declared_names() {
    local header
    for header in include/*.h; do
        "$compiler" -E -P -Iinclude -x c "$header"
    done | tr '\n' ' ' | tr ';{}' '[\n*]' |
        sed -n 's/__attribute__ *((visibility("default")))/&/p' |
        sed 's/__attribute__ *(([^()]*\(([^()]*)\)\{0,1\}[^()]*))//g' |
        grep -oE '(probity|alexta)_[a-z_A-Z0-9]+ *(\(|$|=|\[)' | sed 's/[[ (=]*$//' | sort -u
}

exported_names() {
    nm -D --defined-only "$build/lib/libprobity.so" |
        awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u
}

stray_names() {
    nm -g --defined-only "$build/lib/libprobity.a" 2> /dev/null |
        awk 'NF == 3 && $3 !~ /^(probity|alexta)_/ && $3 !~ /^(__|DW\.)/ { print $3 }' | sort -u
}

# Names in writable sections of each object whose source still exists.
mutable_state() {
    local object source
    # log_command.o: the flag that its handler of SIGINT sets; cli_unfinished.o: the files that a
    # handler removes; cli_sigbus.o: the mappings that a handler of SIGBUS looks up;
    # reader/functions.o, reader/range.o: the functions that main() sets; demangle.o: its child
    # process; locate.o: the files it has read; base/cpu.o: the CPU's features, queried once;
    # cli/jobs.o: the number of threads that main() uses; cli/align.o: whether --no-align was given;
    # cli/message.o: --quiet and progress; cli/output_stream.o: when to use colors; cli/filter.o:
    # names that look like patterns; base/library.o, store/sqlite.o, symbols/elfutils.o: libraries
    # loaded on first use; symbols/elf_file.o, cli/main.o: the callback for warnings about unused
    # files, and the files reported so far; src/functions/ and src/calls/ run in the program, as the
    # runtime does
    find "$build/obj/src" -name '*.o' ! -path '*/src/runtime/*' ! -path '*/src/cli/message.o' \
        ! -path '*/src/log/log_command.o' ! -path '*/src/cli/cli_unfinished.o' \
        ! -path '*/src/cli/cli_sigbus.o' ! -path '*/src/cli/jobs.o' \
        ! -path '*/src/cli/align.o' \
        ! -path '*/src/cli/output_stream.o' ! -path '*/src/cli/filter.o' \
        ! -path '*/src/reader/functions.o' ! -path '*/src/reader/range.o' \
        ! -path '*/src/symbols/demangle.o' ! -path '*/src/symbols/locate.o' \
        ! -path '*/src/base/library.o' ! -path '*/src/store/sqlite.o' \
        ! -path '*/src/symbols/elfutils.o' ! -path '*/src/symbols/elf_file.o' \
        ! -path '*/src/cli/main.o' \
        ! -path '*/src/base/cpu.o' ! -path '*/src/functions/*' ! -path '*/src/calls/*' |
        while read -r object; do
        source=${object#"$build/obj/"}
        [ -e "${source%.o}.c" ] || continue
        objdump -t "$object" | awk -v source="${source%.o}.c" '
            $4 ~ /^\.(data|bss|tdata|tbss)/ && $4 !~ /^\.data\.rel\.ro/ && $NF !~ /^\./ {
                print source ": " $NF }'
    done
}

# Prints functions that this code calls or jumps to, except those that preserve the registers.
# Assembly code saves the registers before it calls the functions for unusual calls.
calls_changing_vectors() {
    local object kept='keep_(low_)?vectors|sled_probe_(slow|gap)'
    kept+='|site_(enter|leave|event_(gap|refused))'
    for object in sled_calls site_calls fentry sites_x86_64 fentry_x86_64; do
        [ "$object" != fentry_x86_64 ] || kept+='|fentry_(enter|leave)(_unusual)?'
        objdump -dr "$build/obj/src/functions/$object.o" | awk '
            / R_X86_64_/ { if (is_branch) { sub(/-0x4$/, "", $3); print $3 } }
            { is_branch = $0 ~ /\t(call|j[a-z]+) / }' |
            grep -vE "^(\.text.*|probity_($kept))\$" || true
    done
}

# $1 names, one a line. Prints the calls of functions named record_NAME or prepare_NAME, and at the
# end the number of jumps to them from a function NAME.
entered_by_calls() {
    objdump -d --no-show-raw-insn "$build/lib/libprobity-calls.so" | awk -v names="$1" '
        BEGIN { count = split(names, list, "\n"); while (count > 0) wanted[list[count--]] = 1 }
        /^[0-9a-f]+ <.*>:$/ { within = $0; gsub(/^[0-9a-f]+ <|>:$/, "", within) }
        { code = substr($0, index($0, "\t") + 1) }
        match(code, /<(record|prepare)_[^>.+]*/) {
            target = name = substr(code, RSTART + 1, RLENGTH - 1)
            sub(/^(record|prepare)_/, "", name)
            if (!(name in wanted))
                next
            if (code ~ /^(call|bl)[a-z]*[ \t]/)
                print within " calls " target
            else if (within == name)
                jumps++
        }
        END { print jumps + 0 }'
}

declared=$(declared_names)
[ -n "$declared" ] || complain "found no public declaration in include/: the check itself is broken"
difference=$(diff <(echo "$declared") <(exported_names) | grep '^[<>]' || true)
[ -z "$difference" ] || complain "declared (<) and exported (>) differ: ${difference//$'\n'/, }"

stray=$(stray_names)
[ -z "$stray" ] || complain "without prefix in libprobity.a: ${stray//$'\n'/, }"

for library in "-D $build/lib/libprobity-print.so" "$build/lib/libprobity-print.a"; do
    # shellcheck disable=SC2086 # an option and a file
    names=$(nm -g --defined-only $library 2> /dev/null |
        awk 'NF == 3 && $2 != "A" && $3 !~ /^DW\./ { sub(/@.*/, "", $3); print $3 }')
    [ "$names" = probity_print_hooks ] || complain "$library: ${names//$'\n'/, }"
done

# The functions listed in src/calls/names.h, and those that libprobity calls.
wanted=$({ printf "probity_calls_%s\n" cost count_hits ending recording sleep wake
    printf '#include "calls/names.h"\nPROBITY_CALLS_NAMES(name)\n' |
        "$compiler" -E -P -D_GNU_SOURCE -Isrc - | grep -oE 'name\([A-Za-z0-9_]+\)' |
        sed 's/name(//; s/)//'; } | sort -u)
names=$(nm -D --defined-only "$build/lib/libprobity-calls.so" |
    awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u)
difference=$(diff <(echo "$wanted") <(echo "$names") | grep '^[<>]' || true)
[ -z "$difference" ] || complain "libprobity-calls: wanted (<), has (>): ${difference//$'\n'/, }"
found=$(entered_by_calls "$names")
jumps=${found##*$'\n'}
[ "$found" = "$jumps" ] || complain "not entered by a jump: ${found//$'\n'/, }"
[ "$jumps" -ge 100 ] || complain "libprobity-calls: found only $jumps jumps to what records calls"

state=$(mutable_state)
[ -z "$state" ] || complain "mutable state outside src/runtime: ${state//$'\n'/, }"

if [ "$(uname -m)" = x86_64 ]; then
    names=$(calls_changing_vectors | sort -u)
    [ -z "$names" ] || complain "called while vector registers are in use: ${names//$'\n'/, }"
fi

[ "$failed" -eq 0 ] && echo "symbols: $(wc -l <<< "$declared") public names, all exported"
exit "$failed"
