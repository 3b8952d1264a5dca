"""Runs the commands in a document and compares their output with what the document shows.

    documents.py TREE DOCUMENT          in the working directory, as a reader would
    documents.py TREE DOCUMENT names    only checks that everything the text names exists

Fenced blocks mean:

    ```c file=NAME      is saved as NAME; must equal examples/NAME without its first comment
    ```console          each line "$ command" is run as it is, in order. Its output follows and
                        must match: the same words, any numbers, lines in any order. A command
                        that ends with a backslash continues on the next line. A line "..."
                        matches any number of further lines
    ```console varies   the commands are run, but their output may differ
    ```sh               not run, because it changes the machine or takes long; but every
                        `make TARGET` must exist

Paths and commands that the text names in `code` must exist. Prints a line for each error; exit
status 1 if there are any.
"""
import collections
import os
import re
import subprocess
import sys

tree, document = sys.argv[1:3]
names_only = sys.argv[3:] == ["names"]
faults = 0


def fail(text):
    global faults
    faults += 1
    print(f"{os.path.relpath(document, tree)}: {text}")


def masked(line):
    """The line with numbers, units, bars, branches and the letters of a timeline masked."""
    line = re.sub("[─│├└█▉▊▋▌▍▎▏▁▂▃▄▅▆▇]+", " ", line)
    line = re.sub(r"0x[0-9a-f]+|\b(?=\w*\d)[0-9a-f]{8,}\b", "N", line)
    line = re.sub(r"(?<![\w.])[-+~]?\d+(\.\d+)?(ns|us|ms|s|%)?(?![\w])", "N", line)
    line = re.sub(r"(N[ :]+)+([A-Ea-e.]+ ?)+$", "N letters", line.rstrip())
    return " ".join(line.split())


def compare(command, expected, found):
    wanted = collections.Counter(masked(line) for line in expected if line.strip() not in ("", "..."))
    there = collections.Counter(masked(line) for line in found.splitlines() if line.strip())
    for line in (wanted - there):
        fail(f"$ {command}: it did not print a line like '{line}', but: {found[:2000]}")
        return
    if "..." not in (line.strip() for line in expected):
        for line in (there - wanted):
            fail(f"$ {command}: a line that the document does not show: '{line}'")
            return


def run(command, expected, varies):
    done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    if done.returncode != 0:
        fail(f"$ {command}: exit status {done.returncode}: {done.stdout[:2000]}")
    elif varies:
        if not done.stdout.strip():
            fail(f"$ {command}: it printed nothing")
    else:
        compare(command, expected, done.stdout)


def console(lines, varies):
    """Returns the number of commands."""
    commands = []
    for line in lines:
        if line.startswith("$ "):
            commands.append(([line[2:]], []))
        elif not commands:
            fail(f"'{line}' comes before any command")
        elif commands[-1][0][-1].endswith("\\"):
            commands[-1][0].append(line)
        else:
            commands[-1][1].append(line)
    for command, expected in commands:
        run("\n".join(command), expected, varies)
    return len(commands)


def save(name, text):
    source = os.path.join(tree, "examples", name)
    if not os.path.exists(source):
        fail(f"there is no examples/{name}")
    elif re.sub(r"\A/\*.*?\*/\n", "", open(source).read(), flags=re.S) != text:
        fail(f"examples/{name} is another text")
    with open(name, "w") as file:
        file.write(text)


def not_run(lines):
    rules = "".join(open(os.path.join(tree, name)).read()
                    for name in ("Makefile", "packaging/install.mk"))
    for line in lines:
        for target in re.findall(r"\bmake ([a-z-]+)", line):
            if not re.search(rf"^{target}:", rules, flags=re.M):
                fail(f"'{line}': there is no target '{target}'")


def text(line):
    """Returns what is named in `code` and in links."""
    for name in re.findall(r"`((?:doc|examples|include|man|src|tests|tools|view|bench|packaging)/[\w./-]+)`",
                           line) + re.findall(r"\]\(([\w./-]+)\)", line):
        if re.search("NAME|FORMAT|COMMAND|NOUN", name):
            continue
        if not any(os.path.exists(os.path.join(base, name)) for base in (tree, os.path.dirname(document))):
            fail(f"there is no {name}")
    for command in re.findall(r"`probity ([a-z]+)", line):
        help_text = subprocess.run(["probity", command, "--help"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        if help_text.returncode != 0:
            fail(f"there is no command '{command}'")


commands, block, info = 0, None, ""
for line in open(document).read().splitlines():
    if block is None:
        if line.startswith("```"):
            block, info = [], line[3:].strip()
        else:
            text(line)
    elif line.startswith("```"):
        if names_only:
            pass
        elif info in ("console", "console varies"):
            commands += console(block, info.endswith("varies"))
        elif info.startswith("c file="):
            save(info[len("c file="):], "\n".join(block) + "\n")
        elif info == "sh":
            not_run(block)
        block = None
    else:
        block.append(line)
if commands == 0 and not names_only:
    fail("no command was run")
print(f"{os.path.relpath(document, tree)}: {commands} commands, {faults} errors")
sys.exit(faults > 0)
