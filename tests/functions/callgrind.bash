# Call counts from callgrind's files and from traces. Sourced after common.bash.

# Lines "FILE:FUNCTION CALLS" from a callgrind file, for functions below this directory. A name is
# written only once and then referred to by number; a callee is in the file of its caller (fl, fi,
# fe) unless cfi or cfl gives another. A jump from code without a name, such as a hook's stub, back
# into a function counts as a call there, but not here. $2: a header whose code may come first in a
# function, which callgrind then attributes to that header.
callgrind_counts() {
    awk -v directory="$PWD/" -v header="${2:-}" '
        function name_of(text, names,    number) {
            number = text
            sub(/\).*/, "", number)
            if (sub(/^\([0-9]+\) /, "", text))
                names[number] = text
            return names[number]
        }
        /^f[lie]=/ { file = name_of(substr($0, 4), files); next }
        /^fn=/ { caller = name_of(substr($0, 4), functions); next }
        /^cf[il]=/ { called_file = name_of(substr($0, 5), files); next }
        /^cfn=/ { called = name_of(substr($0, 5), functions); next }
        /^calls=/ {
            from = called_file != "" ? called_file : file
            split(substr($0, 7), part, " ")
            sub(/\x27[0-9]+$/, "", called)
            if (caller !~ /^0x/ && (index(from, directory) == 1 || from == header) &&
                from !~ /\/base\/error\.c$/)
                calls[substr(from, length(directory) + 1) ":" called] += part[1]
            called_file = ""
        }
        END { for (key in calls) print key, calls[key] }' "$1" | LC_ALL=C sort
}

# Prints the same from a trace: the report has one line per function.
report_counts() {
    "$PROBITY" report --json "$1" > report.json || fail "$1: no report"
    awk -v directory="$PWD/" '
        function field(key,    text) {
            text = $0
            sub(".*\"" key "\": \"?", "", text)
            sub(/[",}].*/, "", text)
            return text
        }
        /^\{"name"/ {
            calls[substr(field("file"), length(directory) + 1) ":" field("name")] += field("calls")
        }
        END { for (key in calls) if (calls[key] > 0) print key, calls[key] }' report.json |
        LC_ALL=C sort
}

# Prints the same by name alone, summed: of the program, without suffixes that the compiler appended
# to a name.
names_of() {
    awk '{ sub(/^.*:/, "", $1); sub(/\..*/, "", $1); calls[$1] += $2 }
        END { for (name in calls) print name, calls[name] }' | LC_ALL=C sort
}

# In the foreground, `timeout` passes a signal on once; otherwise twice, which may end valgrind.
under_callgrind() {
    exec timeout --foreground 900 valgrind --quiet --tool=callgrind \
        --callgrind-out-file="$1" "${@:2}"
}

# $1 description, $2 trace, $3 callgrind file, $4 minimum number of functions. Compares only those
# in the file counts.listed, if it exists.
same_counts_by_name() {
    callgrind_counts "$3" "$SOURCE/include/probity_patchable.h" | names_of > counts.all
    if [ -s counts.listed ]; then
        awk 'NR == FNR { listed[$1] = 1; next } $1 in listed' counts.listed counts.all \
            > counts.callgrind
    else
        mv counts.all counts.callgrind
    fi
    report_counts "$2" | names_of > counts.report
    cmp -s counts.callgrind counts.report || fail "$1: calls by callgrind (<) and report (>): \
$(diff counts.callgrind counts.report)"
    echo "$1: $(wc -l < counts.report) functions, $(awk '{ n += $2 } END { print n }' \
        counts.report) calls"
    [ "$(wc -l < counts.report)" -ge "$4" ] || fail "$1: too few functions were called"
}
