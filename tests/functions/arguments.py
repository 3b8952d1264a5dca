#!/usr/bin/env python3
"""Reads the text of `probity log --time none` and prints, for each call of a function whose name
begins with a prefix, "NAME(A = VALUE, ...)" and, if it shows a result, "NAME returns VALUE". Of C++
names, the last part. Usage: arguments.py PREFIX < log"""
import re
import sys

call = re.compile(r"( *)(?:.*\b)?(%s\w*)(?:<[^()]*>)?\(.*\)(?: const)?(?: \[clone .*\])?$"
                  % re.escape(sys.argv[1]))
value = re.compile(r"( *)([A-Za-z_][\w.\[\]]*) = (.*)$")
result = re.compile(r"( *)return \((.*)\)$")


class Thread:
    def __init__(self):
        self.calls = []  # open calls: (indentation, name)
        self.shown = None  # the call whose values may follow: (indentation, name, values)

    def finish(self):
        if self.shown is not None:
            print("%s(%s)" % (self.shown[1], ", ".join(self.shown[2])))
        self.shown = None

    def take_result(self, found):
        while self.calls and self.calls[-1][0] > len(found[1]):
            self.calls.pop()
        if self.calls and self.calls[-1][0] == len(found[1]):
            print("%s returns %s" % (self.calls.pop()[1], found[2]))

    def take(self, line):
        found = value.match(line)
        if found and self.shown and len(found[1]) == len(self.shown[0]) + 2:
            self.shown[2].append("%s = %s" % (found[2], found[3]))
            return
        self.finish()
        found = result.match(line)
        if found:
            self.take_result(found)
            return
        found = call.match(line)
        if found:
            self.shown = (found[1], found[2], [])
            self.calls.append((len(found[1]), found[2]))


threads = {}
for text in sys.stdin:
    prefix, line = re.match(r"(\d+: )?(.*)$", text.rstrip("\n")).groups()
    threads.setdefault(prefix, Thread()).take(line)
for thread in threads.values():
    thread.finish()
