#!/usr/bin/env bash
# A program names other files with its debugging information: a separate file (.gnu_debuglink),
# split units (.dwo). Someone else who may write to its directory can put a pipe there, on which a
# command would wait forever, or a device. So these files are opened only if nobody else can write
# there. Compressed programs are not opened either.
# variants: asan
. "$(dirname "$0")/../common.bash"

cat > source.c << 'EOF'
#define FN_INSTRUMENT
#include <FnTrace.h>
struct shape { int sides; };
static int count(struct shape *shape, int more) { FN_FUNC(int, FN_1); return shape->sides + more; }
int main(void)
{
    struct shape shape = {3};
    FN_FUNC(int, FN_0);
    return count(&shape, 1) != 4;
}
EOF
build() {
    # shellcheck disable=SC2086
    "${CC:-gcc}" -O1 $SANITIZE_FLAG -I "$SOURCE/include" "$@" source.c "$BUILD/lib/libprobity.a" \
        -lpthread -ldl -lm
}
# $1 directory, $2 whether the full prototype is expected
look() {
    local status=0
    timeout 100 "$PROBITY" log --time none "$1/trace" > output 2> errors || status=$?
    expect "$1: status" 0 "$status"
    expect "$1: a prototype with its parameters" "$2" \
        "$(grep -c 'int count(struct shape \*shape, int more)' output)"
    grep -q 'int count' output || fail "$1: $(cat output errors)"
}

# A separate file, in a directory of the caller, and in one that everybody may write to.
mkdir -m 755 own
mkdir -m 777 open
chmod 755 own # whatever the mask is
chmod 777 open
for place in own open; do
    build -g -o $place/linked
    objcopy --only-keep-debug $place/linked $place/linked.debug
    strip -g $place/linked
    objcopy --add-gnu-debuglink=$place/linked.debug $place/linked
    PROBITY_OUT=$WORK/$place/trace $place/linked || fail "$place: status $?"
done
look own 1
look open 0
rm open/linked.debug
mkfifo open/linked.debug
look open 0
# The directory counts in which the program is, not the one through which the trace finds it.
mv own/linked own/linked.kept
ln -s "$WORK/open/linked" own/linked
look own 0
rm own/linked
mv own/linked.kept own/linked
look own 1
if [ "$(id -u)" = 0 ]; then
    chown 65534 own/linked
    look own 0
fi

# Split units.
mkdir -m 777 split
chmod 777 split
(cd split && cp ../source.c . && "${CC:-gcc}" -O1 $SANITIZE_FLAG -g -gsplit-dwarf \
    -I "$SOURCE/include" -c source.c && "${CC:-gcc}" $SANITIZE_FLAG -o split source.o \
    "$BUILD/lib/libprobity.a" -lpthread -ldl -lm)
PROBITY_OUT=$WORK/split/trace split/split || fail "split: status $?"
look split 0
rm split/source.dwo
mkfifo split/source.dwo
look split 0

# A program in the directory of the caller that is compressed.
build -g -o own/packed
PROBITY_OUT=$WORK/own/packed.trace own/packed || fail "packed: status $?"
mv own/packed.trace own/trace
look own 1
gzip -c own/packed > packed.gz
mv packed.gz own/packed
look own 0
finish
