# Joins the sources of the library into one file for vendoring. Usage:
#
#   awk -v version=0.2.0 -f tools/amalgamate.awk src/base/error.c ... > probity.c
#
# Internal headers are inserted once, at their first include; system headers are all at the top;
# public ones remain includes. Static names that occur in several files are prefixed with the file's
# name. The result depends only on the sources and their order.

function fail(message)
{
    print "amalgamate: " message > "/dev/stderr"
    failed = 1
    exit 1
}

# ---- Reading: lines[file, 1..count[file]], of sources and of the headers they include ----

function load(file,    line, n, depth)
{
    if (file in count)
        return
    n = 0
    depth = 0
    while ((getline line < file) > 0) {
        lines[file, ++n] = line
        if (line ~ /^ *# *if/)
            depth++
        else if (line ~ /^ *# *endif/)
            depth--
        else if (line ~ /^ *# *include/)
            classify(file, n, line, depth - (file ~ /\.h$/))
    }
    if (n == 0)
        fail("cannot read " file)
    close(file)
    count[file] = n
    files[++file_count] = file
}

# How to treat an include: action[file, line] is a header to insert, "drop" or "keep".
function classify(file, n, line, depth,    name)
{
    name = line
    sub(/^ *# *include *[<"]/, "", name)
    sub(/[>"].*/, "", name)
    if (line ~ /</) {
        action[file, n] = depth > 0 ? "keep" : "drop"
        if (depth <= 0 && !(name in is_hoisted)) {
            is_hoisted[name] = 1
            hoisted = hoisted "#include <" name ">\n"
        }
    } else if (name ~ /\//) {
        if (depth > 0)
            fail(file ":" n ": an internal header inside a condition")
        action[file, n] = "src/" name
        includes[file] = includes[file] " src/" name
        load("src/" name)
    } else {
        action[file, n] = "keep"
    }
}

# ---- Tokens: an identifier or number, a literal, a comment, space, or one character -------------

# Cuts the next token off `rest` and sets `token` and `kind`: "word", "text", "space" or "sign". A
# comment is space; `in_comment` is set if it continues on the next line.
function next_token()
{
    if (in_comment) {
        kind = "space"
        cut_comment(1)
    } else if (match(rest, /^[A-Za-z_0-9]+/)) {
        kind = "word"
        cut(RLENGTH)
    } else if (match(rest, /^[ \t]+/)) {
        kind = "space"
        cut(RLENGTH)
    } else if (match(rest, /^"([^"\\]|\\.)*"/) || match(rest, /^'([^'\\]|\\.)*'/)) {
        kind = "text"
        cut(RLENGTH)
    } else if (substr(rest, 1, 2) == "/*") {
        kind = "space"
        cut_comment(3)
    } else if (substr(rest, 1, 2) == "->") {
        kind = "sign"
        cut(2)
    } else {
        kind = "sign"
        cut(1)
    }
}

function cut(length_)
{
    token = substr(rest, 1, length_)
    rest = substr(rest, length_ + 1)
}

function cut_comment(from,    end)
{
    end = index(substr(rest, from), "*/")
    in_comment = end == 0
    cut(in_comment ? length(rest) : from + end)
}

# ---- The names that a file declares at file scope -----------------------------------------------

# declares[space, file, name]; owners[space, name] counts the files. Tags have a separate name
# space.
function declare(space, file, name_)
{
    if (declares[space, file, name_]++ == 0)
        owners[space, name_]++
}

# A struct that a header of its file mentions, with members only in the file, is shared.
function forget_shared_tags(    i, key, part, definer)
{
    for (key in declares) {
        split(key, part, SUBSEP)
        if (part[1] == "tag" && part[2] ~ /\.h$/)
            definer[part[3]] = part[2]
    }
    for (i = 1; i <= file_count; i++) {
        if (files[i] !~ /\.c$/)
            continue
        for (key in declares) {
            split(key, part, SUBSEP)
            if (part[1] != "tag" || part[2] != files[i] || !is_mentioned(files[i], part[3]))
                continue
            if (part[3] in definer)
                fail("struct " part[3] " is shared by headers, and both " definer[part[3]] " and " \
                    files[i] " define one")
            definer[part[3]] = files[i]
            is_shared[files[i], part[3]] = 1
        }
    }
}

# Returns whether a header that the file includes mentions the tag.
function is_mentioned(file, tag_,    list, i, n)
{
    n = split(includes[file], list, " ")
    for (i = 1; i <= n; i++)
        if ((list[i], tag_) in mentions || is_mentioned(list[i], tag_))
            return 1
    return 0
}

function scan(file,    n, depth)
{
    in_comment = 0
    depth = 0
    start_declaration()
    for (n = 1; n <= count[file]; n++) {
        if (lines[file, n] ~ /^ *#/ || is_continued) {
            is_continued = lines[file, n] ~ /\\$/
            continue
        }
        rest = lines[file, n]
        while (rest != "") {
            next_token()
            if (kind != "space")
                depth = scan_token(file, depth)
        }
    }
    if (depth != 0)
        fail(file ": braces do not match")
}

function start_declaration()
{
    words = ""
    is_static = is_enum = is_body = is_thread_local = parens = 0
    name = before = tag = ""
}

# Handles one token at brace depth `depth`; returns the depth after it.
function scan_token(file, depth)
{
    if (previous ~ /^(struct|union|enum)$/ && kind == "word")
        mentions[file, token] = 1
    previous = token
    if (token == "{") {
        if (depth == 0)
            open_body(file)
        return depth + 1
    }
    if (token == "}") {
        if (depth == 1 && is_function)
            start_declaration()
        return depth - 1
    }
    if (depth == 1 && is_enum && kind == "word" && (before == "{" || before == ","))
        declare("name", file, token)
    if (depth == 0)
        scan_declaration(file)
    if (depth <= 1)
        before = token
    return depth
}

# Handles the brace that opens the body of a function, of a type with a tag, or of an initializer.
function open_body(file)
{
    is_function = name != "" && before == ")"
    if (before == tag && tag != "")
        declare("tag", file, tag)
    if (name != "")
        keep_name(file)
    is_enum = words ~ /^ enum( [a-z_0-9]+)?$/
    before = "{"
}

function scan_declaration(file)
{
    if (token == ";") {
        if (name == "" && !parens && before ~ /^[A-Za-z_]/ && words ~ /^ [a-z_]+ [A-Za-z_]/)
            name = before
        if (name != "" && before != tag)
            keep_name(file)
        start_declaration()
        return
    }
    if (token == "static")
        is_static = 1
    if ((before == "struct" || before == "union" || before == "enum") && kind == "word")
        tag = token
    if (token == "(") {
        if (before == "PROBITY_THREAD_LOCAL" && !parens)
            is_thread_local = 1
        else if (name == "" && !parens && before ~ /^[A-Za-z_]/ && before !~ /^__/)
            name = before
        parens++
    } else if (token == ")") {
        parens--
    } else if ((token == "=" || token == "[") && name == "" && !parens) {
        name = before
    }
    # The variable is the macro's last argument.
    if (is_thread_local && kind == "word")
        name = token
    if (kind == "word" && !parens)
        words = words " " token
}

# Names that are not static are unique in the library, except typedefs.
function keep_name(file)
{
    if (is_static || words ~ /^ typedef /)
        declare("name", file, name)
}

# ---- Writing ------------------------------------------------------------------------------------

# src/runtime/cost.c, grow: runtime_cost_grow
function renamed(file, name_,    prefix)
{
    prefix = file
    sub(/^src\//, "", prefix)
    sub(/\.c$/, "", prefix)
    gsub(/[^A-Za-z0-9]/, "_", prefix)
    return prefix "_" name_
}

function is_renamed(space, file, name_)
{
    return (space, file, name_) in declares && owners[space, name_] > 1 && \
        !(space == "tag" && (file, name_) in is_shared)
}

function check_renamed(    key, part)
{
    for (key in declares) {
        split(key, part, SUBSEP)
        if (part[2] ~ /\.c$/ && owners[part[1], part[3]] > 1 &&
            (part[1], renamed(part[2], part[3])) in owners)
            fail(part[2] ": " part[3] ": the name that it would get is taken")
    }
}

# Members keep their names: after a dot or an arrow, and where a struct of the file declares them.
function rewrite(file, line,    out, space)
{
    out = ""
    rest = line
    while (rest != "") {
        next_token()
        if (kind == "word") {
            space = last ~ /^(struct|union|enum)$/ ? "tag" : "name"
            if (is_renamed(space, file, token) && last != "." && last != "->" &&
                !(in_struct && space == "name"))
                token = renamed(file, token)
        }
        out = out token
        if (kind != "space")
            last = token
    }
    return out
}

function emit(file,    n, line)
{
    if (emitted[file]++)
        return
    # Headers first, so that none ends up in the middle of the code.
    for (n = 1; n <= count[file]; n++)
        if (action[file, n] ~ /\//)
            emit(action[file, n])
    print "\n/* ======== " file " ======== */\n"
    in_comment = in_struct = 0
    last = ""
    for (n = 1; n <= count[file]; n++) {
        line = lines[file, n]
        if (action[file, n] ~ /^drop$|\//)
            continue
        if (line ~ /^(static |const |typedef )*(struct|union)[ a-z_0-9]*\{$/)
            in_struct = 1
        print file ~ /\.c$/ ? rewrite(file, line) : line
        if (line ~ /^\}/)
            in_struct = 0
    }
    undefine(file)
}

# Macros are undefined at the end of their file, unless the system may define them, too.
function undefine(file,    n, line, macro)
{
    if (file !~ /\.c$/)
        return
    for (n = 1; n <= count[file]; n++) {
        line = lines[file, n]
        if (line ~ /^#(ifndef|undef) /) {
            split(line, macro)
            is_guarded[file, macro[2]] = 1
        }
    }
    for (n = 1; n <= count[file]; n++)
        if (match(lines[file, n], /^# *define +[A-Za-z_0-9]+/)) {
            line = substr(lines[file, n], RSTART, RLENGTH)
            sub(/^# *define +/, "", line)
            if (!is_guarded[file, line]++)
                print "#undef " line
        }
}

function emit_head()
{
    print "/* SPDX-License-Identifier: MIT"
    print " *"
    print " * Probity " version ", the library in one file, made by `make amalgamation`. Add it and"
    print " * the headers to a program and compile it with -fexceptions (threads that are"
    print " * cancelled unwind across it) and -pthread, as C11 or newer:"
    print " *"
    print " *     cc -O2 -fexceptions -pthread -c probity.c"
    print " */"
    print "#ifndef _GNU_SOURCE"
    print "#define _GNU_SOURCE"
    print "#endif"
    printf "%s", hoisted
    print "\n#include \"probity.h\""
    print "\n#pragma GCC visibility push(hidden)"
    print "#pragma GCC diagnostic push"
    print "#pragma GCC diagnostic ignored \"-Wunused-function\" /* inline, in the headers joined */"
}

BEGIN {
    if (ARGC < 2 || version == "")
        fail("usage: awk -v version=V -f amalgamate.awk SOURCE...")
    for (i = 1; i < ARGC; i++)
        load(ARGV[i])
    for (i = 1; i <= file_count; i++)
        scan(files[i])
    forget_shared_tags()
    check_renamed()
    emit_head()
    for (i = 1; i < ARGC; i++)
        emit(ARGV[i])
    print "\n#pragma GCC diagnostic pop\n#pragma GCC visibility pop"
    exit
}

END {
    exit failed
}
