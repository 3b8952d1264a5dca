"""Compares what commands print of a window of time with an index and without it.

    index_windows.py PROBITY SEED WINDOWS TRACE...
    index_windows.py PROBITY SEED WINDOWS --waits TRACE...    only the commands that show waits

Each trace has TRACE.index. The windows are random; some are as short as a few records, and some
contain none. Prints how many of the outputs differed from each other, so that a comparison of empty
answers cannot pass."""
import json
import os
import random
import subprocess
import sys

probity, seed, windows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
traces = sys.argv[4:]
is_of_waits = traces[0] == '--waits'
traces = traces[is_of_waits:]
FROM_TO, SINCE_UNTIL = ('--from', '--to'), ('--since', '--until')
COMMANDS = [
    (['report', '--json'], FROM_TO),
    (['report', '--by-thread', '--csv'], FROM_TO),
    (['tree', '--json'], FROM_TO),
    (['tree', '--folded'], FROM_TO),
    (['threads', '--json'], FROM_TO),
    (['timeline', '--json', '--width=7'], FROM_TO),
    (['timeline', '--color=never', '--width=100'], FROM_TO),
    (['timeline', '--json', '--function=[a-m]*'], FROM_TO),
    (['list', '--json'], FROM_TO),
    (['model', '--json'], FROM_TO),
    (['log', '--color=never', '--time=wall'], FROM_TO),
    (['csv', '--columns=tid,name,cpu,wall,role,correlation,object'], FROM_TO),
    (['blocks', '--json'], SINCE_UNTIL),
    (['blocks', '--by', 'correlation', '--csv'], SINCE_UNTIL),
    (['hist', '--json'], SINCE_UNTIL),
    (['waits', '--json'], SINCE_UNTIL),
    (['path', '--json', '--slowest=3'], SINCE_UNTIL),
    (['path', '--json', '--slowest=3', '--function=*'], SINCE_UNTIL),
    (['path', '--csv', '--from=1', '--to=2'], SINCE_UNTIL),
    (['path', '--json', '--slowest=2', '--function=turn'], SINCE_UNTIL),
    (['waits', '--by=thread', '--csv'], SINCE_UNTIL),
    (['waits', '--by=function', '--color=never'], SINCE_UNTIL),
    (['why', '--json', '--slowest=2', '--function=hold'], SINCE_UNTIL),
    (['why', '--json', '--slowest=3', '--function=*'], SINCE_UNTIL),
    (['why', '--json', '--from=1', '--to=2'], SINCE_UNTIL),
    (['memory', '--json'], SINCE_UNTIL),
    (['memory', '--by=call', '--csv'], SINCE_UNTIL),
]
# A page for each window: pages take longer. With few spans, the traces are read a second time.
PAGES = [['view', '-o', '-'], ['view', '-o', '-', '--spans=400'], ['view', '-o', '-', '--tid=']]
# These get one trace at a time; with several, threads are numbered in the order in which they are
# read.
FORMATS = ['chrome', 'callgrind', 'folded', 'graphviz', 'pprof', 'otlp-json', 'openmetrics']


def run(arguments):
    done = subprocess.run([probity] + arguments + traces, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr


def set_aside(is_aside):
    for trace in traces:
        names = trace + '.index', trace + '.aside'
        os.rename(*(names if is_aside else reversed(names)))


def duration():
    times = [fact['times'] for fact in json.loads(run(['info', '--json'])[1])]
    start = min(time['started_ns'] for time in times)
    return max(time['last_ns'] or start for time in times) - start + 2


def thread_ids():
    processes = json.loads(run(['threads', '--json'])[1])['processes']
    return sorted({thread['tid'] for process in processes for thread in process['threads']})


def with_tid(page, tids, generator):
    return page[:-1] + [page[-1] + str(generator.choice(tids))] if page[-1] == '--tid=' else page


def calls(generator, length):
    tids = thread_ids()
    for _ in range(windows):
        first, share = generator.randrange(length), generator.choice([1e-5, 1e-3, 0.02, 0.3, 1])
        bounds = first, first + 1 + int(length * share * generator.random())
        export = ['export', '--format', generator.choice(FORMATS)]
        page = with_tid(generator.choice(PAGES), tids, generator)
        commands = COMMANDS + [(page, SINCE_UNTIL)]
        if is_of_waits:
            commands = [command for command in commands
                        if command[0][0] in ('waits', 'path', 'why', 'view')]
        elif len(traces) == 1:
            commands.append((export, FROM_TO))
        for command, names in commands:
            which = generator.choice([(1, 1), (1, 1), (1, 0), (0, 1)])
            yield command + [f'{name}={bound}ns'
                             for name, bound, used in zip(names, bounds, which) if used]


answers = list(calls(random.Random(seed), duration()))
by_index = [run(answer) for answer in answers]
set_aside(True)
whole = [run(answer) for answer in answers]
set_aside(False)
faults = [answer for answer, one, other in zip(answers, by_index, whole) if one != other]
for fault in faults[:5]:
    print('differs:', ' '.join(fault + traces))
print(len({output for _, output, _ in whole}), 'different outputs of', len(answers))
sys.exit(1 if faults else 0)
