/* SPDX-License-Identifier: MIT
 *
 * odd_names.c: functions, probes, a thread and a message whose names could be mistaken for markup
 * or syntax. Prints nothing.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"

#include <string.h>

#include "probity.h"

enum { LONG_BYTES = 10000 };

static char long_name[LONG_BYTES + 1];

static const char *const names[] = {
    "<script>window.owned = 1</script>",
    "</script><img src=x onerror='window.owned = 1'>",
    "<!--probity-data-->",
    "\"quotes\" and 'quotes' and `these` \\",
    "two\nlines\r\nand\ta\ttab",
    "broken \xff\xfe\x80 UTF-8 \xc3",
    "\xe2\x80\xaegnitirw sdrawkcab",
    "${name} {{script}} $& $'",
    "__proto__",
    "&lt;b&gt; &amp;",
    "",
    long_name,
};

enum { NAMES = sizeof names / sizeof *names };

/* Does what FN_FUNC does, with a given name in place of the compiler's. */
static void call(struct probity_site_function *function)
{
    uint32_t code = (uint32_t)probity_scope_enter_slow(function);

    if (code == 0)
        return;
    probity_hit(code);
    probity_hit(code + 2);
}

static int with_text(const char *text)
{
    int result = (int)strlen(text);
    FN_FUNC_PARAMS(int, result, FN_1, 1, text);
    return result;
}

int main(void)
{
    static struct probity_site_function functions[NAMES];

    memset(long_name, 'x', LONG_BYTES);
    probity_thread_set_name(names[1]);
    for (uint32_t i = 0; i < NAMES; i++) {
        functions[i] = (struct probity_site_function){
            .name = names[i], .file = names[(i + 1) % NAMES], .returns = "void", .line = i,
            .level = 1};
        call(&functions[i]);
        probity_probe_set_name(i, names[i]);
        PROBITY_PROBE(i);
        with_text(names[i]);
    }
    return 0;
}
