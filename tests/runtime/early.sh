#!/usr/bin/env bash
# Probes before main(), after it, and in libraries that are loaded and unloaded.
# campaign: tsan
# variants: clang
. "$(dirname "$0")/../common.bash"

for program in early early.shared; do
    fresh
    PROBITY_OUT=$WORK/trace "$PROGRAMS/$program" > expected
    same_hits "$program" trace
    expect "$program: hits" "0 1200" "$(cut -d' ' -f2- expected)"
    no_leftovers "$program"
done

# The library is linked with the program, the plugin, or both.
fresh
PROBITY_OUT=$WORK/trace "$PROGRAMS/loader.shared" "$PROGRAMS/plugin_hits.so" 20 > expected
"$PROBITY" csv trace > all.csv
grep -v "plugin's own name" all.csv > numbers.csv || true
"$PROGRAMS/check_hits" < numbers.csv > found || fail "plugin: hits"
cmp found expected || fail "plugin: counts"
expect "plugin: named hits" 200 "$(grep -c "plugin's own name" all.csv)"

# A program that does not use Probity.
fresh
cat > host.c <<'END'
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
int main(int argc, char **argv)
{
    (void)argc;
    for (int i = 0; i < 10; i++) {
        void *plugin = dlopen(argv[1], RTLD_NOW);
        void *symbol = plugin ? dlsym(plugin, "plugin_make") : 0;
        void (*make)(uint32_t, uint64_t, uint64_t);
        if (!symbol)
            return 1;
        memcpy(&make, &symbol, sizeof make);
        make(1, (uint64_t)i * 105, 100);
        dlclose(plugin);
    }
    return 0;
}
END
# shellcheck disable=SC2086
${CC:-gcc} $SANITIZE_FLAG -o host host.c -ldl
PROBITY_OUT=$WORK/trace ./host "$PROGRAMS/plugin_hits.so" || fail "host: status $?"
expect "host: hits" 1150 "$("$PROBITY" csv trace | wc -l)"
no_leftovers host
finish
