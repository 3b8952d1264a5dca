/* SPDX-License-Identifier: MIT
 *
 * test_reader_scopes.c: how the reader decodes functions, formats and scope events, including
 * malicious ones; hits of other sites are unaffected.
 */
#include "test_scopes_make.h"

#include "reader/reader.h"

static struct make make;

static struct probity_reader *open_with(int prescan)
{
    const char *path = make.path;
    struct probity_reader_options options = {.prescan = prescan};
    struct probity_reader *reader = NULL;

    assert_int_equal(probity_reader_open(&path, 1, &options, NULL, &reader), 0);
    return reader;
}

static const struct probity_event *next(struct probity_reader *reader)
{
    const struct probity_event *event = NULL;

    assert_int_equal(probity_reader_next(reader, &event), 1);
    return event;
}

/* Returns the next event of this kind. */
static const struct probity_event *next_of(struct probity_reader *reader, uint32_t kind)
{
    const struct probity_event *event;

    do
        event = next(reader);
    while (event->kind != kind);
    return event;
}

static void count_fault(void *context, uint64_t offset, const char *text)
{
    (void)offset;
    (void)text;
    ++*(int *)context;
}

static int faults(void)
{
    int count = 0;
    struct probity_check_listener listener = {.report = count_fault, .context = &count};
    struct probity_check_result result;

    assert_int_equal(probity_check_file(make.path, &listener, &result), 0);
    return count;
}

static void close_made(struct probity_reader *reader)
{
    probity_reader_close(reader);
    unlink(make.path);
}

static void enter_and_leave_carry_their_function(void **state)
{
    const struct make_item items[] = {ENTER(100, 4), {.tick = 110, .code = 2 * 9 + 1},
                                      {.tick = 120, .code = 2 * 3}, LEAVE(200, 4)};

    (void)state;
    make_start(&make);
    make_declare(&make, 1, 4, "f", 1);
    make_items(&make, 1, items, COUNT(items));
    make_finish(&make, "carry");
    struct probity_reader *reader = open_with(0);
    const struct probity_event *event = next(reader);
    assert_int_equal(event->kind, PROBITY_EVENT_FUNCTION);
    const struct probity_function *function = event->function;
    assert_string_equal(function->name, "f");
    assert_string_equal(function->file, "made.c");
    assert_string_equal(function->returns, "int");
    assert_string_equal(function->signature, "");
    assert_int_equal(function->line, 14);
    assert_int_equal(function->is_deferred, 1);
    event = next(reader);
    assert_int_equal(event->kind, PROBITY_EVENT_ENTER);
    assert_ptr_equal(event->function, function);
    assert_int_equal(event->id, 4);
    assert_null(event->payload);
    event = next(reader); /* an undeclared site */
    assert_int_equal(event->kind, PROBITY_EVENT_HIT);
    assert_true(event->is_site);
    assert_int_equal(event->id, 9);
    assert_null(event->function);
    event = next(reader); /* probe 3 */
    assert_int_equal(event->kind, PROBITY_EVENT_HIT);
    assert_false(event->is_site);
    assert_null(event->function);
    event = next(reader);
    assert_int_equal(event->kind, PROBITY_EVENT_LEAVE);
    assert_ptr_equal(event->function, function);
    assert_int_equal(event->id, 4);
    assert_int_equal(probity_reader_next(reader, &event), 0);
    assert_int_equal(faults(), 1);
    close_made(reader);
}

/* Format 5: an unsigned number "n". */
static const uint8_t format_5[] = {5, 0, 0, 0, 30, 0, 0, 0, 1, 0, 8, 0, 1, 0, 'n'};

static void values_are_cut_out_of_each_kind(void **state)
{
    uint8_t enter[12] = {4, 0, 0, 0, 5, 0, 0, 0, 1, 2, 3, 4};
    uint8_t message[8] = {5, 0, 0, 0, 9, 8, 7, 6};
    uint8_t point[20] = {4, 0, 0, 0, 5, 0, 0, 0};
    const struct make_item items[] = {
        EVENT(10, PROBITY_EVENT_FORMAT, format_5, sizeof format_5),
        EVENT(20, PROBITY_EVENT_ENTER, enter, 12), EVENT(30, PROBITY_EVENT_MESSAGE, message, 8),
        EVENT(40, PROBITY_EVENT_CHECKPOINT, point, 20), EVENT(50, PROBITY_EVENT_LEAVE, enter, 8),
        ENTER(60, 4)};

    (void)state;
    probity_put_u64(point + 8, MAKE_START + 22);
    make_start(&make);
    make_declare(&make, 1, 4, "f", 0);
    make_items(&make, 1, items, COUNT(items));
    make_finish(&make, "values");
    struct probity_reader *reader = open_with(0);
    const struct probity_event *event = next_of(reader, PROBITY_EVENT_ENTER);
    const struct probity_format *format = event->format;
    assert_string_equal(event->function->name, "f");
    assert_int_equal(format->number, 5);
    assert_int_equal(format->line, 30);
    assert_int_equal(format->count, 1);
    assert_int_equal(format->values[0].type, PROBITY_VALUE_U32);
    assert_string_equal(format->values[0].text, "n");
    assert_int_equal(event->value_bytes, 4);
    assert_memory_equal(event->values, enter + 8, 4);
    assert_int_equal(event->cpu_ns, 1010);
    event = next(reader);
    assert_int_equal(event->kind, PROBITY_EVENT_MESSAGE);
    assert_null(event->function);
    assert_ptr_equal(event->format, format);
    assert_memory_equal(event->values, message + 4, 4);
    event = next(reader);
    assert_int_equal(event->kind, PROBITY_EVENT_CHECKPOINT);
    assert_int_equal(event->entered_tick, MAKE_START + 22);
    assert_int_equal(event->entered_wall_ns, MAKE_WALL + 11);
    assert_int_equal(event->value_bytes, 4);
    event = next(reader);
    assert_int_equal(event->kind, PROBITY_EVENT_LEAVE);
    assert_int_equal(event->entered_tick, 0);
    assert_int_equal(event->value_bytes, 0);
    event = next(reader); /* nothing remains of the previous events */
    assert_int_equal(event->kind, PROBITY_EVENT_ENTER);
    assert_null(event->format);
    assert_null(event->values);
    assert_null(event->payload);
    assert_int_equal(event->payload_bytes, 0);
    close_made(reader);
}

static void a_payload_that_is_too_short_has_no_values(void **state)
{
    uint8_t bytes[20] = {4, 0, 0, 0, 5, 0, 0, 0};

    (void)state;
    for (uint64_t kind = PROBITY_EVENT_ENTER; kind <= PROBITY_EVENT_CHECKPOINT; kind++) {
        int has_site = kind != PROBITY_EVENT_MESSAGE && kind != PROBITY_EVENT_PARAMETERS;
        bytes[0] = has_site ? 4 : 5;
        for (size_t length = 0; length < 16; length++) {
            const struct make_item items[] = {
                EVENT(10, PROBITY_EVENT_FORMAT, format_5, sizeof format_5),
                EVENT(20, kind, bytes, length), ENTER(30, 4)};
            make_start(&make);
            make_declare(&make, 1, 4, "f", 0);
            make_items(&make, 1, items, COUNT(items));
            make_finish(&make, "short");
            struct probity_reader *reader = open_with(0);
            next_of(reader, PROBITY_EVENT_FORMAT);
            const struct probity_event *event = next(reader);
            assert_int_equal(event->kind, kind);
            assert_int_equal(event->function != NULL, has_site && length >= 4);
            size_t fixed = kind == PROBITY_EVENT_CHECKPOINT ? 16 : has_site ? 8 : 4;
            assert_int_equal(event->values != NULL, length >= fixed);
            assert_int_equal(event->value_bytes, length >= fixed ? length - fixed : 0);
            assert_int_equal(faults() > 0, length < fixed);
            close_made(reader);
        }
    }
}

/* Returns the faults of a trace with a function and a format that are declared `late` ticks after
 * their first use by another thread; 0: never. */
static int faults_of_late(uint64_t late, uint64_t dropped)
{
    enum { USED = 100 };
    const uint8_t message[8] = {5, 0, 0, 0, 9, 8, 7, 6};
    const struct make_item items[] = {ENTER(USED, 4), LEAVE(USED + 1, 4),
                                      EVENT(USED + 1, PROBITY_EVENT_MESSAGE, message, 8)};
    uint8_t function[512];
    size_t bytes = make_function(function, 4, "f", 0);

    make_start(&make);
    make_items(&make, 1, items, COUNT(items));
    if (late != 0) {
        make_event(&make, 2, MAKE_START + USED + late, PROBITY_EVENT_FUNCTION, function, bytes);
        make_event(&make, 2, MAKE_START + USED + late, PROBITY_EVENT_FORMAT, format_5,
                   sizeof format_5);
    }
    make.dropped = dropped;
    make_finish(&make, "late");
    int count = faults();
    unlink(make.path);
    return count;
}

static void a_declaration_must_precede_its_use(void **state)
{
    enum { SLACK = 2000, SITES_AND_FORMAT = 3 }; /* 1 us */

    (void)state;
    assert_int_equal(faults_of_late(SLACK, 0), 0);
    assert_int_equal(faults_of_late(SLACK + 1, 0), 1);
    assert_int_equal(faults_of_late(SLACK + 2, 0), SITES_AND_FORMAT);
    assert_int_equal(faults_of_late(0, 0), SITES_AND_FORMAT);
    assert_int_equal(faults_of_late(0, 1), 0);
}

static void a_cut_declaration_of_a_function_is_none(void **state)
{
    uint8_t payload[256];
    size_t whole = make_function(payload, 4, "f", 0);

    (void)state;
    for (size_t bytes = 0; bytes <= whole; bytes++) {
        const struct make_item items[] = {ENTER(100, 4)};
        make_start(&make);
        make_event(&make, 1, MAKE_START, PROBITY_EVENT_FUNCTION, payload, bytes);
        make_items(&make, 1, items, 1);
        make_finish(&make, "cut");
        struct probity_reader *reader = open_with(1);
        assert_int_equal(probity_reader_facts(reader, 0)->hits, bytes < whole);
        assert_int_equal(probity_reader_facts(reader, 0)->enters, bytes == whole);
        assert_int_equal(next(reader)->function != NULL, bytes == whole);
        assert_int_equal(next(reader)->kind,
                         bytes == whole ? PROBITY_EVENT_ENTER : PROBITY_EVENT_HIT);
        assert_int_equal(faults(), bytes == whole ? 0 : 1);
        close_made(reader);
    }
}

static void absurd_declarations_are_none(void **state)
{
    uint8_t last[64], claims[] = {1, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 8, 0, 1, 0, 'n'};
    uint8_t text[] = {1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 8, 0, 0xff, 0xff, 'n'};
    uint8_t use[] = {1, 0, 0, 0};
    size_t bytes = make_function(last, UINT32_MAX, "last", 0); /* no number for its leave */
    const struct make_item items[] = {EVENT(1, PROBITY_EVENT_FUNCTION, last, bytes),
                                      EVENT(2, PROBITY_EVENT_FORMAT, claims, sizeof claims),
                                      EVENT(3, PROBITY_EVENT_FORMAT, text, sizeof text),
                                      EVENT(4, PROBITY_EVENT_MESSAGE, use, sizeof use),
                                      ENTER(5, UINT32_MAX)};

    (void)state;
    make_start(&make);
    make_items(&make, 1, items, COUNT(items));
    make_finish(&make, "absurd");
    struct probity_reader *reader = open_with(0);
    assert_null(next_of(reader, PROBITY_EVENT_MESSAGE)->format);
    assert_int_equal(next(reader)->kind, PROBITY_EVENT_HIT);
    assert_int_equal(faults(), 3);
    close_made(reader);
}

static void the_first_declaration_of_a_number_counts(void **state)
{
    uint8_t site[] = {5, 0, 0, 0, 1, 0, 0, 0, 1, 0, 's', 0, 0, 0, 0};
    const struct make_item items[] = {ENTER(10, 4), LEAVE(20, 4), ENTER(30, 8), ENTER(40, 5)};

    (void)state;
    make_start(&make);
    make_declare(&make, 1, 4, "first", 0);
    make_declare(&make, 1, 4, "again", 0);
    make_declare(&make, 1, 5, "over its leave", 0);
    make_declare(&make, 1, 3, "over its enter", 0);
    make_event(&make, 1, MAKE_START, PROBITY_EVENT_SITE, site, sizeof site);
    make_items(&make, 1, items, COUNT(items));
    make_finish(&make, "first");
    struct probity_reader *reader = open_with(0);
    const struct probity_event *event = next_of(reader, PROBITY_EVENT_ENTER);
    assert_string_equal(event->function->name, "first");
    event = next(reader);
    assert_int_equal(event->kind, PROBITY_EVENT_LEAVE);
    assert_string_equal(event->function->name, "first");
    assert_int_equal(next(reader)->kind, PROBITY_EVENT_HIT);
    assert_int_equal(next(reader)->kind, PROBITY_EVENT_LEAVE); /* 5 is the leave of 4 */
    close_made(reader);
}

/* The prescan counts hits of sites in any order in the file: here the declaration is in a later
 * block than the first use. */
static void enters_and_leaves_are_no_hits(void **state)
{
    const struct make_item early[] = {ENTER(100, 4), {.tick = 110, .code = 2 * 9 + 1},
                                      {.tick = 120, .code = 6}, LEAVE(200, 4)};
    const struct make_item later[] = {ENTER(300, 4), {.tick = 310, .code = 6}, LEAVE(400, 4)};

    (void)state;
    make_start(&make);
    make_items(&make, 2, early, COUNT(early));
    make_declare(&make, 1, 4, "f", 0);
    make_items(&make, 1, later, COUNT(later));
    make_finish(&make, "prescan");
    struct probity_reader *reader = open_with(1);
    const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
    assert_int_equal(facts->records, 8);
    assert_int_equal(facts->hits, 3);
    assert_int_equal(facts->enters, 2);
    assert_int_equal(facts->thread_list_count, 2);
    assert_int_equal(facts->thread_list[0].hits, 2);
    assert_int_equal(facts->thread_list[1].hits, 1);
    assert_int_equal(facts->first_tick, MAKE_START + 100);
    assert_int_equal(facts->last_tick, MAKE_START + 400);
    assert_int_equal(next(reader)->kind, PROBITY_EVENT_FUNCTION);
    assert_int_equal(next(reader)->kind, PROBITY_EVENT_ENTER);
    close_made(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enter_and_leave_carry_their_function),
        cmocka_unit_test(values_are_cut_out_of_each_kind),
        cmocka_unit_test(a_payload_that_is_too_short_has_no_values),
        cmocka_unit_test(a_declaration_must_precede_its_use),
        cmocka_unit_test(a_cut_declaration_of_a_function_is_none),
        cmocka_unit_test(absurd_declarations_are_none),
        cmocka_unit_test(the_first_declaration_of_a_number_counts),
        cmocka_unit_test(enters_and_leaves_are_no_hits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
