#!/usr/bin/env bash
# Compiles each public header alone, and a user of every probe macro, as C11 and C++17 by gcc and
# clang with the warnings that the project promises. Exit status 1 when one complains.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude -fsyntax-only)
failed=0
checked=0

# $1 compiler, $2 language, $3 standard, $4 file, then further flags
compile() {
    local compiler=$1 language=$2 standard=$3 file=$4
    shift 4
    checked=$((checked + 1))
    if ! "$compiler" -x "$language" -std="$standard" "${warnings[@]}" "$@" "$file"; then
        echo "headers: $compiler -std=$standard $* refuses $(cat "$file")" >&2
        failed=1
    fi
}

compile_everywhere() {
    local standard
    for standard in c11 gnu11; do
        compile gcc c "$standard" "$@"
        compile clang c "$standard" "$@"
    done
    compile_as_cxx "$@"
}

compile_as_cxx() {
    local standard
    for standard in c++17 gnu++17; do
        compile g++ c++ "$standard" "$@"
        compile clang++ c++ "$standard" "$@"
    done
}

for header in include/*.h; do
    name=$(basename "$header")
    printf '#include "%s"\n#include "%s"\n' "$name" "$name" > "$folder/alone.c"
    compile_everywhere "$folder/alone.c"
done

cat > "$folder/user.c" <<'USER'
#include "probity.h"
extern int user_probe(unsigned short small, long large);
int user_probe(unsigned short small, long large)
{
    if (small)
        PROBITY_PROBE(small);
    else
        PROBITY_PROBE_NAMED("named");
    PROBITY_PROBE(7);
    PROBITY_PROBE(large);
    return probity_is_recording();
}
USER
compile_everywhere "$folder/user.c" -Wconversion
compile_everywhere "$folder/user.c" -DPROBITY_DISABLE

cat > "$folder/user.cc" <<'USER'
#include "probity.h"
template <class T> T user_probe(T id)
{
    auto probe = [id] { PROBITY_PROBE(id); PROBITY_PROBE_NAMED("lambda"); };
    probe();
    return id;
}
unsigned user_instance() { return user_probe(7u) + static_cast<unsigned>(user_probe(8L)); }
USER
compile_as_cxx "$folder/user.cc"

[ "$failed" -eq 0 ] && echo "headers: $checked compilations without a warning"
exit "$failed"
