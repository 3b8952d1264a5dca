#!/usr/bin/env python3
"""Lists, checks and applies the mutants in the files *.mutants in this directory.

    mutants.py list ROOT        a line for each, separated by tabs: NAME, AREA, TESTS, FILE that
                               has its lines now, BREAKS and a digest of what it changes
    mutants.py check ROOT       whether each matches the sources in ROOT in exactly one place
    mutants.py apply NAME ROOT  applies one

A mutant is a paragraph: "mutant NAME", "file PATH", "breaks PROMISE", "tests NAME...", then whole
lines of the file as in a diff: "-" for removed, "+" for added, " " for unchanged lines. Lines that
begin with "#" are comments. Lines may move, within a file or to another one, and change their
indentation: a mutant is located by their text, and "file" need not be updated.
"""
import glob
import hashlib
import os
import sys

LINES = {}


def paragraph(lines, area):
    mutant = {"area": area, "old": [], "new": []}
    for line in lines:
        if line[0] in " -":
            mutant["old"].append(line[1:])
        if line[0] in " +":
            mutant["new"].append(line[1:])
        if line[0] not in " -+#":
            key, _, value = line.partition(" ")
            if key not in ("mutant", "file", "breaks", "tests") or key in mutant:
                sys.exit("mutants: %s: unexpected line '%s'" % (area, line))
            mutant[key] = value
    missing = [key for key in ("mutant", "file", "breaks", "tests") if not mutant.get(key)]
    if missing or mutant["old"] == mutant["new"]:
        sys.exit("mutants: %s: '%s' is incomplete" % (area, lines[0]))
    return mutant


def read_all():
    found = {}
    for path in sorted(glob.glob(os.path.join(os.path.dirname(__file__) or ".", "*.mutants"))):
        area = os.path.basename(path)[: -len(".mutants")]
        with open(path, encoding="utf-8") as file:
            texts = file.read().split("\n\n")
        for text in texts:
            lines = [line for line in text.split("\n") if line]
            if all(line.startswith("#") for line in lines):
                continue
            mutant = paragraph(lines, area)
            if mutant["mutant"] in found:
                sys.exit("mutants: duplicate name '%s'" % mutant["mutant"])
            found[mutant["mutant"]] = mutant
    return found


def sources(root):
    for directory in ("src", "include", "tests", "view"):
        for path, _, names in sorted(os.walk(os.path.join(root, directory))):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".cc", ".S", ".ts", ".tsx")):
                    yield os.path.relpath(os.path.join(path, name), root)


def read_lines(root, path):
    """The lines of a source file, read once; empty if it does not exist."""
    if (root, path) not in LINES:
        try:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                LINES[root, path] = file.read().split("\n")
        except FileNotFoundError:
            LINES[root, path] = []
    return LINES[root, path]


def places_in(mutant, lines):
    """The positions of the mutant's lines, ignoring indentation."""
    old = [line.strip() for line in mutant["old"]]
    stripped = [line.strip() for line in lines]
    return [at for at in range(len(lines) - len(old) + 1)
            if stripped[at] == old[0] and stripped[at:at + len(old)] == old]


def find(mutant, root):
    """The path and line of the one place that the mutant matches: in the file that it names or, if
    its lines have moved, in any source. None if there is none, or more than one."""
    places = [(mutant["file"], at) for at in places_in(mutant, read_lines(root, mutant["file"]))]
    if not places:
        places = [(path, at) for path in sources(root)
                  for at in places_in(mutant, read_lines(root, path))]
    return places[0] if len(places) == 1 else None


def indented(line, by):
    return " " * by + line if by >= 0 else line[min(-by, len(line) - len(line.lstrip())):]


def mutated(mutant, root, place):
    """The text of the file with the mutant applied."""
    path, at = place
    lines = read_lines(root, path)
    indent = len(lines[at]) - len(lines[at].lstrip())
    by = indent - (len(mutant["old"][0]) - len(mutant["old"][0].lstrip()))
    new = [indented(line, by) for line in mutant["new"]]
    return "\n".join(lines[:at] + new + lines[at + len(mutant["old"]):])


def digest(mutant):
    text = "\n".join([mutant["file"]] + mutant["old"] + [""] + mutant["new"])
    return hashlib.sha1(text.encode()).hexdigest()[:8]


def has_test(root, name):
    return any(os.path.exists(os.path.join(root, "tests", name + end)) for end in (".c", ".sh"))


def main(arguments):
    mutants = read_all()
    if len(arguments) == 2 and arguments[0] == "list":
        for mutant in mutants.values():
            path = (find(mutant, arguments[1]) or [mutant["file"]])[0]
            print("\t".join([mutant["mutant"], mutant["area"], mutant["tests"], path, mutant["breaks"],
                             digest(mutant)]))
        return 0
    if len(arguments) == 2 and arguments[0] == "check":
        wrong = ["'%s' fits no place, or several; it was in %s" % (mutant["mutant"], mutant["file"])
                 for mutant in mutants.values() if find(mutant, arguments[1]) is None]
        wrong += ["'%s' names %s, which is not there" % (mutant["mutant"], test)
                  for mutant in mutants.values() for test in mutant["tests"].split()
                  if not has_test(arguments[1], test)]
        for line in wrong:
            print("mutants: " + line)
        print("mutants: %d, %d wrong" % (len(mutants), len(wrong)))
        return 1 if wrong else 0
    if len(arguments) == 3 and arguments[0] == "apply" and arguments[1] in mutants:
        mutant = mutants[arguments[1]]
        place = find(mutant, arguments[2])
        if place is None:
            return "mutants: '%s' does not fit" % arguments[1]
        text = mutated(mutant, arguments[2], place)
        with open(os.path.join(arguments[2], place[0]), "w", encoding="utf-8") as file:
            file.write(text)
        return 0
    return __doc__


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
