/* SPDX-License-Identifier: MIT
 *
 * interpreter.c SIZE: runs script.js of this directory, with SIZE set, in a JavaScript interpreter.
 * Prints the wall time in seconds.
 */
#include <quickjs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static char *read_script(size_t *ret_length)
{
    enum { ROOM = 1 << 16 };
    static char text[ROOM];
    FILE *file = fopen(SCRIPT, "r");

    *ret_length = file != NULL ? fread(text, 1, ROOM - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    return text;
}

static int run(const char *text, size_t length, int size)
{
    JSRuntime *runtime = JS_NewRuntime();
    JSContext *context = JS_NewContext(runtime);
    JSValue global = JS_GetGlobalObject(context);

    JS_SetPropertyStr(context, global, "SIZE", JS_NewInt32(context, size));
    JSValue result = JS_Eval(context, text, length, "script.js", JS_EVAL_TYPE_GLOBAL);
    int failed = JS_IsException(result);
    JSValue shown = failed ? JS_GetException(context) : JS_DupValue(context, result);
    const char *output = JS_ToCString(context, shown);
    if (failed)
        fprintf(stderr, "interpreter: %s\n", output != NULL ? output : "?");
    JS_FreeCString(context, output);
    JS_FreeValue(context, shown);
    JS_FreeValue(context, result);
    JS_FreeValue(context, global);
    JS_FreeContext(context);
    JS_FreeRuntime(runtime);
    return failed;
}

int main(int argc, char **argv)
{
    size_t length;
    char *text = read_script(&length);
    int size = argc > 1 ? atoi(argv[1]) : 0;
    double begun = seconds();

    if (size <= 0 || length == 0 || run(text, length, size) != 0)
        return 2;
    printf("%.6f\n", seconds() - begun);
    return 0;
}
