#!/usr/bin/env bash
# A program refers to other files with its debugging information: a separate file (.gnu_debuglink),
# a shared one (.gnu_debugaltlink), split units (.dwo). Another user who may write to its directory
# can create a pipe there, on which a command would wait forever, or a device. So these files are
# opened only if no other user can write to the directory, and split units never; a warning names
# the directory. The same is true of a file found by build id in /usr/lib/debug. Compressed programs
# are not opened, either.
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
record() { # $1 program, $2 where its trace goes
    rm -f "$2"
    PROBITY_OUT=$2 "$1" || fail "$1: status $?"
}
# $1 directory, $2 whether the full prototype is expected, $3 the expected reason if it is not
look() {
    local status=0 warning="probity log: debugging information of '.*' is not used: ${3:-}"
    timeout 100 "$PROBITY" log --time none "$1/trace" > output 2> errors || status=$?
    expect "$1: status" 0 "$status"
    expect "$1: a prototype with its parameters" "$2" \
        "$(grep -c 'int count(struct shape \*shape, int more)' output)"
    grep -q 'int count' output || fail "$1: $(cat output errors)"
    expect "$1: warnings: $(cat errors)" "$([ -z "${3:-}" ] || echo 1)" \
        "$(grep -cx "$warning" errors | grep -v '^0$')"
}

# A separate file, in a directory of the caller, and in one that all users may write to.
mkdir -m 755 own
mkdir -m 777 open
chmod 755 own # whatever the umask is
chmod 777 open
for place in own open; do
    build -g -o $place/linked
    objcopy --only-keep-debug $place/linked $place/linked.debug
    strip -g $place/linked
    objcopy --add-gnu-debuglink=$place/linked.debug $place/linked
    PROBITY_OUT=$WORK/$place/trace $place/linked || fail "$place: status $?"
done
look own 1
others="others may write to '$WORK"
look open 0 "$others/open'"
rm open/linked.debug
look open 0 # there is no file that could be used
mkfifo open/linked.debug
look open 0 "$others/open'"
mv own/linked.debug own/kept.debug
mkfifo own/linked.debug
look own 0 "'$WORK/own/linked.debug' is not a regular file"
rm own/linked.debug
ln -s "$WORK/open/linked.debug" own/linked.debug
look own 0 "$others/open'"
rm own/linked.debug
mkdir -m 777 own/.debug
chmod 777 own/.debug
look own 0 "$others/own/.debug'"
rmdir own/.debug
mv own/kept.debug own/linked.debug
# The directory of the program is checked, not the one through which the trace finds it.
mv own/linked own/linked.kept
ln -s "$WORK/open/linked" own/linked
look own 0 "$others/open'"
rm own/linked
mv own/linked.kept own/linked
look own 1
if [ "$(id -u)" = 0 ]; then
    chown 65534 own/linked
    look own 0 "$others/own/linked'"
    chown 0 own/linked
fi

# A program with its own debugging information is used wherever it is.
build -g -o open/whole
PROBITY_OUT=$WORK/open/whole.trace open/whole || fail "whole: status $?"
mv open/whole.trace open/trace
look open 1

# A shared file to which several programs refer: next to the program, and by an absolute path.
for place in "$WORK/open/shared" ../open/shared; do
    build -g -o own/linked
    printf '%s\0%20s' "$place" x > altlink
    objcopy --add-section .gnu_debugaltlink=altlink own/linked
    [ -p open/shared ] || mkfifo open/shared
    PROBITY_OUT=$WORK/own/linked.trace own/linked || fail "alternative: status $?"
    mv own/linked.trace own/trace
    look own 0 "$others/open'"
done
# The directory of a link counts, too: its owner can replace the link at any time.
objcopy --remove-section .gnu_debugaltlink own/linked
strip -g own/linked
mv own/linked.debug own/kept.debug
ln -s kept.debug own/linked.debug
objcopy --add-gnu-debuglink=own/linked.debug own/linked
record own/linked "$WORK/own/trace"
look own 1
rm own/linked.debug
ln -s "$WORK/own/kept.debug" open/link.debug
ln -s ../open/link.debug own/linked.debug
look own 0 "$others/open'"
rm own/linked.debug open/link.debug
mkdir -m 755 own/real
mv own/kept.debug own/real/linked.debug
ln -s ../own/real open/real
ln -s "$WORK/open/real" own/.debug
look own 0 "$others/open'"
rm own/.debug
ln -s real own/.debug
look own 1
rm -r own/.debug own/real open/real

# The section that names a shared file may be compressed, or belong to a split unit.
build -g -o own/linked
for section in .zgnu_debugaltlink .gnu.debuglto_.gnu_debugaltlink .gnu_debugaltlink.dwo \
    .zgnu_debugaltlink.dwo; do
    cp own/linked open/linked
    printf '%s\0%20s' "$WORK/open/shared" x > altlink
    objcopy --add-section $section=altlink open/linked
    record open/linked "$WORK/open/trace"
    look open 0 "$others/open'"
done
rm open/linked

# Build ids that are not looked for, because they are too short or too long, and a place that is
# not a directory.
for id in 0x12 "0x$(printf '12%.0s' $(seq 65))" "0x$(printf '12%.0s' $(seq 200))"; do
    build -g -Wl,--build-id="$id" -o own/linked
    objcopy --only-keep-debug own/linked own/linked.debug
    strip -g own/linked
    objcopy --add-gnu-debuglink=own/linked.debug own/linked
    record own/linked "$WORK/own/trace"
    look own 1
done
echo > own/.debug
look own 1
chmod 666 own/.debug
look own 0 "$others/own/.debug'"
rm own/.debug own/linked own/linked.debug

# A file found by its build id is used for any program, but only if no other user can write to it or
# to its directory. In a mount namespace, since only root may write to the usual directory.
look_by_id() {
    cat > places.sh << 'EOF'
set -euo pipefail
mount -t tmpfs none /usr/lib/debug
chmod 755 /usr/lib/debug
mkdir -p -m 755 /usr/lib/debug/.build-id/12 /usr/lib/debug/.build-id/20
chmod 755 /usr/lib/debug/.build-id /usr/lib/debug/.build-id/12 /usr/lib/debug/.build-id/20
cp by_id.debug /usr/lib/debug/.build-id/12/34567890abcdef.debug
chmod 644 /usr/lib/debug/.build-id/12/34567890abcdef.debug
cd /usr/lib/debug/.build-id/12
file=/usr/lib/debug/.build-id/12/34567890abcdef.debug
eval "$1"
cd "$2"
status=0
timeout 100 "$3" log --time none "$2/$4/trace" > "$2/output" 2> "$2/errors" || status=$?
[ "$status" = 0 ] || echo "status $status" >> "$2/errors"
EOF
    unshare --mount bash places.sh "$2" "$WORK" "$PROBITY" "$1" || fail "$1: namespace"
    expect "$1, $2: a prototype with its parameters" "$3" \
        "$(grep -c 'int count(struct shape \*shape, int more)' output)"
    grep -q 'int count' output || fail "$1, $2: $(cat output errors)"
    local warning="probity log: debugging information of '$WORK/$1/by_id' is not used: ${4:-}"
    expect "$1, $2: errors" "$([ -z "${4:-}" ] || echo "$warning")" "$(cat errors)"
}
if [ "$(id -u)" = 0 ] && [ -d /usr/lib/debug ] && unshare --mount true 2> /dev/null; then
    id=/usr/lib/debug/.build-id/12
    for place in own open; do
        build -g -Wl,--build-id=0x1234567890abcdef -o $place/by_id
        objcopy --only-keep-debug $place/by_id by_id.debug
        strip -g $place/by_id
        PROBITY_OUT=$WORK/$place/by_id.trace $place/by_id || fail "by_id: status $?"
        mv $place/by_id.trace $place/trace
        look_by_id $place true 1
        # shellcheck disable=SC2016 # expanded in the namespace
        for change in 'chmod 777 .' 'chown 65534 .' 'chmod 666 $file' 'chown 65534 $file' \
            'rm $file; mkfifo -m 644 $file' 'ln -sf /dev/zero $file' \
            'mv $file ../20; ln -s ../20/${file##*/} $file; chown 65534 .; chmod 777 .'; do
            case $change in
            *' .') reason="others may write to '$id'" ;;
            *fifo*) reason="'$id/34567890abcdef.debug' is not a regular file" ;;
            *zero*) reason="'/dev/zero' is not a regular file" ;;
            *) reason="others may write to '$id/34567890abcdef.debug'" ;;
            esac
            look_by_id $place "$change" 0 "$reason"
        done
        # shellcheck disable=SC2016
        look_by_id $place 'mv $file ../20; ln -s ../20/${file##*/} $file' 1
        rm $place/by_id
    done
    # A shared file that is missing where it is named, but not under its own id.
    build -g -Wl,--build-id=none -o own/by_id
    printf '%s\0%20s' "$WORK/own/missing" x > altlink
    objcopy --add-section .gnu_debugaltlink=altlink own/by_id
    record own/by_id "$WORK/own/trace"
    look own 1
    shared=/usr/lib/debug/.build-id/20/$(printf '20%.0s' $(seq 18))78.debug
    look_by_id own "chmod 777 ../20; mkfifo $shared" 0 \
        "others may write to '/usr/lib/debug/.build-id/20'"
    look_by_id own "mkfifo $shared" 0 "'$shared' is not a regular file"
    rm own/by_id
else
    echo "not tried: files found by build id (needs root and mount namespaces)"
fi

# Split units are not searched for, neither next to the program nor in the directory where it was
# compiled.
cat > whole.c << 'EOF'
#define FN_INSTRUMENT
#include <FnTrace.h>
struct shape { int sides; };
int whole(struct shape *shape, int more) { FN_FUNC(int, FN_0); return shape->sides + more; }
EOF
sed 's/FN_0);/& extern int whole(struct shape *, int); whole(\&shape, 2);/' source.c > mixed.c
for place in own open; do
    mkdir -p built
    # shellcheck disable=SC2086
    (cd built && "${CC:-gcc}" -O1 $SANITIZE_FLAG -g -gsplit-dwarf -I "$SOURCE/include" \
        -c ../mixed.c && "${CC:-gcc}" -O1 $SANITIZE_FLAG -g -I "$SOURCE/include" -c ../whole.c &&
        "${CC:-gcc}" $SANITIZE_FLAG -o ../$place/split mixed.o whole.o \
            "$BUILD/lib/libprobity.a" -lpthread -ldl -lm)
    rm -f "$place/trace" built/mixed.dwo
    PROBITY_OUT=$WORK/$place/trace "$place/split" || fail "split: status $?"
    look "$place" 0
    mkfifo built/mixed.dwo
    look "$place" 0
    mkfifo "$place/mixed.dwo"
    look "$place" 0
    expect "$place: the prototype in a complete unit" 1 \
        "$(grep -c 'int whole(struct shape \*shape, int more)' output)"
    rm "$place/mixed.dwo" built/mixed.dwo
done

# A compressed program in the directory of the caller.
build -g -o own/packed
PROBITY_OUT=$WORK/own/packed.trace own/packed || fail "packed: status $?"
mv own/packed.trace own/trace
look own 1
gzip -c own/packed > packed.gz
mv packed.gz own/packed
look own 0
finish
