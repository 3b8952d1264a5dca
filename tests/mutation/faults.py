#!/usr/bin/env python3
"""The faults that are sown into the product, from the files *.faults beside this one.

    faults.py list             a line for each: NAME, AREA, TESTS, FILE, BREAKS and a digest of
                               what is sown, with tabs between
    faults.py check ROOT       whether each still fits the sources in ROOT, in one place exactly
    faults.py apply NAME ROOT  sows one

A fault is a paragraph: "fault NAME", "file PATH", "breaks PROMISE", "tests NAME...", then whole
lines of the file as a diff has them: "-" for what goes, "+" for what comes, " " for what stays.
Lines that begin with "#" are for people.
"""
import glob
import hashlib
import os
import sys


def paragraph(lines, area):
    fault = {"area": area, "old": [], "new": []}
    for line in lines:
        if line[0] in " -":
            fault["old"].append(line[1:])
        if line[0] in " +":
            fault["new"].append(line[1:])
        if line[0] not in " -+#":
            key, _, value = line.partition(" ")
            if key not in ("fault", "file", "breaks", "tests") or key in fault:
                sys.exit("faults: %s: what is '%s'?" % (area, line))
            fault[key] = value
    missing = [key for key in ("fault", "file", "breaks", "tests") if not fault.get(key)]
    if missing or fault["old"] == fault["new"]:
        sys.exit("faults: %s: '%s' is not whole" % (area, lines[0]))
    return fault


def read_all():
    found = {}
    for path in sorted(glob.glob(os.path.join(os.path.dirname(__file__) or ".", "*.faults"))):
        area = os.path.basename(path)[: -len(".faults")]
        with open(path, encoding="utf-8") as file:
            texts = file.read().split("\n\n")
        for text in texts:
            lines = [line for line in text.split("\n") if line]
            if all(line.startswith("#") for line in lines):
                continue
            fault = paragraph(lines, area)
            if fault["fault"] in found:
                sys.exit("faults: '%s' is there twice" % fault["fault"])
            found[fault["fault"]] = fault
    return found


def sown(fault, root):
    """The file's text with the fault in it, or None where it does not fit once."""
    path = os.path.join(root, fault["file"])
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        text = "\n" + file.read()
    old = "\n" + "\n".join(fault["old"]) + "\n"
    new = "\n" + "\n".join(fault["new"]) + "\n" if fault["new"] else "\n"
    if text.count(old) != 1:
        return None
    return text.replace(old, new)[1:]


def digest(fault):
    text = "\n".join([fault["file"]] + fault["old"] + [""] + fault["new"])
    return hashlib.sha1(text.encode()).hexdigest()[:8]


def has_test(root, name):
    return any(os.path.exists(os.path.join(root, "tests", name + end)) for end in (".c", ".sh"))


def main(arguments):
    faults = read_all()
    if arguments == ["list"]:
        for fault in faults.values():
            print("\t".join([fault[key] for key in ("fault", "area", "tests", "file", "breaks")] +
                            [digest(fault)]))
        return 0
    if len(arguments) == 2 and arguments[0] == "check":
        wrong = ["'%s' fits no place, or several, of %s" % (fault["fault"], fault["file"])
                 for fault in faults.values() if sown(fault, arguments[1]) is None]
        wrong += ["'%s' names %s, which is not there" % (fault["fault"], test)
                  for fault in faults.values() for test in fault["tests"].split()
                  if not has_test(arguments[1], test)]
        for line in wrong:
            print("faults: " + line)
        print("faults: %d, %d wrong" % (len(faults), len(wrong)))
        return 1 if wrong else 0
    if len(arguments) == 3 and arguments[0] == "apply" and arguments[1] in faults:
        fault = faults[arguments[1]]
        text = sown(fault, arguments[2])
        if text is None:
            return "faults: '%s' does not fit" % arguments[1]
        with open(os.path.join(arguments[2], fault["file"]), "w", encoding="utf-8") as file:
            file.write(text)
        return 0
    return __doc__


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
