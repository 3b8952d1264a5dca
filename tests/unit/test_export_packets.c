/* SPDX-License-Identifier: MIT
 *
 * test_export_packets.c: decodes the protobuf formats (Perfetto, pprof and OTLP) with small,
 * independent readers. A trace that contains everything, extreme values, an empty trace.
 */
#include "test_export_make.h"

/* ---- Protobuf -----------------------------------------------------------------------------------
 */

struct field {
    uint64_t number, value; /* value: for integers and eight-byte fields */
    struct span content;    /* for fields with a length */
};

static uint64_t varint(struct span *from)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        assert_true(from->at < from->end && shift < 64);
        value |= (uint64_t)(*from->at & 0x7f) << shift;
        if (*from->at++ < 0x80)
            return value;
    }
}

static int next(struct span *from, struct field *ret_field)
{
    if (from->at == from->end)
        return 0;
    uint64_t tag = varint(from);
    *ret_field = (struct field){.number = tag >> 3};
    if ((tag & 7) == 0) {
        ret_field->value = varint(from);
    } else if ((tag & 7) == 1) {
        assert_true(from->end - from->at >= 8);
        ret_field->value = probity_get_u64(from->at);
        from->at += 8;
    } else {
        assert_int_equal(tag & 7, 2);
        uint64_t count = varint(from);
        assert_true(count <= (uint64_t)(from->end - from->at));
        ret_field->content = (struct span){from->at, from->at + count};
        from->at += count;
    }
    return 1;
}

/* Returns the first field with this number; all zero if there is none. */
static struct field find(struct span from, uint64_t number)
{
    struct field field;

    while (next(&from, &field)) {
        if (field.number == number)
            return field;
    }
    return (struct field){.number = 0};
}

/* ---- Perfetto -----------------------------------------------------------------------------------
 */

/* The state of a packet reader: names by number, for each field of InternedData. */
struct perfetto_reader {
    FILE *out;
    char *names[5][32];
    uint64_t clock_ns, counter_ns[8];
};

static const char *name_at(const struct perfetto_reader *reader, unsigned of, uint64_t number)
{
    assert_true(number > 0 && number < 32 && reader->names[of][number] != NULL);
    return reader->names[of][number];
}

static void read_names(struct perfetto_reader *reader, struct span interned)
{
    struct field field;

    while (next(&interned, &field)) {
        uint64_t number = find(field.content, 1).value;
        assert_true(field.number >= 1 && field.number <= 4 && number < 32);
        free(reader->names[field.number][number]);
        reader->names[field.number][number] = strdup(text_of(find(field.content, 2).content));
    }
}

static void read_annotation(struct perfetto_reader *reader, struct span annotation)
{
    struct field field;

    while (next(&annotation, &field)) {
        double real;
        memcpy(&real, &field.value, sizeof real);
        switch (field.number) {
        case 1: fprintf(reader->out, " %s=", name_at(reader, 3, field.value)); break;
        case 2:
        case 3: fprintf(reader->out, "%llu", (unsigned long long)field.value); break;
        case 4: fprintf(reader->out, "%lld", (long long)field.value); break;
        case 5: fprintf(reader->out, "%g", real); break;
        case 6: fputs(text_of(field.content), reader->out); break;
        default:
            assert_int_equal(field.number, 7);
            fprintf(reader->out, "0x%llx", (unsigned long long)field.value);
        }
    }
}

/* Returns "#2 B outer [function] @1000 cpu 2000 n=-2". */
static void read_event(struct perfetto_reader *reader, struct span event, uint64_t wall_ns)
{
    static const char types[] = "?BEI";
    uint64_t name = find(event, 10).value, category = find(event, 3).value;
    struct field counter = find(event, 31), field;

    fprintf(reader->out, "#%d %c", (int)find(event, 11).value, types[find(event, 9).value]);
    if (name != 0)
        fprintf(reader->out, " %s", name_at(reader, 2, name));
    if (find(event, 23).number != 0)
        fprintf(reader->out, " '%s'", text_of(find(event, 23).content));
    if (category != 0)
        fprintf(reader->out, " [%s]", name_at(reader, 1, category));
    fprintf(reader->out, " @%lld", (long long)(wall_ns - MAKE_WALL));
    if (counter.number != 0) {
        reader->counter_ns[counter.value] += find(event, 12).value;
        fprintf(reader->out, " cpu %lld", (long long)reader->counter_ns[counter.value]);
    }
    if (find(event, 34).number != 0)
        fprintf(reader->out, " in %s", name_at(reader, 4, find(event, 34).value));
    while (next(&event, &field)) {
        if (field.number == 4)
            read_annotation(reader, field.content);
        else if (field.number == 47 || field.number == 48)
            fprintf(reader->out, " flow %llx", (unsigned long long)field.value);
    }
    fputc('\n', reader->out);
}

static void read_track(struct perfetto_reader *reader, struct span track)
{
    struct span process = find(track, 3).content, thread = find(track, 4).content;

    if (process.at != NULL)
        fprintf(reader->out, "process %d\n", (int)find(process, 1).value);
    else if (thread.at != NULL)
        fprintf(reader->out, "#%d is %d/%d %s\n", (int)find(track, 1).value,
                (int)find(thread, 1).value, (int)find(thread, 2).value,
                text_of(find(thread, 5).content));
    else if (find(track, 2).content.at != NULL)
        fprintf(reader->out, "#%d below #%d: %s\n", (int)find(track, 1).value,
                (int)find(track, 5).value, text_of(find(track, 2).content));
}

static void read_packet(struct perfetto_reader *reader, struct span packet)
{
    struct field stamp = find(packet, 8), clocks = find(packet, 6), field;

    while (clocks.content.at != NULL && next(&clocks.content, &field)) {
        if (find(field.content, 1).value == 64)
            reader->clock_ns = find(field.content, 2).value;
    }
    if (find(packet, 12).number != 0)
        read_names(reader, find(packet, 12).content);
    if (find(packet, 60).number != 0)
        read_track(reader, find(packet, 60).content);
    if (find(packet, 11).number == 0)
        return;
    int is_own_clock = find(packet, 58).number == 0;
    if (is_own_clock)
        reader->clock_ns += stamp.value;
    read_event(reader, find(packet, 11).content, is_own_clock ? reader->clock_ns : stamp.value);
}

static void expect_perfetto(const char *expected)
{
    struct perfetto_reader reader = {.out = NULL};
    char *text = NULL;
    size_t bytes, count;
    char *made = export_bytes(&probity_exporter_perfetto, &all, NULL, NULL, &count);
    struct span from = {(const uint8_t *)made, (const uint8_t *)made + count};
    struct field packet;

    reader.out = open_memstream(&text, &bytes);
    while (next(&from, &packet)) {
        assert_int_equal(packet.number, 1);
        read_packet(&reader, packet.content);
    }
    fclose(reader.out);
    expect_text(text, expected);
    for (size_t i = 0; i < 5 * 32; i++)
        free(reader.names[i / 32][i % 32]);
    free(made);
    unlink(make.path);
}

static void perfetto_has_everything(void **state)
{
    (void)state;
    make_all();
    expect_perfetto(
                "process 77\n"
                "#2 is 77/101 \n"
                "#2 is 77/101 a <thread>\n"
                "#2 B outer [function] @1000 cpu 2000 in made.c\n"
                "#4 is 77/102 \n"
                "#4 B <b>\"w;\\n\\377\\ [function] @1000 cpu 2000 in made.c\n"
                "#2 I pr\"obe [probe] @1100 cpu 2100\n"
                "#2 I 'size :42' [message] @1200 cpu 2200\n"
                "#6 is 77/103 \n"
                "#6 I site-51 [probe] @1500 cpu 2500\n"
                "#4 I 8 [probe] @2000 cpu 3000\n"
                "#2 B outer [function] @3000 cpu 4000 in made.c\n"
                "#2 E @3300 cpu 4300\n"
                "#2 B late [function] @2500 cpu 3500 in made.c\n"
                "#2 I 'x' [checkpoint] @3500 cpu 4500\n"
                "#2 E @4000 cpu 5000\n"
                "#2 B <b>\"w;\\n\\377\\ [function] @4500 cpu 5500 in made.c n=-2 name=\"<"
                "\\\"\\n\\377\"\n"
                "#2 E @4700 cpu 5700 return=1.5\n"
                "#2 B pause [pause] @4750 cpu 5750\n"
                "#2 E @4850 cpu 5850\n"
                "#2 I stalled [probity] @4900 ns=1000\n"
                "#2 B <b>\"w;\\n\\377\\ [function] @4950 cpu 5950 in made.c\n"
                "#2 I pr\"obe [probe] @4975 cpu 5975\n"
                "#134217728 below #2: blocks\n"
                "#134217728 B 7 (pr\"obe) -> 7 (pr\"obe) [block] @1100 cpu_ns=3875\n"
                "#134217728 E @4975\n"
                "#2 E @4975 cpu 5975 end=unwound\n"
                "#2 E @6000 cpu 7000\n"
                "#4 E @2000 cpu 3000 end=open\n");
}

static void perfetto_has_what_is_at_the_ends(void **state)
{
    (void)state;
    make_extremes();
    expect_perfetto(
                "process 77\n"
                "#2 is 77/101 \n"
                "#2 is 77/101 \\303(\\376\n"
                "#2 B f\\377n*1898 [function] @2 cpu 1002 in made.c min=-922337203685477580"
                "8 max=9223372036854775807 all=18446744073709551615 ptr=0xffffffffffffffff "
                "inf=inf \\377\\303=\"\\376\\355\"\n"
                "#2 I 7 [probe] @3 cpu 1003 flow ffffffffffffffff correlation=1844674407370"
                "9551615 object=18446744073709551615\n"
                "#2 I levels [probity] @4 functions=5 parameters=3\n"
                "#2 I profiling off [probity] @5\n"
                "#2 E @5 cpu 1003 end=unwound\n"
                "#2 I lost [probity] @6 records=7\n");
}

static void perfetto_has_a_process_of_nothing(void **state)
{
    (void)state;
    make_nothing();
    expect_perfetto("process 77\n");
}

/* ---- pprof --------------------------------------------------------------------------------------
 */

static struct span string_at(struct span profile, uint64_t wanted)
{
    struct field field;

    for (uint64_t i = 0; next(&profile, &field);) {
        if (field.number == 6 && i++ == wanted)
            return field.content;
    }
    fail_msg("no string %d", (int)wanted);
    return profile;
}

/* Looks up field `of` of the entry whose field 1 is `id`. */
static struct span by_id(struct span profile, uint64_t of, uint64_t id)
{
    struct field field;

    while (next(&profile, &field)) {
        if (field.number == of && find(field.content, 1).value == id)
            return field.content;
    }
    fail_msg("no %d of id %d", (int)of, (int)id);
    return profile;
}

/* Returns "a;b calls wall cpu off [key=text]", outermost first. */
static void read_sample(FILE *out, struct span profile, struct span sample)
{
    uint64_t stack[16];
    size_t depth = 0;
    struct field field;
    struct span ids = find(sample, 1).content, values = find(sample, 2).content;

    while (ids.at < ids.end)
        stack[depth++] = varint(&ids);
    while (depth-- > 0) {
        struct span line = find(by_id(profile, 4, stack[depth]), 4).content;
        struct span function = by_id(profile, 5, find(line, 1).value);
        fprintf(out, "%s%s", text_of(string_at(profile, find(function, 2).value)),
                depth > 0 ? ";" : "");
    }
    while (values.at < values.end)
        fprintf(out, " %lld", (long long)varint(&values));
    while (next(&sample, &field)) {
        if (field.number != 3)
            continue;
        fprintf(out, " %s=", text_of(string_at(profile, find(field.content, 1).value)));
        if (find(field.content, 2).number != 0)
            fputs(text_of(string_at(profile, find(field.content, 2).value)), out);
        else
            fprintf(out, "%llu", (unsigned long long)find(field.content, 3).value);
    }
    fputc('\n', out);
}

static void expect_pprof(const struct probity_export_options *options, const char *expected)
{
    char *text = NULL;
    size_t bytes, count;
    char *made = export_bytes(&probity_exporter_pprof, options, NULL, NULL, &count);
    struct span profile = {(const uint8_t *)made, (const uint8_t *)made + count}, from = profile;
    FILE *out = open_memstream(&text, &bytes);
    struct field field;

    assert_string_equal(text_of(string_at(profile, 0)), "");
    while (next(&from, &field)) {
        if (field.number == 1)
            fprintf(out, "%s/%s ", text_of(string_at(profile, find(field.content, 1).value)),
                    text_of(string_at(profile, find(field.content, 2).value)));
        else if (field.number == 2)
            read_sample(out, profile, field.content);
        else if (field.number == 9)
            fprintf(out, "from %lld\n", (long long)(field.value - MAKE_WALL));
    }
    fclose(out);
    expect_text(text, expected);
    free(made);
}

#define PPROF_HEAD "calls/count wall/nanoseconds cpu/nanoseconds off-cpu/nanoseconds from 0\n"

static void pprof_has_paths(void **state)
{
    static const struct probity_export_options threads = {.by_thread = 1};
    (void)state;
    make_all();
    expect_pprof(&all,
                "calls/count wall/nanoseconds cpu/nanoseconds off-cpu/nanoseconds from 0\n"
                "outer 1 3175 3175 0\n"
                "outer;late 1 1200 1200 0\n"
                "outer;late;outer 1 300 300 0\n"
                "outer;<b>\"w;\\n\\377\\ 2 225 225 0\n"
                "<b>\"w;\\n\\377\\ 1 1000 1000 0\n");
    expect_pprof(&threads,
                "calls/count wall/nanoseconds cpu/nanoseconds off-cpu/nanoseconds from 0\n"
                "outer 1 3175 3175 0 tid=101 pid=77 thread=a <thread>\n"
                "outer;late 1 1200 1200 0 tid=101 pid=77 thread=a <thread>\n"
                "outer;late;outer 1 300 300 0 tid=101 pid=77 thread=a <thread>\n"
                "outer;<b>\"w;\\n\\377\\ 2 225 225 0 tid=101 pid=77 thread=a <thread>\n"
                "<b>\"w;\\n\\377\\ 1 1000 1000 0 tid=102 pid=77\n");
    unlink(make.path);
    make_extremes();
    expect_pprof(&all, PPROF_HEAD "f\\377n*1898 1 3 1 2\n");
    unlink(make.path);
    make_nothing();
    expect_pprof(&all, PPROF_HEAD);
    unlink(make.path);
}

/* ---- OTLP ---------------------------------------------------------------------------------------
 */

static void read_any(FILE *out, struct span any)
{
    struct field field;
    double real;

    assert_int_equal(next(&any, &field), 1);
    memcpy(&real, &field.value, sizeof real);
    switch (field.number) {
    case 1: fputs(text_of(field.content), out); break;
    case 2: fputs(field.value ? "true" : "false", out); break;
    case 3: fprintf(out, "%lld", (long long)field.value); break;
    default: fprintf(out, "%g", real);
    }
}

static void read_attributes(FILE *out, struct span from, uint64_t number)
{
    struct field field;

    while (next(&from, &field)) {
        const char *key = field.number == number ? text_of(find(field.content, 1).content) : NULL;
        if (key == NULL || strncmp(key, "code.", 5) == 0 || strncmp(key, "thread.", 7) == 0 ||
            strncmp(key, "process.executable", 18) == 0)
            continue;
        fprintf(out, " %s=", key);
        read_any(out, find(field.content, 2).content);
    }
    fputc('\n', out);
}

/* The last byte of an id identifies its span, because sessions of generated traces begin and end
 * with 7. */
static int last_of(struct span id)
{
    return id.at == NULL ? 0 : id.end[-1] ^ 7;
}

static void read_span(FILE *out, struct span span)
{
    struct span rest = span;

    fprintf(out, "%d<%d %s", last_of(find(span, 2).content), last_of(find(span, 4).content),
            text_of(find(span, 5).content));
    assert_int_equal(find(span, 1).content.end - find(span, 1).content.at, 16);
    assert_int_equal(find(span, 2).content.end - find(span, 2).content.at, 8);
    fprintf(out, " %d-%d", (int)(find(span, 7).value - MAKE_WALL),
            (int)(find(span, 8).value - MAKE_WALL));
    read_attributes(out, span, 9);
    for (struct field field; next(&rest, &field);) {
        if (field.number != 11)
            continue;
        fprintf(out, "  at %d %s", (int)(find(field.content, 1).value - MAKE_WALL),
                text_of(find(field.content, 2).content));
        read_attributes(out, field.content, 3);
    }
}

static void expect_otlp(const char *expected)
{
    char *text = NULL;
    size_t bytes, count;
    char *made = export_bytes(&probity_exporter_otlp, &all, NULL, NULL, &count);
    struct span requests = {(const uint8_t *)made, (const uint8_t *)made + count};
    FILE *out = open_memstream(&text, &bytes);
    struct field request, field;

    while (next(&requests, &request)) {
        assert_int_equal(request.number, 1);
        read_attributes(out, find(request.content, 1).content, 1);
        struct span scope = find(request.content, 2).content;
        while (next(&scope, &field)) {
            if (field.number == 2)
                read_span(out, field.content);
        }
    }
    fclose(out);
    expect_text(text, expected);
    free(made);
    unlink(make.path);
}

static void otlp_has_everything(void **state)
{
    (void)state;
    make_all();
    expect_otlp(
                " service.name=made process.pid=77\n"
                "3<1 size :42 1200-1200 probity.thread_cpu_ns=2200 probity.kind=message\n"
                "4<1 outer 3000-3300 probity.cpu_ns=300 probity.kind=function\n"
                "6<5 x 3500-3500 probity.thread_cpu_ns=4500 probity.kind=checkpoint\n"
                "5<1 late 2500-4000 probity.cpu_ns=1500 probity.kind=function\n"
                "7<1 <b>\"w;\\n\\377\\ 4500-4700 probity.cpu_ns=200 n=-2 name=\"<\\\"\\n"
                "\\377\" return=1.5 probity.kind=function\n"
                "8<1 stall 4900-4900 probity.kind=stall\n"
                "10<1 7 (pr\"obe) -> 7 (pr\"obe) 1100-4975 probity.cpu_ns=3875 probity.kind="
                "block\n"
                "  at 1100 pr\"obe probity.thread_cpu_ns=2100\n"
                "  at 4975 pr\"obe probity.thread_cpu_ns=5975\n"
                "9<1 <b>\"w;\\n\\377\\ 4950-4975 probity.cpu_ns=25 probity.end=unwound prob"
                "ity.kind=function\n"
                "1<0 outer 1000-6000 probity.cpu_ns=5000 probity.paused_ns=100 probity.kind"
                "=function\n"
                "2<0 <b>\"w;\\n\\377\\ 1000-2000 probity.cpu_ns=1000 probity.end=open probi"
                "ty.kind=function\n"
                "11<0 8 2000-2000 probity.kind=probe\n"
                "  at 2000 8 probity.thread_cpu_ns=3000\n"
                "12<0 site-51 1500-1500 probity.kind=probe\n"
                "  at 1500 site-51 probity.thread_cpu_ns=2500\n");
}

/* Numbers too large for the protocol are written as text. */
static void otlp_has_what_is_at_the_ends(void **state)
{
    (void)state;
    make_extremes();
    expect_otlp(
                " service.name=p*10000 process.pid=77\n"
                "1<0 f\\377n*1898 2-5 probity.cpu_ns=1 probity.end=unwound min=-92233720368547"
                "75808 max=9223372036854775807 all=18446744073709551615 ptr=0xfffffffffffff"
                "fff inf=inf \\377\\303=\"\\376\\355\" probity.kind=function\n"
                "2<0 7 3-3 probity.kind=probe\n"
                "  at 3 7 probity.correlation=18446744073709551615 probity.object=18446744"
                "073709551615 probity.thread_cpu_ns=1003\n"
                "3<0 lost 6-6 probity.records=7 probity.kind=lost\n");
}

static void otlp_has_no_request_of_nothing(void **state)
{
    (void)state;
    make_nothing();
    expect_otlp("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perfetto_has_everything),
        cmocka_unit_test(perfetto_has_what_is_at_the_ends),
        cmocka_unit_test(perfetto_has_a_process_of_nothing),
        cmocka_unit_test(pprof_has_paths),
        cmocka_unit_test(otlp_has_everything),
        cmocka_unit_test(otlp_has_what_is_at_the_ends),
        cmocka_unit_test(otlp_has_no_request_of_nothing),
    };

    return cmocka_run_group_tests_name("export_packets", tests, NULL, NULL);
}
