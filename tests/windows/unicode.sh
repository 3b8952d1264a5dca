#!/usr/bin/env bash
# Names with letters that are not in the system's code page, and with one that takes two units of
# UTF-16: of traces, logs, outputs, directories, programs, arguments and labels. No file gets a
# similar name. In the locale C, Wine does not support such names of files, but arguments and labels
# may have these letters.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -municode -o unicode.exe \
    "$SOURCE/tests/windows/unicode.c" "${STATIC[@]}"
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -municode -o shared.exe \
    "$SOURCE/tests/windows/unicode.c" "${SHARED[@]}"
compile_programs kill_target
x86_64-w64-mingw32-gcc "${FLAGS[@]}" "-I$SOURCE/src" -o conversions.exe \
    "$SOURCE/tests/windows/conversions.c" "${STATIC[@]}"
exe=Z:${WINDOWS//\//\\}\\bin\\probity.exe
polish='{0141}{00f3}d{017a}' japanese='{65e5}{672c}' face='{d83d}{de00}'

# Variables and a program with arguments. Sets $status; its output is in the files out and errors.
launch() {
    wine_run unicode.exe launch "$@" > out.crlf 2> errors.crlf
    tr -d '\r' < out.crlf > out
    tr -d '\r' < errors.crlf > errors
}

# $1 description, $2 expected status, the rest as above
expect_status() {
    local what=$locale:\ $1 expected=$2
    shift 2
    launch "$@"
    expect "$what: status; $(head -n 3 out errors)" "$expected" "$status"
}

# Paths, in the form of Windows.
expect_files() {
    wine_run unicode.exe exists "$@" > out
    expect "$locale: no file $(cat out)" 0 "$status"
}

# $1 fact of `info`, $2 trace
fact() {
    launch "$exe" info "$2"
    sed -n "s/^$1  *//p" out
}

check_all() {
    mkdir Lódz
    # The directories and programs, as a program for Windows makes them.
    expect_status "mkdir" 0 cmd /c mkdir "$polish"
    expect_status "copy" 0 cmd /c copy kill_target.exe "$polish\\$face.exe"
    expect_status "copy" 0 cmd /c copy unicode.exe "$japanese.exe"

    # What programs record, with both libraries.
    for program in unicode shared; do
        expect_status "$program" 7 "PROBITY_OUT=$polish/$program$face.probity" \
            "PROBITY_LOG=$polish/$program$japanese.log" "PROBITY_LABEL=$face" $program.exe print
        expect "$locale: $program: hits" 2 "$(fact hits "$polish/$program$face.probity")"
        expect "$locale: $program: label" 😀 "$(fact label "$polish/$program$face.probity")"
        expect_files "$polish/$program$face.probity" "$polish/$program$japanese.log"
    done

    # The tool: output, program, arguments, label, settings from outside, and a pattern.
    expect_status "record" 7 "$exe" record --label "$japanese" -o "$polish\\%n.probity" -- \
        "$japanese" print "$polish $face" 'back\' '*'
    printf '[%s]\n' 日本 'Łódź 😀' 'back\' '*' > expected
    cmp expected out || fail "$locale: record: $(diff expected out)"
    expect_files "$polish/$japanese.probity"
    expect "$locale: program" 日本.exe \
        "$(fact program "$polish/$japanese.probity" | sed 's,.*[/\\],,')"
    expect_status "a CSV" 7 "$exe" record -o "$face.csv" "$japanese" print
    expect_status "a page" 0 "$exe" view -o "$face.html" "$polish/$japanese.probity"
    expect_status "an export" 0 "$exe" export --format chrome -o "$japanese.json" \
        "$polish/$japanese.probity"
    expect_files "$face.csv" "$face.html" "$japanese.json"
    launch "$exe" export --format sqlite -o "$face.db" "$polish/$japanese.probity"
    if ! grep -q 'this build cannot' errors; then
        expect "$locale: a database: status; $(cat errors)" 0 "$status"
        expect_files "$face.db"
        launch cmd /c del "$face.db"
    fi
    expect_status "a missing file" 1 "$exe" info "L$face.probity"
    grep -qF "'L😀.probity'" errors || fail "$locale: a missing file: $(cat errors)"

    # A killed program, whose spool has such a path, found again by each of its names.
    expect_status "kill" 1 "PROBITY_SPOOL_DIR=$japanese" "PROBITY_OUT=$face.probity" \
        "$polish\\$face.exe" counts TerminateProcess
    expect_status "spools" 0 "PROBITY_SPOOL_DIR=$japanese" "$exe" spools
    grep -qF 😀 out || fail "$locale: spools: $(cat out)"
    expect_status "recover" 0 "PROBITY_SPOOL_DIR=$japanese" "$exe" recover "$face.probity"
    expect_status "copy" 0 cmd /c copy "$face.probity" kept.probity
    python3 "$SOURCE/tests/windows/verify.py" "$PROBITY" kept.probity counts > hits

    # In the code page, as msvcrt passes it to main() and getenv(). The directory and the program
    # have other letters, so that a path with both is in neither encoding.
    launch "$japanese" narrow "$polish"
    case $status in
        77) echo "the code page is not 1252" ;;
        0)
            trace="$polish/sm{00f8}rrebr{00f8}d.$japanese.probity"
            expect_files "$trace" "$polish/bl{00e5}.log"
            expect "$locale: a label in the code page" æ "$(fact label "$trace")"
            ;;
        *) fail "$locale: in the code page: $status" ;;
    esac
    expect "$locale: the directory with similar letters" "" "$(ls Lódz)"
    echo "$(cat hits) hits"
}

check_without_files() {
    expect_status "record" 7 "$exe" record --label "$japanese" -o plain.probity -- \
        unicode print "$polish $face"
    printf '[%s]\n' 日本 'Łódź 😀' > expected
    cmp expected out || fail "$locale: record: $(diff expected out)"
    expect "$locale: label" 日本 "$(fact label plain.probity)"
    find . | sort > "$WORK/before"
    for name in "$polish" "$face"; do
        expect_status "record" 7 "$exe" record -o "$name.probity" -- unicode print
        grep -q '^probity record: no trace ' errors || fail "$locale: record: no message"
        expect_status "PROBITY_OUT" 7 "PROBITY_OUT=$name.probity" unicode.exe print
        grep -q '^probity: ' errors || fail "$locale: PROBITY_OUT=$name: no message"
    done
    find . | sort | diff "$WORK/before" - > "$WORK/added" ||
        fail "$locale: files: $(cat "$WORK/added")"
}

wine_run conversions.exe > out 2>&1
expect "conversions" "0 " "$status $(cat out)"
for locale in C.UTF-8 C; do
    export LC_ALL=$locale LANG=$locale
    mkdir "$locale"
    cp unicode.exe shared.exe kill_target.exe libprobity.dll "$locale"
    cd "$locale"
    if [ "$locale" = C ]; then check_without_files; else check_all; fi
    cd ..
done
