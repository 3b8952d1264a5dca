#!/usr/bin/env bash
# Runs each command of README.md and doc/tutorial.md unchanged, in order, in an empty directory,
# with Probity installed under a prefix. The output must equal that in the document except for
# numbers; documents.py describes how blocks are marked. Files and subcommands that any document
# names must exist. Last, checks that errors in documents are detected.
. "$(dirname "$0")/../common.bash"

prefix=$WORK/prefix
env -u MAKEFLAGS -u MFLAGS make -s -C "$SOURCE" BUILD="$BUILD" CC="$CC" CXX="$CXX" \
    PREFIX="$prefix" install > install.log 2>&1 || fail "make install: $(tail -n 5 install.log)"
export PATH=$prefix/bin:$PATH PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
export TERM=dumb COLUMNS=110 LC_ALL=C.UTF-8
check=("${PYTHON:-python3}" "$SOURCE/tests/cli/documents.py" "$SOURCE")

# $1 document, $2 an empty directory for it
document() {
    mkdir "$2"
    (cd "$2" && "${check[@]}" "$1") > "$2.log" 2>&1 || fail "$(cat "$2.log")"
}

document "$SOURCE/README.md" readme
mkdir tutorial
cp "$SOURCE/examples/tutorial.c" tutorial/
(cd tutorial && "${check[@]}" "$SOURCE/doc/tutorial.md") > tutorial.log 2>&1 ||
    fail "$(cat tutorial.log)"

for text in "$SOURCE"/*.md "$SOURCE"/doc/*.md; do
    "${check[@]}" "$text" names > names.log 2>&1 || fail "$(cat names.log)"
done

# $1 the error, $2 the expected message; the document is on stdin
wrong() {
    cat > wrong.md
    rm -rf wrong
    mkdir wrong
    ! (cd wrong && "${check[@]}" "$WORK/wrong.md") > wrong.log 2>&1 || fail "not found: $1"
    grep -qF -- "$2" wrong.log || fail "$1: $(cat wrong.log)"
}

wrong "a command that fails" "exit status 1" << 'END'
```console
$ probity report none.probity
```
END
wrong "a command that does not exist" "exit status 127" << 'END'
```console varies
$ probty report
```
END
wrong "another word" "did not print a line like 'two words N'" << 'END'
```console
$ echo one word 1
two words 2
```
END
wrong "a further line" "does not show: 'N'" << 'END'
```console
$ seq 2
1
```
END
wrong "another source" "another text" << 'END'
```c file=hello.c
int main(void) { return 0; }
```
END
wrong "a make target that does not exist" "no target 'everything'" << 'END'
```sh
make everything
```
END
wrong "a file that does not exist" "no doc/none.md" << 'END'
See `doc/none.md`.
END
wrong "a subcommand that does not exist" "no command 'reprot'" << 'END'
`probity reprot` says where the time goes.
END
wrong "no command at all" "no command was run" << 'END'
Nothing here.
END
finish
