#!/usr/bin/env bash
# Scopes in a C++20 coroutine, whose variables gcc keeps in memory: each call is recorded with its
# values, and the program ends as without a recording.
# variants: gcc
. "$(dirname "$0")/../common.bash"

cat > coroutine.cc << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <coroutine>
#include <cstdio>

struct task {
    struct promise_type {
        task get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
        std::suspend_always yield_value(int) { return {}; }
    };
    std::coroutine_handle<promise_type> handle;
};

static task steps(int count)
{
    for (int i = 0; i < count; i++) {
        {
            FN_FUNC(task, FN_1);
            FN_OUTPUT("step ", i);
        }
        {
            FN_FUNC_PARAMS(void, FN_VOID, FN_1, 2, i, count);
        }
        co_yield i;
    }
}

int main()
{
    auto all = steps(3);
    while (!all.handle.done())
        all.handle.resume();
    all.handle.destroy();
    puts("done");
}
END
machine=("-O2 -masm=intel" "-O1 -fcf-protection")
[ "${VARIANT:-}" != aarch64 ] || machine=("-O1 -mbranch-protection=standard")
for flags in -O0 -O2 "-O3 -fPIE" "${machine[@]}"; do
    # shellcheck disable=SC2086
    "$CXX" ${SANITIZE_FLAG:+"$SANITIZE_FLAG"} -std=c++20 $flags -Wall -Wextra -Werror \
        -I"$SOURCE/include" coroutine.cc -L"$BUILD/lib" -lprobity "-Wl,-rpath,$BUILD/lib" \
        -o coroutine 2> messages || fail "$flags: $(cat messages)"
    rm -f trace
    expect "$flags: output" "done" "$(PROBITY_OUT=trace ./coroutine 2>&1)"
    expect "$flags: calls" 6 \
        "$("$PROBITY" report --json trace | jq '[.functions[].calls] | add')"
    "$PROBITY" log --color=never trace > log
    for text in 'step 0' 'step 2' 'i = 2' 'count = 3'; do
        grep -qF -- "$text" log || fail "$flags: no '$text' in the log"
    done
done
finish
