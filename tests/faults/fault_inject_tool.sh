#!/usr/bin/env bash
# Any system call or allocation of the tool may fail: it reports what failed, keeps existing files,
# and leaves no partial output.
# variants: gcc
# timeout: 600
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/faults/fault_inject.bash"

make_inputs
while read -r command; do
    sweep_tool "$command" 17 < /dev/null
    sweep_tool "$command" 37 -a -x unlink,unlinkat,mmap,mremap,brk < /dev/null
    sweep_memory "$command" $(($(allocations_of "$command") / 3 + 1)) "" < /dev/null
done <<< "$(commands)"
# Rows are sorted at the end, where a larger step might skip it.
for command in 'report -f -o out TRACES/one' 'diff -f -o out TRACES/one -- TRACES/two' \
    'memory -f -o out TRACES/one'; do
    sweep_memory "$command" 1 "" $(($(allocations_of "$command") - 30)) < /dev/null
done
# Each call of a known function may be deeper than all before it, and needs a lane. After a failure,
# the rest of its run is skipped.
cat > "$INPUTS/deep.c" << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
static void go_down(int left)
{
    FN_FUNC(FN_VOID, FN_1);
    if (left > 0)
        go_down(left - 1);
}
int main(void)
{
    for (int depth = 0; depth < 24; depth++)
        go_down(depth);
    return 0;
}
END
"${CC:-gcc}" -O1 -I "$SOURCE/include" -o "$INPUTS/deep.program" "$INPUTS/deep.c" \
    "$BUILD/lib/libprobity.a" -lpthread -ldl -lm
PROBITY_LEVEL=5 PROBITY_OUT=$INPUTS/deep "$INPUTS/deep.program" || fail "deep: status $?"
export MALLOC_PERTURB_=165
sweep_memory 'timeline TRACES/deep' 1 ""
sweep_memory 'view -f -o out TRACES/deep' 17 ""
unset MALLOC_PERTURB_
directory_in_two_steps
sweep_tool 'export --format ctf -f -o out TRACES/one' 1 -e EIO -k openat,unlinkat,rmdir,rename
# Hard links are forbidden, so the file is copied to its name.
ALL=yes sweep_tool 'csv -f -o out TRACES/one' 1 -e EPERM -k linkat
# Once the change is committed, a later failure is not an error.
for command in 'runs add TRACES/two' 'runs rm 1'; do
    sweep_tool "$command" 1 -e EIO -k fcntl,fsync,fdatasync,unlink < /dev/null
done
for command in 'csv -f -o out TRACES/one' 'recover killed' \
    'export --format ctf -f -o out TRACES/one'; do
    ALL=yes sweep_tool "$command" 1 -e short -a < /dev/null
done
echo "$runs runs, $refusals refusals"
finish
