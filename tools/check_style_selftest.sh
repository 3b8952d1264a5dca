#!/usr/bin/env bash
# Runs the style check on small trees with one violation each: every violation must be found, and a
# clean tree must pass. Exit status 1 if a rule misses its violation or reports one in a clean tree.
set -eu
shopt -s lastpipe # cases whose input is piped are counted in this shell
check=$(cd "$(dirname "$0")" && pwd)/check_style.sh
root=$(mktemp -d)
trap '[[ $BASHPID != $$ ]] || rm -rf "$root"' EXIT
failed=0
cases=0

fresh_tree() {
    rm -rf "${root:?}"/*
    mkdir -p "$root"/src/{base/linux,runtime,reader,cli,answers/{list,tree}} "$root"/include
}

# $1 the expected message, $2 file; its text comes from stdin. $3 $4 another file and its text.
expect_fault() {
    cases=$((cases + 1))
    fresh_tree
    [ -z "${4:-}" ] || echo "$4" > "$root/$3"
    cat > "$root/$2"
    if "$check" "$root" > "$root/out" 2>&1 || ! grep -qF -- "$1" "$root/out"; then
        echo "self-test: not found in $2: '$1'; the check said:" >&2
        cat "$root/out" >&2
        failed=1
    fi
}

expect_clean() {
    cases=$((cases + 1))
    fresh_tree
    cat > "$root/$1"
    if ! "$check" "$root" > "$root/out" 2>&1; then
        echo "self-test: a clean $1 is refused:" >&2
        cat "$root/out" >&2
        failed=1
    fi
}

# $1 a statement, which is put into a function of a C file.
body() {
    printf '/* A file. */\nint f(int a)\n{\n%s\n}\n' "$1"
}

repeat() {
    local i
    for ((i = 0; i < $1; i++)); do echo "$2"; done
}

body "$(repeat 69 '    a++;')" | expect_fault "function of 71 lines" src/base/a.c
body "$(repeat 68 '    a++;')" | expect_clean src/base/a.c
{ echo '/* A file. */'; repeat 800 'extern int a;'; } |
    expect_fault "file of 801 lines" src/base/a.c
body "    a += $(repeat 60 1+ | tr -d '\n')1;" | expect_fault "columns, at most 100" src/base/a.c
body "$(printf '\ta++;')" | expect_fault "tab" src/base/a.c
body "    a++; " | expect_fault "space at the end" src/base/a.c
body "    if (a) { for (;;) { while (a) { if (a) { a++; } } } }" |
    expect_fault "nesting of 4" src/base/a.c
body "    for (;;) for (;;) if (a) while (a) a++;" | expect_fault "nesting of 4" src/base/a.c
body "    for (;;) { for (;;) { if (a) switch (a) { case 1: a++; } } }" |
    expect_fault "nesting of 4" src/base/a.c
body "    for (;;) { switch (a) { case 1: if (a) { f((struct s){a}); } else if (a) { a++; } } }" |
    expect_clean src/base/a.c
body "    do { if (a) { int b[] = { 1, 2 }; a = b[0]; } } while (a);" | expect_clean src/base/a.c
body "    strcpy(a, a);" | expect_fault "banned: " src/cli/a.c
body "    gmtime (a);" | expect_fault "banned: " src/base/a.c
body "    exit(1);" | expect_fault "banned: " src/base/a.c
body "    exit(1); snprintf(a); fprintf(a); localtime_r(a); /* strcpy(a) */ f(\"abort()\");" |
    expect_clean src/cli/a.c
body "    _exit(1); probity_exit(a);" | expect_clean src/base/a.c
printf '/* A file. */\n#ifdef __linux__\n#endif\n' |
    expect_fault "outside the seam" src/reader/a.c
printf '/* A file. */\n#if defined(A) && \\\n    defined(__x86_64__)\n#endif\n' |
    expect_fault "outside the seam" src/reader/a.c
printf '/* A file. */\n#ifdef __linux__\n#endif\n' | expect_clean src/base/linux/os.c
printf '/* A file. */\n\nint probity_os_a(void);\n' |
    expect_fault "no function probity_os_a of base/os.h" src/base/os.h src/base/linux/a.c \
        '/* A file. */'
printf '/* A file. */\n\nint probity_os_a(void);\n' |
    expect_fault "probity_os_a is not in doc/porting.md" src/base/os.h src/base/linux/a.c \
        "$(printf '/* A file. */\nint probity_os_a(void)\n{\n    return 0;\n}')"
printf '/* A file. */\n#include <linux/futex.h>\n' |
    expect_fault "includes a header of one system" src/reader/a.c
printf '/* A file. */\n#include <windows.h>\n' |
    expect_fault "includes a header of one system" src/cli/a.c
printf '/* A file. */\n#include <linux/futex.h>\n' | expect_clean src/base/linux/a.c
printf '/* A file. */\n#include "runtime/session.h"\n' |
    expect_fault "reader/ may not include runtime/" src/reader/a.c
printf '/* A file. */\n#include "reader/trace.h"\n' |
    expect_fault "runtime/ may not include reader/" src/runtime/a.c
printf '/* A file. */\n#include "cli/command.h"\n' |
    expect_fault "base/ may not include cli/" src/base/a.h
printf '/* A file. */\n#include "cli/query.h"\n' |
    expect_fault "answers/ may not include cli/" src/answers/tree/a.c
printf '/* A file. */\n#include "cli/query.h"\n' | expect_clean src/answers/tree/a_command.c
printf '/* A file. */\n#include "answers/list/b.h"\n' | expect_clean src/answers/tree/a.h
printf '/* A file. */\n#include "answers/list/b.h"\n' |
    expect_fault "answers/list: in a cycle of rooms" src/answers/tree/a.h src/answers/list/b.h \
        $'/* A file. */\n#include "answers/tree/a.h"'
printf '/* A file. */\n\nPROBITY_API int f(void);\n' | expect_fault "without a comment" include/a.h
printf '/* A file. */\n\n/* Two. */\nPROBITY_API int f(void);\nPROBITY_API int g(int);\n' |
    expect_clean include/a.h
body '    int file = open("/a", 0);' | expect_fault "opens or changes files by name" src/base/a.c
body '    a = a != 0 || unlinkat(1, 0, 0);' | expect_fault "opens or changes files" src/base/a.h
body '    a->open(1); f("unlink(a)"); reopen(a); /* rename(a) */' | expect_clean src/base/a.c
printf 'int a;\n' | expect_fault "opens with a paragraph" src/base/a.c
printf '/* A file. */\nint f(void) {\n%s\n}\n' "$(repeat 70 '    a++;')" |
    expect_fault "function of 72 lines" src/base/a.c
body "    /* TO""DO: more */" | expect_fault "left-over marker" src/base/a.c
echo "# FIX""ME" | expect_fault "left-over marker" src/base/a.sh
echo "see /wor""k/here" | expect_fault "path of one machine" a.md

echo "trap 'rm -rf \"\$a\"' EX""IT" | expect_fault "EXIT trap that subshells may run" src/base/a.sh
echo "trap '[ \"\$BASHPID\" != \$\$ ] || rm -rf \"\$a\"' EX""IT" |
    expect_fault "EXIT trap that subshells may run" src/base/a.sh
echo "trap '[[ \$BASHPID != \$\$ ]] || rm -rf \"\$a\"' EX""IT" | expect_clean src/base/a.sh

[ "$failed" -eq 0 ] && echo "self-test: $cases cases"
exit "$failed"
