# The part of the style check that reads C. Input: any number of .c and .h files; output: one line
# "FILE:LINE: complaint" for each fault, and at the end of each file "#share GROUP LINES COMMENTED"
# for the report. It understands only the house style: functions close with a brace in column 1,
# and open with one there or at the end of their first line.
#
# Comments, strings and preprocessor lines are removed character by character; the remaining code is
# split at ; { } into statements, whose leading control words give the nesting.

BEGIN {
    FUNCTION_LINES = 70; FILE_LINES = 800; FILE_LINES_LOOK = 600; COLUMNS = 100; NESTING = 3
    BANNED = "strcpy|strcat|sprintf|vsprintf|strtok|gmtime|localtime|alloca"
    BANNED_IN_LIBRARY = BANNED "|printf|exit|abort"
    MACHINE = "__linux|__gnu_linux__|__unix|__APPLE__|_WIN32|__FreeBSD__|" \
        "__ANDROID__|__GLIBC__|__x86_64|__i386|__amd64|__aarch64|__arm|__ARM|__riscv|" \
        "__powerpc|__s390|__SSE|__AVX"
    SEAM = "(^|/)src/(base/(linux|windows)/|(base|functions)/cpu)[a-z0-9_]*[.][ch]$|" \
           "(^|/)include/probity[.]h$"
}

function complain(line, text) { print FILENAME ":" line ": " text }

function begin_file() {
    in_comment = 0; in_directive = 0; text_lines = 0; comment_lines = 0
    depth = 0; statement = ""; parens = 0; function_from = 0
    documented = 0; prototype_from = 0; blank_before = 1
    is_seam = FILENAME ~ SEAM
    is_public = FILENAME ~ /(^|\/)include\//
    in_library = FILENAME ~ /(^|\/)(src|include)\// && \
        FILENAME !~ /(^|\/)src\/(cli\/|.*_command[.]c$)/
    banned = "(^|[^A-Za-z0-9_])(" (in_library ? BANNED_IN_LIBRARY : BANNED) ")[ ]*[(]"
}

function end_file(file, lines,    group) {
    if (file ~ /[.]c$/ && lines > FILE_LINES)
        print file ":" lines ": file of " lines " lines, at most " FILE_LINES
    else if (file ~ /[.]c$/ && lines > FILE_LINES_LOOK)
        print "#warning " file ": " lines " lines, look hard at " FILE_LINES_LOOK
    group = file
    sub(/\/[^\/]*$/, "", group)
    print "#share", group, text_lines, comment_lines
}

# The number of UTF-8 characters, in any locale: bytes that do not continue a character.
function columns_of(line) {
    gsub(/[\200-\277]/, "", line)
    return length(line)
}

# The line without comments, and with strings and characters emptied. Keeps in_comment across lines.
function code_of(line,    out, rest, at, two, quote) {
    out = ""
    rest = line
    while (rest != "") {
        if (in_comment) {
            at = index(rest, "*/")
            if (at == 0)
                return out
            in_comment = 0
            rest = substr(rest, at + 2)
            continue
        }
        if (!match(rest, /["']|\/[*]|\/\//))
            return out rest
        out = out substr(rest, 1, RSTART - 1)
        two = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (two == "//") {
            has_comment = 1
            return out
        }
        if (two == "/*") {
            in_comment = has_comment = 1
            continue
        }
        quote = two
        out = out quote quote
        while (rest != "" && substr(rest, 1, 1) != quote)
            rest = substr(rest, substr(rest, 1, 1) == "\\" ? 3 : 2)
        rest = substr(rest, 2)
    }
    return out
}

# The number of control words that open the statement: "for if" nests by two without a brace.
function control_words(text,    words, before) {
    words = 0
    gsub(/ +/, " ", text)
    do {
        before = text
        sub(/^ /, "", text)
        if (sub(/^else if /, "", text) || sub(/^(if|for|while|switch|else|do)( |$)/, "", text))
            words++
    } while (text != before)
    return words
}

function nesting_is(levels) {
    if (levels > NESTING && !nesting_reported) {
        complain(FNR, "nesting of " levels " levels, at most " NESTING)
        nesting_reported = 1
    }
}

# The sum of the weights of the open braces of this function.
function open_levels(    i, sum) {
    sum = 0
    for (i = 2; i <= depth; i++)
        sum += weight[i]
    return sum
}

function open_brace(    words, head) {
    head = statement
    gsub(/ +/, " ", head)
    words = control_words(head)
    depth++
    # A brace after "=", "," or a cast is an initializer, and one after "case" belongs to the
    # switch.
    weight[depth] = words > 0 ? words : 0
    nesting_is(open_levels())
    saved_parens[depth] = parens
    saved_statement[depth] = (parens > 0 || head ~ /[=,(] ?$/) ? statement : ""
    parens = 0
    statement = ""
}

function close_brace() {
    if (depth > 0) {
        parens = saved_parens[depth]
        statement = saved_statement[depth]
        depth--
    }
}

# Feeds one line of code inside a function to the statement scanner.
function scan(code,    i, c) {
    while (match(code, /[(){};:]/)) {
        if (parens == 0)
            statement = statement substr(code, 1, RSTART - 1) " "
        c = substr(code, RSTART, 1)
        code = substr(code, RSTART + 1)
        if (c == "(") parens++
        else if (c == ")") parens--
        else if (c == "{") open_brace()
        else if (c == "}") close_brace()
        else if (parens == 0 && c == ";") {
            if (control_words(statement) > 0 && statement !~ /^ *while *$/)
                nesting_is(open_levels() + control_words(statement))
            statement = ""
        } else if (parens == 0 && c == ":" && statement ~ /^ *(case|default|[a-z_]+ *$)/)
            statement = ""
    }
    if (parens == 0)
        statement = statement code " "
}

function check_function(code,    lines) {
    if (!function_from && (code ~ /^\{/ || code ~ /^[A-Za-z_].*\) *\{ *$/ && code !~ /=/)) {
        function_from = FNR; depth = 0; statement = ""; parens = 0; nesting_reported = 0
        sub(/.*\{/, "{", code)
    }
    if (function_from)
        scan(code)
    if (function_from && code ~ /^\}/) {
        lines = FNR - function_from + 1
        if (lines > FUNCTION_LINES)
            complain(function_from, "function of " lines " lines, at most " FUNCTION_LINES)
        function_from = 0
    }
}

function check_directive(code) {
    if (!in_directive)
        is_condition = code ~ /^ *# *(if|ifdef|ifndef|elif)/
    if (!is_seam && is_condition && code ~ MACHINE)
        complain(FNR, "OS or CPU conditional outside the seam (src/base/linux/, src/*/cpu*)")
}

function check_banned(code) {
    if (match(code, banned))
        complain(FNR, "banned: " substr(code, RSTART, RLENGTH) ")")
    if (match($0, /(^|[^A-Za-z0-9_])(TO[D]O|FIX[M]E|XX[X]|HAC[K])([^A-Za-z0-9_]|$)/))
        complain(FNR, "left-over marker")
}

# A comment documents the declarations that follow it up to the next blank line.
function check_documented(line, code) {
    if (line ~ /^ *$/)
        documented = 0
    else if (line ~ /\*\//)
        documented = 1
    if (is_public && code ~ /(PROBITY|ALEXTA)_API / && code !~ /^ *#/ && !documented)
        complain(FNR, "public declaration without a comment")
}

FNR == 1 {
    if (previous != "")
        end_file(previous, previous_lines)
    previous = FILENAME
    begin_file()
}

{
    previous_lines = FNR
    has_comment = in_comment
    code = code_of($0)
    if ($0 ~ /[^ \t]/)
        text_lines++
    if (has_comment && $0 ~ /[^ \t]/)
        comment_lines++
    columns = columns_of($0)
    if (columns > COLUMNS)
        complain(FNR, "line of " columns " columns, at most " COLUMNS)
    if ($0 ~ /\t/)
        complain(FNR, "tab")
    if ($0 ~ /[ \t]$/)
        complain(FNR, "space at the end of the line")
    if (FNR == 1 && $0 !~ /^\/[*\/]/)
        complain(1, "a file opens with a paragraph about what it owns")
    check_documented($0, code)
    check_banned(code)
    if (in_directive || code ~ /^ *#/) {
        check_directive(code)
        in_directive = $0 ~ /\\$/
    } else
        check_function(code)
}

END {
    if (previous != "")
        end_file(previous, previous_lines)
}
