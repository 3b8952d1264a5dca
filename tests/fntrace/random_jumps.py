#!/usr/bin/env python3
"""random_jumps.py SEED: prints a C program of function scopes that call each other at random and
leave by longjmp. The program prints what it does, in order: a line for each call (the numbers of
its function and its caller) and for each message (which call it is in), and at the end each
function's CPU self time (wall time is not reliable on a busy machine).

random_jumps.py --compare ACCOUNT LOG REPORT: whether the output of `probity log` and the self times
of `probity report --json` agree with what the program printed.
"""
import json
import random
import re
import sys

HEAD = r'''
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))
enum { CALLS_MAX = %(calls)d, ENVS = 32, DEPTH = 4096, FUNCTIONS = %(functions)d };

struct env {
    jmp_buf buffer;
};
static struct env envs[ENVS];
static int env_count, depth, calls;
static int stack[DEPTH], function_of[CALLS_MAX + 1];
static int64_t self_ns[FUNCTIONS], last_ns;
static uint64_t state = %(seed)d;
static volatile char sink;
typedef void function(int fuel);
static function *const table[];

static NOINLINE int pick(int below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) %% (unsigned)below);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The time up to now is that of the innermost call. */
static void credit(void)
{
    int64_t now = now_ns();
    if (depth > 0)
        self_ns[function_of[stack[depth - 1]]] += now - last_ns;
    last_ns = now;
}

static NOINLINE void entered(int number)
{
    printf("call %%d %%d\n", number, depth > 0 ? stack[depth - 1] : -1);
    credit();
    function_of[calls] = number;
    stack[depth++] = calls++;
}

static NOINLINE void left(void)
{
    credit();
    depth--;
}

static NOINLINE void said(void)
{
    printf("message %%d\n", stack[depth - 1]);
}

static NOINLINE void landed(int at)
{
    credit();
    depth = at;
}

static NOINLINE void spin(int us)
{
    int64_t start = now_ns();
    while (now_ns() - start < us * 1000)
        ;
}

static NOINLINE void use(char *bytes, size_t count)
{
    memset(bytes, pick(100), count);
    sink = bytes[count / 2];
}

static int may_call(int fuel)
{
    return fuel > 0 && calls < CALLS_MAX;
}

static NOINLINE void jump(void)
{
    if (env_count > 0)
        longjmp(envs[env_count - 1 - (pick(4) == 0 ? pick(env_count) : 0)].buffer, 1);
}
'''


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.functions = 12
        self.out = [HEAD % {'seed': seed * 77 + 1, 'calls': 400, 'functions': self.functions}]
        # Only half of the programs permit the compiler to inline.
        self.may_inline = seed % 2 == 0
        self.deep = seed % 5 == 4

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def call(self, caller):
        number = self.random.randrange(self.functions)
        if self.chance(45):
            return f'table[pick({self.functions})](fuel - 1);'
        if self.chance(15):
            return f'wide(1, 2, 3, 4, 5, 6, 7, 8, fuel - 1, {number});'
        return f'f{number}(fuel - 1);'

    def statements(self, caller, indent, nesting):
        for _ in range(self.random.randint(2, 4)):
            what = self.random.randrange(10)
            if what < 3:
                self.put(indent, f'if (may_call(fuel)) {self.call(caller)}')
            elif what == 3:
                self.put(indent, f'spin({self.random.choice((20, 100, 300))});')
            elif what == 4:
                self.put(indent, 'said(); FN_OUTPUT("message");')
            elif what == 5:
                self.put(indent, f'for (volatile int i{indent} = 0; i{indent} < 3 && '
                                 f'may_call(fuel); i{indent}++) {self.call(caller)}')
            elif what == 6:
                self.put(indent, f'if (pick(3) == 0 && env_count > 0) '
                                 f'{{ said(); FN_OUTPUT("message"); jump(); }}')
            elif nesting < 2:
                self.catch(caller, indent, nesting)

    def catch(self, caller, indent, nesting):
        self.put(indent, 'if (env_count < ENVS) {')
        self.put(indent, '    const int at = env_count, here = depth;')
        self.put(indent, '    if (setjmp(envs[at].buffer) == 0) {')
        self.put(indent, '        env_count = at + 1;')
        self.statements(caller, indent + 2, nesting + 1)
        self.put(indent, '    } else {')
        self.put(indent, '        landed(here);')
        if self.chance(50):
            self.put(indent, '        said(); FN_OUTPUT("message");')
        if self.chance(50):
            self.put(indent, '        spin(100);')
        self.put(indent, '    }')
        self.put(indent, '    env_count = at;')
        self.put(indent, '}')

    def put(self, indent, line):
        self.out.append('    ' * indent + line)

    def function(self, number):
        kind = '' if self.may_inline and self.chance(60) else 'NOINLINE '
        self.put(0, f'static {kind}void f{number}(int fuel)')
        self.put(0, '{')
        if self.chance(50):
            size = self.random.choice((24, 40, 100, 200))
            self.put(1, f'char bytes[{size}];')
            self.put(1, 'use(bytes, sizeof bytes);')
        self.put(1, self.random.choice(('FN_FUNC(FN_VOID, FN_1);',
                                        'FN_FUNC_ARGS(FN_VOID, FN_VOID, FN_1, fuel);')))
        self.put(1, f'entered({number});')
        self.statements(number, 1, 0)
        self.put(1, 'left();')
        self.put(0, '}')

    def text(self):
        for number in range(self.functions):
            self.put(0, f'static function f{number};')
        self.put(0, 'static void wide(int a, int b, int c, int d, int e, int f, int g, int h,'
                    ' int fuel, int number);')
        for number in range(self.functions):
            self.function(number)
        names = ', '.join(f'f{number}' for number in range(self.functions))
        self.put(0, f'static function *const table[] = {{{names}}};')
        # With arguments on the stack, and with a scope in a separate function.
        self.put(0, 'static NOINLINE void wide(int a, int b, int c, int d, int e, int f, int g, '
                    'int h, int fuel, int number)')
        self.put(0, '{')
        self.put(1, '__asm__ volatile("" : : "r"(a + b + c + d + e + f + g + h));')
        self.put(1, 'table[number](fuel);')
        self.put(1, 'sink = 0;')
        self.put(0, '}')
        fuel = 70 if self.deep else 12
        self.put(0, 'int main(void)')
        self.put(0, '{')
        self.put(1, 'last_ns = now_ns();')
        self.put(1, f'for (int i = 0; i < 20 && calls < CALLS_MAX; i++) table[pick(FUNCTIONS)]({fuel});')
        self.put(1, 'for (int i = 0; i < FUNCTIONS; i++) printf("self f%d %lld\\n", i, '
                    '(long long)self_ns[i]);')
        self.put(1, 'return 0;')
        self.put(0, '}')
        return '\n'.join(self.out)


def read_log(path):
    """The lines of the account, in the form of the log."""
    lines, calls, around = [], 0, []
    for line in open(path):
        match = re.match(r'\d+: ( *)(.*)', line)
        if not match:
            continue
        indent, text = len(match[1]) // 2, match[2]
        enter = re.match(r'void f(\d+)\b', text)
        if enter:
            del around[indent:]
            lines.append(f'call {enter[1]} {around[-1] if around else -1}')
            around.append(calls)
            calls += 1
        elif text == 'message':
            lines.append(f'message {around[indent - 1]}')
    return lines


def compare(books, log, report):
    wanted, selves = [], {}
    for line in open(books):
        if line.startswith('self'):
            _, name, ns = line.split()
            selves[name] = int(ns)
        else:
            wanted.append(line.strip())
    found = read_log(log)
    if wanted != found:
        wrong = [i for i, pair in enumerate(zip(wanted, found)) if pair[0] != pair[1]]
        at = wrong[0] if wrong else min(len(wanted), len(found))
        return (f'{max(len(wrong), 1)} of {len(wanted)} lines differ; the first is {at + 1}: '
                f'expected {wanted[at:at + 1]}, found {found[at:at + 1]}')
    for row in json.load(open(report))['functions']:
        off = row['cpu_self_ns'] - selves.get(row['name'], 0)
        if abs(off) > 2000000 + selves.get(row['name'], 0) // 10:
            return f'CPU time of {row["name"]}: expected {selves[row["name"]]}, off by {off}'
    return None


if sys.argv[1] == '--compare':
    fault = compare(*sys.argv[2:5])
    if fault:
        sys.exit(fault)
else:
    print(Program(int(sys.argv[1])).text())
