/* SPDX-License-Identifier: MIT
 *
 * text.c: decodes and encodes UTF-8, escapes, and C literals. Most texts are plain ASCII, which is
 * copied in runs; the slow path starts at the first byte that is not.
 */
#include "print/text.h"

#include "base/bytes.h"

enum { CHARACTER_MAX = 0x10ffff };

/* Printable and never special: 0x20 to 0x7e except quotes and backslash. */
static inline int is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\'' && byte != '\\';
}

/* Excludes characters that move the cursor, or that hide or reorder their neighbors. */
static int is_shown(uint32_t character)
{
    return character >= 0x20 && (character < 0x7f || character >= 0xa0) &&
           !(character >= 0x200b && character <= 0x200f) &&
           !(character >= 0x2028 && character <= 0x202e) &&
           !(character >= 0x2060 && character <= 0x206f) && character != 0xfeff &&
           !(character >= 0xfff9 && character <= 0xfffb) &&
           !(character >= 0xd800 && character <= 0xdfff) && character <= CHARACTER_MAX &&
           !(character >= 0xe0000 && character <= 0xe007f);
}

/* Returns the length of the character that begins with `first`: 2 to 4, or 0 if invalid. */
static size_t length_of(unsigned char first)
{
    if (first >= 0xc2 && first < 0xe0)
        return 2;
    if (first >= 0xe0 && first < 0xf0)
        return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* Decodes one multi-byte character. Returns its length, or 0 if it is invalid. */
static size_t decode(const unsigned char *text, size_t bytes, uint32_t *ret_character)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = length_of(text[0]);

    if (length == 0 || length > bytes)
        return 0;
    uint32_t character = text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (text[i] & 0x3f);
    }
    if (character < smallest[length] || character > CHARACTER_MAX ||
        (character >= 0xd800 && character <= 0xdfff))
        return 0;
    *ret_character = character;
    return length;
}

/* Returns the length. */
static size_t encode(uint32_t character, char bytes[4])
{
    size_t length = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;

    if (length == 1) {
        bytes[0] = (char)character;
        return 1;
    }
    for (size_t i = length; i-- > 1; character >>= 6)
        bytes[i] = (char)(0x80 | (character & 0x3f));
    bytes[0] = (char)(0xf00 >> length | character);
    return length;
}

/* Uses octal: an escape of three octal digits is complete, whereas more digits may extend a
 * hexadecimal one. */
static char *put_escape(char *at, const char *end, unsigned char byte)
{
    static const char letters[] = "abtnvfr"; /* for 7 to 13 */
    char escape[4] = {'\\', (char)('0' + (byte >> 6)), (char)('0' + (byte >> 3 & 7)),
                      (char)('0' + (byte & 7))};
    size_t length = 4;

    if (byte >= 7 && byte <= 13) {
        escape[1] = letters[byte - 7];
        length = 2;
    } else if (byte == '"' || byte == '\'' || byte == '\\') {
        escape[1] = (char)byte;
        length = 2;
    }
    /* A truncated escape would have another meaning. */
    return (size_t)(end - at) >= length ? probity_text_copy(at, end, escape, length) : at;
}

static char *put_character(char *at, const char *end, uint32_t character, char quote)
{
    char bytes[10] = {'\\', 'u'};
    size_t length = 2;

    if (character == '\t' && quote == '\0')
        return probity_text_copy(at, end, "\t", 1);
    if (character < 0x20 || character == 0x7f ||
        (quote != '\0' && (character == (uint32_t)(unsigned char)quote || character == '\\')))
        return put_escape(at, end, (unsigned char)character);
    if (is_shown(character)) {
        length = encode(character, bytes);
    } else {
        int digits = character <= 0xffff ? 4 : 8;
        bytes[1] = digits == 4 ? 'u' : 'U';
        while (digits-- > 0)
            bytes[length++] = "0123456789abcdef"[character >> 4 * digits & 15];
    }
    return (size_t)(end - at) >= length ? probity_text_copy(at, end, bytes, length) : at;
}

char *probity_text_put(char *at, const char *end, const char *text, size_t bytes, char quote)
{
    const unsigned char *from = (const unsigned char *)text;
    size_t i = 0;

    while (i < bytes) {
        size_t run = i;
        while (run < bytes && is_plain(from[run]))
            run++;
        at = probity_text_copy(at, end, text + i, run - i);
        i = run;
        if (i == bytes)
            break;
        uint32_t character = from[i];
        size_t length = from[i] < 0x80 ? 1 : decode(from + i, bytes - i, &character);
        if (length == 0)
            at = put_escape(at, end, from[i]);
        else
            at = put_character(at, end, character, quote);
        i += length > 0 ? length : 1;
    }
    return at;
}

char *probity_text_put_wide(char *at, const char *end, const uint8_t *characters, size_t count,
                            char quote)
{
    for (size_t i = 0; i < count; i++)
        at = put_character(at, end, probity_get_u32(characters + 4 * i), quote);
    return at;
}

size_t probity_text_hidden(const char *text, size_t bytes, uint32_t *ret_character)
{
    const unsigned char *from = (const unsigned char *)text;
    uint32_t character = *from;
    size_t length = *from < 0x80 ? character == 0x7f : decode(from, bytes, &character);

    if (length == 0 || is_shown(character))
        return 0;
    *ret_character = character;
    return length;
}

size_t probity_text_whole(const char *text, size_t bytes)
{
    size_t back = 1;

    while (back < 4 && back < bytes && ((unsigned char)text[bytes - back] & 0xc0) == 0x80)
        back++;
    if (bytes >= back && length_of((unsigned char)text[bytes - back]) > back)
        return bytes - back;
    return bytes;
}

/* ---- Names ------------------------------------------------------------------------------------
 */

static int is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Finds the name, as a whole word, before the parameters. Returns NULL if it is not there. */
static const char *find_name(const char *signature, const char *name, size_t bytes)
{
    const char *found = strstr(signature, name);

    while (found != NULL &&
           (found[bytes] != '(' || (found > signature && is_word(found[-1]) && is_word(*name))))
        found = strstr(found + 1, name);
    return found;
}

/* The name includes template arguments and enclosing functions, which may contain spaces. */
static const char *qualifiers_of(const char *signature, const char *name)
{
    size_t depth = 0;

    for (; name > signature; name--) {
        char before = name[-1];
        if (before == '>' || before == ')' || before == '}')
            depth++;
        else if (depth > 0)
            depth -= before == '<' || before == '(' || before == '{';
        else if (!is_word(before) && before != ':')
            break;
    }
    return name;
}

const char *probity_text_qualified(const char *signature, const char *name, size_t *ret_bytes)
{
    size_t bytes = strlen(name);
    const char *found = bytes > 0 ? find_name(signature, name, bytes) : NULL;

    if (found == NULL && strstr(signature, "<lambda") != NULL) {
        const char *arguments = strstr(signature, " [with ");
        *ret_bytes = arguments != NULL ? (size_t)(arguments - signature) : strlen(signature);
        return signature;
    }
    const char *from = found != NULL ? qualifiers_of(signature, found) : name;
    *ret_bytes = bytes + (found != NULL ? (size_t)(found - from) : 0);
    return from;
}

/* ---- Literals ----------------------------------------------------------------------------------
 */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Reads up to `digits` digits in a base. */
static const char *read_digits(const char *source, int digits, int base, uint32_t *ret_value)
{
    uint32_t value = 0;

    for (; digits > 0 && digit_of(*source) < base; digits--, source++)
        value = value * (uint32_t)base + (uint32_t)digit_of(*source);
    *ret_value = value;
    return source;
}

/* Reads the part of an escape after its backslash. *ret_is_byte: it encodes a byte, not a
 * character. */
static const char *read_escape(const char *source, uint32_t *ret_value, int *ret_is_byte)
{
    static const char names[] = "abtnvfr";
    const char *name = *source != '\0' ? strchr(names, *source) : NULL;

    *ret_is_byte = 0;
    if (name != NULL) {
        *ret_value = 7 + (uint32_t)(name - names);
        return source + 1;
    }
    if (*source == 'e') {
        *ret_value = 27;
        return source + 1;
    }
    if (*source == 'u' || *source == 'U')
        return read_digits(source + 1, *source == 'u' ? 4 : 8, 16, ret_value);
    if (*source == 'x' || digit_of(*source) < 8) {
        int is_hex = *source == 'x';
        source = read_digits(source + is_hex, is_hex ? 8 : 3, is_hex ? 16 : 8, ret_value);
        *ret_is_byte = *ret_value < 256;
        return source;
    }
    *ret_value = (unsigned char)*source;
    return source + (*source != '\0');
}

/* Writes a quoted literal. Assembles its value first, because bytes written as escapes may form a
 * character. Returns the position after the literal. */
static const char *put_quoted(char **at, const char *end, const char *source, int is_wide)
{
    char said[256];
    size_t count = 0;

    while (*source != '"' && *source != '\0') {
        uint32_t value = (unsigned char)*source;
        int is_escape = source[0] == '\\' && source[1] != '\0', is_byte = 1;
        if (count > sizeof said - 8) {
            size_t whole = probity_text_whole(said, count);
            *at = probity_text_put(*at, end, said, whole, '\0');
            memmove(said, said + whole, count - whole);
            count -= whole;
        }
        source++;
        if (is_escape)
            source = read_escape(source, &value, &is_byte);
        if (is_byte && !(is_escape && is_wide))
            said[count++] = (char)value;
        else
            count += encode(value <= CHARACTER_MAX ? value : 0xfffd, said + count);
    }
    *at = probity_text_put(*at, end, said, count, '\0');
    return source + (*source == '"');
}

/* Writes R"delimiter(...)delimiter", starting at its quote. */
static const char *put_raw_literal(char **at, const char *end, const char *source)
{
    size_t delimiter = strcspn(source + 1, "(");
    const char *from = source + 1 + delimiter, *close = from;

    if (*from == '\0')
        return NULL;
    from++;
    while ((close = strchr(close + 1, ')')) != NULL) {
        if (strncmp(close + 1, source + 1, delimiter) == 0 && close[1 + delimiter] == '"')
            break;
    }
    if (close == NULL)
        return NULL;
    *at = probity_text_put(*at, end, from, (size_t)(close - from), '\0');
    return close + delimiter + 2;
}

char *probity_text_put_literal(char *at, const char *end, const char *source)
{
    const char *from = source;
    char *start = at;

    while (from != NULL && *from != '\0') {
        size_t prefix = strspn(from, "LuU8");
        int is_raw = from[prefix] == 'R';
        const char *quote = from + prefix + is_raw;
        if (*quote != '"')
            from = NULL;
        else if (is_raw)
            from = put_raw_literal(&at, end, quote);
        else
            from = put_quoted(&at, end, quote + 1, prefix > 0 && *from != 'u');
        if (from != NULL)
            from += strspn(from, " \t\n");
    }
    return from != NULL ? at : probity_text_put(start, end, source, strlen(source), '\0');
}
