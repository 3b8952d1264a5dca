#!/usr/bin/env bash
# Where functions without macros are defined: the tool reads file and line from the debugging
# information of the program and its libraries. These are compared with the lines of the sources. If
# the program is not the one that ran, there are no places.
. "$(dirname "$0")/../common.bash"
CXX=${CXX:-g++}

cat > one.c << 'END'
extern int other(int);
extern int in_library(int);
static __attribute__((noinline)) int same(int i) /* one.c same */
{
    return i + 1;
}
int main(void) /* one.c main */
{
    return other(same(1)) + in_library(2) == 0;
}
END
cat > two.c << 'END'
static __attribute__((noinline)) int same(int i) /* two.c same */
{
    return i + 2;
}
int
other(int i) /* two.c other */
{
    return same(i);
}
END
cat > library.c << 'END'
int in_library(int i) /* library.c in_library */
{
    return i;
}
END
cat > spaces.cc << 'END'
#include <cstdio>
namespace outer {
namespace {
__attribute__((noinline)) int hidden(int i) // spaces.cc hidden
{
    return i;
}
}
struct thing {
    int declared(int i);
    __attribute__((noinline)) int within(int i) // spaces.cc within
    {
        return hidden(i);
    }
};
int thing::declared(int i) // spaces.cc declared
{
    return within(i);
}
template <typename T> __attribute__((noinline)) T generic(T value) // spaces.cc generic
{
    return value;
}
}
int main() // spaces.cc main
{
    outer::thing it;
    auto lambda = [&](int i) { // spaces.cc operator()
        return it.declared(i);
    };
    return lambda(1) + outer::generic(2) + (int)outer::generic(3.0) == 0;
}
END

# Lines "FILE NAME LINE" of the comments in sources.
wanted() {
    grep -Hno '\(/\*\|//\) [a-z.]* [a-z_()]*' "$@" | awk -F '[: ]' '{ print $1, $(NF), $2 }' | sort
}

# The same for the functions in a trace.
found() {
    "$PROBITY" report --json "$1" > report.json || fail "report: status $?"
    jq -r '.functions[] | select(.file != "" and .line > 0) | "\(.file) \(.name) \(.line)"' \
        report.json | sed 's/(anonymous namespace):://g; s/ [^ ]*::\([^: ]*\) / \1 /
            s/<[a-z]*>//' | sort -u
}

mkdir -p sources
mv ./*.c sources
for flags in "-O0 -g" "-O2 -g" "-O2 -gdwarf-4" "-O2 -g -gsplit-dwarf"; do
    # shellcheck disable=SC2086
    (cd sources && "$CC" $flags -finstrument-functions -fPIC -shared library.c -o liblibrary.so &&
        "$CC" $flags -finstrument-functions one.c two.c -o one -L. -llibrary -Wl,-rpath,"$PWD") ||
        fail "$flags: does not build"
    rm -f trace
    "$PROBITY" record --functions -o trace sources/one > out 2> errors ||
        fail "$flags: $(cat errors)"
    expected=$(cd sources && wanted one.c two.c library.c)
    # The index covers functions in the units of the program itself, not those in .dwo files.
    [[ $flags != *split* ]] || expected=
    expect "$flags" "$expected" "$(found trace)"
done

"$CXX" -O1 -g -finstrument-functions spaces.cc -o spaces || fail "C++: does not build"
"$PROBITY" record --functions -o spaces.probity ./spaces > out 2> errors || fail "$(cat errors)"
expect "C++" "$(wanted spaces.cc)" "$(found spaces.probity | grep '^spaces.cc')"

# As after an update of the program, its functions have moved, or other functions have the same
# addresses. Or the program is missing or stripped.
(cd sources && "$CC" -O0 -g -finstrument-functions one.c two.c -o one -L. -llibrary \
    -Wl,-rpath,"$PWD") || fail "does not build"
rm -f trace
"$PROBITY" record --functions -o trace sources/one > out 2> errors || fail "$(cat errors)"
before=$(found trace | grep -v library)
expect "before" 4 "$(wc -l <<< "$before")"
"$PROBITY" report --csv trace | cut -d , -f 1-3 > before.csv
sed -i 's/same/name/g' sources/one.c sources/two.c
(cd sources && "$CC" -O0 -g -finstrument-functions one.c two.c -o one -L. -llibrary) ||
    fail "does not build"
found trace | grep -v library | cut -d ' ' -f 2 > names
expect "renamed functions" "main other" "$(xargs < names)"
strip sources/one
expect "stripped" "" "$(found trace | grep -v library)"
rm sources/one
expect "removed" "" "$(found trace | grep -v library)"
# The runs before and after are still runs of the same functions.
cp trace again
"$PROBITY" diff --json trace -- again > diff.json 2> errors || [ $? = 1 ] || true
expect "functions in one run only" 0 "$(jq '[.. | objects | select(.verdict? == "new" or
    .verdict? == "gone")] | length' diff.json)"
finish
