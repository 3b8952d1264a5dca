#!/usr/bin/env bash
# Mistakes that the compiler must report. gcc and clang reject each source, as C and as C++, with a
# message that names the mistake; the corrected version compiles without warnings. SHARE=N: tests
# one in N of the rejected sources, chosen by SEED; by default all.
# variants: gcc
. "$(dirname "$0")/../common.bash"
INCLUDE=$OLDPWD/include
checked=0
mistakes=0
seed=${SEED:-$RANDOM}
echo "seed $seed"
RANDOM=$seed

# $1 compiler, $2 language, $3 source; messages go to a file of that name. The lines of head.h
# before the source are compiled once for each compiler and standard.
compiles() {
    local standard=c11 flags use compiled
    [ "$2" = c ] || standard=${STANDARD:-c++17}
    checked=$((checked + 1))
    flags=(-std="$standard" -Wall -Wextra -Wpedantic -Wshadow -Werror -I "$INCLUDE")
    compiled=$1.$standard/head.h
    if [ ! -e "$compiled.gch" ]; then
        mkdir "${compiled%/*}"
        cp head.h "$compiled"
        "$1" -x "$2-header" "${flags[@]}" -o "$compiled.gch" "$compiled" > messages 2>&1 || return
    fi
    case $1 in
        clang*) use=(-include-pch "$compiled.gch") ;;
        *) use=(-include "$compiled") ;;
    esac
    "$1" -x "$2" "${flags[@]}" -fsyntax-only "${use[@]}" "$3" > messages 2>&1
}

# Prints a function (int a, double b, struct point *at, const char *text). $1 its name, $2 its lines
function_of() {
    local head="void $1(int a, double b, struct point *at, const char *text)"
    echo "$head; $head {"
    printf '(void)a; (void)b; (void)at; (void)text;\n%s\n}\n' "$2"
}

# $1 name, $2 languages, $3 expected part of the message, $4 wrong lines, $5 corrected lines. The
# corrected lines are all compiled together at the end.
mistake() {
    local name=$1 language compiler
    function_of wrong "$4" > wrong.c
    mistakes=$((mistakes + 1))
    for language in $2; do
        function_of "right_$mistakes" "$5" >> "right.$language"
    done
    for compiler in gcc:c clang:c g++:c++ clang++:c++; do
        [[ " $2 " == *" ${compiler#*:} "* ]] || continue
        ((RANDOM % ${SHARE:-1} == 0)) || continue
        if compiles "${compiler%:*}" "${compiler#*:}" wrong.c; then
            fail "$name: $compiler accepts the mistake"
        elif ! grep -E 'error|^FN_X_at_most' messages | grep -qE -- "$3"; then
            fail "$name: $compiler: expected '$3', found: $(grep error messages | head -n 3)"
        fi
    done
}

right_ones() {
    local compiler
    for compiler in gcc:c clang:c g++:c++ clang++:c++; do
        compiles "${compiler%:*}" "${compiler#*:}" "right.${compiler#*:}" ||
            fail "$compiler rejects valid code: $(grep -A 1 error messages | head -n 6)"
    done
}

cat > head.h << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
struct point { int x, y; };
END

# The scope would end without having begun.
mistake "a jump into a scope" c++ 'jump' 'if (a > 0) goto inside; FN_FUNC(, FN_1); inside: b = 2;' \
    'FN_FUNC(, FN_1); if (a > 0) goto inside; b = 1; inside: b = 2;'
count='n is not the number of parameters'
mistake "n too small" "c c++" "$count" \
    'FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 1, a, b);' \
    'FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 2, a, b);'
mistake "n too large" "c c++" "$count" \
    'FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 3, a, b);' \
    'FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 2, a, b);'
mistake "n without parameters" "c c++" "$count" \
    'FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 1);' \
    'FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 0);'
mistake "n of a checkpoint" "c c++" "$count" \
    'FN_ENTRY(FN_1); FN_CHECKPOINT("label", FN_1, 1, a, b);' \
    'FN_ENTRY(FN_1); FN_CHECKPOINT("label", FN_1, 2, a, b);'

eight=a,a,a,a,a,a,a,a
mistake "33 parameters" "c c++" "more than 32 parameters" \
    "FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 33, $eight, $eight, $eight, $eight, b);" \
    "FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 32, $eight, $eight, $eight, $eight);"
mistake "33 parameters without n" "c c++" "more than 32 parameters" \
    "FN_FUNC_ARGS(FN_VOID, FN_VOID, FN_1, $eight, $eight, $eight, $eight, b);" \
    "FN_FUNC_ARGS(FN_VOID, FN_VOID, FN_1, $eight, $eight, $eight, $eight);"
mistake "72 parameters" "c c++" "at_most_32_parameters" \
    "FN_FUNC_ARGS(FN_VOID, FN_VOID, FN_1, $(printf "$eight,%.0s" 1 2 3 4 5 6 7 8 9) b);" \
    "FN_FUNC_ARGS(FN_VOID, FN_VOID, FN_1, $eight);"
mistake "72 literals" "c c++" "at_most_32_parameters" \
    "FN_FUNC(FN_VOID, FN_1); FN_OUTPUT($(printf '"text",%.0s' {1..72}) b);" \
    'FN_FUNC(FN_VOID, FN_1); FN_OUTPUT("text");'
mistake "33 values" "c c++" "more than 32 parameters" \
    "FN_FUNC(FN_VOID, FN_1); FN_OUTPUT($eight, $eight, $eight, $eight, b);" \
    "FN_FUNC(FN_VOID, FN_1); FN_OUTPUT($eight, $eight, $eight, $eight);"

mistake "no formatter" c "no formatter for the type of .*\*at.*; declare one in FN_USER_TYPES" \
    'FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 1, *at);' \
    'FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 1, at);'
mistake "complex long double" c "no formatter for the type of .*wide" \
    'FN_FUNC(FN_VOID, FN_1); long double _Complex wide = b; FN_PARAM(wide);' \
    'FN_FUNC(FN_VOID, FN_1); double _Complex narrow = b; FN_PARAM(narrow);'
mistake "union" c "no formatter for the type of .*either" \
    'FN_FUNC(FN_VOID, FN_1); union { int x; } either = {a}; FN_PARAM(either);' \
    'FN_FUNC(FN_VOID, FN_1); union { int x; } either = {a}; FN_PARAM(either.x);'
mistake "no operator<<" c++ "no operator<<.* for the type of .*\*at" \
    'FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 1, *at);' \
    'FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 1, at);'
mistake "no formatter in a message" c "no formatter for the type of .*\*at" \
    'FN_FUNC(FN_VOID, FN_1); FN_OUTPUT("at ", *at);' \
    'FN_FUNC(FN_VOID, FN_1); FN_OUTPUT("at ", at);'
mistake "no operator<< in a message" c++ "no operator<<.* for the type of .*\*at" \
    'FN_FUNC(FN_VOID, FN_1); FN_OUTPUT(*at);' \
    'FN_FUNC(FN_VOID, FN_1); FN_OUTPUT(at);'
mistake "no operator<< in a stream message" c++ "no operator<<.* type of a value in a message" \
    'FN_FUNC(FN_VOID, FN_1); FN_OUTPUT("at " << *at);' \
    'FN_FUNC(FN_VOID, FN_1); FN_OUTPUT("at " << at);'
mistake "no formatter of a return value" c "no formatter for the type of .*result" \
    'struct point result = {1, 2}; FN_FUNC_RETVAL(struct point, result, FN_1);' \
    'struct point *result = 0; FN_FUNC_RETVAL(struct point *, result, FN_1);'
mistake "no operator<< of a return value" c++ "no operator<<.* for the type of .*result" \
    'point result = {1, 2}; FN_FUNC_RETVAL(point, result, FN_1);' \
    'point *result = 0; FN_FUNC_RETVAL(point *, result, FN_1);'

# An unsupported type inside another one is reported on one line, too, not by pages about templates.
one_line() {
    local compiler standard
    { echo '#include <map>' && echo '#include <vector>' &&
        function_of wrong "FN_FUNC(FN_VOID, FN_1); $2"; } > wrong.c
    for standard in c++11 c++17; do
        for compiler in g++ clang++; do
            ((RANDOM % ${SHARE:-1} == 0)) || continue
            if STANDARD=$standard compiles "$compiler" c++ wrong.c; then
                fail "$1: $compiler -std=$standard accepts the mistake"
            elif [ "$(grep -c 'error:' messages)" != 1 ] ||
                ! grep 'error:' messages | grep -q "no operator<<.* for the type of .*held"; then
                fail "$1: $compiler -std=$standard: $(grep error: messages | head -n 3)"
            fi
        done
    done
}
one_line "a vector of what has no operator<<" 'std::vector<point> held; FN_PARAM(held);'
one_line "a map to what has no operator<<" \
    'std::map<int, std::vector<point>> held; FN_OUTPUT(held);'
one_line "a pair with what has no operator<<" \
    'std::pair<int, point> held; FN_OUTPUT("a pair: ", held);'

mistake "checkpoint in FN_FUNC" "c c++" "checkpoint_needs_FN_ENTRY" \
    'FN_FUNC(FN_VOID, FN_1); FN_CHECKPOINT("label", FN_1, 1, a);' \
    'FN_ENTRY(FN_1); FN_CHECKPOINT("label", FN_1, 1, a);'
mistake "checkpoint alone" "c c++" "needs_FN_ENTRY" \
    'FN_CHECKPOINT("label", FN_1, 0);' 'FN_ENTRY(FN_1); FN_CHECKPOINT("label", FN_1, 0);'
for macro in 'FN_OUTPUT("text")' 'FN_PRINTF("text")' 'FN_PARAM(a)' 'FN_PAUSE()' 'FN_RESUME()'; do
    mistake "$macro alone" "c c++" "scope_needs_FN_FUNC_or_FN_ENTRY" \
        "$macro;" "FN_FUNC(FN_VOID, FN_1); $macro;"
done
mistake "FN_STREAM alone" c++ "scope_needs_FN_FUNC_or_FN_ENTRY" \
    'FN_STREAM(a);' 'FN_FUNC(FN_VOID, FN_1); FN_STREAM(a);'
mistake "FN_RETVAL alone" "c c++" "scope_needs_FN_FUNC_or_FN_ENTRY" \
    'FN_RETVAL(a);' 'FN_FUNC(int, FN_1); FN_RETVAL(a);'

for macro in 'FN_FUNC(FN_VOID, LEVEL)' 'FN_ENTRY(LEVEL)' 'FN_FUNC_RETVAL(int, a, LEVEL)' \
    'FN_FUNC_PARAMS(int, a, LEVEL, 1, b)'; do
    for level in 6 -1; do
        mistake "level $level of $macro" "c c++" "a level is FN_0 to FN_5" \
            "${macro/LEVEL/$level};" "${macro/LEVEL/FN_5};"
    done
done
mistake "level of a checkpoint" "c c++" "a level is FN_0 to FN_5" \
    'FN_ENTRY(FN_1); FN_CHECKPOINT("label", 6, 0);' \
    'FN_ENTRY(FN_1); FN_CHECKPOINT("label", FN_5, 0);'
mistake "two scopes" "c c++" "redefinition|redeclar" \
    'FN_FUNC(FN_VOID, FN_1); FN_FUNC(FN_VOID, FN_1);' \
    'FN_FUNC(FN_VOID, FN_1); { FN_FUNC(FN_VOID, FN_1); }'

mistake "printf: type" "c c++" "format" \
    'FN_FUNC(FN_VOID, FN_1); FN_PRINTF("%s", a);' \
    'FN_FUNC(FN_VOID, FN_1); FN_PRINTF("%d", a);'
mistake "printf: number" "c c++" "format|conversions" \
    'FN_FUNC(FN_VOID, FN_1); FN_PRINTF("%d %g", a);' \
    'FN_FUNC(FN_VOID, FN_1); FN_PRINTF("%d %g", a, b);'
mistake "variable unknown" "c c++" "nowhere" \
    'FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 1, nowhere);' \
    'FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 1, text);'

right_ones
echo "$checked compilations"
finish
