/* SPDX-License-Identifier: MIT
 *
 * ctf_metadata.c: describes the exported events in the metadata language of the Common Trace
 * Format. All integers are little-endian and unaligned.
 */
#include "exports/ctf/ctf_metadata.h"

#include <inttypes.h>

#include "print/text.h"

static const char types[] =
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
    "typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
    "typealias integer { size = 64; align = 8; signed = true; } := s64;\n"
    "typealias integer { size = 8; align = 8; signed = false; base = 16; } := byte;\n"
    "struct value { string name; string value; };\n";

/* Time stamps are ns since 1970. */
static const char clock_and_stream[] =
    "clock {\n"
    "    name = wall;\n"
    "    description = \"CLOCK_REALTIME\";\n"
    "    freq = 1000000000;\n"
    "    offset = 0;\n"
    "    absolute = true;\n"
    "};\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.wall.value; } := time;\n"
    "stream {\n"
    "    id = 0;\n"
    "    packet.context := struct {\n"
    "        time timestamp_begin; time timestamp_end; u64 content_size; u64 packet_size;\n"
    "    };\n"
    "    event.header := struct { u8 id; time timestamp; };\n"
    "    event.context := struct { u32 vpid; u32 vtid; s64 cpu_ns; u64 late_ns; };\n"
    "};\n";

#define VALUES " u16 count; struct value values[count];"

static const char *const fields[CTF_EVENTS][2] = {
    [CTF_PROCESS] = {"process", "string program;"},
    [CTF_THREAD_NAME] = {"thread_name", "string name;"},
    [CTF_FUNCTION] = {"function", "string name; string file; u32 line;"},
    [CTF_ENTER] = {"enter", "string name;" VALUES},
    [CTF_LEAVE] = {"leave", "string name; enum : u8 { left = 1, unwound = 2, open = 3 } how; "
                            "u8 untimed; u64 elapsed_ns; u64 self_ns; u64 cpu_elapsed_ns; "
                            "u64 cpu_self_ns;" VALUES},
    [CTF_HIT] = {"hit", "string name;"},
    [CTF_HIT_WITH] = {"hit_with", "string name; u8 role; u8 ids; u64 correlation; u64 object; "
                                  "u64 place;"},
    [CTF_MESSAGE] = {"message", "string text;"},
    [CTF_PARAMETERS] = {"parameters", VALUES},
    [CTF_CHECKPOINT] = {"checkpoint", "string label;" VALUES},
    [CTF_PAUSE] = {"pause", ""},
    [CTF_RESUME] = {"resume", ""},
    [CTF_STALL] = {"stall", "u64 ns;"},
    [CTF_PROFILING] = {"profiling", "u8 on;"},
    [CTF_LEVELS] = {"levels", "u8 functions; u8 parameters;"},
    [CTF_LOST] = {"lost", "u64 records;"},
    [CTF_STATE] = {"state", "string name; u64 ns; s64 cpu; s64 waker;"}};

/* Writes text, escaped as in other outputs: for example \u202e for an unprintable character. The
 * backslash is escaped again, because babeltrace2 rejects \u in metadata. */
static void put_text(FILE *stream, const char *name, const struct probity_text *text)
{
    char safe[1024];

    if (text->bytes == NULL)
        return;
    const char *end = probity_text_put(safe, safe + sizeof safe, text->bytes, text->length, '\0');
    fprintf(stream, "    %s = \"", name);
    for (const char *at = safe; at < end; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte == '"' || byte == '\\')
            fprintf(stream, "\\%c", byte);
        else if (byte >= ' ' && byte <= '~')
            fputc(byte, stream);
        else
            fprintf(stream, "\\%03o", byte);
    }
    fputs("\";\n", stream);
}

static void put_uuid(FILE *stream, const uint8_t uuid[16])
{
    for (int i = 0; i < 16; i++)
        fprintf(stream, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

void ctf_metadata_put(FILE *stream, const struct probity_info *info)
{
    fputs("/* CTF 1.8 */\n", stream);
    fputs(types, stream);
    fputs("trace {\n    major = 1;\n    minor = 8;\n    byte_order = le;\n    uuid = \"", stream);
    put_uuid(stream, info->session);
    fputs("\";\n    packet.header := struct { u32 magic; byte uuid[16]; u32 stream_id; };\n};\n",
          stream);
    fputs("env {\n    tracer_name = \"probity\";\n", stream);
    put_text(stream, "hostname", &info->text[PROBITY_TAG_HOST]);
    put_text(stream, "kernel_release", &info->text[PROBITY_TAG_KERNEL]);
    fputs("};\n", stream);
    fputs(clock_and_stream, stream);
    for (int id = 0; id < CTF_EVENTS; id++)
        fprintf(stream, "event {\n    id = %d;\n    name = \"probity:%s\";\n    stream_id = 0;\n"
                "    fields := struct { %s };\n};\n", id, fields[id][0], fields[id][1]);
}
